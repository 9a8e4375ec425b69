"""The clock of the operating system."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """The operating system's clock; implements `bridge.ports.clock.Clock`."""

    def time(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
