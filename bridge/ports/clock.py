"""Time as a port: the router and connectors never ask the operating system themselves."""

from __future__ import annotations

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
