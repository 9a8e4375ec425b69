"""Reads back messages: to catch up after a gap, and to find a post whose answer was lost.

A post is put into the envelope of a live event with the same keys, so that both deduplicate.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from bridge.errors import NotFound
from bridge.model import AccountId, Call, ChannelRef, Raw, Receipt
from bridge.ports.clock import Clock
from connectors.slack import ids
from connectors.slack.capabilities import METADATA_TYPE, WHISPER
from connectors.slack.identity import OwnIdentity
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, dumped, object_at, objects_at, text_at, whole_at
from connectors.slack.rate_limits import Urgency
from connectors.slack.send import WebApi, receipt_of
from connectors.slack.shares import Shares

_PAGE = "999"  # docs.slack.dev conversations.history (2026-08); Slack may return fewer
_MAX_PAGES_BACK = 5
_FEW_THREADS = 3
_AN_HOUR = 3600.0
_SKEW = 300.0  # seconds that our clock may be ahead of Slack's


@dataclass(frozen=True)
class _Hurry:
    """The urgency of a read, and how long each of its requests waits for its turn."""

    urgency: Urgency
    wait_limit: float | None = None


_FOR_A_LANE = _Hurry(Urgency.LANE)


def _hurry(wait_limit: float | None) -> _Hurry:
    return _Hurry(Urgency.CATCH_UP if wait_limit is None else Urgency.LIVE, wait_limit)


@dataclass(frozen=True)
class History:
    """Reads the messages in the channels of one account, and finds our own posts there."""

    api: WebApi
    clock: Clock
    account: AccountId
    own_identity: OwnIdentity
    shares: Shares

    async def newest(self, channel: ChannelRef) -> str:
        """The order key of the newest post, or of the newest reply below one of the last 999 posts.

        An empty channel gives the key that precedes all others. Raises PlatformError.
        """
        page = await self.api.read("conversations.history", channel=channel.channel, limit=_PAGE)
        posts = objects_at(page, "messages")
        stamps = [text_at(post, key) for post in posts for key in ("ts", "latest_reply")]
        return max(
            (ids.order_key(ts) for ts in stamps if ids.is_ts(ts)), default=ids.order_key_at(0)
        )

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        """Yield the posts later than the cursor in the channel and its threads, oldest first.

        With `wait_limit` (seconds), live events of the channel wait for this read; see
        `PlatformHistory.read_after`. Raises PlatformError.
        """
        identity, now = await self.own_identity.get(), self.clock.time()
        after, hurry = ids.ts_of(cursor), _hurry(wait_limit)
        posts = _channel_posts(self.api, channel.channel, after, hurry)
        posts_by_ts = {ts: post async for ts, post in posts}
        roots = {ts for ts, post in posts_by_ts.items() if _has_news(post, cursor)}
        roots |= await _old_roots(self.api, channel.channel, cursor, threads, posts_by_ts, hurry)
        for root in sorted(roots):
            replies = _replies(self.api, channel.channel, root, after, hurry)
            posts_by_ts |= {ts: post async for ts, post in replies}
        for ts in sorted(posts_by_ts, key=ids.order_key):
            if ids.order_key(ts) > cursor:
                yield post_raw(self.account, identity, channel, posts_by_ts[ts], now)

    async def find(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        """Find the copy that a call made: the message that shares its files, or the post that has
        its operation and slot in the metadata.

        Returns None when there is none. Ephemeral messages cannot be found, so the bridge posts
        them again. Raises PlatformError, and Unavailable while Slack processes the files.
        """
        del changed
        if call.files and (receipt := await self.shares.find(call, after)):
            return receipt
        if call.method == WHISPER:
            return None
        begin = self.clock.time() - _AN_HOUR if since is None else since - _SKEW
        oldest = after or ids.ts_at(begin)
        channel = call.channel.channel
        if call.thread is not None:
            async for _ts, post in _replies(self.api, channel, call.thread, oldest, _FOR_A_LANE):
                if _is_copy(post, call) or _is_stream(post, call):
                    return receipt_of(call, post)
        # Slack posts into the channel when the thread's root is gone.
        async for _ts, post in _channel_posts(self.api, channel, oldest, _FOR_A_LANE):
            if _is_copy(post, call):
                return receipt_of(call, post)
        return None


def _is_copy(post: Json, call: Call) -> bool:
    metadata = object_at(post, "metadata")
    payload = object_at(metadata, "event_payload")
    return (
        metadata.get("event_type") == METADATA_TYPE
        and text_at(payload, "operation") == call.operation
        and whole_at(payload, "slot") == call.slot
    )


def _is_stream(post: Json, call: Call) -> bool:
    """Whether the post is our growing stream: streams have no metadata before they end, so the
    author's name must match."""
    growing = text_at(post, "streaming_state") == "in_progress"
    return growing and text_at(post, "username") == call.body.get("username")


async def _channel_posts(
    api: WebApi, channel: str, after: str, hurry: _Hurry
) -> AsyncIterator[tuple[str, Json]]:
    async for page in api.pages(
        "conversations.history", urgency=hurry.urgency,
        wait_limit=hurry.wait_limit, channel=channel,
        oldest=after, limit=_PAGE, include_all_metadata="true",
    ):  # fmt: skip
        for post in objects_at(page, "messages"):
            if ids.is_ts(ts := text_at(post, "ts")):
                yield ts, post


async def _replies(
    api: WebApi, channel: str, root: str, after: str, hurry: _Hurry
) -> AsyncIterator[tuple[str, Json]]:
    """Replies later than `after`; none when the thread was deleted."""
    try:
        async for page in api.pages(
            "conversations.replies", urgency=hurry.urgency, wait_limit=hurry.wait_limit,
            channel=channel, ts=root, oldest=after, limit=_PAGE, include_all_metadata="true",
        ):  # fmt: skip
            for post in objects_at(page, "messages"):
                if ids.is_ts(ts := text_at(post, "ts")) and ts != root:
                    yield ts, post
    except NotFound as error:
        if error.code not in ("thread_not_found", "message_not_found"):
            raise


def _has_news(post: Json, cursor: str) -> bool:
    """Whether this post's thread has a reply later than the cursor."""
    latest = text_at(post, "latest_reply")
    if ids.is_ts(latest):
        return ids.order_key(latest) > cursor
    return bool(whole_at(post, "reply_count"))


async def _old_roots(
    api: WebApi,
    channel: str,
    cursor: str,
    threads: Sequence[str],
    recent: Mapping[str, Json],
    hurry: _Hurry,
) -> set[str]:
    """The threads begun before the cursor that have later replies.

    Parent messages have the time of their latest reply, so a few pages of parents replace one
    request for each thread.
    """
    old = {ts for ts in threads if ids.is_ts(ts) and ts not in recent}
    if len(old) <= _FEW_THREADS:
        return old
    oldest = min(old, key=ids.order_key)
    news: set[str] = set()
    checked: set[str] = set()
    pages = 0
    async for page in api.pages(
        "conversations.history", urgency=hurry.urgency,
        wait_limit=hurry.wait_limit, channel=channel,
        oldest=oldest, latest=ids.ts_of(cursor), inclusive="true", limit=_PAGE,
    ):  # fmt: skip
        parents = {text_at(post, "ts"): post for post in objects_at(page, "messages")}
        checked |= parents.keys()
        news |= {ts for ts in old & parents.keys() if _has_news(parents[ts], cursor)}
        pages += 1
        if pages == _MAX_PAGES_BACK:
            return news | (old - checked)
    return news


def post_raw(
    account: AccountId, identity: Identity, channel: ChannelRef, post: Json, now: float
) -> Raw:
    """The inbox row of a post that was read at `now` (seconds since 1970)."""
    ts = text_at(post, "ts")
    event = {**post, "type": "message", "channel": channel.channel}
    key, order = ids.post_key(channel.channel, ts), ids.order_key(ts)
    return enveloped(account, identity, channel, event, now, key, order)


def enveloped(
    account: AccountId, identity: Identity, channel: ChannelRef, event: Json, now: float, key: str,
    order_key: str,
) -> Raw:  # fmt: skip
    """An event in the envelope of a live event, as an inbox row with the given keys."""
    body = {
        "type": "history",
        "team_id": identity.team,
        "our_bot_id": identity.bot,
        "authorizations": [{"team_id": identity.team, "user_id": identity.user, "is_bot": True}],
        "read_at": now,
        "event": event,
    }
    return Raw(
        account=account,
        kind="history",
        dedupe_key=key,
        order_key=order_key,
        channel=channel,
        payload=dumped(body),
    )
