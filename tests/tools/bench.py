"""A bench of tools without servers, and an agent that calls them, for rooms of fake channels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from bridge.content.cards.interactions import action_token
from bridge.content.cards.reader import Cards
from bridge.model import MessageId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    ApprovalGiven,
    ApprovalWanted,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.ports.tools import ApprovalRule, Tool, ToolUse
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from bridge.uacs import ToolCallPart, ToolResultPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, PressedFake

READ = Tool("cal__read", "cal", "read", "Reads.", {"type": "object"})
REMOVE = Tool("cal__remove", "cal", "remove", "Removes.", approval=ApprovalRule())
TWO = Tool("cal__two", "cal", "two", approval=ApprovalRule(quorum=2, approvers=("fake:*",)))
ALLOW, REFUSE = 1, 2  # the nodes of the request's card


@dataclass
class Bench:
    """Keeps the port: every call is noted, and answered with its arguments; `hold` lets calls hang
    until it is set."""

    made: list[str] = field(default_factory=list[str])
    hold: asyncio.Event | None = None

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        return [READ, REMOVE, TWO] if "cal" in servers else []

    async def call(
        self, tool: Tool, call: ToolCallPart, use: ToolUse | None = None
    ) -> ToolResultPart:
        self.made.append(tool.own_name)
        if self.hold is not None:
            await self.hold.wait()
        return ToolResultPart(tool_call_id=call.id, content={"done": tool.own_name})

    async def close(self) -> None:
        pass


class Caller:
    """Calls the tools that it is told to all at once, waits for their results, and says them; or
    fails instead, once `breaks` is set."""

    name = "helper"

    def __init__(self, *tools: str) -> None:
        self.tools = tools
        self.turns: list[Turn] = []
        self.results: list[JsonValue] = []
        self.breaks: asyncio.Event | None = None

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.turns.append(turn)
        calls = [
            ToolCallPart(id=f"c{n}.{len(self.turns)}", name=name, arguments={"title": "Lunch"})
            for n, name in enumerate(self.tools)
        ]
        for part in calls:
            yield ToolCalled(part=part)
        if self.breaks is not None:
            await self.breaks.wait()
            yield TurnFailed(reason="its API broke")
            return
        waiting = {part.id for part in calls}
        while waiting:
            tool_result = await anext(inputs)
            if isinstance(tool_result, ToolResultGiven):
                waiting.discard(tool_result.part.tool_call_id)
                self.results.append(tool_result.part.content)
                yield ToolAnswered(part=tool_result.part)
        yield TextDelta(text="That is all.")
        yield TurnDone()


class Asker:
    """Runs its tools by itself, and asks for leave first."""

    name = "helper"

    def __init__(self) -> None:
        self.given: list[ApprovalGiven] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        part = ToolCallPart(id="own", name="deploy", arguments={})
        yield ApprovalWanted(part=part, reason="It is Friday.")
        async for one in inputs:
            if isinstance(one, ApprovalGiven):
                self.given.append(one)
                break
        yield TextDelta(text="As you say.")
        yield TurnDone()


def bench_rig(clock: FakeClock, agent: Caller | Asker) -> tuple[RouterRig, Bench]:
    sales, billing = PressedFake("sales", clock), PressedFake("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.cards = Cards({}, KEY)
    rig.agents = {"helper": agent}
    rig.memberships = (AgentMembership("helper", "always", tools=("cal",)),)
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))
    bench = Bench()
    rig.tools = bench
    return rig, bench


@dataclass(frozen=True)
class Request:
    """The copies of a request for leave, and who may press where."""

    rig: RouterRig
    message: MessageId
    copies: dict[str, list[str]]

    async def press(self, account: str, node: int | str, author: str = "ann") -> None:
        """The button of this node; or with this text in place of its token."""
        fake = next(p for name, p in self.rig.connectors.items() if name == account)
        assert isinstance(fake, PressedFake)
        token = (
            node
            if isinstance(node, str)
            else action_token(KEY, self.message, f"/content/0/data/nodes/{node}")
        )
        channel = account[0]
        await fake.press(channel, self.copies[account][0], token, author=author)

    def shown(self) -> list[str]:
        """The fake connector splits long texts: each whole again."""
        return [
            "".join(post.text for post in fake.channels[name[0]] if post.id in self.copies[name])
            for name, fake in self.rig.connectors.items()
        ]


async def request_of(rig: RouterRig, number: int = 0) -> Request:
    """The request that is asked just now."""
    (*_, one) = await rig.store.approvals(newest=number + 1)
    message = MessageId(f"bridge:approval:{one.id}")
    copies: dict[str, list[str]] = {}
    for name, fake in rig.connectors.items():
        for post in fake.channels[name[0]]:
            if await rig.store.resolve(fake.channel(name[0]), post.id) == message:
                copies.setdefault(name, []).append(post.id)
    return Request(rig, message, copies)
