"""Discord's ids: milliseconds since 2015 above 22 bits, strictly increasing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

DISCORD_EPOCH_MS = 1_420_070_400_000


class Snowflakes:
    """Generates ids; `now` returns seconds since 1970."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last = 0

    def next(self) -> int:
        snowflake = (int(self._now() * 1000) - DISCORD_EPOCH_MS) << 22
        self._last = max(snowflake, self._last + 1)
        return self._last


def made_at(snowflake: int) -> str:
    """Return the creation time in an id, in Discord's format."""
    return iso_time(((snowflake >> 22) + DISCORD_EPOCH_MS) / 1000)


def iso_time(seconds: float) -> str:
    """Return seconds since 1970 as `2026-01-01T00:00:00.123000+00:00`."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
