"""CPU of works that are done in turns, and how the rate of one stands to that of another."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

Work = Callable[[], object]


def in_turns(works: Sequence[Work], pairs: int, repeats: int) -> list[list[float]]:
    """Microseconds of CPU of each, in turns, so that all meet the same noise of the machine."""
    times: list[list[float]] = [[] for _ in works]
    for turn in range(pairs + 1):
        for work, durations in zip(works, times, strict=True):
            took = _microseconds(work, repeats)
            if turn:  # the first warms up
                durations.append(took)
    return times


def compared(ours: Sequence[float], theirs: Sequence[float], bar: float) -> dict[str, Any]:
    """How our rate stands to chat-sdk's, pair by pair."""
    ratios = sorted(their / our for our, their in zip(ours, theirs, strict=True))
    return {
        "chat_sdk_us": round(statistics.median(theirs), 1),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_min": round(ratios[0], 2),
        "ratio_max": round(ratios[-1], 2),
        "bar": bar,
    }


def _microseconds(work: Work, repeats: int) -> float:
    gc.collect()
    start = time.process_time_ns()
    for _ in range(repeats):
        work()
    return (time.process_time_ns() - start) / repeats / 1000
