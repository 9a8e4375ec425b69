"""Discord's ids: milliseconds since 2015 above 22 bits, strictly rising. The clock is passed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

DISCORD_EPOCH_MS = 1_420_070_400_000


class Snowflakes:
    """Makes ids; `now` gives seconds since 1970."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last = 0

    def next(self) -> int:
        made = (int(self._now() * 1000) - DISCORD_EPOCH_MS) << 22
        self._last = max(made, self._last + 1)
        return self._last


def made_at(snowflake: int) -> str:
    """The time that an id carries, as Discord writes times."""
    return iso_time(((snowflake >> 22) + DISCORD_EPOCH_MS) / 1000)


def iso_time(seconds: float) -> str:
    """Seconds since 1970 -> `2026-01-01T00:00:00.123000+00:00`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
