"""What is said to an agent while it works, and the wish that it stops."""

from __future__ import annotations

import asyncio
from collections import deque

from bridge.model import ActorId
from bridge.model.turns import AgentInput, StopWanted


class Inputs:
    """An agent reads it as an async iterator, or not at all; it ends with the turn."""

    def __init__(self) -> None:
        self._given: deque[AgentInput] = deque()
        self._news = asyncio.Event()
        self.stop_wanted = asyncio.Event()

    def give(self, value: AgentInput) -> None:
        self._given.append(value)
        self._news.set()

    def stop(self, by: ActorId | None) -> None:
        """Ask it to stop; whoever runs it sees to it that it does."""
        if not self.stop_wanted.is_set():
            self.give(StopWanted(by=by))
            self.stop_wanted.set()

    def unread(self) -> list[AgentInput]:
        """What the agent never looked at."""
        return list(self._given)

    def __aiter__(self) -> Inputs:
        return self

    async def __anext__(self) -> AgentInput:
        while not self._given:
            self._news.clear()
            await self._news.wait()
        return self._given.popleft()
