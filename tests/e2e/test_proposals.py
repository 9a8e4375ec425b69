"""An agent that cannot help proposes another one; people invite it by a button, on whatever
platform, and it answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bridge.app.rooms.guests import guests_of
from bridge.content.messages.agent_parts import ProposedAgent, proposal
from bridge.errors import NotFound
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PartGiven,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    Turn,
    TurnDone,
)
from bridge.uacs import ToolCallPart
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import hands, with_words

PLATFORMS = ("slack", "discord", "teams")


class Proposing:
    """Proposes one agent of the configuration, one at an address, and one that may not come."""

    name = "host"

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn, inputs
        yield TextDelta(text="I know somebody who can.")
        agents = [
            ProposedAgent("parrot", "Parrot", synopsis="Repeats <@U1> everything"),
            ProposedAgent("https://evil.example/of", "Evil", "https://evil.example/of", "No"),
        ]
        yield PartGiven(part=proposal(agents))
        yield TurnDone()


def settings_of(local: Sandbox, path: Path) -> dict[str, Any]:
    settings = configuration(local, path, channels=("general",))
    settings["agents"] |= {name: {"kind": "echo", "pace": 0} for name in ("host", "parrot")}
    settings["rooms"]["general"]["agents"] = [{"agent": "host"}]
    return settings


def shows(local: Sandbox, platform: str, words: str) -> bool:
    return with_words(local, platform, words) is not None


@pytest.mark.parametrize("platform", ["slack", "discord", "teams"])
async def test_an_agent_is_invited_by_a_button_and_answers_the_question(
    tmp_path: Path, platform: str
) -> None:
    async with local_sandbox(names=PLATFORMS) as local:
        settings = settings_of(local, tmp_path / "b.sqlite3")
        async with running(local, settings) as (bridge, _):
            agents: Any = bridge.agents
            agents["host"] = Proposing()
            await local.say(platform, "general", "@host who can repeat this?")
            for name in PLATFORMS:
                await local.until(partial(shows, local, name, "proposes to invite"))
            card = with_words(local, platform, "proposes to invite")
            assert card is not None
            user = hands(local)[platform]
            refused = await user.press(card.id, "Invite Evil")
            pressed = await user.press(card.id, "Invite Parrot")
            for name in PLATFORMS:
                await local.until(partial(shows, local, name, "invited parrot"))
                await local.until(partial(shows, local, name, "I am "))
                await local.until(partial(shows, local, name, "parrot answers in this room"))
            with pytest.raises(NotFound):  # the buttons are gone
                await user.press(card.id, "Invite Parrot")
            await local.say(platform, "general", "@parrot go on")
            guests = await guests_of(bridge.store)
            room = bridge.rooms.all[0]
            present = [membership.agent for membership in room.agents]

    assert refused.sent
    assert pressed.sent
    assert [guest.agent for guest in guests] == ["parrot"]
    assert present == ["host", "parrot"]


async def test_no_thanks_ends_the_matter_and_strangers_decide_nothing(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = settings_of(local, tmp_path / "b.sqlite3")
        async with running(local, settings) as (bridge, _):
            agents: Any = bridge.agents
            agents["host"] = Proposing()
            await local.say("slack", "general", "@host who can repeat this?")
            for name in ("slack", "discord"):
                await local.until(partial(shows, local, name, "proposes to invite"))
            users = hands(local)
            elsewhere = with_words(local, "discord", "proposes to invite")
            here = with_words(local, "slack", "proposes to invite")
            assert elsewhere is not None
            assert here is not None
            await users["discord"].press(elsewhere.id, "Invite Parrot")
            await users["slack"].press(here.id, "No thanks")
            for name in ("slack", "discord"):
                await local.until(partial(shows, local, name, "said: no, thanks"))
            guests = await guests_of(bridge.store)

    assert guests == ()


class Calling:
    """Calls the tool `invite_agent`, and says what came of it."""

    name = "host"

    def __init__(self) -> None:
        self.results: list[str] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn
        for number, agent in enumerate(("", "@parrot")):
            call = ToolCallPart(
                id=f"c{number}", name="invite_agent", arguments={"agent": agent, "why": "Repeats"}
            )
            yield ToolCalled(part=call)
            async for given in inputs:
                assert isinstance(given, ToolResultGiven)
                self.results.append(str(given.part.content))
                yield ToolAnswered(part=given.part)
                break
        yield TextDelta(text="Parrot could do it.")
        yield TurnDone()


async def test_an_agent_with_the_tools_of_agents_may_propose_whom_it_found(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack",)) as local:
        settings = settings_of(local, tmp_path / "b.sqlite3")
        settings["agents"]["host"]["tools"] = ["agents"]
        async with running(local, settings) as (bridge, _):
            agents: Any = bridge.agents
            host = agents["host"] = Calling()
            await local.say("slack", "general", "@host who can repeat this?")
            await local.until(partial(shows, local, "slack", "proposes to invite"))
            card = with_words(local, "slack", "proposes to invite")
            assert card is not None
            await hands(local)["slack"].press(card.id, "Invite parrot")
            await local.until(partial(shows, local, "slack", "invited parrot"))
            tools = await bridge.store.conversation(bridge.rooms.all[0].conversation)

    assert host.results == [
        "`agent` is a name or an address.",
        "People of the room are asked when your answer has ended; end it now.",
    ]
    names = {tool["name"] for tool in (tools.metadata or {})["tools"]}  # type: ignore[union-attr,index,call-overload]
    assert {"invite_agent", "agents__find_agent"} <= names
