"""A uvicorn server that stops at once when told to."""

from __future__ import annotations

import asyncio
import contextlib

import uvicorn

_LOOKS = 0.1  # seconds between two looks of uvicorn at its clock


class PromptServer(uvicorn.Server):
    """A uvicorn server that wakes up to stop; uvicorn itself checks ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._end = asyncio.Event()

    def end(self) -> None:
        """Accept nothing new; `serve` returns when all open requests are answered."""
        self.should_exit = True
        self._end.set()

    async def main_loop(self) -> None:
        looks = 0
        while not await self.on_tick(looks):
            looks += 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOKS):
                    await self._end.wait()
