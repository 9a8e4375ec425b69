"""Events in the order of their times, and what work waits for: processors, databases, limits."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tests.benchmarks.scale.figures import Database, Limit

Job = tuple[float, Callable[..., None], tuple[Any, ...]]
"""Seconds of work, and what to call with what after it."""


class Engine:
    """Runs events in order; `now` is the simulated time in seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self.events = 0
        self._number = 0
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, time: float, work: Callable[..., None], *args: Any) -> None:
        """Call `work` at this time, in the order of the calls among equal times."""
        self._number += 1
        heapq.heappush(self._heap, (time, self._number, work, args))

    def run(self, until: float = float("inf")) -> None:
        """Run all events up to this time."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            self.now, _, work, args = heapq.heappop(heap)
            self.events += 1
            work(*args)
        if until != float("inf"):
            self.now = max(self.now, until)


class Processor:
    """One core that does one thing after another, until it dies."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._free = 0.0
        self._waiting: deque[Job] = deque()
        self.busy = 0.0
        self.alive = True

    def do(self, seconds: float, work: Callable[..., None], *args: Any) -> None:
        """Call `work` when its turn has come and is over."""
        self._free = max(self._free, self._engine.now) + seconds
        self.busy += seconds
        self._waiting.append((seconds, work, args))
        self._engine.at(self._free, self._done)

    def die(self) -> Sequence[Job]:
        """Do nothing from now on; returns what it had not done."""
        self.alive = False
        return tuple(self._waiting)

    def _done(self) -> None:
        if self.alive:
            _, work, args = self._waiting.popleft()
            work(*args)


class Store:
    """Commits transactions in order; while it stalls, none."""

    def __init__(self, engine: Engine, database: Database, share: float) -> None:
        self._engine = engine
        self._each = 1 / (database.transactions * share)
        self._way = database.way + database.commit
        self._free = 0.0
        self.busy = 0.0

    def commit(self, work: Callable[..., None], *args: Any) -> None:
        """Call `work` when the transaction is durable, whoever is alive then."""
        self._free = max(self._free, self._engine.now) + self._each
        self.busy += self._each
        self._engine.at(self._free + self._way, work, *args)

    def stall(self, seconds: float) -> None:
        """From now on nothing is committed for so long."""
        self._free = max(self._free, self._engine.now + seconds)


class Buckets:
    """Several limits, which all must allow a request."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._full = [(limit.seconds, limit.seconds / limit.requests) for limit in limits]
        self._due = [0.0] * len(limits)

    def wait(self, now: float) -> float:
        """Return the seconds until the next request is allowed."""
        waits = (
            due + each - seconds - now
            for due, (seconds, each) in zip(self._due, self._full, strict=True)
        )
        return max(0.0, *waits)

    def take(self, now: float) -> None:
        """Count a request."""
        self._due = [
            max(due, now) + each for due, (_, each) in zip(self._due, self._full, strict=True)
        ]


class Line:
    """Items of one channel in order, one at a time."""

    def __init__(self) -> None:
        self.waiting: deque[Any] = deque()
        self.busy = False
