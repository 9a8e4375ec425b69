"""After a start or a new session: what was said while nobody listened, before what is said now."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from bridge.errors import BridgeError, RateLimited, Refused, StoreError
from bridge.model import AccountId, ChannelRef, Raw
from bridge.ports.abilities.platform_history import PlatformHistory, Unreadable
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reactions import ReactionStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.inbound.queues import InboundQueues
from bridge.router.recovery.gaps import Gaps
from bridge.router.recovery.read_order import Places, Progress, Reading, Rounds
from bridge.router.recovery.reconcile import Reconciler
from bridge.router.recovery.watchdog import ConnectionWatchdog
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import ReactionsCameLate, Signal

log = structlog.get_logger()

_ROUNDS = 3  # times that a channel in trouble is looked back on, each time behind the others
_SHORTEST_PAUSE = 0.25  # seconds, also where a platform says that a moment will do
_STOPPED = "stopped"  # a value between a clean stop and the next start

_Heard = tuple[AccountId, str]  # a channel, by its key, as one account hears it


@dataclass(frozen=True)
class _Read:
    """Everything up to `newest` is kept, but for what was said in one thread while another was
    read; nothing is missing up to `whole`, which was said before the reading began. `run`: the last
    loss of sight before that. `first`: the channel is new to us, and begins there."""

    run: int
    newest: str
    whole: str
    first: bool = False


@dataclass(frozen=True)
class _Unread:
    """The platform will not tell."""

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
    on (`Timeouts.live_patience`), and what the reading finds comes after them.
    """

    def __init__(
        self,
        store: _CatchUpStore,
        connectors: Mapping[AccountId, Connector],
        sources: InboundQueues,
        beginnings: HistoryStarts,
        gaps: Gaps,
        watchdog: ConnectionWatchdog,
        clock: Clock,
        policy: Timeouts,
        reactions_came_late: Signal[ReactionsCameLate],
    ) -> None:
        reactions_came_late.subscribe(self._compare_again)
        self._store = store
        self._connectors = connectors
        self._sources = sources
        self._beginnings = beginnings
        self._gaps = gaps
        self._watchdog = watchdog
        self._clock = clock
        self._policy = policy
        self._current: set[_Heard] = set()
        self._runs: dict[_Heard, int] = {}
        self._places: defaultdict[AccountId, Places] = defaultdict(Places)
        self._rounds = Rounds(clock)
        self._readings: defaultdict[str, set[Reading]] = defaultdict(set)
        self._stopped: float | None = None  # when the last process stopped, if it could say so
        self._unread_at_stop: set[_Heard] = set()
        self._started = self._stopping_at = clock.time()
        self._covered: dict[_Heard, int] = {}  # the `run` of the last reading
        self._reading: defaultdict[_Heard, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._failures: defaultdict[_Heard, int] = defaultdict(int)  # in a row
        self.behind = 0  # channels that are being read
        self.look_back = Reconciler(store, connectors, sources, beginnings, clock, policy)
        self._echoes: dict[tuple[AccountId, ChannelRef], str] = {}
        self._noted = 0.0
        self._awaited: set[_Heard] = set()
        self._read_upto: dict[_Heard, str] = {}
        self._told: dict[_Heard, str] = {}  # the latest order key that was told live
        self._comparing: dict[ChannelRef, asyncio.Task[None]] = {}

    def is_current(self, account: AccountId, channel: ChannelRef) -> bool:
        """Whether live events of the channel may move its cursor."""
        return (account, channel.key) in self._current

    def told(self, raw: Raw) -> None:
        """What a reading that begins from now on finds was said after this, or is complete."""
        if raw.channel is not None:
            key = (raw.account, raw.channel.key)
            self._told[key] = max(raw.order_key, self._told.get(key, ""))

    def has_passed(self, raw: Raw) -> bool:
        """Whether its channel was read beyond it: a post that comes only now did not stand there
        any more, or was in a thread that was not read just then."""
        channel = raw.channel
        return channel is not None and raw.order_key <= self._read_upto.get(
            (raw.account, channel.key), ""
        )

    async def _compare_again(self, late: ReactionsCameLate) -> None:
        """Soon, once: something was told so late that what undid it may have been told before, or
        never will be."""
        account, channel = late.account, late.channel
        if channel in self._comparing or self._connectors[account].abilities.read_back is None:
            return
        task = asyncio.create_task(self._compare_soon(account, channel), name="compare again")
        self._comparing[channel] = task
        task.add_done_callback(lambda _: self._comparing.pop(channel, None))

    async def _compare_soon(self, account: AccountId, channel: ChannelRef) -> None:
        key = (account, channel.key)
        run = self._runs.get(key)
        self.look_back.behind += 1
        try:
            await self._clock.sleep(self._policy.compare_again)
            upto = await self._store.cursor(account, channel)
            if upto is not None:
                allowance = self.look_back.allowance()
                await self.look_back.read(
                    account, channel, upto, allowance, lambda: run == self._runs.get(key)
                )
        except StoreError as error:
            log.error("catch_up_failed", account=account, error=str(error))  # noqa: TRY400
        finally:
            self.look_back.behind -= 1

    async def heard_echo(self, raw: Raw) -> None:
        """Our own posts move the cursor too, but not one by one: to read a few again costs less."""
        if raw.channel is None or not self.is_current(raw.account, raw.channel):
            return
        self._echoes[raw.account, raw.channel] = raw.order_key
        if self._clock.time() - self._noted >= self._policy.echo_interval:
            await self._note_echoes()

    async def start(self) -> None:
        """Whether the last process stopped in order. That is told once: a crash leaves nothing."""
        found = await self._store.get_value(ROUTER_VALUES, _STOPPED)
        await self._store.remove_value(ROUTER_VALUES, _STOPPED)
        if found is not None:
            told = json.loads(found)
            self._stopped = float(told["at"])
            self._unread_at_stop = {(AccountId(one), key) for one, key in told["unread"]}

    def receivers_stop(self) -> None:
        """From now on nothing is heard any more."""
        self._stopping_at = self._clock.time()

    async def _note_stop(self) -> None:
        unread = sorted(self._runs.keys() - self._current)
        told = json.dumps({"at": self._stopping_at, "unread": unread})
        await self._store.put_value(ROUTER_VALUES, _STOPPED, told)

    def live_event_kept(self, raw: Raw) -> None:
        """Where its channel is held, it is read before those where nobody waits."""
        if raw.channel is not None:
            for reading in self._readings.get(raw.channel.key, ()):
                reading.live_event_came()

    def progress(self, account: AccountId) -> Progress | None:
        """How far the account is with what happened while nobody listened; None: done."""
        return self._rounds.progress(account)

    async def close(self) -> None:
        """Note how far we have heard."""
        for task in list(self._comparing.values()):
            task.cancel()
        await asyncio.gather(*self._comparing.values(), return_exceptions=True)
        try:
            await self._note_echoes()
            await self._note_stop()
        except StoreError as error:
            log.warning("cursors_write_failed", error=str(error))

    async def _note_echoes(self) -> None:
        self._noted = self._clock.time()
        echoes, self._echoes = self._echoes, {}
        for (account, channel), key in echoes.items():
            await self._store.set_cursor(account, channel, key)

    def await_sessions(self, channels: Mapping[AccountId, list[ChannelRef]]) -> None:
        """At the start: rows kept before the last stop may be newer than what was missed, so
        they wait until their channel is read."""
        for account, heard in channels.items():
            if self._connectors[account].abilities.history is not None:
                for channel in heard:
                    self._awaited.add((account, channel.key))
                    self._sources.hold(channel.key)

    async def stop_awaiting(self) -> None:
        """Accounts that still have no session let their channels go on."""
        await self._clock.sleep(self._policy.first_session)
        for account, key in self._awaited:
            log.warning("session_start_delayed", account=account, channel=key)
            self._sources.release(key)
        self._awaited.clear()

    def lose_sight_of(self, account: AccountId, channels: list[ChannelRef]) -> list[ChannelRef]:
        """Events may have been missed: hold the channels until they are read. Gives those."""
        abilities = self._connectors[account].abilities
        if abilities.history is None:
            return []  # nor has it a cursor that could move
        compares = abilities.read_back is not None and self._policy.look_back > 0
        self._rounds.begin(account, channels, compares=compares)
        for channel in channels:
            key = (account, channel.key)
            self._current.discard(key)
            self._runs[key] = self._runs.get(key, 0) + 1
            if key in self._awaited:
                self._awaited.discard(key)
            else:
                self._sources.hold(channel.key)
        return channels

    async def read_all(self, account: AccountId, channels: Sequence[ChannelRef]) -> None:
        """Read held channels, those with the latest news first; then look back on what changed."""
        self.look_back.behind += 1
        gap, runs = self._silence(account), {one: self._runs[account, one.key] for one in channels}
        try:
            latest_first = await self._latest_first(account, channels)
            async with asyncio.TaskGroup() as tasks:
                reads = {one: tasks.create_task(self.read(account, one)) for one in latest_first}
                await asyncio.wait(reads.values(), timeout=self._policy.look_back_patience)
                await self._look_back(account, reads, runs, gap)
        except StoreError as error:
            log.error("catch_up_failed", account=account, error=str(error))  # noqa: TRY400
        finally:
            self.look_back.behind -= 1
            for one in channels:
                if self._runs[account, one.key] == runs[one]:
                    self._rounds.read(account, one)
                    self._rounds.compared(account, one)

    async def _latest_first(
        self, account: AccountId, channels: Sequence[ChannelRef]
    ) -> Sequence[ChannelRef]:
        """As they come where the store does not tell: held channels must be read all the same."""
        try:
            cursors = {one: await self._store.cursor(account, one) or "" for one in channels}
        except StoreError as error:
            log.warning("cursors_read_failed", account=account, error=str(error))
            return channels
        return sorted(channels, key=lambda one: cursors[one], reverse=True)

    async def _look_back(
        self,
        account: AccountId,
        reads: Mapping[ChannelRef, asyncio.Task[None]],
        runs: Mapping[ChannelRef, int],
        gap: Unreadable | None,
    ) -> None:
        """One channel after the other: first those that have been read; what a later session reads
        is left to it. Where the budget ends before all is compared, that is said in the room."""
        allowance = self.look_back.allowance()
        first_read = sorted(reads, key=lambda one: not reads[one].done())
        waiting = deque((channel, 1) for channel in first_read)
        while waiting:
            channel, tries = waiting.popleft()
            await asyncio.wait({reads[channel]})

            def wanted(channel: ChannelRef = channel) -> bool:
                return self._runs[account, channel.key] == runs[channel]

            upto = await self._store.cursor(account, channel)
            if not wanted():
                continue
            if upto is None or not self.is_current(account, channel):
                self._rounds.compared(account, channel)
                continue
            self._rounds.compare_begins(account)
            how = await self.look_back.read(account, channel, upto, allowance, wanted)
            if how == "trouble" and tries < _ROUNDS:
                waiting.append((channel, tries + 1))
                continue
            if wanted():
                self._rounds.compared(account, channel)
            if how != "whole" and gap is not None:
                await self._gaps.tell_uncompared(account, channel, gap)

    async def read(self, account: AccountId, channel: ChannelRef) -> None:
        """Read one held channel until that succeeds, once for all sessions that began before it.

        After some failures the channel goes on unread: late news are better than none. So it does
        where its live events would wait too long.
        """
        key = (account, channel.key)
        run = self._runs[key]
        reading = self._reading_of(account, channel)
        letting_go = asyncio.create_task(self._let_go(account, channel, reading))
        self.behind += 1
        try:
            if self._sources.waits(channel.key):
                reading.live_event_came()
            while True:
                if self._failures[key] >= self._policy.catch_up_tries:
                    reading.end_hold()
                async with self._reading[key]:
                    if self._covered.get(key, 0) >= run or self._runs[key] != run:
                        break  # a later session waits for its turn, too
                    await self._work_off_known(account, channel, reading)
                    found = await self._try(account, channel, reading)
                    if not isinstance(found, _Again):
                        self._covered[key], self._failures[key] = found.run, 0
                        await self._go_on(account, channel, found)
                        reading.end_hold()
                        self._rounds.read(account, channel)
                        await self._trust(account, channel, found)
                        break
                if reading.waits and found.pause > self._patience(account, channel):
                    self._end_hold(account, channel, reading)
                await self._clock.sleep(found.pause)
        except StoreError as error:
            log.error("catch_up_failed", account=account, error=str(error))  # noqa: TRY400
        finally:
            self.behind -= 1
            letting_go.cancel()
            self._forget(channel, reading)
            reading.end_hold()

    def _reading_of(self, account: AccountId, channel: ChannelRef) -> Reading:
        reading = Reading(self._sources, channel.key, self._clock, self._policy.longest_live_wait)
        self._readings[channel.key].add(reading)
        return reading

    def _forget(self, channel: ChannelRef, reading: Reading) -> None:
        readings = self._readings[channel.key]
        readings.discard(reading)
        if not readings:
            del self._readings[channel.key]

    def _patience(self, account: AccountId, channel: ChannelRef) -> float:
        """How long live events wait for the platform's limits. Shorter in the first session after
        a clean stop a moment ago: what may have been missed was said within that moment."""
        key, stopped = (account, channel.key), self._stopped
        first = self._runs.get(key, 0) <= 1 and key not in self._unread_at_stop
        if stopped is None or not first or self._started - stopped > self._policy.clean_stop:
            return self._policy.live_patience
        return self._policy.clean_patience

    async def _let_go(self, account: AccountId, channel: ChannelRef, reading: Reading) -> None:
        await reading.patience_ends()
        self._end_hold(account, channel, reading)

    def _end_hold(self, account: AccountId, channel: ChannelRef, reading: Reading) -> None:
        if reading.end_hold():
            log.info("live_events_released", account=account, channel=channel.key)

    async def _work_off_known(
        self, account: AccountId, channel: ChannelRef, reading: Reading
    ) -> None:
        """What was kept before and is not later than the cursor misses nothing before it; nor do
        live events of a channel that was never read."""
        cursor = await self._store.cursor(account, channel)
        if cursor is None:
            reading.end_hold()
            return
        await self._sources.finish(channel.key, upto=cursor)

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
                await self._tell_unread(account, channel)
                return _Unread(run)
            except RateLimited as error:
                return _Again(max(error.retry_after, _SHORTEST_PAUSE))
            except BridgeError as error:
                pause = self._policy.backoff(self._failures[key])
                self._failures[key] += 1
                log.warning("catch_up_delayed", channel=channel.key, error=str(error), pause=pause)
                return _Again(pause)

    async def _go_on(self, account: AccountId, channel: ChannelRef, found: _Read | _Unread) -> None:
        """Where a later session has the channel read anew, what was found does not wait for it: a
        connection that breaks again and again holds nothing up."""
        if isinstance(found, _Read) and found.run != self._runs[account, channel.key]:
            await self._sources.finish(channel.key, upto=found.newest)
            await self._store.set_cursor(account, channel, found.whole)

    async def _tell_unread(self, account: AccountId, channel: ChannelRef) -> None:
        gap = self._silence(account)
        if gap is not None:
            await self._gaps.tell(account, channel, gap)

    def _silence(self, account: AccountId) -> Unreadable | None:
        """Since when this account heard nothing; None where that is not worth a word."""
        return self._gap_since(self._watchdog.last(account))

    def _gap_since(self, since: float | None) -> Unreadable | None:
        now = self._clock.time()
        if since is None or now - since < self._policy.announce_after:
            return None
        return Unreadable(since, now)

    async def tell_unheard(self, account: AccountId) -> None:
        """After a start: what was said meanwhile where nothing can be read back, whatever was heard
        since."""
        gap = self._gap_since(self._watchdog.away_since)
        if gap is not None and self._connectors[account].abilities.history is None:
            await self._gaps.tell_all(account, gap)

    async def _trust(self, account: AccountId, channel: ChannelRef, found: _Read | _Unread) -> None:
        """Move the cursor, and from now on with every live event.

        Not at once: what was said in one thread while we read another is found by neither, and
        its live event may still be on the way. A crash before it comes must find the old cursor.
        """
        if isinstance(found, _Unread):
            return
        if not found.first:
            await self._clock.sleep(self._policy.catch_up_grace)
        if found.run == self._runs[account, channel.key]:
            await self._store.set_cursor(account, channel, found.newest)
            self._current.add((account, channel.key))

    async def _read_once(
        self, account: AccountId, channel: ChannelRef, run: int, reading: Reading
    ) -> _Read | _Unread:
        connector = self._connectors[account]
        history = connector.abilities.history
        if history is None:
            return _Unread(run)
        cursor = await self._store.cursor(account, channel)
        if cursor is None:
            newest = await history.newest(channel)
            await self._beginnings.note(account, channel, newest)
            return _Read(run, newest, newest, first=True)
        await self._beginnings.note(account, channel, cursor)
        key = (account, channel.key)
        whole = max(cursor, self._read_upto.get(key, ""), self._told.get(key, ""))
        # Nothing is missing up to the cursor, and what began a thread must be known as its root.
        await self._sources.finish(channel.key, upto=cursor)
        since = self._clock.time() - self._policy.thread_window
        threads = await self._store.live_threads(channel, since)
        patience = self._patience(account, channel)
        missed = await self._collect(history, channel, cursor, threads, reading, patience)
        newest, kept = cursor, 0
        for raw in missed.posts:
            row = await self._store.accept(raw, advance=False)
            newest = max(newest, raw.order_key)
            if row:
                kept += 1
                self._sources.put(row)
        if kept:
            log.info("catch_up_finished", channel=channel.key, found=kept)
        for gap in missed.gaps(connector):
            await self._gaps.tell(account, channel, gap)
        self._read_upto[key] = newest
        return _Read(run, newest, min(whole, newest))

    async def _collect(
        self,
        history: PlatformHistory,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        reading: Reading,
        patience: float,
    ) -> _Missed:
        """What was missed. A reading that is not urgent begins anew, urgently, when a live event
        comes: it may be waiting for a limit behind all others."""

        async def collect() -> _Missed:
            missed = _Missed(self._policy.most_posts)
            wanted = patience if reading.waits else None
            async for found in history.read_after(channel, cursor, threads, patience=wanted):
                missed.add(found)
            return missed

        while True:
            missed = await reading.unless_live_event_comes(asyncio.create_task(collect()))
            if missed is not None:
                return missed


class _Missed:
    """What catch-up found of one channel: the newest posts, and what is left out of it."""

    def __init__(self, most: int) -> None:
        self.posts: deque[Raw] = deque()
        self._most = most
        self._left_out: list[Raw] = []  # the first and the last of them
        self._count = 0
        self._unreadable: list[Unreadable] = []

    def add(self, found: Raw | Unreadable) -> None:
        if isinstance(found, Unreadable):
            self._unreadable.append(found)
            return
        self.posts.append(found)
        if len(self.posts) > self._most:
            self._left_out = [*self._left_out[:1], self.posts.popleft()]
            self._count += 1

    def gaps(self, connector: Connector) -> Iterator[Unreadable]:
        yield from self._unreadable
        if self._left_out:
            first, last = self._left_out[0], self._left_out[-1]
            yield Unreadable(_said_at(connector, first), _said_at(connector, last), self._count)


def _said_at(connector: Connector, raw: Raw) -> float:
    try:
        return connector.decode(raw)[0].time.timestamp()
    except (BridgeError, IndexError):
        return 0.0
