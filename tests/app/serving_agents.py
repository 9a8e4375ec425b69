"""A bridge that serves five agents to programs: one repeats, one has to be let go on, one asks for
leave, one fails, one gives pictures back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bridge.app.build import Bridge
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    ApprovalGiven,
    ApprovalWanted,
    PartGiven,
    TextDelta,
    Turn,
    TurnDone,
)
from bridge.uacs import ToolCallPart, write
from tests.app.api.served import ROOM, token_for
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

NAMES = ("parrot", "held", "asking", "failing", "painting")


class Held:
    """An agent that begins to speak, and goes on when it is let."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.turns = 0

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        self.turns += 1
        yield TextDelta(text="I begin")
        await self.free.wait()
        yield TextDelta(text=f" and end {turn.conversation.messages[-1].content[0].text[-3:]}")  # type: ignore[union-attr]
        yield TurnDone()


class Asking:
    """An agent that calls a tool of its own, which somebody must allow."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        call = ToolCallPart(id="c1", name="remove", arguments={"day": "Monday"})
        yield ApprovalWanted(part=call, reason="It is final")
        async for given in inputs:
            if isinstance(given, ApprovalGiven):
                yield TextDelta(text="Removed." if given.allowed else "Left alone.")
                yield TurnDone()
                return


class Painting:
    """An agent that gives back the first picture that it sees."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        pictures = [part for part in turn.conversation.messages[-1].content if part.type == "image"]
        yield PartGiven(part=orjson.loads(write(pictures[0])), name="sky.png")
        yield TurnDone()


class Failing:
    """An agent that cannot answer."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn, inputs
        raise RuntimeError("the key is sk-secret1234567890")
        yield TurnDone()


@dataclass
class Served:
    """One bridge for all tests of this file, with four agents in its room."""

    local: Sandbox
    bridge: Bridge
    url: str
    held: Held

    async def token(self, name: str, **changes: Any) -> str:
        changes = {"role": "human", **changes}
        return await token_for(self.bridge.store, self.bridge.clock, name, **changes)


@asynccontextmanager
async def serving(folder: Path) -> AsyncGenerator[Served]:
    """One bridge with two local platforms, whose room has all these agents."""
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, folder / "b.sqlite3")
        settings["openfloor"] = {"private_addresses": True}
        manifest = {"synopsis": "Repeats what one says", "keyphrases": ["repeat"]}
        settings["agents"] |= {name: {"kind": "echo", "pace": 0} for name in NAMES}
        settings["agents"]["parrot"]["manifest"] = manifest
        settings["rooms"][ROOM]["agents"] = [{"agent": name} for name in NAMES]
        async with running(local, settings) as (bridge, url):
            agents: Any = bridge.agents
            held = agents["held"] = Held()
            agents["asking"], agents["failing"] = Asking(), Failing()
            agents["painting"] = Painting()
            yield Served(local, bridge, url, held)
