"""Discord's snowflakes <-> our refs and ids; no other file builds or splits them. Pure."""

from __future__ import annotations

import base64
import hashlib
from datetime import UTC, datetime, timedelta

from bridge.content.text.tree import BroadcastPing, ChannelThere, GroupPing, Ping
from bridge.model import ActorId, ChannelRef, OperationId, actor_id_of, join_key, split_key

PLATFORM: str = "discord"
DIRECT = "@me"  # the workspace of direct messages, as in Discord's own links
SOMEBODY = "unknown"  # Discord does not say who deleted a message

_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)
_DIGITS = 20  # of the largest 64-bit snowflake
_LINKS = "https://discord.com/channels"


def channel_ref(guild: str | None, channel: str) -> ChannelRef:
    """Return the ref of a guild's channel; without a guild, of a direct-message channel."""
    return ChannelRef(platform=PLATFORM, workspace=guild or DIRECT, channel=channel)


def is_direct(channel: ChannelRef) -> bool:
    return channel.workspace == DIRECT


def actor_id(channel: ChannelRef, user: str) -> ActorId:
    """Return the user's actor id in the channel's guild: names and avatars differ by guild."""
    return actor_id_of(PLATFORM, channel.workspace, user)


def webhook_author(webhook: str, name: str) -> str:
    """Return the native id of a webhook's author; many people may post through one webhook."""
    return f"{webhook}/{name}"


def split_actor(actor: ActorId) -> tuple[str, str] | None:
    """Return guild (or `@me`) and user id; None if the actor is not a Discord user."""
    segments = split_key(actor)
    if len(segments) != 3 or segments[0] != PLATFORM or not segments[2].isdecimal():
        return None
    return segments[1], segments[2]


def reference_of(node: Ping | GroupPing | BroadcastPing | ChannelThere) -> str:
    """Return Discord's markup of a mention, such as `<@1>`.

    It pings only users and roles that the message's `allowed_mentions` lists.
    """
    match node:
        case Ping(actor, name):
            guild_and_user = split_actor(actor)
            return f"<@{guild_and_user[1]}>" if guild_and_user else f"@{name}"
        case GroupPing(group):
            return f"<@&{split_key(group)[-1]}>"
        case BroadcastPing(range=range_):
            return "@here" if range_ == "here" else "@everyone"
        case ChannelThere(channel):
            return f"<#{split_key(channel)[-1]}>"


def group_key(channel: ChannelRef, role: str) -> str:
    return join_key(PLATFORM, channel.workspace, role)


def order_key(snowflake: str) -> str:
    """Return the snowflake zero-padded, so that text order is time order."""
    return snowflake.zfill(_DIGITS)


def order_key_after(snowflake: str) -> str:
    """Return a key for an event about the message: it sorts right after the message itself."""
    return order_key(snowflake) + "~"


def snowflake_of(order: str) -> str:
    """Return the snowflake of a key from `order_key` or `order_key_after`."""
    return order.removesuffix("~").lstrip("0") or "0"


def time_of(snowflake: str) -> datetime:
    """Return the creation time that the snowflake holds (docs: reference#snowflakes)."""
    return _EPOCH + timedelta(milliseconds=int(snowflake) >> 22)


def first_snowflake_at(seconds: float) -> str:
    """Return the lowest snowflake that Discord can create at `seconds` since 1970."""
    milliseconds = int((seconds - _EPOCH.timestamp()) * 1000)
    return str(max(0, milliseconds) << 22)


def nonce_of(operation: OperationId, slot: int) -> str:
    """Return a hash of operation and slot; a nonce has at most 25 characters (docs, 2026-08)."""
    digest = hashlib.sha256(f"{operation}/{slot}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def jump_link(channel: ChannelRef, thread: str | None, message: str) -> str:
    return f"{_LINKS}/{channel.workspace}/{thread or channel.channel}/{message}"


def webhook_key(channel: str) -> str:
    return f"webhook:{channel}"


def thread_key(thread: str) -> str:
    return f"thread:{thread}"


def ids_in(word: str) -> tuple[str, ...]:
    """Return the ids of channel and message that Discord's client joins with a hyphen.

    "Copy Message ID" with Shift held down copies this form; any other word gives ().
    """
    return tuple(word.split("-")) if "-" in word else ()
