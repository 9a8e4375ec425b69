"""Inputs of an agent during a turn: stop, further messages, tool results, approvals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Collection
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar, cast

from bridge.model.turns import (
    AgentInput,
    ApprovalGiven,
    MessageGiven,
    Steered,
    StopWanted,
    ToolResultGiven,
)
from bridge.uacs import Message, ToolResultPart

_T = TypeVar("_T")


class StopRequested(Exception):
    """Somebody stopped the agent."""


class DeadlinePassed(Exception):
    """The deadline of the whole answer has passed."""


class TurnInputs:
    """All inputs so far. Waiting raises StopRequested when a stop arrives, and DeadlinePassed at
    `until` (seconds of the loop's clock)."""

    def __init__(self, until: float) -> None:
        self.messages: list[Message] = []
        self._results: dict[str, ToolResultPart] = {}
        self._approvals: dict[str, ApprovalGiven] = {}
        self._until = until
        self._stop = asyncio.Event()
        self._more = asyncio.Event()

    def take(self, turn_input: AgentInput) -> None:
        """Record one input."""
        match turn_input:
            case StopWanted():
                self._stop.set()
            case MessageGiven(message=message) | Steered(message=message):
                self.messages.append(message)
            case ToolResultGiven(part=part):
                self._results[part.tool_call_id] = part
                self._more.set()
            case ApprovalGiven(allowed=False, tool_call_id=call_id):
                self._approvals[call_id] = turn_input
                refused = ToolResultPart(
                    tool_call_id=call_id, content="This call was not allowed.", is_error=True
                )
                self._results.setdefault(call_id, refused)
                self._more.set()
            case ApprovalGiven(
                tool_call_id=call_id
            ):  # the result follows from whoever runs the tool
                self._approvals[call_id] = turn_input
                self._more.set()

    def take_messages(self) -> list[Message]:
        """Return the messages that the agent has not read yet, once."""
        messages, self.messages = self.messages, []
        return messages

    async def results(self, calls: Collection[str]) -> list[ToolResultPart]:
        """Return the result of every call, in the order of the calls. The time that tools and
        approvals take does not count against the agent's deadline: the sender of the results bounds
        it."""
        while any(call not in self._results for call in calls):
            await self._wait_for_input()
        results = {call: self._results.pop(call) for call in dict.fromkeys(calls)}
        return [results[call] for call in calls]

    async def _wait_for_input(self) -> None:
        """Wait for a new input and move the deadline by the time this takes."""
        loop = asyncio.get_running_loop()
        self._more.clear()
        began = loop.time()
        await self.first(self._more.wait(), limited=False)
        self._until += loop.time() - began

    async def approval(self, call_id: str) -> ApprovalGiven:
        """Return the decision on a call as soon as it is made."""
        while call_id not in self._approvals:
            await self._wait_for_input()
        return self._approvals.pop(call_id)

    async def first(self, awaited: Awaitable[_T], *, limited: bool = True) -> _T:
        """Return the result of `awaited`. Raises StopRequested if a stop comes first and, if
        `limited`, DeadlinePassed at the deadline; both cancel `awaited`."""
        task = asyncio.ensure_future(awaited)
        stop = asyncio.ensure_future(self._stop.wait())
        left = max(self._until - asyncio.get_running_loop().time(), 0) if limited else None
        try:
            await asyncio.wait((task, stop), timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise StopRequested if stop.done() else DeadlinePassed
        finally:
            for waiting in (task, stop):
                waiting.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    async def each(self, events: AsyncGenerator[_T]) -> AsyncGenerator[_T]:
        """Yield the events as they come. Raises StopRequested and DeadlinePassed as `first` does;
        closes the events in any case."""
        async with aclosing(events):
            while (event := await self.first(anext(events, _END))) is not _END:
                yield cast("_T", event)


_END = object()


@asynccontextmanager
async def listening(inputs: AsyncIterator[AgentInput], until: float) -> AsyncGenerator[TurnInputs]:
    """Yield the inputs, which are recorded while the block lasts."""
    turn_inputs = TurnInputs(until)

    async def take_all() -> None:
        async for turn_input in inputs:
            turn_inputs.take(turn_input)

    task = asyncio.create_task(take_all(), name="inputs of an agent")
    try:
        yield turn_inputs
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
