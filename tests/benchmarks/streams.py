"""Many agents' turns at once, shown while they grow, on a local Slack with all its limits on.

Every room is one channel, and every question is asked in a thread, as Slack streams answers in
threads alone.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone
from connectors.slack.sandbox import LocalSlack
from connectors.slack.sandbox.seed import further_workspace
from tests.e2e.local_sandbox import Sandbox, local_sandbox, running


@dataclass(frozen=True)
class Size:
    """`turns` at once, spread evenly over `workspaces`; each says `deltas` words in `seconds`."""

    turns: int
    workspaces: int
    deltas: int = 100
    seconds: float = 10.0


FULL = Size(turns=100, workspaces=10)
ONE_WORKSPACE = Size(turns=100, workspaces=1)
QUICK = Size(turns=10, workspaces=2, deltas=30, seconds=3.0)


@dataclass
class Counting:
    """Streams numbers; remembers, by room, when it began and when it ended."""

    size: Size
    name: str = "echo"
    began: dict[str, float] = field(default_factory=dict[str, float])
    ended: dict[str, float] = field(default_factory=dict[str, float])

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del inputs
        loop = asyncio.get_running_loop()
        pause = self.size.seconds / self.size.deltas
        self.began[turn.room] = loop.time()
        for number in range(self.size.deltas):
            self.ended[turn.room] = loop.time()
            yield TextDelta(text=f"{turn.room} says {number}. ")
            await asyncio.sleep(pause)
        yield TurnDone()

    def last_text(self, room: str) -> str:
        return " ".join(f"{room} says {number}." for number in range(self.size.deltas))


@dataclass
class Room:
    """One channel of a workspace."""

    name: str
    workspace: str
    channel: str
    account: str


async def measure(size: Size, *, patience: float = 300.0) -> dict[str, Any]:
    """Seconds: the first visible text after the first delta, the whole message after the last. CPU
    is that of the bridge and the local Slack together."""
    async with AsyncExitStack() as stack:
        per_workspace = -(-size.turns // size.workspaces)
        sandbox = await stack.enter_async_context(
            local_sandbox(channels=per_workspace, names=("slack",))
        )
        rooms = _rooms(sandbox, size)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = _settings(sandbox, rooms, folder / "bridge.sqlite3")
        bridge, _ = await stack.enter_async_context(running(sandbox, settings))
        agent = Counting(size)
        bridge.agents["echo"] = agent
        recorder = Seen(agent)
        watching = asyncio.create_task(recorder.watch(sandbox))
        cpu = time.process_time()
        await asyncio.gather(*(_question(sandbox, room) for room in rooms))
        await recorder.wait(len(rooms), patience)
        cpu = time.process_time() - cpu
        refused = dict(sandbox.context.feed.refusals)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    firsts = [at - agent.began[room] for room, at in recorder.first.items()]
    lasts = [at - agent.ended[room] for room, at in recorder.whole.items()]
    deltas = size.turns * size.deltas
    return {
        "turns": size.turns, "workspaces": size.workspaces, "deltas": deltas,
        "whole": len(lasts), "refused": refused,
        "steps": _spread([float(recorder.steps[room]) for room in recorder.first]),
        "first_s": _spread(firsts), "final_s": _spread(lasts),
        "cpu_ms_per_delta": round(cpu / deltas * 1000, 3),
    }  # fmt: skip


@dataclass
class Seen:
    """When each room's answer is first seen, when it is whole, and how often it changed."""

    agent: Counting
    first: dict[str, float] = field(default_factory=dict[str, float])
    whole: dict[str, float] = field(default_factory=dict[str, float])
    steps: Counter[str] = field(default_factory=Counter[str])

    async def watch(self, sandbox: Sandbox) -> None:
        loop = asyncio.get_running_loop()
        async for change in sandbox.context.feed.watch():
            room, _, rest = change.message.text.partition(" says ")
            if rest and change.message.bot:
                self.steps[room] += 1
                self.first.setdefault(room, loop.time())
                if change.message.text.strip() == self.agent.last_text(room):
                    self.whole.setdefault(room, loop.time())

    async def wait(self, rooms: int, patience: float) -> None:
        """Until all are whole, or nobody believes in it any more."""
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        while len(self.whole) < rooms and loop.time() < until:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.05)


async def _question(sandbox: Sandbox, room: Room) -> None:
    local = sandbox.platforms["slack"]
    people = [person.id for person in local.world().people if person.workspace == room.workspace]
    root = await local.post_as(room.workspace, room.channel, people[0], "hello")
    await local.post_as(room.workspace, room.channel, people[0], "@echo count", root.id)


def _rooms(sandbox: Sandbox, size: Size) -> list[Room]:
    """Workspaces beside those that are there already, each with its share of the rooms."""
    local = cast(LocalSlack, sandbox.platforms["slack"])
    per_workspace = -(-size.turns // size.workspaces)
    base_url = sandbox.context.base_url
    rooms: list[Room] = []
    for number in range(size.workspaces):
        workspace = further_workspace(number, base_url, per_workspace)
        local.slack.add(workspace)
        rooms += [
            Room(f"room{len(rooms) + n}", workspace.id, channel, f"slack{number}")
            for n, channel in enumerate(list(workspace.channels)[:per_workspace])
        ]
    return rooms[: size.turns]


def _settings(sandbox: Sandbox, rooms: Sequence[Room], store: Path) -> dict[str, Any]:
    accounts = {room.account: _account(sandbox, room.workspace) for room in rooms}
    return {
        "accounts": accounts,
        "rooms": {
            room.name: {
                "members": [
                    {
                        "account": room.account, "workspace": room.workspace,
                        "channel": room.channel,
                    }
                ],
                "agents": [{"agent": "echo", "listen": "mentions"}],
            }
            for room in rooms
        },
        "agents": {"echo": {"kind": "echo"}},
        "store": {"path": str(store)},
        "web": {"port": 0},
    }  # fmt: skip


def _account(sandbox: Sandbox, workspace: str) -> dict[str, Any]:
    apps = sandbox.platforms["slack"].world().apps
    index = next(n for n, app in enumerate(apps) if app["workspace"] == workspace)
    return sandbox.account("slack", index)


def _spread(values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 3),
        "worst": round(ordered[-1], 3),
    }
