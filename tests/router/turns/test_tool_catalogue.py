"""The tools of a room's agents stand in its Conversation, as they are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bridge.model import RoomId
from bridge.ports.tools import Tool
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from bridge.uacs import ToolCallPart, ToolResultPart
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector
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

    async def call(self, tool: Tool, call: ToolCallPart) -> ToolResultPart:
        raise NotImplementedError

    async def close(self) -> None:
        pass


async def described(house: House) -> list[Any]:
    conversation: Any = await house.store.conversation(house.rooms[0].conversation)
    return conversation.metadata.get("tools", [])


def plaza(clock: FakeClock) -> tuple[House, PaperConnector, Shed, list[Scripted]]:
    slate = PaperConnector("slate", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate,))
    shed = house.tools = Shed()
    agents = [Scripted(name, clock, lambda _: []) for name in ("bot", "clerk", "plain")]
    house.agents = {one.name: one for one in agents}
    house.memberships = (
        AgentMembership("bot", "always", beside=True, tools=("calendar", "tracker")),
        AgentMembership("clerk", "always", beside=True, tools=("calendar",)),
        AgentMembership("plain", "always", beside=True),
    )
    house.room("plaza", (slate, "s", "both"))
    return house, slate, shed, agents


async def test_a_room_tells_which_tools_its_agents_have_and_each_agent_its_own(
    clock: FakeClock,
) -> None:
    house, slate, _, (bot, clerk, plain) = plaza(clock)
    async with house.run():
        for _ in range(2):
            await slate.say("s", "Hi")
            await clock.advance(5)

    listed = {"name": "calendar__list", "description": "lists.", "parameters": SCHEMA}
    search = {"name": "tracker__search", "description": "searchs.", "parameters": SCHEMA}
    assert await described(house) == [
        {**listed, "agents": ["bot", "clerk"]},
        {**search, "agents": ["bot"]},
    ]
    given: list[Any] = [one.turns[-1].conversation.metadata for one in (bot, clerk, plain)]
    assert [one.get("tools") for one in given] == [[listed, search], [listed], None]


async def test_they_are_kept_up_to_date_when_a_server_changes_its_list(clock: FakeClock) -> None:
    house, slate, shed, _ = plaza(clock)
    async with house.run():
        await slate.say("s", "Hi")
        await clock.advance(5)
        shed.servers["calendar"] = ["list", "add"]
        for listener in shed.listeners:
            listener("calendar")
        await clock.advance(1)

        names = [(one["name"], one["agents"]) for one in await described(house)]
        assert names == [
            ("calendar__list", ["bot", "clerk"]),
            ("calendar__add", ["bot", "clerk"]),
            ("tracker__search", ["bot"]),
        ]


async def test_an_agent_that_left_a_room_has_no_tools_there(clock: FakeClock) -> None:
    house, slate, _, _ = plaza(clock)
    async with house.run() as router:
        await slate.say("s", "Hi")
        await clock.advance(5)
        house.memberships = house.memberships[1:]
        house.rooms.clear()
        house.room("plaza", (slate, "s", "both"))
        router.reconfigure.change_rooms(house.rooms)
        await clock.advance(1)

    assert house.rooms[0].id == RoomId("plaza")
    assert [one["agents"] for one in await described(house)] == [["clerk"]]
