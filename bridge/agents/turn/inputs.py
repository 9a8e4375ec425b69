"""What is said to an agent while it works: stop, steering, results of tools."""

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
    """Somebody wants the agent to stop."""


class DeadlinePassed(Exception):
    """The deadline of the whole answer has passed."""


class TurnInputs:
    """All inputs so far. Waiting ends with Stopped when a stop comes, TookTooLong when the time
    (of the loop's clock) is `until`."""

    def __init__(self, until: float) -> None:
        self.messages: list[Message] = []
        self._results: dict[str, ToolResultPart] = {}
        self._approvals: dict[str, ApprovalGiven] = {}
        self._until = until
        self._stop = asyncio.Event()
        self._more = asyncio.Event()

    def take(self, given: AgentInput) -> None:
        match given:
            case StopWanted():
                self._stop.set()
            case MessageGiven(message=message) | Steered(message=message):
                self.messages.append(message)
            case ToolResultGiven(part=part):
                self._results[part.tool_call_id] = part
                self._more.set()
            case ApprovalGiven(allowed=False, tool_call_id=call):
                self._approvals[call] = given
                refused = ToolResultPart(
                    tool_call_id=call, content="This call was not allowed.", is_error=True
                )
                self._results.setdefault(call, refused)
                self._more.set()
            case ApprovalGiven(tool_call_id=call):  # whoever runs the tool gives its result
                self._approvals[call] = given
                self._more.set()

    def new_messages(self) -> list[Message]:
        """Those that the model has not read yet."""
        found, self.messages = self.messages, []
        return found

    async def results(self, calls: Collection[str]) -> list[ToolResultPart]:
        """The result of every call, in the order of the calls. The time that tools take, and people
        who must allow them, is not the agent's: whoever gives the results sees to it that they
        come."""
        while any(call not in self._results for call in calls):
            await self._others()
        found = {call: self._results.pop(call) for call in dict.fromkeys(calls)}
        return [found[call] for call in calls]

    async def _others(self) -> None:
        """Wait for something new, on no time of the agent's."""
        loop = asyncio.get_running_loop()
        self._more.clear()
        began = loop.time()
        await self.first(self._more.wait(), limited=False)
        self._until += loop.time() - began

    async def approval(self, call: str) -> ApprovalGiven:
        """Whether a call was allowed, as soon as somebody has said so."""
        while call not in self._approvals:
            await self._others()
        return self._approvals.pop(call)

    async def first(self, awaited: Awaitable[_T], *, limited: bool = True) -> _T:
        """What `awaited` gives, unless a stop or, if `limited`, the deadline comes first."""
        task = asyncio.ensure_future(awaited)
        stop = asyncio.ensure_future(self._stop.wait())
        left = max(self._until - asyncio.get_running_loop().time(), 0) if limited else None
        try:
            await asyncio.wait((task, stop), timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise StopRequested if stop.done() else DeadlinePassed
        finally:
            for one in (task, stop):
                one.cancel()
            await asyncio.gather(task, stop, return_exceptions=True)

    async def each(self, events: AsyncGenerator[_T]) -> AsyncGenerator[_T]:
        """Yield the events as they come. Raises Stopped and TookTooLong as `first` does; closes
        the events in any case."""
        async with aclosing(events):
            while (event := await self.first(anext(events, _END))) is not _END:
                yield cast("_T", event)


_END = object()


@asynccontextmanager
async def listening(inputs: AsyncIterator[AgentInput], until: float) -> AsyncGenerator[TurnInputs]:
    """Takes inputs while the block lasts."""
    heard = TurnInputs(until)

    async def take_all() -> None:
        async for one in inputs:
            heard.take(one)

    task = asyncio.create_task(take_all(), name="inputs of an agent")
    try:
        yield heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
