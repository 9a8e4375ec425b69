"""Events of the local Discord for the gateway, and the bots that may receive each. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.shapes import Json
from connectors.discord.sandbox.state import Channel, Message


class Intent(IntFlag):
    """The intents that decide what the local Discord sends (docs: topics/gateway)."""

    GUILDS = 1 << 0
    GUILD_MEMBERS = 1 << 1
    GUILD_WEBHOOKS = 1 << 5
    GUILD_PRESENCES = 1 << 8
    GUILD_MESSAGES = 1 << 9
    GUILD_MESSAGE_REACTIONS = 1 << 10
    GUILD_MESSAGE_TYPING = 1 << 11
    DIRECT_MESSAGES = 1 << 12
    DIRECT_MESSAGE_REACTIONS = 1 << 13
    DIRECT_MESSAGE_TYPING = 1 << 14
    MESSAGE_CONTENT = 1 << 15
    GUILD_MESSAGE_POLLS = 1 << 24
    DIRECT_MESSAGE_POLLS = 1 << 25


PRIVILEGED = Intent.GUILD_MEMBERS | Intent.GUILD_PRESENCES | Intent.MESSAGE_CONTENT
KNOWN_INTENTS = (1 << 26) - 1

_MESSAGES = (Intent.GUILD_MESSAGES, Intent.DIRECT_MESSAGES)
_REACTIONS = (Intent.GUILD_MESSAGE_REACTIONS, Intent.DIRECT_MESSAGE_REACTIONS)
_POLLS = (Intent.GUILD_MESSAGE_POLLS, Intent.DIRECT_MESSAGE_POLLS)
_TYPING = (Intent.GUILD_MESSAGE_TYPING, Intent.DIRECT_MESSAGE_TYPING)
_WEBHOOKS = (Intent.GUILD_WEBHOOKS, Intent.GUILD_WEBHOOKS)
_GUILDS = (Intent.GUILDS, Intent.GUILDS)
_MEMBERS = (Intent.GUILD_MEMBERS, Intent.GUILD_MEMBERS)
_REQUIRED_INTENTS = {
    "GUILD_MEMBER_ADD": _MEMBERS,
    "GUILD_MEMBER_REMOVE": _MEMBERS,
    "MESSAGE_CREATE": _MESSAGES,
    "MESSAGE_UPDATE": _MESSAGES,
    "MESSAGE_DELETE": _MESSAGES,
    "MESSAGE_DELETE_BULK": _MESSAGES,
    "MESSAGE_REACTION_ADD": _REACTIONS,
    "MESSAGE_REACTION_REMOVE": _REACTIONS,
    "MESSAGE_REACTION_REMOVE_ALL": _REACTIONS,
    "MESSAGE_REACTION_REMOVE_EMOJI": _REACTIONS,
    "MESSAGE_POLL_VOTE_ADD": _POLLS,
    "MESSAGE_POLL_VOTE_REMOVE": _POLLS,
    "TYPING_START": _TYPING,
    "WEBHOOKS_UPDATE": _WEBHOOKS,
}


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatch; `message` is set if its content is withheld from some bots."""

    name: str
    channel: Channel
    data: Json
    message: Message | None = None


def may_receive(event: Event, user_id: int, intents: int) -> bool:
    """Return whether a bot with these intents receives the event."""
    of_guild, of_dm = _REQUIRED_INTENTS.get(event.name, _GUILDS)
    if not intents & (of_guild if event.channel.guild else of_dm):
        return False
    return bool(permissions_in(event.channel, user_id) & Permission.VIEW_CHANNEL)


def may_read_content(message: Message, user_id: int, app_id: int, intents: int) -> bool:
    """Return whether an app gets a message's content (docs: topics/gateway, message content).

    It needs the intent, except for its own messages, DMs and its mentions.
    """
    if intents & Intent.MESSAGE_CONTENT or message.channel.guild is None:
        return True
    if user_id == message.author.id or app_id == message.application_id:
        return True
    return any(user.id == user_id for user in message.mentions)
