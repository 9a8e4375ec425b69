"""Port: time. The router and the connectors never ask the operating system themselves."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Wall time, monotonic time and waiting."""

    def time(self) -> float:
        """Return seconds since 1970, for stored times."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back, for rate limits and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait this many seconds."""
        ...
