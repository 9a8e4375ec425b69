"""Two deadlines that can be held: for each event of a sequence, and for the sequence as a whole."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


class Deadlines:
    """Limits how long a sequence of events may be silent, and how long it may take in all.

    Both times are seconds by the clock of the event loop. While the deadlines are held, as when the
    bridge runs a tool or a person decides, no time counts.
    """

    def __init__(self, idle: float, total: float) -> None:
        self._idle = idle
        self._left = total
        self._holds = 0
        self._whole: asyncio.Timeout | None = None
        self._event: asyncio.Timeout | None = None

    @asynccontextmanager
    async def in_all(self) -> AsyncGenerator[None]:
        """Limit what is done inside this context. Raises TimeoutError when it takes too long."""
        try:
            async with asyncio.timeout(None if self._holds else self._left) as self._whole:
                yield
        finally:
            self._whole = None

    async def next(self, events: AsyncIterator[T]) -> T | None:
        """Return the next event, None at the end. Raises TimeoutError when it comes too late."""
        try:
            async with asyncio.timeout(None if self._holds else self._idle) as self._event:
                return await anext(events, None)
        finally:
            self._event = None

    def hold(self) -> None:
        """Stop the time, until `release` is called as often as this."""
        self._holds += 1
        if self._holds == 1:
            if self._whole is not None and (ends := self._whole.when()) is not None:
                self._left = ends - asyncio.get_running_loop().time()
            _reschedule(self._whole, None)
            _reschedule(self._event, None)

    def release(self) -> None:
        """End one hold; the silence is measured anew after the last."""
        self._holds -= 1
        if self._holds == 0:
            _reschedule(self._whole, self._left)
            _reschedule(self._event, self._idle)


def _reschedule(deadline: asyncio.Timeout | None, seconds: float | None) -> None:
    if deadline is None:
        return
    now = asyncio.get_running_loop().time()
    with contextlib.suppress(RuntimeError):  # it has just passed
        deadline.reschedule(None if seconds is None else now + seconds)
