"""reactions.*: emoji on messages."""

from __future__ import annotations

import re

from connectors.slack.sandbox.methods.call import ApiError, Call, Json
from connectors.slack.sandbox.shapes import message_json

MAX_DISTINCT = 23
_NAME = re.compile(r"[a-z0-9_+'\-]{1,100}(::skin-tone-[2-6])?")


def add(call: Call) -> Json:
    channel = call.writable_channel()
    message = call.message(channel, "timestamp")
    name, user = _name(call), call.app.bot_user
    reaction = message.reactions.get(name)
    if reaction and user in reaction.users:
        raise ApiError("already_reacted")
    if reaction is None and len(message.reactions) >= MAX_DISTINCT:
        raise ApiError("too_many_emoji")
    call.changes.react(call.workspace, channel, message, user, name)
    return {}


def remove(call: Call) -> Json:
    channel = call.channel()
    message = call.message(channel, "timestamp")
    name, user = _name(call), call.app.bot_user
    reaction = message.reactions.get(name)
    if reaction is None or user not in reaction.users:
        raise ApiError("no_reaction")
    call.changes.unreact(call.workspace, channel, message, user, name)
    return {}


def get(call: Call) -> Json:
    channel = call.channel()
    message = call.message(channel, "timestamp")
    raw = message_json(message, call.workspace.id)
    return {"type": "message", "channel": channel.id, "message": raw}


def _name(call: Call) -> str:
    name = call.args.required("name").strip(":")
    if not _NAME.fullmatch(name):
        raise ApiError("invalid_name")
    return name
