"""Which held channels are read first, how long live events wait for that, and how far it is."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from bridge.model import AccountId, ChannelRef
from bridge.ports.clock import Clock
from bridge.router.inbound.queues import InboundQueues

_AT_ONCE = 4  # channels of an account that are read side by side: its limits are few
_LIVE_AT_ONCE = 12  # further channels of an account, those whose live events wait
_NAMED = 5  # channels that a Progress names

T = TypeVar("T")


class Reading:
    """The reading of one held channel, and the live events that wait for it.

    `waits`: live events came, and the channel is still held for them. They wait `longest` seconds
    at most; then the channel goes on unread, and what the reading finds comes after them.
    """

    def __init__(self, queues: InboundQueues, key: str, clock: Clock, longest: float) -> None:
        self.came = asyncio.Event()
        self._queues: InboundQueues | None = queues
        self._key = key
        self._clock = clock
        self._longest = longest

    @property
    def is_held(self) -> bool:
        return self._queues is not None

    @property
    def waits(self) -> bool:
        return self.came.is_set() and self.is_held

    def live_event_came(self) -> None:
        self.came.set()

    def end_hold(self) -> bool:
        """Let the channel's events go on; False where they do already."""
        queues, self._queues = self._queues, None
        if queues is not None:
            queues.release(self._key)
        return queues is not None

    async def longest_wait_ends(self) -> None:
        """Returns when its live events have waited long enough; never while there are none."""
        await self.came.wait()
        await self._clock.sleep(self._longest)

    async def unless_live_event_comes(self, work: asyncio.Task[T]) -> T | None:
        """The result of the work; None, and the work cancelled, where a live event comes before
        it is done. Where one came already, nothing interrupts the work."""
        if self.came.is_set():
            return await work
        coming = asyncio.create_task(self.came.wait())
        try:
            await asyncio.wait({work, coming}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            coming.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
        return None if work.cancelled() else work.result()


class Places:
    """How many channels of an account are read side by side: a few, and some more for which live
    events wait."""

    def __init__(self) -> None:
        self._usual = asyncio.Semaphore(_AT_ONCE)
        self._live = asyncio.Semaphore(_LIVE_AT_ONCE)

    @asynccontextmanager
    async def place(self, reading: Reading) -> AsyncGenerator[None]:
        """Wait for a place; a live event that comes meanwhile takes the reading to the front."""
        entered = await self._enter(reading)
        try:
            yield
        finally:
            entered.release()

    async def _enter(self, reading: Reading) -> asyncio.Semaphore:
        if not reading.waits:
            entering = asyncio.create_task(self._usual.acquire())
            if reading.came.is_set():  # its events went on unread
                await entering
                return self._usual
            if await reading.unless_live_event_comes(entering):
                return self._usual
        await self._live.acquire()
        return self._live


@dataclass(frozen=True)
class Progress:
    """How far an account is after a gap.

    Of `channels` in all, `unread` are still to be read for missed messages, `uncompared`
    for edits, deletions and reactions; `waiting` names some of those. `seconds_left` is an
    estimate; None while nothing is known to base it on.
    """

    channels: int
    unread: int
    uncompared: int
    since: float
    seconds_left: float | None
    waiting: Sequence[str] = ()


@dataclass
class _Round:
    """What is to do of one account since it last lost sight of channels with nothing left to do."""

    began: float
    channels: set[str] = field(default_factory=set[str])
    unread: set[str] = field(default_factory=set[str])
    uncompared: set[str] = field(default_factory=set[str])
    compared: int = 0
    compare_began: float | None = None


class Rounds:
    """Counts what is read and compared, account by account."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rounds: dict[AccountId, _Round] = {}
        self._read: defaultdict[AccountId, int] = defaultdict(int)

    def forget(self, account: AccountId) -> None:
        """Count nothing more of an account that another process reads."""
        self._rounds.pop(account, None)
        self._read.pop(account, None)

    def begin(self, account: AccountId, channels: Sequence[ChannelRef], *, compares: bool) -> None:
        round_ = self._rounds.get(account)
        if round_ is None or not (round_.unread or round_.uncompared):
            round_ = self._rounds[account] = _Round(self._clock.time())
        keys = {channel.key for channel in channels}
        round_.channels |= keys
        round_.unread |= keys
        if compares:
            round_.uncompared |= keys

    def compare_begins(self, account: AccountId) -> None:
        round_ = self._rounds.get(account)
        if round_ is not None and round_.compare_began is None:
            round_.compare_began = self._clock.time()

    def read(self, account: AccountId, channel: ChannelRef) -> None:
        if round_ := self._rounds.get(account):
            round_.unread.discard(channel.key)

    def compared(self, account: AccountId, channel: ChannelRef) -> None:
        round_ = self._rounds.get(account)
        if round_ and channel.key in round_.uncompared:
            round_.uncompared.discard(channel.key)
            round_.compared += 1

    def progress(self, account: AccountId) -> Progress | None:
        """None where nothing is left to do."""
        round_ = self._rounds.get(account)
        if round_ is None or not (round_.unread or round_.uncompared):
            return None
        waiting = sorted(round_.unread) or sorted(round_.uncompared)
        return Progress(
            len(round_.channels), len(round_.unread), len(round_.uncompared), round_.began,
            self._seconds_left(round_), tuple(waiting[:_NAMED]),
        )  # fmt: skip

    def _seconds_left(self, round_: _Round) -> float | None:
        """The last channel is compared after the last is read, one after the other."""
        now = self._clock.time()
        done = len(round_.channels) - len(round_.unread)
        reading = 0.0
        if round_.unread:
            if not done:
                return None
            reading = (now - round_.began) / done * len(round_.unread)
        if not round_.uncompared:
            return reading
        if round_.compare_began is None or not round_.compared:
            return None
        each = (now - round_.compare_began) / round_.compared
        return max(reading, each * len(round_.uncompared))
