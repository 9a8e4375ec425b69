"""Tools that the bridge runs for agents: offered in a turn, allowed where that is asked for, called
beside each other, answered."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

import orjson
import structlog

from bridge.content.messages.tool_names import HAND_OVER
from bridge.model.archive_records import StoredMessage
from bridge.model.refs import BRIDGE
from bridge.model.turn_records import Approval, StoredTurn
from bridge.model.turns import (
    AgentEvent,
    ApprovalGiven,
    ApprovalWanted,
    PartGiven,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    TurnState,
)
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.turns import TurnStore
from bridge.ports.tools import ApprovalRule, Tool, Toolbox
from bridge.router.rooms.rooms import Room
from bridge.router.runtime import metrics
from bridge.router.turns.approvals import Approvals, Wanted
from bridge.router.turns.deadlines import TurnDeadlines
from bridge.router.turns.hand_over_tool import hand_over_tool, handed_over
from bridge.router.turns.inputs import Inputs
from bridge.uacs import ToolCallPart, ToolResultPart

log = structlog.get_logger()

_USUAL = ApprovalRule()
_LONGEST_ARGUMENTS = 20_000  # characters that are kept of what somebody was asked to allow


class _ToolsStore(ApprovalStore, TurnStore, Protocol):
    """What `Tools` needs of the store."""


class Tools:
    """What agents may call, and the calls of each turn."""

    def __init__(self, box: Toolbox, approvals: Approvals, store: _ToolsStore) -> None:
        self._box = box
        self._approvals = approvals
        self._store = store

    async def of(self, room: Room, agent: str) -> Sequence[Tool]:
        """What the agent has in this room."""
        membership = room.membership(agent)
        found = await self._box.tools(membership.tools) if membership and membership.tools else ()
        own = hand_over_tool(room, agent)
        return found if own is None else (*found, own)

    def calls(
        self,
        tools: Sequence[Tool],
        turn: StoredTurn,
        room: Room,
        trigger: StoredMessage,
        inputs: Inputs,
        patience: TurnDeadlines,
    ) -> Calls:
        """The calls of this turn; close them when it ends."""
        asked = _Asked(turn, room, trigger)
        return Calls(self._box, self._approvals, self._store, tools, asked, inputs, patience)

    async def interrupted(self, turn: StoredTurn, said: Sequence[object]) -> Sequence[ToolAnswered]:
        """A turn that was cut off goes on no more: what was to be allowed for it is not. `said` are
        the parts of its answer. Returns results for those of its calls that were not made."""
        calls = _unanswered(said)
        if turn.tool_called:
            keys = _CallKeys()
            key_of = {part.id: keys.next(part) for part in _calls(said)}
            asked = await self._store.approvals(turn=turn.id)
            not_allowed = {one.call for one in asked if one.state != "allowed"}
            calls = [part for part in calls if key_of[part.id] in not_allowed]
        await self._approvals.withdraw(turn.id)
        return list(map(_not_made, calls))


class _Asked:
    """The turn, and where it was asked."""

    def __init__(self, turn: StoredTurn, room: Room, trigger: StoredMessage) -> None:
        self.turn = turn
        self.room = room
        self.trigger = trigger
        self._keys = _CallKeys()

    def wanted(self, part: ToolCallPart, rule: ApprovalRule, reason: str) -> Wanted:
        shown = orjson.dumps(dict(part.arguments), option=orjson.OPT_INDENT_2).decode()
        return Wanted(
            turn=self.turn,
            room=self.room,
            trigger=self.trigger,
            tool=part.name,
            call=self._keys.next(part),
            arguments=shown[:_LONGEST_ARGUMENTS],
            reason=reason,
            rule=rule,
        )


class _CallKeys:
    """Names the calls of a turn: the same call in the same order has the same key, should the turn
    run again."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def next(self, part: ToolCallPart) -> str:
        arguments = orjson.dumps(dict(part.arguments), option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(part.name.encode() + b"\0" + arguments).hexdigest()[:32]
        self._seen[digest] += 1
        return f"{digest}.{self._seen[digest]}"


class Calls:
    """What one turn calls, and what it asks leave for."""

    def __init__(
        self,
        box: Toolbox,
        approvals: Approvals,
        store: TurnStore,
        tools: Sequence[Tool],
        asked: _Asked,
        inputs: Inputs,
        patience: TurnDeadlines,
    ) -> None:
        self._box = box
        self._approvals = approvals
        self._store = store
        self._known = {tool.name: tool for tool in tools}
        self._asked = asked
        self._inputs = inputs
        self._patience = patience
        self._handed = False
        self._waiting = 0
        self._begun: set[str] = set()  # ids of calls that may have been made
        self._not_allowed: set[str] = set()  # ids of the agent's own calls that wait for leave
        self._tasks: set[asyncio.Task[None]] = set()

    def runs(self, call: ToolCallPart) -> bool:
        """Whether the bridge runs it; all else the agent calls by itself."""
        return call.name in self._known

    def state(self) -> TurnState:
        """What the turn does now."""
        return "waiting" if self._waiting else "running"

    def take(self, event: ToolCalled | ApprovalWanted) -> None:
        """Begin what the event asks for; its result is given to the agent as an input."""
        if isinstance(event, ApprovalWanted):
            self._begin(self._allow(event), event.part)
        elif (tool := self._known.get(event.part.name)) is not None and tool.name != HAND_OVER:
            self._begin(self._call(tool, event.part), event.part)

    def hand_over(self, event: AgentEvent) -> PartGiven | None:
        """What the answer says where this is a call to hand over, which happens when the answer has
        ended; the agent is told so at once."""
        tool = self._known.get(HAND_OVER)
        if tool is None or not isinstance(event, ToolCalled) or event.part.name != HAND_OVER:
            return None
        handed, result = handed_over(tool, event.part, again=self._handed)
        self._handed = self._handed or handed is not None
        self._begun.add(event.part.id)
        self._inputs.give(ToolResultGiven(part=result))
        return handed

    async def close(self) -> None:
        """The turn is over: nobody waits for what still runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def over(self, said: Sequence[object]) -> Sequence[ToolAnswered]:
        """The turn ended or was stopped: what it had asked for is not wanted any more. `said` are
        the parts of its answer. Returns results for those of its calls that were not made."""
        await self._approvals.withdraw(self._asked.turn.id)
        return [_not_made(part) for part in _unanswered(said) if self._is_not_made(part)]

    def _is_not_made(self, part: ToolCallPart) -> bool:
        if self.runs(part):
            return part.id not in self._begun
        return part.id in self._not_allowed

    def _begin(self, work: Coroutine[Any, Any, None], call: ToolCallPart) -> None:
        self._patience.hold()
        task = asyncio.create_task(work, name=f"tool {call.name}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._patience.let_go()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("tool_crashed", tool=task.get_name(), error=type(error).__name__)

    async def _allow(self, event: ApprovalWanted) -> None:
        """For an agent that runs its tools by itself."""
        self._not_allowed.add(event.part.id)
        wanted = self._asked.wanted(event.part, _USUAL, event.reason)
        decided = await self._decided(wanted)
        by = next((one.actor for one in reversed(decided.decisions)), BRIDGE)
        allowed = decided.state == "allowed"
        if allowed:
            self._not_allowed.discard(event.part.id)
        given = ApprovalGiven(tool_call_id=event.part.id, allowed=allowed, by=by)
        self._inputs.give(given)

    async def _call(self, tool: Tool, part: ToolCallPart) -> None:
        try:
            result = await self._result(tool, part)
        except Exception as error:
            log.exception("tool_crashed", tool=tool.name)
            result = _refusal(part, f"The tool could not be called ({type(error).__name__}).")
        self._inputs.give(ToolResultGiven(part=result))

    async def _result(self, tool: Tool, part: ToolCallPart) -> ToolResultPart:
        if tool.approval is not None:
            decided = await self._decided(self._asked.wanted(part, tool.approval, ""))
            if decided.state != "allowed":
                metrics.TOOL_CALLS.labels(tool.server, decided.state).inc()
                return _refusal(part, _WHY_NOT.get(decided.state, _WHY_NOT["refused"]))
        await self._store.set_turn(self._asked.turn.id, "running", tool_called=True)
        self._begun.add(part.id)
        result = await self._box.call(tool, part)
        metrics.TOOL_CALLS.labels(tool.server, "failed" if result.is_error else "done").inc()
        log.info("tool_called", tool=tool.name, turn=self._asked.turn.id, error=result.is_error)
        return result

    async def _decided(self, wanted: Wanted) -> Approval:
        """Meanwhile the turn waits; after a restart it may go on, if no call of it had begun."""
        turn = self._asked.turn.id
        self._waiting += 1
        await self._store.set_turn(turn, "waiting")
        decided = await self._approvals.ask(wanted)
        self._waiting -= 1
        if not self._waiting:
            await self._store.set_turn(turn, "running")
        return decided


_WHY_NOT = {
    "refused": "A person refused this call. Do not make it again unless you are asked to.",
    "expired": "Nobody allowed this call in time. Say so, and do not make it again by yourself.",
    "withdrawn": "This call was not made: it is not wanted any more.",
}


def _refusal(part: ToolCallPart, text: str) -> ToolResultPart:
    return ToolResultPart(tool_call_id=part.id, content=text, is_error=True)


def _not_made(part: ToolCallPart) -> ToolAnswered:
    return ToolAnswered(part=_refusal(part, _WHY_NOT["withdrawn"]))


def _calls(said: Sequence[object]) -> list[ToolCallPart]:
    return [part for part in said if isinstance(part, ToolCallPart)]


def _unanswered(said: Sequence[object]) -> list[ToolCallPart]:
    """Calls that have no result."""
    known = {part.tool_call_id for part in said if isinstance(part, ToolResultPart)}
    return [part for part in _calls(said) if part.id not in known]


class NoTools:
    """Where no servers are configured."""

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        del servers
        return ()

    async def call(self, tool: Tool, call: ToolCallPart) -> ToolResultPart:
        text = f"There is no tool {tool.name!r} here."
        return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)

    async def close(self) -> None:
        pass
