"""Discord's snowflakes <-> our refs and ids: the only place where they are made and split. Pure."""

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
    """A channel of a guild, or of direct messages where there is no guild."""
    return ChannelRef(platform=PLATFORM, workspace=guild or DIRECT, channel=channel)


def is_direct(channel: ChannelRef) -> bool:
    return channel.workspace == DIRECT


def actor_id(channel: ChannelRef, user: str) -> ActorId:
    """People have a name of their own in each guild, so they are actors of the guild."""
    return actor_id_of(PLATFORM, channel.workspace, user)


def webhook_author(webhook: str, name: str) -> str:
    """The native id of who speaks through a webhook: many people may share one."""
    return f"{webhook}/{name}"


def split_actor(actor: ActorId) -> tuple[str, str] | None:
    """Guild (or `@me`) and user id; None for whoever is no Discord user."""
    segments = split_key(actor)
    if len(segments) != 3 or segments[0] != PLATFORM or not segments[2].isdecimal():
        return None
    return segments[1], segments[2]


def reference_of(node: Ping | GroupPing | BroadcastPing | ChannelThere) -> str:
    """`<@1>` and its like, which ping whom `allowed_mentions` allows, or lead somewhere."""
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
    """Zero-padded, so that the order of text is the order of time."""
    return snowflake.zfill(_DIGITS)


def order_key_after(snowflake: str) -> str:
    """For what happened to a message: sorted right behind it, before the next one."""
    return order_key(snowflake) + "~"


def snowflake_of(order: str) -> str:
    """The inverse of `order_key` and `order_key_after`."""
    return order.removesuffix("~").lstrip("0") or "0"


def time_of(snowflake: str) -> datetime:
    """When the thing with this id was made."""
    return _EPOCH + timedelta(milliseconds=int(snowflake) >> 22)


def first_snowflake_at(seconds: float) -> str:
    """The lowest id that could be made at this moment (seconds since 1970)."""
    milliseconds = int((seconds - _EPOCH.timestamp()) * 1000)
    return str(max(0, milliseconds) << 22)


def nonce_of(operation: OperationId, slot: int) -> str:
    """A short form of the operation: a nonce has at most 25 characters (docs, 2026-08)."""
    digest = hashlib.sha256(f"{operation}/{slot}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:18]).decode()


def jump_link(channel: ChannelRef, thread: str | None, message: str) -> str:
    return f"{_LINKS}/{channel.workspace}/{thread or channel.channel}/{message}"


def webhook_key(channel: str) -> str:
    return f"webhook:{channel}"


def thread_key(thread: str) -> str:
    return f"thread:{thread}"


def ids_in(word: str) -> tuple[str, ...]:
    """Channel and message: a hyphen joins them in an id that was copied with Shift held down."""
    return tuple(word.split("-")) if "-" in word else ()
