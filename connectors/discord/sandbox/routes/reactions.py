"""REST: reactions of a bot to messages."""

from __future__ import annotations

import re
from urllib.parse import unquote

from bridge.sandbox.limits import Window
from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.errors import missing_permissions, too_many_reactions, unknown_emoji
from connectors.discord.sandbox.permissions import Permission
from connectors.discord.sandbox.shapes import Json, user_json

_CUSTOM = re.compile(r"(?:a:)?(\w{2,32}):(\d{1,20})")
MAX_DISTINCT = 20


def add_reaction(call: Call) -> Answer:
    channel = call.channel(Permission.READ_MESSAGE_HISTORY)
    message = call.message(channel)
    emoji = _emoji(call)
    key = f"{emoji['name']}:{emoji['id']}"
    if key not in message.reactions:
        if not call.may(channel, Permission.ADD_REACTIONS):
            raise missing_permissions()
        if len(message.reactions) >= MAX_DISTINCT:
            raise too_many_reactions()
    call.changes.react(message, call.app.user, emoji)


def remove_reaction(call: Call) -> Answer:
    message = call.message(call.channel())
    call.changes.unreact(message, call.app.user, _emoji(call))


def clear_reactions(call: Call) -> Answer:
    message = call.message(call.channel(Permission.MANAGE_MESSAGES))
    call.changes.clear_reactions(message, _emoji(call) if "emoji" in call.params else None)


def list_reactions(call: Call) -> Answer:
    message = call.message(call.channel(Permission.READ_MESSAGE_HISTORY))
    emoji = _emoji(call)
    reaction = message.reactions.get(f"{emoji['name']}:{emoji['id']}")
    users = call.state.users
    return [user_json(users[user]) for user in (reaction.users if reaction else ())]


def _emoji(call: Call) -> Json:
    """Return the path's emoji: Unicode, or `name:id`; the local guilds have no custom emoji."""
    return emoji_json(unquote(call.params["emoji"]))


def emoji_json(text: str) -> Json:
    if custom := _CUSTOM.fullmatch(text):
        return {"id": custom[2], "name": custom[1]}
    if not text or len(text) > 32 or (text.isascii() and text.strip("0123456789#*")):
        raise unknown_emoji()
    return {"id": None, "name": text}


_ONE = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}"
REACTION_ROUTES = [
    Route("PUT", _ONE + "/@me", "reaction.add", add_reaction, Window(1, 0.25)),
    Route("DELETE", _ONE + "/@me", "reaction.remove", remove_reaction, Window(1, 0.25)),
    Route("GET", _ONE, "reaction.list", list_reactions),
    Route("DELETE", _ONE, "reaction.clear", clear_reactions),
    Route("DELETE", _ONE.removesuffix("/{emoji}"), "reaction.clear", clear_reactions),
]
