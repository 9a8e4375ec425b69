"""Reads what a channel and its threads hold, to reconcile the archive with it; or one post.

Source: docs.discord.com resources/message "Get Channel Messages" (2026-08).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

from bridge.errors import NotFound, PlatformError, Refused
from bridge.model import ActorId, ChannelRef, Raw
from bridge.ports.abilities.past import PastPage, Span
from bridge.ports.abilities.platform_history import ChannelMetadata, Reactions, Standing, Stretch
from bridge.ports.clock import Clock
from connectors.discord import ids
from connectors.discord.capabilities import SPOKEN_TYPES
from connectors.discord.history import History
from connectors.discord.identity import BotIdentity
from connectors.discord.receive import has_result
from connectors.discord.rest import UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, Rest
from connectors.discord.unpinned import PINNED_MESSAGE, UNPINNED

_PAGE = 100
_PINS, _MAX_PAGES_OF_PINS = 50, 6  # a channel has at most 250 pins (docs, 2026-08)
_BEFORE_ALL = 0

Message = dict[str, Any]


class ReadBack:
    """Reads a channel backwards from the newest page.

    Without Read Message History Discord answers an empty page and no error, so an empty page does
    not prove that nothing is there (`fetch` does).
    """

    def __init__(
        self, rest: Rest, bot: BotIdentity, history: History, wrap: Callable[..., Raw], clock: Clock
    ) -> None:
        self._rest = rest
        self._clock = clock
        self._bot = bot
        self._history = history
        self._wrap = wrap
        self._listed: dict[str, Sequence[str]] = {}

    async def stretches(
        self, channel: ChannelRef, since: float, until: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        """Yield the messages of the channel, then of its threads, the latest thread first.

        The range is `since` (seconds since 1970) to the order key `until`. A forum has no messages
        of its own; a deleted thread yields an empty stretch. Raises PlatformError.
        """
        await self._bot.identity()
        oldest, newest = int(ids.first_snowflake_at(since)), int(ids.snowflake_of(until))
        places = await self._history.places(channel, oldest, ())
        thread_ids = {*places, *threads} - {channel.channel}
        if channel.channel in places:
            async for stretch in self._place(channel, None, oldest, newest):
                yield stretch
        for thread in sorted(thread_ids, key=int, reverse=True):
            try:
                async for stretch in self._place(channel, thread, oldest, newest):
                    yield stretch
            except (NotFound, Refused) as error:
                if (
                    error.code == UNKNOWN_CHANNEL
                ):  # any other code: the thread is hidden, its state unknown
                    keys = (ids.order_key(str(oldest)), ids.order_key(str(newest)))
                    yield Stretch(thread, *keys, ())

    async def _place(
        self, channel: ChannelRef, thread: str | None, oldest: int, newest: int
    ) -> AsyncGenerator[Stretch, None]:
        before = newest + 1
        while before > oldest:
            page = await self._history.page(
                thread or channel.channel, {"before": before, "limit": _PAGE}
            )
            first = int(page[0]["id"]) if len(page) == _PAGE else _BEFORE_ALL
            spoken = [message for message in page if message.get("type") in SPOKEN_TYPES]
            for message in spoken:
                await self._history.learn(channel, message)
            posts = tuple(self._standing(channel, message, thread) for message in spoken)
            keys = (ids.order_key(str(max(first, oldest))), ids.order_key(str(before - 1)))
            yield Stretch(thread, *keys, posts)
            before = first

    async def page(self, channel: ChannelRef, span: Span, position: str) -> PastPage:
        """A page of the channel or of one of its threads, which come behind it, the latest first. A
        position is the place and the id before which its next page ends: `123:456`.

        Raises ValueError, PlatformError.
        """
        await self._bot.identity()
        oldest = int(ids.first_snowflake_at(span.since))
        newest = int(ids.snowflake_of(span.last))
        if span.until is not None:
            newest = min(newest, int(ids.first_snowflake_at(span.until)))
        place, _, before = position.partition(":")
        places = await self._past_places(channel, oldest, is_first=not position)
        if not position:
            place, before = (places[0] if places else "", "")
        if not place:
            return PastPage(None, (), None)
        thread = None if place == channel.channel else place
        then = next((f"{later}:" for later in _behind(places, place)), None)
        try:
            page = await self._history.page(
                place, {"before": int(before) if before else newest + 1, "limit": _PAGE}
            )
        except (NotFound, Refused):
            if thread is None:
                raise
            return PastPage(thread, (), then)  # the thread is gone, or hidden
        inside = [message for message in page if int(message["id"]) >= oldest]
        spoken = [message for message in inside if message.get("type") in SPOKEN_TYPES]
        for message in spoken:
            await self._history.learn(channel, message)
        posts = tuple(self._standing(channel, message, thread) for message in spoken)
        if len(page) == _PAGE and len(inside) == len(page):
            then = f"{place}:{min(int(message['id']) for message in page)}"
        return PastPage(thread, posts, then)

    async def _past_places(
        self, channel: ChannelRef, oldest: int, *, is_first: bool
    ) -> Sequence[str]:
        """The channel, then its threads, the latest first. They are listed once in a process: it
        costs some requests, and a later thread belongs to live events."""
        if is_first or channel.key not in self._listed:
            found = await self._history.places(channel, oldest, ())
            threads = sorted({*found} - {channel.channel}, key=int, reverse=True)
            own = [channel.channel] if channel.channel in found else []
            self._listed[channel.key] = [*own, *threads]
        return self._listed[channel.key]

    def order_key(self, native_id: str) -> str | None:
        return ids.order_key(native_id) if native_id.isdecimal() else None

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        """Return the raw event that the gateway would have sent."""
        data = {"id": native_id, "channel_id": thread or channel.channel}
        return self._wrap("MESSAGE_DELETE", data, channel, "", at)

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        """Return the message as a raw event; None if it is deleted or its thread is.

        Only the codes "Unknown Message" and, for a thread, "Unknown Channel" prove a deletion.
        Raises PlatformError for all others, such as those of a hidden channel.
        """
        await self._bot.identity()
        place = thread or channel.channel
        try:
            message = await self._rest.request(
                "GET", f"/channels/{place}/messages/{native_id}", bucket=f"message.get {place}",
                doing=f"Reading message {native_id} of channel {place!r}",
            )  # fmt: skip
        except PlatformError as error:
            if error.code != UNKNOWN_MESSAGE and not (thread and error.code == UNKNOWN_CHANNEL):
                raise
            return None
        if not isinstance(message, dict) or message.get("type") not in SPOKEN_TYPES:
            return None
        await self._history.learn(channel, message)
        return self._wrap("MESSAGE_CREATE", message, channel, "", None)

    def _standing(self, channel: ChannelRef, message: Message, thread: str | None) -> Standing:
        stands = Standing(
            message["id"], self._wrap("MESSAGE_CREATE", message, channel, "", None),
            own=self._is_own(message), reactions=tuple(_reactions(message)),
            ended=self._ended(channel, message),
            pin=None if thread is None else self._pin_in(thread, channel, message),
        )  # fmt: skip
        edited = message.get("edited_timestamp")
        if not isinstance(edited, str):
            return stands
        edit = self._wrap("MESSAGE_UPDATE", message, channel, "", None)
        return replace(stands, edit=edit, edited=datetime.fromisoformat(edited).timestamp())

    def _pin_in(self, thread: str, channel: ChannelRef, message: Message) -> Raw | Literal[False]:
        """Return a raw pin event if the message is pinned; Discord does not say since when."""
        now = self._clock.time()
        data = {"id": message["id"], "channel_id": thread}
        pinned = message.get("pinned") is True
        return pinned and self._wrap(PINNED_MESSAGE, data, channel, f"read back {now}", now)

    def _ended(self, channel: ChannelRef, message: Message) -> Raw | None:
        """Return a raw update for a poll with final results; Discord does not say when it ended."""
        if not has_result(message):
            return None
        return self._wrap("MESSAGE_UPDATE", message, channel, "", self._clock.time())

    async def metadata(self, channel: ChannelRef) -> ChannelMetadata:
        """Return the channel's name, topic and pins; a thread's messages carry their own pins.

        Raises PlatformError.
        """
        path = f"/channels/{channel.channel}"
        doing = f"Reading channel {channel.channel!r}"
        channel_data = await self._rest.request("GET", path, bucket=f"GET {path}", doing=doing)
        if not isinstance(channel_data, dict) or ids.is_direct(channel):
            return ChannelMetadata()
        now = self._clock.time()
        updates = tuple(
            self._wrap("CHANNEL_UPDATE", channel_data, channel, f"{key} {now}", now, changed=[key])
            for key in ("name", "topic")
            if key in channel_data
        )
        return ChannelMetadata(updates, await self._pins(channel), of_threads=False)

    async def _pins(self, channel: ChannelRef) -> Mapping[str, Raw] | None:
        """Return the pins by message id; None if the bot may not read the channel's history.

        Without Read Message History Discord lists no pins, so an empty list is verified.
        """
        path = f"/channels/{channel.channel}/messages/pins"
        pins: dict[str, Raw] = {}
        query: dict[str, str | int] = {"limit": _PINS}
        for _ in range(_MAX_PAGES_OF_PINS):
            doing = f"Reading the pins of channel {channel.channel!r}"
            answer = await self._rest.request(
                "GET", path, bucket=f"GET {path}", doing=doing, query=query
            )
            items = answer.get("items") if isinstance(answer, dict) else None
            for item in items or ():
                message, at = item["message"], datetime.fromisoformat(item["pinned_at"])
                data = {"id": message["id"], "channel_id": channel.channel}
                pins[message["id"]] = self._wrap(
                    PINNED_MESSAGE, data, channel, item["pinned_at"], at.timestamp()
                )
                query["before"] = item["pinned_at"]
            if not items or not answer.get("has_more"):
                break
        if not pins and not await self._history.page(channel.channel, {"limit": 1}):
            return None
        return pins

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        """Return the first hundred users with this reaction, without our bot.

        `native` is the emoji or `name:id`. Raises PlatformError.
        """
        identity = await self._bot.identity()
        place = thread or channel.channel
        listed = await self._rest.request(
            "GET", f"/channels/{place}/messages/{native_id}/reactions/{quote(native, safe=':')}",
            bucket=f"reaction.list {place}", query={"limit": _PAGE},
            doing=f"Reading the reactions to message {native_id} of channel {place!r}",
        )  # fmt: skip
        users = (
            [user for user in listed if isinstance(user, dict)] if isinstance(listed, list) else []
        )
        return [
            ids.actor_id(channel, str(user["id"])) for user in users if user["id"] != identity.user
        ]

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        """Return the raw event that the gateway would have sent."""
        guild_and_user = ids.split_actor(actor)
        if guild_and_user is None:
            return None
        kind = "MESSAGE_REACTION_ADD" if present else "MESSAGE_REACTION_REMOVE"
        data = {
            "user_id": guild_and_user[1], "channel_id": thread or channel.channel,
            "message_id": target,
            "emoji": {"id": None, "name": emoji},
        }  # fmt: skip
        return self._wrap(
            kind, data, channel, f"read back {target} {emoji} {guild_and_user[1]} {at}", at
        )

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        """Return the raw event that the receiver makes of an unpinning."""
        data = {"id": target, "channel_id": thread or channel.channel}
        return self._wrap(UNPINNED, data, channel, f"read back {target} {since}", at)

    def _is_own(self, message: Message) -> bool:
        identity, author = self._bot.cached, message.get("author")
        if identity is None:
            return False
        by_bot = isinstance(author, dict) and author.get("id") == identity.user
        return by_bot or (message.get("application_id") == identity.application)


def _behind(places: Sequence[str], place: str) -> Sequence[str]:
    """The places that follow one; if it is no longer listed, the threads older than it."""
    if place in places:
        return places[places.index(place) + 1 :]
    return [other for other in places[1:] if int(other) < int(place)]


def _reactions(message: Message) -> Iterator[Reactions]:
    """Yield the count of each reaction, without our bot's own."""
    reactions = message.get("reactions")
    for reaction in reactions if isinstance(reactions, list) else ():
        emoji = reaction.get("emoji") or {}
        name, own_id = str(emoji.get("name") or ""), emoji.get("id")
        if name:
            native = f"{name}:{own_id}" if own_id else name
            count = int(reaction.get("count") or 0) - bool(reaction.get("me"))
            yield Reactions(f":{name}:" if own_id else name, count, native)
