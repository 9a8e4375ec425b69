"""The parents of threads, the types of channels, and the names of channels and roles.

The gateway sends them when a session begins and when they change; others are requested once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bridge.errors import NotFound, Refused
from bridge.model import ChannelRef
from bridge.ports.key_values import KeyValues
from connectors.discord import ids
from connectors.discord.capabilities import FORUM_TYPES, THREAD_TYPES
from connectors.discord.rest import Rest

_MAX_NAMES = 50_000
_UNKNOWN = -1


class Places:
    """A cache of channels, threads and roles; parents of threads are also stored."""

    def __init__(self, rest: Rest, key_values: KeyValues) -> None:
        self._rest = rest
        self._key_values = key_values
        self._parents: dict[str, str] = {}  # thread -> channel
        self._kinds: dict[str, int] = {}  # channel, not thread -> its type
        self._names: dict[str, str] = {}
        self._topics: dict[str, str] = {}

    def learn_guild(self, guild: dict[str, Any]) -> None:
        for channel in _objects(guild.get("channels")):
            self.learn_channel(channel)
        for thread in _objects(guild.get("threads")):
            self.learn_channel(thread)
        for role in _objects(guild.get("roles")):
            self.learn_name(role)

    def learn_channel(self, channel: dict[str, Any]) -> None:
        """Cache a channel or thread object of the gateway or of REST."""
        channel_id, parent = channel.get("id"), channel.get("parent_id")
        if not isinstance(channel_id, str):
            return
        self.learn_name(channel)
        if channel.get("type") in THREAD_TYPES and isinstance(parent, str):
            self._parents[channel_id] = parent
        else:
            kind = channel.get("type")
            self._kinds[channel_id] = kind if isinstance(kind, int) else _UNKNOWN
            if "topic" in channel:
                self._topics[channel_id] = str(channel["topic"] or "")

    def learn_name(self, thing: dict[str, Any]) -> None:
        thing_id, name = thing.get("id"), thing.get("name")
        if isinstance(thing_id, str) and isinstance(name, str):
            if len(self._names) >= _MAX_NAMES:
                self._names.pop(next(iter(self._names)))
            self._names[thing_id] = name

    def changed(self, channel: dict[str, Any]) -> list[str]:
        """Return which of `name` and `topic` differ from the cached channel or thread.

        Discord also sends updates for other reasons. An uncached channel counts as unchanged.
        """
        own_id = str(channel.get("id"))
        names = self._names.get(own_id), channel.get("name")
        topics = self._topics.get(own_id), channel.get("topic") or ""
        values = {"name": names, "topic": topics if "topic" in channel else (None, None)}
        return [key for key, (before, now) in values.items() if before not in (None, now)]

    def is_forum(self, channel_id: str) -> bool:
        return self._kinds.get(channel_id) in FORUM_TYPES

    def is_thread_of(self, thread: str, channel: ChannelRef) -> bool:
        return self._parents.get(thread) == channel.channel

    def names_of(self, native_ids: Iterable[str]) -> dict[str, str]:
        return {
            native_id: self._names[native_id]
            for native_id in native_ids
            if native_id in self._names
        }

    async def channel_of(self, guild: str | None, channel_id: str) -> ChannelRef:
        """Return the channel of an event; for an event in a thread, the thread's parent.

        Raises PlatformError when a needed look-up fails.
        """
        if guild is None or channel_id in self._kinds:
            return ids.channel_ref(guild, channel_id)
        if channel_id not in self._parents:
            await self._look_up(channel_id)
        return ids.channel_ref(guild, self._parents.get(channel_id, channel_id))

    async def learn_name_of(self, thread: str) -> None:
        """Look up a thread's name unless it is cached. Raises PlatformError."""
        if thread not in self._names:
            await self._ask(thread)

    async def kind_of(self, channel_id: str) -> int:
        """Return the type of a channel that is not a thread; -1 when Discord hides it.

        Raises PlatformError.
        """
        if channel_id not in self._kinds:
            await self._look_up(channel_id)
        return self._kinds.get(channel_id, _UNKNOWN)

    async def _look_up(self, channel_id: str) -> None:
        key = ids.thread_key(channel_id)
        if stored := await self._key_values.get(key):
            self._parents[channel_id] = stored
            return
        if not await self._ask(channel_id):
            self._kinds[channel_id] = _UNKNOWN  # deleted, or hidden from the bot
        elif parent := self._parents.get(channel_id):
            await self._key_values.put(key, parent)

    async def _ask(self, channel_id: str) -> bool:
        """Request a channel and cache it; returns whether the bot may see it."""
        try:
            channel = await self._rest.request(
                "GET", f"/channels/{channel_id}", bucket=f"channel.get {channel_id}",
                doing=f"Looking up channel {channel_id!r}",
            )  # fmt: skip
        except (NotFound, Refused):
            return False
        self.learn_channel(channel if isinstance(channel, dict) else {})
        return True


def _objects(value: object) -> Iterable[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
