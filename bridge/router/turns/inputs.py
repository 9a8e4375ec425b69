"""The inputs that an agent gets while it works, and the request to stop."""

from __future__ import annotations

import asyncio
from collections import deque

from bridge.model import ActorId
from bridge.model.turns import AgentInput, StopWanted


class Inputs:
    """The inputs of one turn, which its agent reads as an async iterator, or not at all.

    `stop_requested` is set when somebody asks the agent to stop.
    """

    def __init__(self) -> None:
        self._unread: deque[AgentInput] = deque()
        self._arrived = asyncio.Event()
        self.stop_requested = asyncio.Event()

    def give(self, value: AgentInput) -> None:
        """Let the agent read this next."""
        self._unread.append(value)
        self._arrived.set()

    def stop(self, by: ActorId | None) -> None:
        """Ask the agent to stop; the turn runner ends the turn if the agent goes on."""
        if not self.stop_requested.is_set():
            self.give(StopWanted(by=by))
            self.stop_requested.set()

    def unread(self) -> list[AgentInput]:
        """Return the inputs that the agent has not read."""
        return list(self._unread)

    def __aiter__(self) -> Inputs:
        return self

    async def __anext__(self) -> AgentInput:
        while not self._unread:
            self._arrived.clear()
            await self._arrived.wait()
        return self._unread.popleft()
