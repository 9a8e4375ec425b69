"""Time as a port: the router and connectors never ask the operating system themselves."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time and waiting."""

    def time(self) -> float:
        """Seconds since 1970, for what is stored."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for budgets and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The real clock."""

    def time(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def datetime_of(seconds: float) -> datetime:
    """Seconds since 1970 -> an aware UTC datetime."""
    return datetime.fromtimestamp(seconds, UTC)
