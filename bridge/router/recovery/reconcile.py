"""After a gap: what stands is compared with what we hold; edits, deletions and posts that nobody
told us of go into the inbox as if they had just been heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

import structlog

from bridge.content.text.emoji import canonical_emoji
from bridge.errors import BridgeError, RateLimited, Refused
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
from bridge.router.inbound.channel_events import is_channel_event
from bridge.router.inbound.channel_metadata import held_pins, news_of, news_of_pin
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.inbound.queues import InboundQueues
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_SHORTEST_PAUSE = 0.25
_REQUESTS_OF_AFFAIRS = 2  # about

# How a look back of a channel went: nothing is left to compare (or a later one will); the budget
# ended it; the platform did not let us; it was in trouble, and may be asked again.
Compared = Literal["whole", "ended", "refused", "trouble"]


@dataclass
class Allowance:
    """How many requests one look back may still make."""

    left: int


@dataclass(frozen=True)
class _Channel:
    """One channel while it is read back."""

    account: AccountId
    channel: ChannelRef
    abilities: Abilities
    read_back: ReadBack
    began: str
    held: Mapping[str, ExpectedMessage]
    pins: Mapping[str, ExpectedPin]


class _LookBackStore(
    RecoveryStore, InboxStore, KeyValueStore, ReactionStore, MessageStore, Protocol
):
    """What `Reconciler` needs of the store."""


class Reconciler:
    """The least urgent of all: one request at a time, with a pause after each."""

    def __init__(
        self,
        store: _LookBackStore,
        connectors: Mapping[AccountId, Connector],
        sources: InboundQueues,
        beginnings: HistoryStarts,
        clock: Clock,
        policy: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._sources = sources
        self._beginnings = beginnings
        self._clock = clock
        self._policy = policy
        self.behind = 0  # channels that are being looked at, or wait for it

    def allowance(self) -> Allowance:
        return Allowance(self._policy.look_back_requests)

    async def read(
        self,
        account: AccountId,
        channel: ChannelRef,
        upto: str,
        allowance: Allowance,
        wanted: Callable[[], bool],
    ) -> Compared:
        """Compare one channel up to this order key, while `wanted`; some trouble is waited out."""
        abilities = self._connectors[account].abilities
        if self._policy.look_back <= 0:
            return "whole"
        failures = 0
        while wanted() and failures < self._policy.catch_up_tries:
            try:
                return await self._read_once(account, channel, abilities, upto, allowance, wanted)
            except RateLimited as error:
                await self._clock.sleep(max(error.retry_after, _SHORTEST_PAUSE))
            except Refused as error:
                log.warning("reconcile_rejected", channel=channel.key, error=str(error))
                return "refused"
            except BridgeError as error:
                pause = self._policy.backoff(failures)
                failures += 1
                log.warning("reconcile_delayed", channel=channel.key, error=str(error), pause=pause)
                await self._clock.sleep(pause)
        return "trouble" if wanted() else "whole"

    async def _read_once(
        self,
        account: AccountId,
        channel: ChannelRef,
        abilities: Abilities,
        upto: str,
        allowance: Allowance,
        wanted: Callable[[], bool],
    ) -> Compared:
        if (read_back := abilities.read_back) is None:
            return "whole"
        began = await self._beginnings.of(account, channel)
        if allowance.left <= 0:
            return "ended"
        if began is None:
            return "whole"
        await self._sources.worked_off(channel.key)  # what catch-up found is held, too
        await self._read_affairs(account, channel, allowance)
        if upto <= began:
            return "whole"
        since = self._clock.time() - self._policy.look_back
        held = await self._store.expected_messages(
            channel, since, limit=self._policy.look_back_messages
        )
        if len(held) == self._policy.look_back_messages:
            since = max(since, held[-1].at)  # what is older is not compared
        by_id, pins = {one.native_id: one for one in held}, await held_pins(self._store, channel)
        here = _Channel(account, channel, abilities, read_back, began, by_id, pins)
        threads = list(dict.fromkeys(one.thread for one in held if one.thread))
        found = 0
        stretches = read_back.stretches(channel, since, upto, threads)
        async with aclosing(stretches) as reading:
            asked = self._clock.time()
            async for stretch in reading:
                allowance.left -= 1
                found += await self._compare(here, stretch, asked)
                if allowance.left <= 0 or not wanted():
                    break
                await self._clock.sleep(self._policy.look_back_pause)
                asked = self._clock.time()
        if found:
            log.info("reconcile_finished", channel=channel.key, found=found)
        if allowance.left > 0 or not wanted():
            return "whole"
        log.warning("reconcile_limited", account=account, channel=channel.key,
                    requests=self._policy.look_back_requests)  # fmt: skip
        metrics.RECONCILE_LIMITED.labels(account).inc()
        return "ended"

    async def _read_affairs(
        self, account: AccountId, channel: ChannelRef, allowance: Allowance
    ) -> None:
        """Its name, its topic and its pins."""
        connector = self._connectors[account]
        if connector.abilities.channel_metadata is None:
            return
        allowance.left -= _REQUESTS_OF_AFFAIRS
        news = await news_of(self._store, connector, channel, self._clock.time())
        found = [await self._take(raw) for raw in news]
        if any(found):
            log.info(
                "reconcile_finished", channel=channel.key, found=sum(found), of="the channel itself"
            )
        await self._clock.sleep(self._policy.look_back_pause)

    async def _compare(self, here: _Channel, stretch: Stretch, asked: float) -> int:
        """How much in it nobody had told us; it was asked for at `asked`."""
        found = 0
        new: list[Standing] = []
        for post in stretch.posts:
            known = here.held.get(post.native_id)
            if known is None:
                new.append(post)
            marks = await self._marks(here, stretch, post, known.message, asked) if known else ()
            pin = await self._pin(here, post, asked) if known else ()
            for raw in (*_news(here, post), *marks, *pin):
                found += await self._take(raw)
        for raw in await self._marks_of_new(here, stretch, new, asked):
            found += await self._take(raw)
        now = self._clock.time()
        for one in await self._gone(here, stretch):
            raw = here.read_back.gone(here.channel, one.native_id, one.thread, now)
            found += await self._take(raw)
        return found

    async def _marks_of_new(
        self, here: _Channel, stretch: Stretch, posts: Sequence[Standing], asked: float
    ) -> Sequence[Raw]:
        """Of posts that we did not hold: those that came in now, or just before."""
        marked = [post for post in posts if post.reactions or post.pin]
        if marked:
            await self._sources.worked_off(here.channel.key)
        found: list[Raw] = []
        for post in marked:
            message = await self._store.resolve(here.channel, post.native_id)
            stored = await self._store.message(message) if message else None
            if message and stored and stored.state != "deleted":
                found += await self._marks(here, stretch, post, message, asked)
                found += await self._pin(here, post, asked)
        return found

    async def _pin(self, here: _Channel, post: Standing, asked: float) -> Sequence[Raw]:
        """That this post was pinned, or its pin taken away, while nobody listened."""
        reader = here.abilities.channel_metadata
        if post.pin is None or reader is None:
            return ()
        found = await news_of_pin(
            self._store, reader, here.channel, post.native_id, post.pin or None, here.pins, asked
        )
        return (found,) if found else ()

    async def _marks(
        self, here: _Channel, stretch: Stretch, post: Standing, message: MessageId, asked: float
    ) -> Sequence[Raw]:
        """Reactions that were put on this post, or taken back, while nobody listened."""
        reactors = here.abilities.reactors
        if reactors is None:
            return ()
        held: dict[str, set[ActorId]] = {}
        for one in await self._store.reactions(message):
            if (one.channel, one.target) == (here.channel, post.native_id):
                held.setdefault(one.emoji, set()).add(one.actor)
        changed: list[tuple[str, ActorId, bool]] = []
        for one in post.reactions:
            emoji = canonical_emoji(one.emoji)
            kept, actors = held.pop(emoji, set()), one.actors
            if actors is None:
                if one.count == len(kept):
                    continue
                actors = await reactors.reactors(
                    here.channel, post.native_id, stretch.thread, one.native
                )
            changed += [(emoji, actor, True) for actor in actors if actor not in kept]
            if len(actors) >= one.count:  # else not all of them are told
                changed += [(emoji, actor, False) for actor in sorted(kept.difference(actors))]
        changed += [(emoji, actor, False) for emoji, all_ in held.items() for actor in sorted(all_)]
        raws = [
            reactors.reacted(
                here.channel, post.native_id, stretch.thread, emoji, actor, asked, present=present
            )
            for emoji, actor, present in changed
        ]
        return [raw for raw in raws if raw is not None]

    async def _gone(self, here: _Channel, stretch: Stretch) -> Sequence[ExpectedMessage]:
        """What we hold of the stretch and does not stand there. One of them is asked for by
        itself first: what the platform merely does not show is not gone."""
        standing = {post.native_id for post in stretch.posts}
        missing = [
            one
            for one in here.held.values()
            if one.is_original
            and not is_channel_event(one.native_id)
            and one.thread == stretch.thread
            and one.native_id not in standing
            and stretch.first <= here.read_back.order_key(one.native_id) <= stretch.last
        ]
        if missing and not await self._is_gone(here, missing[0]):
            log.warning("reconcile_doubted", channel=here.channel.key, missing=len(missing))
            return ()
        return missing

    async def _is_gone(self, here: _Channel, one: ExpectedMessage) -> bool:
        lookup = here.abilities.lookup
        if lookup is None:
            return True
        try:
            return await lookup.fetch(here.channel, one.native_id, one.thread) is None
        except Refused:  # it may not be seen
            return False

    async def _take(self, raw: Raw) -> bool:
        row = await self._store.accept(raw, advance=False)
        if row:
            metrics.KEPT.labels(raw.account).inc()
            self._sources.put(row)
        return row is not None


def _news(here: _Channel, post: Standing) -> Sequence[Raw]:
    """What this post tells that we do not know."""
    known = here.held.get(post.native_id)
    if known is None:
        unheard = not post.own and here.read_back.order_key(post.native_id) > here.began
        return (post.post,) if unheard else ()
    news = [post.ended] if known.is_original and post.ended else []
    if known.is_original and post.edit and post.edited + post.edited_within > known.changed:
        news.append(post.edit)
    return news
