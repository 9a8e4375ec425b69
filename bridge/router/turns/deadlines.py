"""The deadlines of one turn: how long its agent may be silent, and work in all. They stand still
while it waits for what the bridge does for it: a tool that runs, a person who decides."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from bridge.model.turns import AgentEvent


class TurnDeadlines:
    """Seconds, by the clock of the loop."""

    def __init__(self, idle: float, total: float) -> None:
        self._idle = idle
        self._left = total
        self._held = 0
        self._whole: asyncio.Timeout | None = None
        self._piece: asyncio.Timeout | None = None

    @asynccontextmanager
    async def in_all(self) -> AsyncGenerator[None]:
        """Raises TimeoutError when the whole took too long."""
        try:
            async with asyncio.timeout(None if self._held else self._left) as self._whole:
                yield
        finally:
            self._whole = None

    async def next(self, said: AsyncIterator[AgentEvent]) -> AgentEvent | None:
        """The next event, None at the end. Raises TimeoutError when it does not come in time."""
        try:
            async with asyncio.timeout(None if self._held else self._idle) as self._piece:
                return await anext(said, None)
        finally:
            self._piece = None

    def hold(self) -> None:
        """Stand still, until it is let go as often."""
        self._held += 1
        if self._held == 1:
            if self._whole is not None and (ends := self._whole.when()) is not None:
                self._left = ends - asyncio.get_running_loop().time()
            _move(self._whole, None)
            _move(self._piece, None)

    def let_go(self) -> None:
        self._held -= 1
        if self._held == 0:
            _move(self._whole, self._left)
            _move(self._piece, self._idle)


def _move(deadline: asyncio.Timeout | None, seconds: float | None) -> None:
    if deadline is None:
        return
    now = asyncio.get_running_loop().time()
    with contextlib.suppress(RuntimeError):  # it has just passed
        deadline.reschedule(None if seconds is None else now + seconds)
