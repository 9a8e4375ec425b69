"""The tools of a room's agents stand in its Conversation, as they are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bridge.model import RoomId
from bridge.ports.tools import Tool, ToolUse
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from bridge.uacs import ToolCallPart, ToolResultPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.turns.test_answer import Scripted

SCHEMA: Any = {"type": "object", "properties": {"day": {"type": "string"}}}


class Shed:
    """Servers whose lists a test changes."""

    def __init__(self) -> None:
        self.servers = {"calendar": ["list"], "tracker": ["search"]}
        self.listeners: list[Callable[[str], None]] = []

    def tell_changes(self, listener: Callable[[str], None]) -> None:
        self.listeners.append(listener)

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        return [
            Tool(f"{server}__{name}", server, name, f"{name}s.", SCHEMA)
            for server in servers
            for name in self.servers[server]
        ]

    async def call(
        self, tool: Tool, call: ToolCallPart, use: ToolUse | None = None
    ) -> ToolResultPart:
        raise NotImplementedError

    async def close(self) -> None:
        pass


async def described(rig: RouterRig) -> list[Any]:
    conversation: Any = await rig.store.conversation(rig.rooms[0].conversation)
    return conversation.metadata.get("tools", [])


def plaza(clock: FakeClock) -> tuple[RouterRig, FakeConnector, Shed, list[Scripted]]:
    sales = FakeConnector("sales", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales,))
    shed = rig.tools = Shed()
    agents = [Scripted(name, clock, lambda _: []) for name in ("bot", "clerk", "plain")]
    rig.agents = {agent.name: agent for agent in agents}
    rig.memberships = (
        AgentMembership("bot", "always", beside=True, tools=("calendar", "tracker")),
        AgentMembership("clerk", "always", beside=True, tools=("calendar",)),
        AgentMembership("plain", "always", beside=True),
    )
    rig.room("plaza", (sales, "s", "both"))
    return rig, sales, shed, agents


async def test_a_room_tells_which_tools_its_agents_have_and_each_agent_its_own(
    clock: FakeClock,
) -> None:
    rig, sales, _, (bot, clerk, plain) = plaza(clock)
    async with rig.run():
        for _ in range(2):
            await sales.say("s", "Hi")
            await clock.advance(5)

    listed = {"name": "calendar__list", "description": "lists.", "parameters": SCHEMA}
    search = {"name": "tracker__search", "description": "searchs.", "parameters": SCHEMA}
    assert await described(rig) == [
        {**listed, "agents": ["bot", "clerk"]},
        {**search, "agents": ["bot"]},
    ]
    metadata: list[Any] = [one.turns[-1].conversation.metadata for one in (bot, clerk, plain)]
    assert [one.get("tools") for one in metadata] == [[listed, search], [listed], None]


async def test_they_are_kept_up_to_date_when_a_server_changes_its_list(clock: FakeClock) -> None:
    rig, sales, shed, _ = plaza(clock)
    async with rig.run():
        await sales.say("s", "Hi")
        await clock.advance(5)
        shed.servers["calendar"] = ["list", "add"]
        for listener in shed.listeners:
            listener("calendar")
        await clock.advance(1)

        names = [(one["name"], one["agents"]) for one in await described(rig)]
        assert names == [
            ("calendar__list", ["bot", "clerk"]),
            ("calendar__add", ["bot", "clerk"]),
            ("tracker__search", ["bot"]),
        ]


async def test_an_agent_that_left_a_room_has_no_tools_there(clock: FakeClock) -> None:
    rig, sales, _, _ = plaza(clock)
    async with rig.run() as router:
        await sales.say("s", "Hi")
        await clock.advance(5)
        rig.memberships = rig.memberships[1:]
        rig.rooms.clear()
        rig.room("plaza", (sales, "s", "both"))
        router.reconfigure.change_rooms(rig.rooms)
        await clock.advance(1)

    assert rig.rooms[0].id == RoomId("plaza")
    assert [one["agents"] for one in await described(rig)] == [["clerk"]]
