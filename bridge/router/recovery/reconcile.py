"""Compares channels with the archive after a gap: edits, deletions and posts that the bridge missed
go into the inbox as if they were live events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

import structlog

from bridge.content.text.emoji import canonical_emoji
from bridge.errors import BridgeError, RateLimited, Refused, StoreError
from bridge.model import AccountId, ActorId, ChannelRef, MessageId, Raw
from bridge.model.archive_records import ExpectedMessage, ExpectedPin
from bridge.ports.abilities import Abilities
from bridge.ports.abilities.platform_history import (
    ReadBack,
    Standing,
    Stretch,
)
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.key_values import KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reactions import ReactionStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.router.inbound.channel_metadata import held_pins, news_of, news_of_pin
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.inbound.queues import InboundQueues
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_SHORTEST_PAUSE = 0.25
_METADATA_REQUESTS = 2  # about

# How the comparison of a channel ended: nothing is left to compare (or a later comparison does it);
# the request limit ended it; the platform refused; the platform failed, and may be asked again.
Compared = Literal["whole", "ended", "refused", "trouble"]


@dataclass
class RequestLimit:
    """How many requests one comparison may still make."""

    left: int


@dataclass(frozen=True)
class _Comparison:
    """One channel while it is read back."""

    account: AccountId
    channel: ChannelRef
    abilities: Abilities
    read_back: ReadBack
    began: str
    held: Mapping[str, ExpectedMessage]
    pins: Mapping[str, ExpectedPin]


class _ReconcileStore(
    RecoveryStore, InboxStore, KeyValueStore, ReactionStore, MessageStore, Protocol
):
    """What `Reconciler` needs of the store."""


class Reconciler:
    """Compares channels with the archive after a gap. It is the least urgent work of all: one
    request at a time, with a pause after each."""

    def __init__(
        self,
        store: _ReconcileStore,
        connectors: Mapping[AccountId, Connector],
        queues: InboundQueues,
        history_starts: HistoryStarts,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._queues = queues
        self.history_starts = history_starts
        self._clock = clock
        self._timeouts = timeouts
        self.behind = 0  # channels that are being compared, or wait for that

    def request_limit(self) -> RequestLimit:
        return RequestLimit(self._timeouts.reconcile_requests)

    async def read(
        self,
        account: AccountId,
        channel: ChannelRef,
        until: str,
        request_limit: RequestLimit,
        is_latest_run: Callable[[], bool],
    ) -> Compared:
        """Compare one channel up to the order key `until`, while `is_latest_run` returns True; wait
        out some failures of the platform. Returns how it ended. Raises StoreError."""
        abilities = self._connectors[account].abilities
        if self._timeouts.reconcile_window <= 0:
            return "whole"
        failures = 0
        while is_latest_run() and failures < self._timeouts.catch_up_tries:
            try:
                return await self._read_once(
                    account, channel, abilities, until, request_limit, is_latest_run
                )
            except RateLimited as error:
                await self._clock.sleep(max(error.retry_after, _SHORTEST_PAUSE))
            except Refused as error:
                log.warning("reconcile_rejected", channel=channel.key, error=str(error))
                return "refused"
            except StoreError:
                raise
            except BridgeError as error:
                pause = self._timeouts.backoff(failures)
                failures += 1
                log.warning("reconcile_delayed", channel=channel.key, error=str(error), pause=pause)
                await self._clock.sleep(pause)
        return "trouble" if is_latest_run() else "whole"

    async def _read_once(
        self,
        account: AccountId,
        channel: ChannelRef,
        abilities: Abilities,
        until: str,
        request_limit: RequestLimit,
        is_latest_run: Callable[[], bool],
    ) -> Compared:
        if (read_back := abilities.read_back) is None:
            return "whole"
        began = await self.history_starts.of(account, channel)
        if request_limit.left <= 0:
            return "ended"
        if began is None:
            return "whole"
        await self._queues.worked_off(channel.key)  # what catch-up found is held, too
        await self._compare_metadata(account, channel, request_limit)
        since = self._clock.time() - self._timeouts.reconcile_window
        held_messages = await self._store.expected_messages(
            channel, since, limit=self._timeouts.reconcile_messages
        )
        if until <= began and not held_messages:
            return "whole"
        if len(held_messages) == self._timeouts.reconcile_messages:
            since = max(since, held_messages[-1].at)  # what is older is not compared
        by_id, pins = (
            {held_message.native_id: held_message for held_message in held_messages},
            await held_pins(self._store, channel),
        )
        comparison = _Comparison(account, channel, abilities, read_back, began, by_id, pins)
        threads = list(
            dict.fromkeys(
                held_message.thread for held_message in held_messages if held_message.thread
            )
        )
        count = 0
        stretches = read_back.stretches(channel, since, until, threads)
        async with aclosing(stretches) as reading:
            requested_at = self._clock.time()
            async for stretch in reading:
                request_limit.left -= 1
                count += await self._compare(comparison, stretch, requested_at)
                if request_limit.left <= 0 or not is_latest_run():
                    break
                await self._clock.sleep(self._timeouts.reconcile_pause)
                requested_at = self._clock.time()
        if count:
            log.info("reconcile_finished", channel=channel.key, found=count)
        if request_limit.left > 0 or not is_latest_run():
            return "whole"
        log.warning("reconcile_limited", account=account, channel=channel.key,
                    requests=self._timeouts.reconcile_requests)  # fmt: skip
        metrics.RECONCILE_LIMITED.labels(account).inc()
        return "ended"

    async def _compare_metadata(
        self, account: AccountId, channel: ChannelRef, request_limit: RequestLimit
    ) -> None:
        """Compare the channel's name, its topic and its pins."""
        connector = self._connectors[account]
        if connector.abilities.channel_metadata is None:
            return
        request_limit.left -= _METADATA_REQUESTS
        news = await news_of(self._store, connector, channel, self._clock.time())
        accepted = [await self._take(raw) for raw in news]
        if any(accepted):
            log.info(
                "reconcile_finished",
                channel=channel.key,
                found=sum(accepted),
                of="the channel itself",
            )
        await self._clock.sleep(self._timeouts.reconcile_pause)

    async def _compare(self, comparison: _Comparison, stretch: Stretch, requested_at: float) -> int:
        """The number of changes in the stretch that we did not know; `requested_at` is when the
        platform was asked for it."""
        count = 0
        new: list[Standing] = []
        for post in stretch.posts:
            held = comparison.held.get(post.native_id)
            if held is None:
                new.append(post)
            changes = (
                await self._changes_on(comparison, stretch, post, held.message, requested_at)
                if held
                else ()
            )
            for raw in (*_unknown_events(comparison, post), *changes):
                count += await self._take(raw)
        for raw in await self._changes_on_new(comparison, stretch, new, requested_at):
            count += await self._take(raw)
        now = self._clock.time()
        for missing_message in await self._gone(comparison, stretch):
            raw = comparison.read_back.gone(
                comparison.channel, missing_message.native_id, missing_message.thread, now
            )
            count += await self._take(raw)
        return count

    async def _changes_on_new(
        self,
        comparison: _Comparison,
        stretch: Stretch,
        posts: Sequence[Standing],
        requested_at: float,
    ) -> Sequence[Raw]:
        """The reactions and pins on posts that we did not hold before this comparison."""
        marked_posts = [post for post in posts if post.reactions or post.pin]
        if marked_posts:
            await self._queues.worked_off(comparison.channel.key)
        raws: list[Raw] = []
        for post in marked_posts:
            message = await self._store.resolve(comparison.channel, post.native_id)
            stored = await self._store.message(message) if message else None
            if message and stored and stored.state != "deleted":
                raws += await self._changes_on(comparison, stretch, post, message, requested_at)
        return raws

    async def _changes_on(
        self,
        comparison: _Comparison,
        stretch: Stretch,
        post: Standing,
        message: MessageId,
        requested_at: float,
    ) -> Sequence[Raw]:
        """The changes of the reactions and of the pin on this post."""
        return (
            *await self._changed_reactions(comparison, stretch, post, message, requested_at),
            *await self._changed_pin(comparison, post, requested_at),
        )

    async def _changed_pin(
        self, comparison: _Comparison, post: Standing, requested_at: float
    ) -> Sequence[Raw]:
        """The pin of this post, or the end of its pin, during the gap."""
        reader = comparison.abilities.channel_metadata
        if post.pin is None or reader is None:
            return ()
        raw = await news_of_pin(
            self._store,
            reader,
            comparison.channel,
            post.native_id,
            post.pin or None,
            comparison.pins,
            requested_at,
        )
        return (raw,) if raw else ()

    async def _changed_reactions(
        self,
        comparison: _Comparison,
        stretch: Stretch,
        post: Standing,
        message: MessageId,
        requested_at: float,
    ) -> Sequence[Raw]:
        """Reactions that were added to this post, or removed, during the gap."""
        reactors = comparison.abilities.reactors
        if reactors is None:
            return ()
        held_by_emoji: dict[str, set[ActorId]] = {}
        for reaction in await self._store.reactions(message):
            if (reaction.channel, reaction.target) == (comparison.channel, post.native_id):
                held_by_emoji.setdefault(reaction.emoji, set()).add(reaction.actor)
        changed: list[tuple[str, ActorId, bool]] = []
        for reaction in post.reactions:
            emoji = canonical_emoji(reaction.emoji)
            held_actors, actors = held_by_emoji.pop(emoji, set()), reaction.actors
            if actors is None:
                if reaction.count == len(held_actors):
                    continue
                actors = await reactors.reactors(
                    comparison.channel, post.native_id, stretch.thread, reaction.native
                )
            changed += [(emoji, actor, True) for actor in actors if actor not in held_actors]
            if len(actors) >= reaction.count:  # else the platform does not name all of them
                changed += [
                    (emoji, actor, False) for actor in sorted(held_actors.difference(actors))
                ]
        changed += [
            (emoji, actor, False) for emoji, all_ in held_by_emoji.items() for actor in sorted(all_)
        ]
        raws = [
            reactors.reacted(
                comparison.channel,
                post.native_id,
                stretch.thread,
                emoji,
                actor,
                requested_at,
                present=present,
            )
            for emoji, actor, present in changed
        ]
        return [raw for raw in raws if raw is not None]

    async def _gone(self, comparison: _Comparison, stretch: Stretch) -> Sequence[ExpectedMessage]:
        """The messages that we hold of the stretch and that the platform does not list there. The
        first of them is fetched by itself: a message that is merely not listed is not deleted."""
        standing = {post.native_id for post in stretch.posts}
        missing_messages = [
            held
            for held in comparison.held.values()
            if held.is_original
            and held.thread == stretch.thread
            and held.native_id not in standing
            and (key := comparison.read_back.order_key(held.native_id)) is not None
            and stretch.first <= key <= stretch.last
        ]
        if missing_messages and not await self._is_gone(comparison, missing_messages[0]):
            log.warning(
                "reconcile_doubted", channel=comparison.channel.key, missing=len(missing_messages)
            )
            return ()
        return missing_messages

    async def _is_gone(self, comparison: _Comparison, held: ExpectedMessage) -> bool:
        lookup = comparison.abilities.lookup
        if lookup is None:
            return True
        try:
            return await lookup.fetch(comparison.channel, held.native_id, held.thread) is None
        except Refused:  # it may not be seen
            return False

    async def _take(self, raw: Raw) -> bool:
        row = await self._store.accept(raw, advance=False)
        if row:
            metrics.KEPT.labels(raw.account).inc()
            self._queues.put(row)
        return row is not None


def _unknown_events(comparison: _Comparison, post: Standing) -> Sequence[Raw]:
    """What the post shows that we do not know: the post itself, its end, an edit."""
    held = comparison.held.get(post.native_id)
    if held is None:
        key = comparison.read_back.order_key(post.native_id)
        is_new = not post.own and key is not None and key > comparison.began
        return (post.post,) if is_new else ()
    raws = [post.ended] if held.is_original and post.ended else []
    if held.is_original and post.edit and post.edited + post.edited_within > held.changed:
        raws.append(post.edit)
    return raws
