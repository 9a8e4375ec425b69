"""Work that runs beside all else, until it ends or the router stops."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """Holds the tasks that nobody waits for."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[None, None, T], name: str) -> asyncio.Task[T]:
        """Run `work` in a task of this name."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def idle(self) -> bool:
        return not self._tasks

    def cancel(self) -> None:
        """Cancel what runs now; it may still have something to finish."""
        for task in self._tasks:
            task.cancel()

    async def wait(self) -> None:
        """Return when what runs now has ended, however it ends."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
