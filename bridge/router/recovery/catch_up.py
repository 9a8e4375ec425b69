"""Reads the messages that were missed before a start or a new session, and lets them in before the
live events."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import structlog

from bridge.errors import BridgeError, RateLimited, Refused, StoreError
from bridge.model import AccountId, ChannelRef, MessagePosted, Raw
from bridge.ports.abilities.platform_history import PlatformHistory, Unreadable
from bridge.ports.clock import Clock
from bridge.ports.cluster import Cluster
from bridge.ports.connector import Connector
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.key_values import KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reactions import ReactionStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.router.inbound.queues import InboundQueues
from bridge.router.recovery.gaps import Gaps
from bridge.router.recovery.last_stop import AccountChannel, LastStop
from bridge.router.recovery.missed import Missed
from bridge.router.recovery.read_order import Places, Progress, Reading, Rounds
from bridge.router.recovery.reconcile import Compared, Reconciler, RequestLimit
from bridge.router.recovery.watchdog import ConnectionWatchdog
from bridge.router.runtime.decoding import readable_events
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import ReactionsCameLate
from bridge.runtime.keyed_locks import KeyedLocks

log = structlog.get_logger()

_ROUNDS = 3  # comparisons of a failing channel, each after those of the others
_SHORTEST_PAUSE = 0.25  # seconds, also where a platform asks for a shorter one
_STORE_PAUSES = 3  # times that the pause between attempts grows while the store fails

T = TypeVar("T")


@dataclass(frozen=True)
class _Read:
    """Every message up to `newest` is kept, except for those of one thread that came while another
    thread was read; none is missing up to `whole`, which was posted before the reading began.
    `run`: the number of the last gap before that. `first`: the channel is new to us, and begins
    there."""

    run: int
    newest: str
    whole: str
    first: bool = False


@dataclass(frozen=True)
class _Unread:
    """The platform does not let the account read the channel."""

    run: int


@dataclass(frozen=True)
class _Again:
    """Try again after `pause` seconds."""

    pause: float


class _CatchUpStore(
    RecoveryStore,
    ConversationStore,
    InboxStore,
    KeyValueStore,
    ReactionStore,
    MessageStore,
    Protocol,
):
    """What `CatchUp` needs of the store."""


class CatchUp:
    """Compares channels with their stored cursors.

    While a channel is read its live events are kept and wait; its cursor moves only when it is
    current, so that a crash in between loses nothing. Channels whose live events wait are read
    first. Where the platform's limits do not let a channel be read soon enough, its live events go
    on (`Timeouts.live_wait`), and what the reading finds comes after them.
    """

    def __init__(
        self,
        store: _CatchUpStore,
        connectors: Mapping[AccountId, Connector],
        queues: InboundQueues,
        reconciler: Reconciler,
        gaps: Gaps,
        watchdog: ConnectionWatchdog,
        last_stop: LastStop,
        cluster: Cluster,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._queues = queues
        self.reconciler = reconciler
        self._history_starts = reconciler.history_starts
        self._gaps = gaps
        self._watchdog = watchdog
        self._last_stop = last_stop
        self._cluster = cluster
        self._clock = clock
        self._timeouts = timeouts
        self._current: set[AccountChannel] = set()
        self._runs: dict[AccountChannel, int] = {}
        self._places: defaultdict[AccountId, Places] = defaultdict(Places)
        self._rounds = Rounds(clock)
        self._readings: defaultdict[str, set[Reading]] = defaultdict(set)
        self._covered: dict[AccountChannel, int] = {}  # the `run` of the last reading
        self._reading = KeyedLocks[AccountChannel]()
        self._failures: defaultdict[AccountChannel, int] = defaultdict(int)  # in a row
        self.behind = 0  # channels that are being read
        self._echoes: dict[tuple[AccountId, ChannelRef], str] = {}
        self._noted = 0.0
        self._awaited: set[AccountChannel] = set()
        self._read_until: dict[AccountChannel, str] = {}
        self._latest: dict[AccountChannel, str] = {}  # the latest order key of a live event
        self._comparing: dict[tuple[AccountId, ChannelRef], asyncio.Task[None]] = {}
        # Channels without a cursor that begin with a live post of this session.
        self._begun: set[AccountChannel] = set()

    def is_current(self, account: AccountId, channel: ChannelRef) -> bool:
        """Whether live events of the channel may move its cursor: it was read, and no post before
        them may have gone to another connection."""
        return (account, channel.key) in self._current and not self._last_stop.may_share(account)

    def may_begin_with(self, raw: Raw) -> bool:
        """Whether this may be the first live post of a channel that is still to be read."""
        if raw.channel is None or raw.echo is not None:
            return False
        key = (raw.account, raw.channel.key)
        return key in self._runs and key not in self._current and key not in self._begun

    async def begin_with(self, raw: Raw) -> None:
        """Note the first live post of a channel that was never read as the place where we began to
        listen: what follows it is read even if this process ends before it can read the channel.
        Raises StoreError."""
        events = readable_events(self._connectors[raw.account], raw)
        if raw.channel is None or not any(isinstance(event, MessagePosted) for event in events):
            return
        self._begun.add((raw.account, raw.channel.key))
        if await self._store.cursor(raw.account, raw.channel) is None:
            await self._history_starts.note(raw.account, raw.channel, raw.order_key)

    def live_event_received(self, raw: Raw) -> None:
        """Note the order key of a live event: a reading that begins from now on finds later
        messages, or all of them."""
        if raw.channel is not None:
            key = (raw.account, raw.channel.key)
            self._latest[key] = max(raw.order_key, self._latest.get(key, ""))

    def has_passed(self, raw: Raw) -> bool:
        """Whether the channel was read beyond this payload: a post that comes only now was deleted
        before the reading, or was in a thread that was not read just then."""
        channel = raw.channel
        return channel is not None and raw.order_key <= self._read_until.get(
            (raw.account, channel.key), ""
        )

    async def reactions_came_late(self, late: ReactionsCameLate) -> None:
        """Compare the channel soon, once: the events that undid these reactions may have come
        before them, or may never come."""
        account, channel = late.account, late.channel
        key = (account, channel)
        if key in self._comparing or self._connectors[account].abilities.read_back is None:
            return
        if (account, channel.key) not in self._runs:
            return  # another process reads the channel, and compares it then
        task = asyncio.create_task(self._compare_soon(account, channel), name="compare again")
        self._comparing[key] = task
        task.add_done_callback(lambda _: self._comparing.pop(key, None))

    async def _compare_soon(self, account: AccountId, channel: ChannelRef) -> None:
        key = (account, channel.key)
        run, request_limit = self._runs[key], self.reconciler.request_limit()
        compare = partial(self._compare, account, channel, run, request_limit)
        self.reconciler.behind += 1
        try:
            await self._clock.sleep(self._timeouts.compare_again)
            await self._while_store_fails(channel, compare)
        finally:
            self.reconciler.behind -= 1

    async def _compare(
        self, account: AccountId, channel: ChannelRef, run: int, request_limit: RequestLimit
    ) -> Compared:
        """Compare a channel that was read, unless a later session does. Raises StoreError."""
        key = (account, channel.key)
        until = await self._store.cursor(account, channel)
        if until is None or key not in self._current:
            return "whole"
        return await self.reconciler.read(
            account, channel, until, request_limit, lambda: self._runs.get(key) == run
        )

    async def echo_received(self, raw: Raw) -> None:
        """Move the cursor for our own posts, but not for each: to read a few again costs less.
        Raises StoreError."""
        if raw.channel is None or not self.is_current(raw.account, raw.channel):
            return
        self._echoes[raw.account, raw.channel] = raw.order_key
        if self._clock.time() - self._noted >= self._timeouts.echo_interval:
            await self._note_echoes()

    def may_follow_a_missed_post(self, raw: Raw) -> bool:
        """Whether this is a post, and one before it may have gone to another connection, which will
        bring it later or never."""
        if not self._last_stop.may_share(raw.account):
            return False
        events = readable_events(self._connectors[raw.account], raw)
        return any(isinstance(event, MessagePosted) for event in events)

    def live_event_kept(self, raw: Raw) -> None:
        """Read the channel of this live event, if it is held, before channels without live
        events."""
        if raw.channel is not None:
            for reading in self._readings.get(raw.channel.key, ()):
                reading.live_event_came()

    def progress(self, account: AccountId) -> Progress | None:
        """Return how far the account is with the events that it missed; None when it has read them
        all."""
        return self._rounds.progress(account)

    async def close(self) -> None:
        """Stop, and note how far each channel was read."""
        for task in list(self._comparing.values()):
            task.cancel()
        await asyncio.gather(*self._comparing.values(), return_exceptions=True)
        try:
            await self._note_echoes()
            await self._last_stop.note_stop(self._runs.keys() - self._current)
        except StoreError as error:
            log.warning("cursors_write_failed", error=str(error))

    async def _note_echoes(self) -> None:
        self._noted = self._clock.time()
        echoes, self._echoes = self._echoes, {}
        for (account, channel), key in echoes.items():
            await self._store.set_cursor(account, channel, key)

    def await_sessions(self, channels: Mapping[AccountId, list[ChannelRef]]) -> None:
        """Hold the channels at the start: rows that were stored before the last stop may be newer
        than missed messages, so they wait until their channel is read."""
        for account, inbound_channels in channels.items():
            if self._connectors[account].abilities.history is not None:
                for channel in inbound_channels:
                    if (account, channel.key) not in self._awaited:
                        self._awaited.add((account, channel.key))
                        self._queues.hold(channel.key)

    async def stop_awaiting(self, accounts: Collection[AccountId]) -> None:
        """Let the channels of those accounts go on that still have no session."""
        await self._clock.sleep(self._timeouts.first_session)
        for account, key in [awaited for awaited in self._awaited if awaited[0] in accounts]:
            log.warning("session_start_delayed", account=account, channel=key)
            self._queues.release(key)
            self._awaited.discard((account, key))

    async def let_go(self, account: AccountId) -> None:
        """Forget how far the account was read: another process reads it from now on. Raises
        StoreError."""
        comparing = [task for key, task in self._comparing.items() if key[0] == account]
        for task in comparing:
            task.cancel()
        await asyncio.gather(*comparing, return_exceptions=True)
        await self._note_echoes()
        own = {key for key in self._runs.keys() | self._awaited if key[0] == account}
        unread = [channel for _, channel in own - self._current]
        for key in own & self._awaited:
            self._queues.release(key[1])
        self._awaited -= own
        self._current -= own
        self._begun -= own
        for noted in (self._runs, self._covered, self._failures, self._read_until, self._latest):
            for key in own:
                noted.pop(key, None)
        self._rounds.forget(account)
        await self._last_stop.give_up(account, unread)

    def lose_sight_of(self, account: AccountId, channels: list[ChannelRef]) -> list[ChannelRef]:
        """Hold the channels until they are read, because events may have been missed. Returns those
        that can be read."""
        abilities = self._connectors[account].abilities
        if abilities.history is None:
            return []  # nor has it a cursor that could move
        compares = abilities.read_back is not None and self._timeouts.reconcile_window > 0
        self._rounds.begin(account, channels, compares=compares)
        for channel in channels:
            key = (account, channel.key)
            self._current.discard(key)
            self._begun.discard(key)
            self._runs[key] = self._runs.get(key, 0) + 1
            if key in self._awaited:
                self._awaited.discard(key)
            else:
                self._queues.hold(channel.key)
        return channels

    async def read_all(
        self, account: AccountId, channels: Sequence[ChannelRef], *, compare: bool = True
    ) -> None:
        """Read held channels, those with the latest messages first; then compare what changed, with
        `compare`."""
        self.reconciler.behind += 1
        gap, runs = (
            self._silence(account),
            {channel: self._runs[account, channel.key] for channel in channels},
        )
        try:
            latest_first = await self._latest_first(account, channels)
            async with asyncio.TaskGroup() as tasks:
                reads = {
                    channel: tasks.create_task(self.read(account, channel))
                    for channel in latest_first
                }
                await asyncio.wait(reads.values(), timeout=self._timeouts.reconcile_read_timeout)
                if compare:
                    await self._reconcile(account, reads, runs, gap)
        finally:
            self.reconciler.behind -= 1
            for channel in channels:
                if self._runs[account, channel.key] == runs[channel]:
                    self._rounds.read(account, channel)
                    self._rounds.compared(account, channel)

    async def _latest_first(
        self, account: AccountId, channels: Sequence[ChannelRef]
    ) -> Sequence[ChannelRef]:
        """The channels, those with the latest cursors first; in the given order where the store
        fails, because held channels must be read all the same."""
        try:
            cursors = {
                channel: await self._store.cursor(account, channel) or "" for channel in channels
            }
        except StoreError as error:
            log.warning("cursors_read_failed", account=account, error=str(error))
            return channels
        return sorted(channels, key=lambda channel: cursors[channel], reverse=True)

    async def _reconcile(
        self,
        account: AccountId,
        reads: Mapping[ChannelRef, asyncio.Task[None]],
        runs: Mapping[ChannelRef, int],
        gap: Unreadable | None,
    ) -> None:
        """One channel after the other: first those that have been read; what a later session reads
        is left to it. Where the request limit ends it before all is compared, the rooms are
        notified."""
        request_limit = self.reconciler.request_limit()
        first_read = sorted(reads, key=lambda read: not reads[read].done())
        waiting = deque((channel, 1) for channel in first_read)
        while waiting:
            channel, tries = waiting.popleft()
            await asyncio.wait({reads[channel]})
            self._rounds.compare_begins(account)
            compare = partial(self._compare, account, channel, runs[channel], request_limit)
            result = await self._while_store_fails(channel, compare)
            if result == "trouble" and tries < _ROUNDS:
                waiting.append((channel, tries + 1))
                continue
            if self._runs[account, channel.key] == runs[channel]:
                self._rounds.compared(account, channel)
            if result != "whole" and gap is not None:
                post = partial(self._gaps.post_uncompared, account, channel, gap)
                await self._while_store_fails(channel, post)

    async def read(self, account: AccountId, channel: ChannelRef) -> None:
        """Read one held channel until that succeeds, once for all sessions that began before it.

        After some failures, or where its live events would wait too long, the channel goes on
        unread: late messages are better than none.
        """
        key = (account, channel.key)
        run = self._runs[key]
        reading = self._reading_of(account, channel)
        letting_go = asyncio.create_task(self._let_go(account, channel, reading))
        self.behind += 1
        try:
            if self._queues.waits(channel.key):
                reading.live_event_came()
            attempt = partial(self._attempt, account, channel, run, reading)
            while again := await self._while_store_fails(channel, attempt):
                if reading.waits and again.pause > self._live_wait(account, channel):
                    self._end_hold(account, channel, reading)
                await self._clock.sleep(again.pause)
        finally:
            self.behind -= 1
            letting_go.cancel()
            self._forget(channel, reading)
            reading.end_hold()

    async def _attempt(
        self, account: AccountId, channel: ChannelRef, run: int, reading: Reading
    ) -> _Again | None:
        """Returns when to try again; None when the channel is read, or a later session waits for
        its turn to read it. Raises StoreError."""
        key = (account, channel.key)
        if self._failures[key] >= self._timeouts.catch_up_tries:
            reading.end_hold()
        async with self._reading.hold(key):
            if self._covered.get(key, 0) >= run or self._runs[key] != run:
                return None
            await self._work_off_known(account, channel, reading)
            result = await self._try(account, channel, reading)
            if isinstance(result, _Again):
                return result
            await self._go_on(account, channel, result)
            reading.end_hold()
            self._rounds.read(account, channel)
            await self._trust(account, channel, result)
            self._covered[key], self._failures[key] = result.run, 0
            return None

    async def _while_store_fails(self, channel: ChannelRef, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work for a channel, anew as long as the store fails: nobody could go on without
        it, and the live events that wait cannot be stored either."""
        failures = 0
        while True:
            try:
                return await work()
            except StoreError as error:
                pause = self._timeouts.backoff(min(failures, _STORE_PAUSES))
                failures += 1
                log.warning("catch_up_delayed", channel=channel.key, error=str(error), pause=pause)
                await self._clock.sleep(pause)

    def _reading_of(self, account: AccountId, channel: ChannelRef) -> Reading:
        reading = Reading(self._queues, channel.key, self._clock, self._timeouts.longest_live_wait)
        self._readings[channel.key].add(reading)
        return reading

    def _forget(self, channel: ChannelRef, reading: Reading) -> None:
        readings = self._readings[channel.key]
        readings.discard(reading)
        if not readings:
            del self._readings[channel.key]

    def _live_wait(self, account: AccountId, channel: ChannelRef) -> float:
        first = self._runs.get((account, channel.key), 0) <= 1
        return self._last_stop.live_wait(account, channel, first=first)

    async def _let_go(self, account: AccountId, channel: ChannelRef, reading: Reading) -> None:
        await reading.longest_wait_ends()
        self._end_hold(account, channel, reading)

    def _end_hold(self, account: AccountId, channel: ChannelRef, reading: Reading) -> None:
        if reading.end_hold():
            log.info("live_events_released", account=account, channel=channel.key)

    async def _work_off_known(
        self, account: AccountId, channel: ChannelRef, reading: Reading
    ) -> None:
        """Let in the kept events up to the cursor: nothing is missing before them. Nor is anything
        before the live events of a channel that was never read."""
        cursor = await self._known_until(account, channel)
        if cursor is None:
            reading.end_hold()
            return
        await self._queues.finish(channel.key, until=cursor)

    async def _known_until(self, account: AccountId, channel: ChannelRef) -> str | None:
        """The cursor; else where an earlier session began to listen. None where nothing was ever
        received, or only live posts of this session: nothing is missing before those."""
        cursor = await self._store.cursor(account, channel)
        if cursor is None and (account, channel.key) not in self._begun:
            return await self._history_starts.of(account, channel)
        return cursor

    async def _try(
        self, account: AccountId, channel: ChannelRef, reading: Reading
    ) -> _Read | _Unread | _Again:
        """What was read, or when to try again."""
        key = (account, channel.key)
        async with self._places[account].place(reading):
            run = self._runs[key]
            try:
                return await self._read_once(account, channel, run, reading)
            except Refused as error:
                log.warning("catch_up_rejected", channel=channel.key, error=str(error))
                await self._post_gap(account, channel)
                return _Unread(run)
            except RateLimited as error:
                return _Again(max(error.retry_after, _SHORTEST_PAUSE))
            except StoreError:
                raise
            except BridgeError as error:
                pause = self._timeouts.backoff(self._failures[key])
                self._failures[key] += 1
                log.warning("catch_up_delayed", channel=channel.key, error=str(error), pause=pause)
                return _Again(pause)

    async def _go_on(
        self, account: AccountId, channel: ChannelRef, result: _Read | _Unread
    ) -> None:
        """Let in what was found where a later session reads the channel anew: a connection that
        breaks again and again delays nothing."""
        if isinstance(result, _Read) and result.run != self._runs[account, channel.key]:
            await self._queues.finish(channel.key, until=result.newest)
            await self._store.set_cursor(account, channel, result.whole)

    async def _post_gap(self, account: AccountId, channel: ChannelRef) -> None:
        gap = self._silence(account)
        if gap is not None:
            await self._gaps.post(account, channel, gap)

    def _silence(self, account: AccountId) -> Unreadable | None:
        """The gap since this account last received something; None where it is too short to be
        announced."""
        return self._gap_since(self._watchdog.last(account))

    def _gap_since(self, since: float | None) -> Unreadable | None:
        now = self._clock.time()
        if since is None or now - since < self._timeouts.announce_after:
            return None
        return Unreadable(since, now)

    async def post_gap_at_start(self, account: AccountId) -> None:
        """Post after a start that messages are missing, for an account whose history cannot be
        read. Raises StoreError."""
        gap = self._gap_since(self._watchdog.away_since)
        if gap is not None and self._connectors[account].abilities.history is None:
            await self._gaps.post_in_all_rooms(account, gap)

    async def _trust(
        self, account: AccountId, channel: ChannelRef, result: _Read | _Unread
    ) -> None:
        """Move the cursor, and from now on with every live event.

        Not at once: a message that came in one thread while we read another is found by neither
        reading, and its live event may still be on the way. After a crash before it comes, catch-up
        must find the old cursor.
        """
        if isinstance(result, _Unread):
            return
        if not result.first:
            await self._clock.sleep(self._timeouts.catch_up_grace)
        if result.run == self._runs[account, channel.key]:
            await self._store.set_cursor(account, channel, result.newest)
            self._current.add((account, channel.key))

    async def _read_once(
        self, account: AccountId, channel: ChannelRef, run: int, reading: Reading
    ) -> _Read | _Unread:
        connector = self._connectors[account]
        history = connector.abilities.history
        if history is None:
            return _Unread(run)
        cursor = await self._known_until(account, channel)
        if cursor is None:
            newest = await history.newest(channel)
            await self._history_starts.note(account, channel, newest)
            return _Read(run, newest, newest, first=True)
        await self._history_starts.note(account, channel, cursor)
        key = (account, channel.key)
        whole = max(cursor, self._read_until.get(key, ""), self._latest.get(key, ""))
        # Nothing is missing up to the cursor, and what began a thread must be known as its root.
        await self._queues.finish(channel.key, until=cursor)
        since = self._clock.time() - self._timeouts.thread_window
        threads = await self._store.live_threads(channel, since)
        deadline = self._live_wait(account, channel)
        missed = await self._collect(history, channel, cursor, threads, reading, deadline)
        newest, count = cursor, 0
        for raw in missed.posts:
            row = await self._store.accept(raw, advance=False)
            newest = max(newest, raw.order_key)
            if row:
                count += 1
                self._queues.put(row)
        if count < len(missed.posts):
            # What another process kept of these may not be queued here yet.
            await self._cluster.hear()
        if count:
            log.info("catch_up_finished", channel=channel.key, found=count)
        for gap in missed.gaps(connector):
            await self._gaps.post(account, channel, gap)
        self._read_until[key] = newest
        return _Read(run, newest, min(whole, newest))

    async def _collect(
        self,
        history: PlatformHistory,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        reading: Reading,
        deadline: float,
    ) -> Missed:
        """What was missed. A reading that is not urgent begins anew, urgently, when a live event
        comes: it may be waiting for a limit behind all others."""

        async def collect() -> Missed:
            missed = Missed(self._timeouts.most_posts)
            limit = deadline if reading.waits else None
            async for item in history.read_after(channel, cursor, threads, wait_limit=limit):
                missed.add(item)
            return missed

        while True:
            missed = await reading.unless_live_event_comes(asyncio.create_task(collect()))
            if missed is not None:
                return missed
