"""pins.*: messages pinned to a channel."""

from __future__ import annotations

from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.shapes import message_json

MAX_PINS = 100  # per channel (Slack help, "Pin messages", 2026)


def add(call: Call) -> Json:
    channel = call.writable_channel()
    message = call.message(channel, "timestamp")
    if message.pinned_by is not None:
        raise ApiError("already_pinned")
    if sum(message.pinned_by is not None for message in channel.messages.values()) >= MAX_PINS:
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
    pinned_messages = [
        message for message in channel.messages.values() if message.pinned_by is not None
    ]
    pinned_messages.sort(key=lambda message: -message.pinned_at)
    items = [
        {
            "type": "message", "created": message.pinned_at // 1_000_000,
            "created_by": message.pinned_by, "channel": channel.id,
            "message": message_json(message, call.workspace.id),
        }
        for message in pinned_messages
    ]  # fmt: skip
    return {"items": items}
