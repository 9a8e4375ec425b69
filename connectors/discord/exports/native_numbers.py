"""Ids of other platforms -> numbers that viewers take for Discord's ids. Pure."""

from __future__ import annotations

from hashlib import blake2b

from bridge.model import ChannelRef
from connectors.discord import ids
from connectors.discord.exports.kinds import NO_GUILD

_DIGITS = 20  # of an id
_LOW_BITS = 22  # of a snowflake, below its milliseconds


def number_of(key: str) -> str:
    """Return a number of 18 digits for any key."""
    digest = blake2b(key.encode(), digest_size=8).digest()
    return str(10**17 + int.from_bytes(digest) % (9 * 10**17))


def message_number(message_id: str, seconds: float) -> str:
    """Return a snowflake: viewers sort messages by it. `seconds` are those since 1970."""
    digest = blake2b(message_id.encode(), digest_size=4).digest()
    low = int.from_bytes(digest) % (1 << _LOW_BITS)
    return str(int(ids.first_snowflake_at(seconds)) + low)


def channel_number(channel: ChannelRef, thread: str | None = None) -> str:
    """Return the number of a channel or thread; an id of Discord that is no number gets one, since
    names of files contain it."""
    own_id = thread or channel.channel
    is_number = own_id.isascii() and own_id.isdecimal() and len(own_id) <= _DIGITS
    if channel.platform == ids.PLATFORM and is_number:
        return own_id
    return number_of(channel.key if thread is None else f"{channel.key}:{thread}")


def guild_number(channel: ChannelRef) -> str:
    if channel.platform != ids.PLATFORM:
        return number_of(f"{channel.platform}:{channel.workspace}")
    return NO_GUILD if ids.is_direct(channel) else channel.workspace
