"""A web server that ends when it is told to, not when it next looks."""

from __future__ import annotations

import asyncio
import contextlib

import uvicorn

_LOOKS = 0.1  # seconds between two looks of uvicorn at its clock


class PromptServer(uvicorn.Server):
    """uvicorn looks ten times a second whether it should end; this one is woken for it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._end = asyncio.Event()

    def end(self) -> None:
        """From now on nothing new is taken; `serve` returns when what is open is answered."""
        self.should_exit = True
        self._end.set()

    async def main_loop(self) -> None:
        looks = 0
        while not await self.on_tick(looks):
            looks += 1
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOKS):
                    await self._end.wait()
