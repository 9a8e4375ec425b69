"""The load: rooms of very different sizes, a daily curve, messages that follow one another."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from random import Random

from tests.benchmarks.scale.figures import (
    DAY,
    FOLLOW_UP_PAUSE,
    FOLLOW_UPS,
    MEMBERS,
    PEAK,
    PEAK_HOUR,
    SPREAD,
)


def curve(time_of_day: float) -> float:
    """Return the rate at this second of a day, as a multiple of the day's mean, which is 1."""
    angle = 2 * math.pi * (time_of_day / DAY - PEAK_HOUR / 24)
    # A cosine that would fall below zero at night is cut there; the factor restores the mean.
    return max(0.0, 1 + (PEAK / _MEAN - 1) * math.cos(angle)) * _MEAN


def _mean_of(amplitude: float) -> float:
    steps = 1440
    angles = (2 * math.pi * step / steps for step in range(steps))
    return sum(max(0.0, 1 + amplitude * math.cos(angle)) for angle in angles) / steps


def _scale() -> float:
    """The factor with which the curve has the mean 1 and the peak PEAK."""
    low, high = 0.5, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _mean_of(PEAK / middle - 1) * middle > 1:
            high = middle
        else:
            low = middle
    return low


_MEAN = _scale()


def arrivals(
    random: Random, rooms: int, rate: float, start: float, seconds: float
) -> Iterator[tuple[float, int, int]]:
    """Yield time, room and member of each message, in the order of their times.

    Args:
        random: the source of all chance.
        rooms: the number of rooms.
        rate: messages per second of all rooms, the mean of a day.
        start: the second of the day at which the first may come, which is time 0.
        seconds: how long messages come.
    """
    ends = list(accumulate(random.lognormvariate(0.0, SPREAD) for _ in range(rooms)))
    most = rate * PEAK / (1 + FOLLOW_UPS)
    coming: list[tuple[float, int, int]] = []
    time = 0.0
    while (time := time + random.expovariate(most)) < seconds:
        if random.random() * PEAK > curve((start + time) % DAY):
            continue
        room = min(bisect(ends, random.random() * ends[-1]), rooms - 1)
        at = time
        coming.append((at, room, random.randrange(MEMBERS)))
        while random.random() < FOLLOW_UPS / (1 + FOLLOW_UPS):
            at += random.expovariate(1 / FOLLOW_UP_PAUSE)
            if at < seconds:
                coming.append((at, room, random.randrange(MEMBERS)))
    return iter(sorted(coming))
