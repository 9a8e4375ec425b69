"""Rate limits as the platforms define them: sliding windows per account, method and channel.
Waiting requests go in the order of their priority."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import IntEnum

from bridge.model import AccountId, Rate, RateLimitKey
from bridge.ports.clock import Clock

_KEPT = 3  # stream edits leave one part in so many of a limit free
_LATENCY = 2.0  # seconds after its start within which a request has reached the platform


class Withdrawn(Exception):
    """Whoever waited for permission does not want to send any more."""


class Priority(IntEnum):
    """Which request goes first where requests share a limit."""

    ANSWER = 0
    POST = 1
    FINAL_EDIT = 2
    STREAM_EDIT = 3
    REACTION = 4
    CATCH_UP = 5


class _Window:
    """One rule applied to one thing: when its last requests reached the platform at the latest."""

    def __init__(self, rates: Sequence[Rate]) -> None:
        self.rates = rates
        self.blocked_until = 0.0
        self.waiters: dict[int, _Waiter] = {}
        self._taken: deque[list[float]] = deque()  # [latest arrival], in order of their start
        self._longest = max((rate.seconds for rate in rates), default=0.0)

    def take(self, now: float) -> list[float]:
        arrival = [now + _LATENCY]
        self._taken.append(arrival)
        return arrival

    def free_at(self, now: float, priority: Priority) -> float:
        """Return when one more request fits; not later than `now` means that it fits now.

        Edits of a growing message leave a part of the limit free: else the end of an answer would
        wait for the limit that its own earlier edits have used up.
        """
        while self._taken and self._taken[0][0] + self._longest <= now:
            self._taken.popleft()
        free = self.blocked_until
        for rate in self.rates:
            reserved = rate.count // _KEPT if priority == Priority.STREAM_EDIT else 0
            if len(self._taken) >= rate.count - reserved:
                free = max(free, self._taken[-(rate.count - reserved)][0] + rate.seconds)
        return free


@dataclass(order=True)
class _Waiter:
    priority: int
    number: int
    windows: list[_Window] = field(compare=False)
    granted: asyncio.Future[list[list[float]]] = field(compare=False)


class RateLimits:
    """Hands out permission to send. A waiting request holds up no request under other limits."""

    def __init__(
        self, clock: Clock, rules: Mapping[AccountId, Mapping[str, Sequence[Rate]]]
    ) -> None:
        self._clock = clock
        self._rules = dict(rules)
        self._windows: dict[tuple[AccountId, str, str], _Window] = {}
        self._numbers = itertools.count()
        self._timers: dict[_Window, tuple[float, asyncio.Task[None]]] = {}

    def set_rules(self, account: AccountId, rules: Mapping[str, Sequence[Rate]]) -> None:
        """Set the limits of an account that was added after the start."""
        self._rules[account] = rules

    @asynccontextmanager
    async def permission(
        self,
        account: AccountId,
        keys: Sequence[RateLimitKey],
        priority: Priority,
        *,
        unless: asyncio.Event | None = None,
    ) -> AsyncGenerator[None, None]:
        """Wait for room in every window, and hold it while the request is under way. Raises
        Withdrawn once `unless` is set while it waits.

        A window counts a request from the moment its answer came (it reached the platform before
        that), or from `_LATENCY` after its start where no answer comes.
        """
        windows = [self._window(account, key) for key in keys]
        arrivals = await self._enter(windows, priority, unless)
        try:
            yield
        finally:
            now = self._clock.monotonic()
            for arrival in arrivals:
                arrival[0] = min(arrival[0], now)
            if any(window.waiters for window in windows):
                self._grant_what_fits(windows)

    def has_room(
        self, account: AccountId, keys: Sequence[RateLimitKey], priority: Priority = Priority.ANSWER
    ) -> bool:
        """Whether a request would get permission at once."""
        now = self._clock.monotonic()
        windows = [self._window(account, key) for key in keys]
        return _has_room(windows, now, priority)

    def block(self, account: AccountId, keys: Sequence[RateLimitKey], seconds: float) -> None:
        """The platform asked us to wait: give no permission under these keys for `seconds`. A wait
        that ends later stays."""
        until = self._clock.monotonic() + seconds
        for key in keys:
            window = self._window(account, key)
            window.blocked_until = max(window.blocked_until, until)

    async def close(self) -> None:
        for _, timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _window(self, account: AccountId, key: RateLimitKey) -> _Window:
        window = self._windows.get((account, key.rule, key.of))
        if window is None:
            window = _Window(self._rules.get(account, {}).get(key.rule, ()))
            self._windows[account, key.rule, key.of] = window
        return window

    async def _enter(
        self, windows: list[_Window], priority: Priority, unless: asyncio.Event | None
    ) -> list[list[float]]:
        now = self._clock.monotonic()
        if _has_room(windows, now, priority):
            return [window.take(now) for window in windows]
        waiter = _Waiter(
            priority, next(self._numbers), windows, asyncio.get_running_loop().create_future()
        )
        for window in windows:
            window.waiters[waiter.number] = waiter
        try:
            self._grant_what_fits(windows)
            if unless is None:
                return await waiter.granted
            withdrawing = asyncio.create_task(_withdraw(waiter, unless))
            try:
                return await waiter.granted
            finally:
                withdrawing.cancel()
        finally:
            for window in windows:
                window.waiters.pop(waiter.number, None)

    def _grant_what_fits(self, windows: Sequence[_Window]) -> None:
        """Let waiters of these windows go, the most urgent first; set timers for the rest."""
        now = self._clock.monotonic()
        waiting = {w.number: w for window in windows for w in window.waiters.values()}
        for waiter in sorted(waiting.values()):
            urgency = Priority(waiter.priority)
            free, window = max(
                ((w.free_at(now, urgency), w) for w in waiter.windows), key=lambda pair: pair[0]
            )
            if free > now:
                self._look_again(window, free)
            elif not waiter.granted.done():
                for window in waiter.windows:
                    window.waiters.pop(waiter.number, None)
                waiter.granted.set_result([window.take(now) for window in waiter.windows])

    def _look_again(self, window: _Window, when: float) -> None:
        due, timer = self._timers.get(window, (None, None))
        if due is not None and due <= when:
            return
        if timer is not None:
            timer.cancel()
        self._timers[window] = (when, asyncio.create_task(self._at(window, when)))

    async def _at(self, window: _Window, when: float) -> None:
        await self._clock.sleep(max(0.0, when - self._clock.monotonic()))
        self._timers.pop(window, None)
        self._grant_what_fits([window])


async def _withdraw(waiter: _Waiter, unless: asyncio.Event) -> None:
    await unless.wait()
    if not waiter.granted.done():
        waiter.granted.set_exception(Withdrawn())


def _has_room(windows: Sequence[_Window], now: float, priority: Priority) -> bool:
    return all(not w.waiters and w.free_at(now, priority) <= now for w in windows)
