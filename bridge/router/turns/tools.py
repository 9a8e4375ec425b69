"""Tools that the bridge runs for agents: what an agent is offered in a room, and the calls of a
turn, which somebody may have to allow first. Calls run side by side.

`hand_over` and `invite_agent` are tools of the bridge itself, with which an agent gives the
conversation away, or proposes somebody who is not there.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

import orjson
import structlog
from pydantic import JsonValue

from bridge.content.messages.agent_parts import HAND_OVER as HAND_OVER_SCHEMA
from bridge.content.messages.agent_parts import PERSON, ProposedAgent, proposal
from bridge.content.messages.tool_names import HAND_OVER, INVITE_AGENT
from bridge.errors import BridgeError
from bridge.model import RoomId
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
from bridge.ports.store.agents import AgentStore
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.turns import TurnStore
from bridge.ports.tools import AGENT_TOOLS, ApprovalRule, Tool, Toolbox, ToolUse
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.background import Background
from bridge.router.runtime.deadlines import Deadlines
from bridge.router.turns.approvals import ApprovalRequest, Approvals
from bridge.router.turns.inputs import Inputs
from bridge.router.turns.sessions import TurnContext
from bridge.uacs import ToolCallPart, ToolResultPart

log = structlog.get_logger()

_USUAL = ApprovalRule()
_LONGEST_ARGUMENTS = 20_000  # characters that are kept of what somebody was asked to allow


class _ToolsStore(ApprovalStore, TurnStore, Protocol):
    """What `Tools` needs of the store."""


class Tools:
    """The tools that agents may call, and the calls of each turn."""

    def __init__(self, box: Toolbox, approvals: Approvals, store: _ToolsStore) -> None:
        self._box = box
        self._approvals = approvals
        self._store = store

    async def of(self, room: Room, agent: str) -> Sequence[Tool]:
        """Return the tools that the agent has in this room. Raises what the servers of the tools
        raise."""
        membership = room.membership(agent)
        tools = await self._box.tools(membership.tools) if membership and membership.tools else ()
        own = (_hand_over_tool(room, agent), _invite_tool(room, agent))
        return (*tools, *(tool for tool in own if tool is not None))

    def calls(
        self, tools: Sequence[Tool], context: TurnContext, inputs: Inputs, deadlines: Deadlines
    ) -> Calls:
        """Return the calls of this turn; close them when it ends."""
        return Calls(self._box, self._approvals, self._store, tools, context, inputs, deadlines)

    async def interrupted(
        self, turn: StoredTurn, answer_parts: Sequence[object]
    ) -> Sequence[ToolAnswered]:
        """End the calls of a turn that does not go on after a stop: its open approvals are
        withdrawn. `answer_parts` are the parts of its answer. Returns results for the calls that
        were not made. Raises StoreError."""
        calls = _unanswered(answer_parts)
        if turn.tool_called:
            keys = _CallKeys()
            key_of = {part.id: keys.next(part) for part in _calls(answer_parts)}
            approvals = await self._store.approvals(turn=turn.id)
            not_allowed = {approval.call for approval in approvals if approval.state != "allowed"}
            calls = [part for part in calls if key_of[part.id] in not_allowed]
        await self._approvals.withdraw(turn.id)
        return list(map(_not_made, calls))


class _CallKeys:
    """Names the calls of a turn: the same call in the same order has the same key, should the turn
    run again."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def next(self, part: ToolCallPart) -> str:
        arguments = orjson.dumps(dict(part.arguments), option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(part.name.encode() + b"\0" + arguments).hexdigest()[:32]
        self._counts[digest] += 1
        return f"{digest}.{self._counts[digest]}"


class Calls:
    """The tool calls of one turn, and the approvals that they need."""

    def __init__(
        self,
        box: Toolbox,
        approvals: Approvals,
        store: TurnStore,
        tools: Sequence[Tool],
        context: TurnContext,
        inputs: Inputs,
        deadlines: Deadlines,
    ) -> None:
        self._box = box
        self._approvals = approvals
        self._store = store
        self._tools = {tool.name: tool for tool in tools}
        self._context = context
        self._inputs = inputs
        self._deadlines = deadlines
        self._keys = _CallKeys()
        self._handed_over = False
        self._waiting = 0
        self._private: set[str] = set()  # ids of calls that the answer does not keep
        self._begun: set[str] = set()  # ids of calls that may have been made
        self._not_allowed: set[str] = set()  # ids of the agent's own calls that wait for leave
        self._tasks: set[asyncio.Task[None]] = set()
        self.any_made = context.turn.attempts > 0  # an earlier run may have asked for approvals

    def runs(self, call: ToolCallPart) -> bool:
        """Whether the bridge runs this call; an agent makes all other calls itself."""
        return call.name in self._tools

    def is_private(self, event: AgentEvent) -> bool:
        """Whether the event is a call of a private tool, or its result."""
        if isinstance(event, ToolCalled):
            tool = self._tools.get(event.part.name)
            if tool is not None and tool.private:
                self._private.add(event.part.id)
            return event.part.id in self._private
        return isinstance(event, ToolAnswered) and event.part.tool_call_id in self._private

    def state(self) -> TurnState:
        """Return what the turn does now."""
        return "waiting" if self._waiting else "running"

    def take(self, event: ToolCalled | ApprovalWanted) -> None:
        """Begin what the event asks for; the agent gets the result as an input."""
        self.any_made = True
        if isinstance(event, ApprovalWanted):
            self._begin(self._allow(event), event.part)
        elif (tool := self._tools.get(event.part.name)) is not None and tool.name not in _OWN_TOOLS:
            self._begin(self._call(tool, event.part), event.part)

    def own(self, event: AgentEvent) -> PartGiven | None:
        """Return the part of the answer that hands the conversation over, or proposes to invite an
        agent, where the event is such a call; None for other events. It takes effect when the
        answer has ended; the agent is told so at once."""
        if not isinstance(event, ToolCalled) or event.part.name not in _OWN_TOOLS:
            return None
        tool = self._tools.get(event.part.name)
        if tool is None:
            return None
        if tool.name == INVITE_AGENT:
            given, result = _invited(event.part)
        else:
            given, result = _handed_over(tool, event.part, again=self._handed_over)
            self._handed_over = self._handed_over or given is not None
        self._begun.add(event.part.id)
        self._inputs.give(ToolResultGiven(part=result))
        return given

    async def close(self) -> None:
        """Cancel the calls that still run."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def over(self, answer_parts: Sequence[object]) -> Sequence[ToolAnswered]:
        """Withdraw the approvals that the turn still asks for. `answer_parts` are the parts of its
        answer. Returns results for the calls that were not made. Raises StoreError."""
        await self._approvals.withdraw(self._context.turn.id)
        return [_not_made(part) for part in _unanswered(answer_parts) if self._is_not_made(part)]

    def _is_not_made(self, part: ToolCallPart) -> bool:
        if self.runs(part):
            return part.id not in self._begun
        return part.id in self._not_allowed

    def _begin(self, work: Coroutine[Any, Any, None], call: ToolCallPart) -> None:
        self._deadlines.hold()
        task = asyncio.create_task(work, name=f"tool {call.name}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._deadlines.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("tool_crashed", tool=task.get_name(), error=type(error).__name__)

    async def _allow(self, event: ApprovalWanted) -> None:
        """For an agent that runs its tools by itself."""
        self._not_allowed.add(event.part.id)
        request = self._request(event.part, _USUAL, event.reason)
        decided = await self._decided(request)
        by = next((decision.actor for decision in reversed(decided.decisions)), BRIDGE)
        allowed = decided.state == "allowed"
        if allowed:
            self._not_allowed.discard(event.part.id)
        approval = ApprovalGiven(tool_call_id=event.part.id, allowed=allowed, by=by)
        self._inputs.give(approval)

    async def _call(self, tool: Tool, part: ToolCallPart) -> None:
        try:
            result = await self._result(tool, part)
        except Exception as error:
            log.exception("tool_crashed", tool=tool.name)
            result = _refusal(part, f"The tool could not be called ({type(error).__name__}).")
        self._inputs.give(ToolResultGiven(part=result))

    async def _result(self, tool: Tool, part: ToolCallPart) -> ToolResultPart:
        if tool.approval is not None:
            decided = await self._decided(self._request(part, tool.approval, ""))
            if decided.state != "allowed":
                metrics.TOOL_CALLS.labels(tool.server, decided.state).inc()
                return _refusal(part, _REFUSALS.get(decided.state, _REFUSALS["refused"]))
        await self._store.set_turn(self._context.turn.id, "running", tool_called=True)
        self._begun.add(part.id)
        turn = self._context.turn
        use = ToolUse(turn.room, turn.agent, turn.id)
        result = await self._box.call(tool, part, use)
        metrics.TOOL_CALLS.labels(tool.server, "failed" if result.is_error else "done").inc()
        log.info("tool_called", tool=tool.name, turn=self._context.turn.id, error=result.is_error)
        return result

    def _request(self, part: ToolCallPart, rule: ApprovalRule, reason: str) -> ApprovalRequest:
        arguments = orjson.dumps(dict(part.arguments), option=orjson.OPT_INDENT_2).decode()
        return ApprovalRequest(
            self._context, part.name, self._keys.next(part), arguments[:_LONGEST_ARGUMENTS], reason,
            rule,
        )  # fmt: skip

    async def _decided(self, request: ApprovalRequest) -> Approval:
        """Meanwhile the turn waits; after a restart it may go on, if no call of it had begun."""
        turn = self._context.turn.id
        self._waiting += 1
        await self._store.set_turn(turn, "waiting")
        decided = await self._approvals.request_decision(request)
        self._waiting -= 1
        if not self._waiting:
            await self._store.set_turn(turn, "running")
        return decided


_REFUSALS = {
    "refused": "A person refused this call. Do not make it again unless you are asked to.",
    "expired": "Nobody allowed this call in time. Say so, and do not make it again by yourself.",
    "withdrawn": "This call was not made: it is not wanted any more.",
}


def _refusal(part: ToolCallPart, text: str) -> ToolResultPart:
    return ToolResultPart(tool_call_id=part.id, content=text, is_error=True)


def _not_made(part: ToolCallPart) -> ToolAnswered:
    return ToolAnswered(part=_refusal(part, _REFUSALS["withdrawn"]))


def _calls(answer_parts: Sequence[object]) -> list[ToolCallPart]:
    return [part for part in answer_parts if isinstance(part, ToolCallPart)]


def _unanswered(answer_parts: Sequence[object]) -> list[ToolCallPart]:
    """Calls that have no result."""
    answered = {part.tool_call_id for part in answer_parts if isinstance(part, ToolResultPart)}
    return [part for part in _calls(answer_parts) if part.id not in answered]


class NoTools:
    """The toolbox of a bridge that has no tool servers."""

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        del servers
        return ()

    async def call(
        self, tool: Tool, call: ToolCallPart, use: ToolUse | None = None
    ) -> ToolResultPart:
        del use
        text = f"There is no tool {tool.name!r} here."
        return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)

    async def close(self) -> None:
        pass


# --- the catalogue ------------------------------------------------------------------------------


class ToolCatalogue:
    """Keeps the tools of a room's agents in the metadata of its conversation (`metadata.tools`).

    An agent's tools are noted when it is asked, and from then on whenever their list changes:
    servers are not connected for this alone.
    """

    def __init__(
        self, store: AgentStore, rooms: Rooms, tools: Tools, background: Background
    ) -> None:
        self._background = background
        self._store = store
        self._rooms = rooms
        self._tools = tools
        self._noted: dict[tuple[RoomId, str], str] = {}

    async def offered(self, room: Room, agent: str) -> Sequence[Tool]:
        """Return the tools that the agent has in this room now, and note them. Raises StoreError,
        and what the servers of the tools raise."""
        tools = await self._tools.of(room, agent)
        await self._note(room, agent, tools)
        return tools

    async def _note(self, room: Room, agent: str, tools: Sequence[Tool]) -> None:
        described = [tool_metadata(tool) for tool in tools]
        digest = hashlib.sha256(orjson.dumps(described)).hexdigest()
        if self._noted.get((room.id, agent)) != digest:
            await self._store.put_tools(room.conversation, agent, described)
            self._noted[room.id, agent] = digest

    def changed(self, server: str | None) -> None:
        """Note the tools again, in the background: the list of this server has changed, or (None)
        the agents of the rooms may have."""
        self._background.spawn(self._look_again(server), "tools described")

    async def _look_again(self, server: str | None) -> None:
        try:
            if server is None:
                await self._forget()
            for room_id, agent in list(self._noted):
                room = self._rooms.by_id.get(room_id)
                membership = None if room is None else room.membership(agent)
                if (
                    room is not None
                    and membership is not None
                    and server in (None, *membership.tools)
                ):
                    await self.offered(room, agent)
        except BridgeError as error:
            log.warning("tool_description_failed", error=str(error))

    async def _forget(self) -> None:
        """Remove the tools of agents that left their room."""
        await self._store.keep_tools({
            room.conversation: [membership.agent for membership in room.agents]
            for room in self._rooms.all
        })  # fmt: skip
        for room_id, agent in list(self._noted):
            room = self._rooms.by_id.get(room_id)
            if room is None or room.membership(agent) is None:
                del self._noted[room_id, agent]


def tool_metadata(tool: Tool) -> dict[str, JsonValue]:
    """Return the tool as a conversation's metadata describes it."""
    metadata: dict[str, JsonValue] = {"name": tool.name}
    if tool.description:
        metadata["description"] = tool.description
    return {**metadata, "parameters": tool.parameters or {"type": "object", "properties": {}}}


# --- invite_agent -------------------------------------------------------------------------------

_OWN_TOOLS = frozenset((HAND_OVER, INVITE_AGENT))
_INVITE_DESCRIPTION = (
    "Proposes to invite an agent that is not in this room: a card asks people, and if they agree, "
    "the agent answers the question in your place. Use it when an agent that you found can do what "
    "nobody here can; say in your answer, in a sentence, whom you propose and why."
)


def _invite_tool(room: Room, agent: str) -> Tool | None:
    """The tool, for agents that find others."""
    membership = room.membership(agent)
    if membership is None or AGENT_TOOLS not in membership.tools:
        return None
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "description": "Its name in the bridge, or its address."},
            "why": {"type": "string", "description": "What it can do, for all to read."},
        },
        "required": ["agent"],
    }
    return Tool(INVITE_AGENT, _OWN, INVITE_AGENT, _INVITE_DESCRIPTION, parameters)


def _invited(call: ToolCallPart) -> tuple[PartGiven | None, ToolResultPart]:
    who, why = call.arguments.get("agent"), call.arguments.get("why")
    if not isinstance(who, str) or not who.strip():
        return None, _result_of(call, "`agent` is a name or an address.", error=True)
    who = who.strip().removeprefix("@")
    name = (urlsplit(who).hostname or who) if "://" in who else who
    url = who if "://" in who else ""
    agent = ProposedAgent(who, name, url, why if isinstance(why, str) else "")
    text = "People of the room are asked when your answer has ended; end it now."
    return PartGiven(part=proposal([agent])), _result_of(call, text, error=False)


# --- hand_over ----------------------------------------------------------------------------------

_OWN = "bridge"  # no server of tools: nothing is called
_DESCRIPTION = (
    "Gives this conversation away: from the end of your answer on, the one you name answers here "
    f"in your place. `{PERSON}` silences all agents until a person gives the conversation back. "
    "Use it when another one is the right one to answer, or when somebody asks for a person; say "
    "in your answer, in a sentence, that you hand over."
)


def _hand_over_tool(room: Room, agent: str) -> Tool | None:
    """The tool; None where the room does not allow it."""
    if not room.talk.hand_over:
        return None
    choices = _choices(
        [membership.agent for membership in room.agents if membership.agent != agent]
    )
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "to": {"type": "string", "enum": choices, "description": "Who goes on."},
            "why": {"type": "string", "description": "The reason in a few words, for all to read."},
        },
        "required": ["to"],
    }
    return Tool(HAND_OVER, _OWN, HAND_OVER, _DESCRIPTION, parameters)


def _choices(others: list[str]) -> list[JsonValue]:
    return list(dict.fromkeys([*others, PERSON]))


def _handed_over(
    tool: Tool, call: ToolCallPart, *, again: bool
) -> tuple[PartGiven | None, ToolResultPart]:
    """None where nothing is handed over; `again`: where that was done in this answer before."""
    to, why = call.arguments.get("to"), call.arguments.get("why")
    name = to.strip().removeprefix("@") if isinstance(to, str) else ""
    choices = cast("dict[str, dict[str, JsonValue]]", tool.parameters["properties"])["to"]["enum"]
    if again:
        return None, _result_of(call, "You have handed over already; end your answer.", error=True)
    if not isinstance(choices, list) or name not in choices:
        known = ", ".join(map(str, choices if isinstance(choices, list) else ()))
        text = f"Nothing was handed over: there is no {to!r} in this room; there are: {known}."
        return None, _result_of(call, text, error=True)
    data: JsonValue = {"to": name, **({"why": why} if isinstance(why, str) and why else {})}
    part: JsonValue = {"type": "structured_data", "schema_id": HAND_OVER_SCHEMA, "data": data}
    text = f"{name} goes on when your answer has ended; end it now."
    return PartGiven(part=part), _result_of(call, text, error=False)


def _result_of(call: ToolCallPart, text: str, *, error: bool) -> ToolResultPart:
    answer = ToolResultPart(tool_call_id=call.id, content=text)
    return answer.model_copy(update={"is_error": True}) if error else answer
