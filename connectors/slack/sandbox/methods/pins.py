"""pins.*: messages pinned to a channel."""

from __future__ import annotations

from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.shapes import message_json

MOST = 100  # of a channel (Slack help, "Pin messages", 2026)


def add(call: Call) -> Json:
    channel = call.channel()
    call.need_member(channel)
    if channel.archived:
        raise ApiError("is_archived")
    message = call.message(channel, "timestamp")
    if message.pinned_by is not None:
        raise ApiError("already_pinned")
    if sum(one.pinned_by is not None for one in channel.messages.values()) >= MOST:
        raise ApiError("too_many_pins")
    call.changes.pin(call.workspace, channel, message, call.app.bot_user, pinned=True)
    return {}


def remove(call: Call) -> Json:
    channel = call.channel()
    message = call.message(channel, "timestamp")
    if message.pinned_by is None:
        raise ApiError("no_pin")
    call.changes.pin(call.workspace, channel, message, call.app.bot_user, pinned=False)
    return {}


def list_pins(call: Call) -> Json:
    channel = call.channel()
    found = [one for one in channel.messages.values() if one.pinned_by is not None]
    found.sort(key=lambda one: -one.pinned_at)
    items = [
        {
            "type": "message", "created": one.pinned_at // 1_000_000, "created_by": one.pinned_by,
            "channel": channel.id, "message": message_json(one, call.workspace.id),
        }
        for one in found
    ]  # fmt: skip
    return {"items": items}
