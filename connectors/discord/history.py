"""Reads messages back: after a cursor for catch-up, and to look for an unsettled post."""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog
from pydantic import JsonValue

from bridge.content.cards.parts import card_parts
from bridge.errors import CodecError, NotFound, PlatformError, Refused, Unavailable
from bridge.model import Call, ChannelRef, Raw, Receipt
from bridge.ports.abilities.platform_history import Unreadable
from bridge.ports.clock import Clock
from bridge.uacs import TextPart
from connectors.discord import ids
from connectors.discord.capabilities import FORUM_TYPES, SPOKEN_TYPES
from connectors.discord.cards import read_message
from connectors.discord.commands import ANSWER
from connectors.discord.identity import BotIdentity
from connectors.discord.places import Places
from connectors.discord.rest import Rest

log = structlog.get_logger()

_PAGE = 100
_HOUR_S = 3600.0
_SKEW_S = 300.0  # our clock may be ahead of Discord's by this much
_CUSTOM_EMOJI = re.compile(r"<a?:(\w+):\d+>")
_LARGEST_STEP = 1 << 22 << 36  # two years in snowflakes: no message lies beyond it

Message = dict[str, Any]
_BROKEN = "unreadable"  # the key that marks a skipped message; its value is an `Unreadable`


class History:
    """Reads messages through REST, oldest first."""

    def __init__(
        self,
        rest: Rest,
        clock: Clock,
        bot: BotIdentity,
        places: Places,
        wrap: Callable[..., Raw],
        learn: Callable[[ChannelRef, Message], Awaitable[None]],
    ) -> None:
        self._rest = rest
        self._clock = clock
        self._bot = bot
        self._places = places
        self._wrap = wrap
        self.learn = learn

    async def newest(self, channel: ChannelRef) -> str:
        """Return the order key of the newest message in the channel and its active threads.

        Raises PlatformError.
        """
        doing = f"Reading channel {channel.key!r}"
        channel_data = await self._ask(f"/channels/{channel.channel}", doing)
        places = [channel_data] if isinstance(channel_data, dict) else []
        if not ids.is_direct(channel):
            places += await self._active(channel)
        return ids.order_key(str(max((_last_message(place) for place in places), default=0)))

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw | Unreadable]:
        """Yield the messages of the channel and its threads after `cursor`, oldest first.

        `cursor` is an order key. A message that Discord cannot deliver is yielded as `Unreadable`.
        Raises PlatformError.
        """
        del wait_limit  # 50 requests a second: no caller waits long
        await self._bot.identity()
        after = int(ids.snowflake_of(cursor))
        sources = await self.places(channel, after, threads)
        heads: list[tuple[int, int, Message, AsyncIterator[Message]]] = []
        for number, source in enumerate(self._messages(place, after) for place in sources):
            if (first := await anext(source, None)) is not None:
                heads.append((int(first["id"]), number, first, source))
        heapq.heapify(heads)
        while heads:
            _, number, message, source = heapq.heappop(heads)
            if (broken := message.get(_BROKEN)) is None:
                await self.learn(channel, message)
                yield self._wrap("MESSAGE_CREATE", message, channel, "", None)
            else:
                yield broken
            if (next_message := await anext(source, None)) is not None:
                heapq.heappush(heads, (int(next_message["id"]), number, next_message, source))

    async def find(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        """Return the receipt of our oldest post after `after` that matches the call, or None.

        It has the same author name and, unless `changed`, the same words. Without `after` the
        search starts at `since` (seconds since 1970), or an hour ago. Raises PlatformError.
        """
        if call.method == ANSWER:
            return None  # only the asker sees it, and a retry replaces it
        identity = await self._bot.identity()
        start = self._clock.time() - _HOUR_S if since is None else since - _SKEW_S
        earliest = after or ids.first_snowflake_at(start)
        place = call.thread or call.channel.channel
        if call.thread is None and await self._is_forum(call.channel):
            return await self._find_forum_post(call, int(earliest), changed=changed)
        try:
            async for message in self._messages(place, int(earliest), strict=True):
                if _is_that_post(
                    message, call, identity.user, identity.application, changed=changed
                ):
                    return Receipt(slot=call.slot, native_id=message["id"], thread=call.thread)
        except NotFound:
            if call.thread is None:
                raise  # the channel itself is missing; a missing thread holds no post
        return None

    # --- where to look ----------------------------------------------------------------------

    async def places(
        self, channel: ChannelRef, after: int, threads: Sequence[str]
    ) -> Sequence[str]:
        """Return the ids of the channel and its threads with messages after `after`.

        A forum itself holds no messages and is left out. Of `threads`, those that belong to the
        channel are added, unless Discord lists them: the list says whether they have news, and each
        thread that is read costs one of 50 requests a second. Raises PlatformError.
        """
        if ids.is_direct(channel):
            return [channel.channel]
        places: dict[str, None] = {}
        if not await self._is_forum(channel):
            places[channel.channel] = None
        listed: set[str] = set()
        for thread in (*await self._active(channel), *await self._archived(channel, after)):
            self._places.learn_channel(thread)
            listed.add(str(thread["id"]))
            if _last_message(thread) > after:
                places[str(thread["id"])] = None
        unlisted = (
            thread
            for thread in threads
            if thread not in listed and self._places.is_thread_of(thread, channel)
        )
        return list(places | dict.fromkeys(unlisted))

    async def _is_forum(self, channel: ChannelRef) -> bool:
        """A forum holds threads and no messages of its own."""
        if ids.is_direct(channel):
            return False
        return await self._places.kind_of(channel.channel) in FORUM_TYPES

    async def _active(self, channel: ChannelRef) -> Sequence[dict[str, Any]]:
        path = f"/guilds/{channel.workspace}/threads/active"
        listed = await self._ask(path, f"Listing active threads of server {channel.workspace!r}")
        return [t for t in _objects_in(listed, "threads") if t.get("parent_id") == channel.channel]

    async def _archived(self, channel: ChannelRef, after: int) -> Sequence[dict[str, Any]]:
        """Return the public threads archived after snowflake `after`, the latest first."""
        since = ids.time_of(str(after))
        threads: list[dict[str, Any]] = []
        before = ""
        while True:
            query = {"limit": _PAGE} | ({"before": before} if before else {})
            path = f"/channels/{channel.channel}/threads/archived/public"
            try:
                answer = await self._ask(path, f"Listing threads of {channel.key!r}", query)
            except Refused:
                return threads  # channels of this type have no threads
            page = _objects_in(answer, "threads")
            threads += [thread for thread in page if _archived_at(thread) >= since]
            if not page or _archived_at(page[-1]) < since or not answer.get("has_more"):
                return threads
            before = str(page[-1]["thread_metadata"]["archive_timestamp"])

    # --- reading ----------------------------------------------------------------------------

    async def _messages(
        self, place: str, after: int, *, strict: bool = False
    ) -> AsyncIterator[Message]:
        """Yield the messages of one channel or thread, oldest first.

        Discord may answer a page with 500 because of one message in it (discord-api-docs #8611):
        smaller pages find the other messages, and the broken one is yielded as unreadable. `strict`
        raises instead.
        """
        limit = _PAGE
        while True:
            try:
                page = await self.page(place, {"after": after, "limit": limit})
            except PlatformError as error:
                if not _is_broken_page(error):
                    raise
                if limit > 1:
                    limit = max(1, limit // 10)
                    continue
                if strict:
                    raise
                log.warning("message_unreadable", channel=place, after=after, error=str(error))
                beyond, readable = await self._beyond_the_broken(place, after)
                yield {"id": str(after + 1), _BROKEN: self._unreadable(after, beyond)}
                for message in readable:
                    yield message
                if beyond is None:
                    return
                after, limit = beyond, _PAGE
                continue
            for message in page:
                if message.get("type") in SPOKEN_TYPES:
                    yield message
            if len(page) < limit:
                return
            after, limit = int(page[-1]["id"]), _PAGE

    async def _beyond_the_broken(
        self, place: str, after: int
    ) -> tuple[int | None, Sequence[Message]]:
        """Skip a message that Discord cannot deliver, then read back to it one by one."""
        step = 1 << 22  # a millisecond
        while step < _LARGEST_STEP:
            beyond = after + step
            try:
                page = await self.page(place, {"after": beyond, "limit": 1})
            except PlatformError as error:
                if not _is_broken_page(error):
                    raise
                step *= 2
                continue
            behind = await self._back_to_the_broken(place, after, beyond + 1)
            return (beyond if page else None), behind
        return None, ()

    async def _back_to_the_broken(self, place: str, after: int, before: int) -> Sequence[Message]:
        messages: list[Message] = []
        while True:
            try:
                page = await self.page(place, {"before": before, "limit": 1})
            except PlatformError as error:
                if not _is_broken_page(error):
                    raise
                return messages[::-1]
            if not page or int(page[0]["id"]) <= after:
                return messages[::-1]
            before = int(page[0]["id"])
            messages += [message for message in page if message.get("type") in SPOKEN_TYPES]

    def _unreadable(self, after: int, beyond: int | None) -> Unreadable:
        """Return the time range that holds at least one message that Discord cannot deliver."""
        now = self._clock.time()
        until = now if beyond is None else ids.time_of(str(beyond)).timestamp()
        return Unreadable(ids.time_of(str(after)).timestamp(), until)

    async def page(self, place: str, query: dict[str, str | int]) -> list[Message]:
        """Return one page of messages, oldest first (Discord sends the newest first).

        Raises PlatformError.
        """
        path = f"/channels/{place}/messages"
        answer = await self._ask(path, f"Reading channel {place!r}", query)
        page = [m for m in _objects(answer) if str(m.get("id", "")).isdecimal()]
        return sorted(page, key=lambda message: int(message["id"]))

    async def _find_forum_post(self, call: Call, after: int, *, changed: bool) -> Receipt | None:
        """A forum post is a thread; its first message has the thread's id."""
        identity = await self._bot.identity()
        for thread in await self._active(call.channel):
            if int(thread["id"]) <= after:
                continue
            place = str(thread["id"])
            async for message in self._messages(place, int(place) - 1, strict=True):
                if _is_that_post(
                    message, call, identity.user, identity.application, changed=changed
                ):
                    return Receipt(slot=call.slot, native_id=message["id"], thread=place)
        return None

    async def _ask(self, path: str, doing: str, query: dict[str, str | int] | None = None) -> Any:
        return await self._rest.request("GET", path, bucket=f"GET {path}", doing=doing, query=query)


def _is_broken_page(error: PlatformError) -> bool:
    return error.code == "500" and not isinstance(error, Unavailable | Refused)


def _is_that_post(
    message: Message, call: Call, user: str, application: str, *, changed: bool
) -> bool:
    author = message.get("author")
    if not isinstance(author, dict):
        return False
    if nonce := call.body.get("nonce"):
        ours = author.get("id") == user
        if ours and message.get("nonce") is not None:
            return message["nonce"] == nonce
        return ours and (changed or _has_same_words(message, call))
    return (
        message.get("application_id") == application
        and bool(message.get("webhook_id"))
        and _equal_texts(author.get("username"), call.body.get("username"))
        and (changed or _has_same_words(message, call))
    )


def _has_same_words(message: Message, call: Call) -> bool:
    """Compare the text, or all words of embeds and components; Discord changes none of those."""
    if "embeds" not in call.body and "components" not in call.body:
        return _equal_texts(message.get("content"), call.body.get("content") or "")
    return _words_in(message) == _words_in(call.body)


def _words_in(message: Mapping[str, JsonValue]) -> str:
    fields = {name: message.get(name) for name in ("content", "embeds", "components", "flags")}
    try:
        card = read_message({name: value for name, value in fields.items() if value})
    except CodecError:
        return ""
    return _comparable(
        "".join(
            card_part.part.text
            for card_part in card_parts(card.nodes)
            if isinstance(card_part.part, TextPart)
            and not (card_part.details is not None and card_part.details.repeats_alt)
        )
    )


def _equal_texts(text: object, other: object) -> bool:
    return (
        isinstance(text, str) and isinstance(other, str) and _comparable(text) == _comparable(other)
    )


def _comparable(text: str) -> str:
    """Return the text without what Discord may change.

    Discord trims text, drops invisible characters, and writes emoji that the bot may not use as
    `:name:`.
    """
    text_with_names = _CUSTOM_EMOJI.sub(r":\1:", text)
    return "".join(
        c for c in text_with_names if not c.isspace() and unicodedata.category(c) != "Cf"
    )


def _last_message(place: dict[str, Any]) -> int:
    last = place.get("last_message_id")
    return int(last) if isinstance(last, str) and last.isdecimal() else 0


def _archived_at(thread: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(thread["thread_metadata"]["archive_timestamp"])


def _objects_in(answer: object, key: str) -> list[dict[str, Any]]:
    return list(_objects(answer.get(key))) if isinstance(answer, dict) else []


def _objects(value: object) -> Iterable[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
