"""The current posts of a channel and its threads, for the comparison with the archive; and single
posts.

Source: docs.slack.dev `conversations.history`, `conversations.replies` (2026-08).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bridge.errors import NotFound, Refused
from bridge.model import AccountId, ActorId, ChannelRef, Raw
from bridge.ports.abilities.past import PastPage, Span
from bridge.ports.abilities.platform_history import ChannelMetadata, Reactions, Standing, Stretch
from bridge.ports.clock import Clock
from connectors.slack import ids
from connectors.slack.decode import POST_SUBTYPES
from connectors.slack.emoji import emoji_to_reaction, reaction_to_emoji
from connectors.slack.history import enveloped, post_raw
from connectors.slack.identity import OwnIdentity
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, dumped, object_at, objects_at, text_at, whole_at
from connectors.slack.rate_limits import Urgency
from connectors.slack.send import WebApi

_PAGE = "999"
# `edited.ts` has whole seconds: the edit happened within that second.
WITHIN_SECONDS = 0.999999
_NO_THREAD = ("thread_not_found", "message_not_found")


class ReadBack:
    """The current state of the account's channels; missed changes as payloads of live events."""

    def __init__(
        self, api: WebApi, clock: Clock, account: AccountId, own_identity: OwnIdentity
    ) -> None:
        self._api = api
        self._clock = clock
        self._account = account
        self._own_identity = own_identity

    async def stretches(
        self, channel: ChannelRef, since: float, until: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        """Yield the posts between `since` (seconds since 1970) and `until` (an order key), the
        newest stretch first.

        Raises PlatformError.
        """
        reader = await self._reader(channel)
        async for stretch in reader.stretches(since, until, threads):
            yield stretch

    async def page(self, channel: ChannelRef, span: Span, position: str) -> PastPage:
        """A page of the channel, newest first; before the next one come the threads of its roots.

        Raises ValueError, PlatformError.
        """
        return await (await self._reader(channel)).page(span, _Position.read(position))

    def order_key(self, native_id: str) -> str | None:
        """The order key of a post, from its ts; None for another id."""
        return ids.order_key(native_id) if ids.is_ts(native_id) else None

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        """The deletion event that Slack would have sent."""
        event: Json = {
            "type": "message", "subtype": "message_deleted", "channel": channel.channel,
            "deleted_ts": native_id, "event_ts": ids.ts_at(at),
            "previous_message": {"ts": native_id} | ({"thread_ts": thread} if thread else {}),
        }  # fmt: skip
        key, order = ids.gone_key(channel.channel, native_id), ids.order_key_at(at)
        return enveloped(self._account, _nobody(channel), channel, event, at, key, order)

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        """One post with this ts; None when it is gone. Raises PlatformError."""
        return await (await self._reader(channel)).fetch(native_id, thread)

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        """All people who reacted with this emoji. Raises PlatformError."""
        return await (await self._reader(channel)).reactors(native_id, native)

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        """The event that Slack would have sent for a reaction that was added (`present`) or
        removed; None for an emoji or actor that is not Slack's."""
        name, actor_parts = emoji_to_reaction(emoji), ids.split_actor(actor)
        if name is None or actor_parts is None:
            return None
        event: Json = {
            "type": "reaction_added" if present else "reaction_removed", "user": actor_parts[1],
            "reaction": name, "event_ts": ids.ts_at(at),
            "item": {"type": "message", "channel": channel.channel, "ts": target},
        }  # fmt: skip
        key = ids.reaction_key(channel.channel, target, name, actor_parts[1], ids.ts_at(at))
        order = ids.order_key_at(at)
        return enveloped(self._account, _nobody(channel), channel, event, at, key, order)

    async def metadata(self, channel: ChannelRef) -> ChannelMetadata:
        """The pins of the channel. Raises PlatformError."""
        return await (await self._reader(channel)).metadata()

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        """The event that Slack would have sent for the removal of the pin that was set at `since`;
        nobody knows who removed it."""
        return _pin_raw(
            self._account, _nobody(channel), channel, "pin_removed", target, ids.NOBODY,
            ids.ts_at(since), ids.ts_at(at),
        )  # fmt: skip

    async def _reader(self, channel: ChannelRef) -> _ChannelReader:
        identity = await self._own_identity.get()
        return _ChannelReader(self._api, self._clock, self._account, identity, channel)


@dataclass(frozen=True)
class _Position:
    """Where the reading of a channel continues.

    - `before`: the ts before which the next page ends; empty: at the newest post; None: nowhere.
    - `roots`: the threads that come before that page.
    - `after`: the ts of the last reply that was read in the first of them.
    """

    before: str | None = ""
    roots: tuple[str, ...] = ()
    after: str = ""

    @classmethod
    def read(cls, position: str) -> _Position:
        """Raises ValueError."""
        if not position:
            return cls()
        match json.loads(position):
            case {"before": str() | None as before, "roots": [*roots], "after": str(after)}:
                return cls(before, tuple(map(str, roots)), after)
            case other:
                raise ValueError(f"It is no position in a channel of Slack: {other!r}")

    def write(self) -> str | None:
        if self.before is None and not self.roots:
            return None
        return dumped({"before": self.before, "roots": self.roots, "after": self.after}).decode()


@dataclass(frozen=True)
class _ChannelReader:
    """Reads one channel with the rights of this account."""

    api: WebApi
    clock: Clock
    account: AccountId
    identity: Identity
    channel: ChannelRef

    async def stretches(
        self, since: float, until: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        """Yield the channel from its newest page backwards, then its threads, the latest first.

        A thread whose posts are all deleted yields an empty stretch.
        """
        oldest, last = ids.order_key_at(since), until
        latest = {root: "" for root in threads if ids.is_ts(root)}
        async for page in self.api.pages(
            "conversations.history", urgency=Urgency.READ_BACK,
            channel=self.channel.channel, oldest=ids.ts_of(oldest),
            latest=ids.ts_of(until), inclusive="true", limit=_PAGE, include_all_metadata="true",
        ):  # fmt: skip
            posts = _posts(page)
            order_keys = [ids.order_key(text_at(post, "ts")) for post in posts]
            whole = not _more(page) and page.get("is_limited") is not True
            first = oldest if whole else min(order_keys, default="")
            if first:
                yield self._stretch(None, first, last, posts)
                last = ids.order_key_before(first)
            for post in posts:
                answered = text_at(post, "latest_reply")
                if ids.is_ts(answered) and ids.order_key(answered) >= oldest:
                    latest[text_at(post, "ts")] = answered
        for root in sorted(latest, key=lambda root: latest[root] or root, reverse=True):
            async for stretch in self._thread(root, oldest, until):
                yield stretch

    async def _thread(self, root: str, oldest: str, until: str) -> AsyncGenerator[Stretch, None]:
        first = oldest
        try:
            async for page in self.api.pages(
                "conversations.replies", urgency=Urgency.READ_BACK,
                channel=self.channel.channel, ts=root, oldest=ids.ts_of(oldest),
                latest=ids.ts_of(until), inclusive="true", limit=_PAGE, include_all_metadata="true",
            ):  # fmt: skip
                posts = [post for post in _posts(page) if text_at(post, "ts") != root]
                order_keys = [ids.order_key(text_at(post, "ts")) for post in posts]
                last = max(order_keys, default="") if _more(page) else until
                if last:
                    yield self._stretch(root, first, last, posts)
                    first = last
        except NotFound as error:
            if error.code not in _NO_THREAD:
                raise
            yield self._stretch(root, first, until, ())

    async def page(self, span: Span, position: _Position) -> PastPage:
        last = span.last if span.until is None else min(span.last, ids.order_key_at(span.until))
        bounds = {"oldest": ids.ts_at(span.since), "latest": ids.ts_of(last), "inclusive": "true"}
        if position.roots:
            return await self._page_of_thread(position, bounds)
        if position.before:
            bounds |= {"latest": position.before, "inclusive": "false"}
        page = await self._past("conversations.history", bounds)
        posts = _posts(page)
        stamps = [text_at(post, "ts") for post in posts]
        roots = tuple(ts for ts, post in zip(stamps, posts, strict=True) if post.get("reply_count"))
        before = min(stamps, key=ids.order_key) if stamps and _more(page) else None
        return PastPage(None, self._standings(posts), _Position(before, roots).write())

    async def _page_of_thread(self, position: _Position, bounds: Mapping[str, str]) -> PastPage:
        root, *others = position.roots
        oldest = {"oldest": position.after, "inclusive": "false"} if position.after else {}
        then = _Position(position.before, tuple(others))
        try:
            page = await self._past("conversations.replies", {**bounds, **oldest, "ts": root})
        except NotFound as error:
            if error.code not in _NO_THREAD:
                raise
            return PastPage(root, (), then.write())
        posts = [post for post in _posts(page) if text_at(post, "ts") != root]
        if posts and _more(page):
            after = max((text_at(post, "ts") for post in posts), key=ids.order_key)
            then = _Position(position.before, position.roots, after)
        return PastPage(root, self._standings(posts), then.write())

    async def _past(self, method: str, bounds: Mapping[str, str]) -> Json:
        query = {"channel": self.channel.channel, "limit": _PAGE, "include_all_metadata": "true"}
        return await self.api.page(method, Urgency.PAST, {**query, **bounds})

    async def fetch(self, ts: str, root: str | None) -> Raw | None:
        """A post of the channel or of a thread: Slack also finds a reply by its own ts."""
        try:
            page = await self.api.read(
                "conversations.replies", channel=self.channel.channel, ts=root or ts, oldest=ts,
                latest=ts, inclusive="true", include_all_metadata="true",
            )  # fmt: skip
        except NotFound as error:
            if error.code not in _NO_THREAD:
                raise
            return None
        matching = [
            post for post in _posts(page) if text_at(post, "ts") == ts and _has_content(post)
        ]
        return self._post(matching[0]) if matching else None

    def _stretch(self, thread: str | None, first: str, last: str, posts: Iterable[Json]) -> Stretch:
        return Stretch(thread, first, last, self._standings(posts))

    def _standings(self, posts: Iterable[Json]) -> tuple[Standing, ...]:
        return tuple(self._standing(post) for post in posts if _has_content(post))

    def _standing(self, post: Json) -> Standing:
        ts, edited = text_at(post, "ts"), text_at(post, "edited", "ts")
        own = (
            text_at(post, "bot_id") == self.identity.bot
            or text_at(post, "user") == self.identity.user
        )
        reactions = tuple(map(self._reactions, objects_at(post, "reactions")))
        if any(text_at(file, "mode") == "tombstone" for file in objects_at(post, "files")):
            # Slack does not tell when a file was deleted: the edit is reported once.
            now = self.clock.time()
            changed = {**post, "edited": {**object_at(post, "edited"), "ts": ids.ts_at(now)}}
            edit = self._edit(changed, ids.ts_at(now), key="without a file")
            return Standing(ts, self._post(post), edit, now, 0.0, own, reactions)
        if not ids.is_ts(edited):
            return Standing(ts, self._post(post), own=own, reactions=reactions)
        at, edit = ids.time_of(edited).timestamp(), self._edit(post, edited)
        return Standing(ts, self._post(post), edit, at, WITHIN_SECONDS, own, reactions)

    def _reactions(self, reaction: Json) -> Reactions:
        """Slack may omit people from the list, but not from the count."""
        name, users = text_at(reaction, "name"), reaction.get("users")
        listed = (
            [user for user in users if isinstance(user, str)] if isinstance(users, list) else []
        )
        others = tuple(
            ids.actor_id(self.identity.team, user) for user in listed if user != self.identity.user
        )
        count = whole_at(reaction, "count") or 0
        whole = count == len(listed)
        count -= len(listed) - len(others)
        return Reactions(reaction_to_emoji(name), count, name, others if whole else None)

    async def metadata(self) -> ChannelMetadata:
        """The pins. Catching up reads the changes of name and topic from the channel's messages."""
        try:
            answer = await self.api.read("pins.list", channel=self.channel.channel)
        except Refused:
            return ChannelMetadata()  # the app lacks the scope
        pins: dict[str, Raw] = {}
        for item in objects_at(answer, "items"):
            ts, by = text_at(item, "message", "ts"), text_at(item, "created_by")
            if ids.is_ts(ts):
                pins[ts] = self._pin(ts, by or ids.NOBODY, whole_at(item, "created") or 0)
        return ChannelMetadata(pins=pins)

    def _pin(self, ts: str, user: str, created: int) -> Raw:
        at = ids.ts_at(created)
        return _pin_raw(self.account, self.identity, self.channel, "pin_added", ts, user, at, at)

    async def reactors(self, ts: str, name: str) -> Sequence[ActorId]:
        """All people whom Slack lists for the reaction."""
        answer = await self.api.read(
            "reactions.get", channel=self.channel.channel, timestamp=ts, full="true"
        )
        listed = objects_at(object_at(answer, "message"), "reactions")
        matching = [
            self._reactions(reaction) for reaction in listed if text_at(reaction, "name") == name
        ]
        return matching[0].actors or () if matching else ()

    def _post(self, post: Json) -> Raw:
        return post_raw(self.account, self.identity, self.channel, post, self.clock.time())

    def _edit(self, post: Json, edited: str, key: str = "") -> Raw:
        content = {name: post.get(name) for name in ("text", "blocks", "attachments", "files")}
        digest = hashlib.sha256(dumped(content)).hexdigest()[:16]
        event = {
            "type": "message", "subtype": "message_changed", "channel": self.channel.channel,
            "message": post,
        }  # fmt: skip
        key = ids.edit_key(self.channel.channel, text_at(post, "ts"), key or edited, digest)
        now, order = self.clock.time(), ids.order_key(edited)
        return enveloped(self.account, self.identity, self.channel, event, now, key, order)


def _nobody(channel: ChannelRef) -> Identity:
    return Identity(team=channel.workspace, team_name="", user="", handle="", bot="")


def _pin_raw(
    account: AccountId, identity: Identity, channel: ChannelRef, kind: str, ts: str, user: str,
    since: str, at: str,
) -> Raw:  # fmt: skip
    item = {"type": "message", "channel": channel.channel, "message": {"ts": ts}}
    event: Json = {
        "type": kind, "user": user, "channel_id": channel.channel, "item": item, "event_ts": at,
    }  # fmt: skip
    key = ids.pin_key(kind, channel.channel, ts, since)
    return enveloped(account, identity, channel, event, float(at), key, ids.order_key(at))


def _posts(page: Json) -> list[Json]:
    return [post for post in objects_at(page, "messages") if ids.is_ts(text_at(post, "ts"))]


def _has_content(post: Json) -> bool:
    """Whether the post is neither a system message nor the tombstone of a deleted thread root."""
    return text_at(post, "subtype") in POST_SUBTYPES


def _more(page: Json) -> bool:
    return page.get("has_more") is True or bool(
        object_at(page, "response_metadata").get("next_cursor")
    )
