"""What an agent does before and beside its words, as each platform shows it; and its Stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from structlog.testing import capture_logs

from bridge.app.build import Bridge
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PlanStep,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    Turn,
    TurnDone,
)
from bridge.router.rooms.bylines import Bylines
from bridge.uacs import ToolCallPart, ToolResultPart
from connectors.discord.sandbox.local import LocalDiscord
from connectors.slack.encode import byline_fields
from connectors.slack.sandbox.local import LocalSlack
from connectors.teams.sandbox.local import LocalTeams
from tests.e2e.house import Street, configuration, running, street
from tests.e2e.test_streaming import with_personal_chat

WORDS = "It is sunny in Lima."


class Worker:
    """Thinks, calls tools, then speaks; each goes on when it is told to."""

    name = "echo"

    def __init__(self, first: str = "", words: str = WORDS) -> None:
        self.first, self.words = first, words
        self.speak, self.think = asyncio.Event(), asyncio.Event()
        self.ended = False

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        try:
            if self.first:
                yield TextDelta(text=self.first)
            yield PlanStep(id="1", title="Look at the map", status="in_progress")
            await self.think.wait()
            yield PlanStep(id="1", title="Look at the map", status="complete")
            for city in ("Lima", "Oslo"):
                call = ToolCallPart(id=city, name="weather__look_up", arguments={"city": city})
                yield ToolCalled(part=call)
            yield ToolAnswered(part=ToolResultPart(tool_call_id="Lima", content="sunny"))
            await self.speak.wait()
            for word in self.words.split(" "):
                yield TextDelta(text=f"{word} ")
            yield TurnDone()
        finally:
            self.ended = True


class Reporter:
    """Says what it does just now, which is no part of its plan, then speaks when it is told to."""

    name = "echo"

    def __init__(self) -> None:
        self.speak = asyncio.Event()

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        title = "Look at the map"
        yield PlanStep(id="progress", title=title, status="in_progress", transient=True)
        await self.speak.wait()
        yield TextDelta(text=WORDS)
        yield TurnDone()


async def asked_in_a_thread(town: Street) -> str:
    """The thread, in the first Slack channel."""
    root = await town.say("slack", "general", "hello")
    await town.say("slack", "general", "@echo what is the weather?", thread=root)
    return root


def raws(town: Street) -> str:
    return orjson.dumps([one.raw for one in town.standing("slack", "general")]).decode()


@asynccontextmanager
async def at_slack(
    tmp_path: Path, agent: Worker, show: str | None = None
) -> AsyncGenerator[tuple[Street, LocalSlack, Bridge]]:
    """A room of one Slack channel with this agent; `show` is its `show_tools`."""
    async with street(names=("slack",), channels=1) as town:
        settings = configuration(town, tmp_path / "b.sqlite3", channels=["general"])
        if show is not None:
            settings["rooms"]["general"]["show_tools"] = show
        async with running(town, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            yield town, cast("LocalSlack", town.platforms["slack"]), bridge


@asynccontextmanager
async def asked_in_a_chat(
    tmp_path: Path, agent: Worker
) -> AsyncGenerator[tuple[Street, LocalTeams, Bridge, tuple[str, str]]]:
    """Somebody's chat with this agent on Teams (workspace and chat), which has just asked it."""
    async with street(names=("teams",), channels=1) as town:
        settings = configuration(town, tmp_path / "b.sqlite3", channels=["general"])
        chat = with_personal_chat(town, settings)
        local = cast("LocalTeams", town.platforms["teams"])
        who = local.world().people[0]
        async with running(town, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            await local.post_as(who.workspace, chat, who.id, "what is the weather?")
            yield town, local, bridge, (who.workspace, chat)


@pytest.mark.parametrize("show", ["names", "full", "off"])
async def test_slack_shows_a_status_then_tasks_then_the_exact_answer(
    tmp_path: Path, show: str
) -> None:
    agent = Worker()
    async with at_slack(tmp_path, agent, show) as (town, local, bridge):
        root = await asked_in_a_thread(town)
        place = town.place("slack", "general")
        await town.until(lambda: "working on: Look at" in local.status(*place, root))
        workspace, own_id = place
        channel = local.slack.workspaces[workspace].channels[own_id]
        ((_, status),) = channel.statuses.items()
        shown = byline_fields(Bylines().of_agent("echo"))
        face = {"username": "echo", "icons": {"emoji": shown["icon_emoji"]}}
        assert status.identity == face

        agent.think.set()
        if show != "off":
            await town.until(lambda: raws(town).count('"task_card"') == 3)
            assert local.status(*place, root) == ""
            assert '"title":"weather: look up"' in raws(town)
            (streamed,) = [one for one in channel.messages.values() if one.live]
            assert {"username": streamed.username, "icons": streamed.icons} == face
        agent.speak.set()
        await town.until(lambda: bridge.router.parts.turns.queue.idle)
        await town.until(lambda: '"in_progress"' not in raws(town) and WORDS in raws(town))

        assert local.status(*place, root) == ""
        assert "task_card" not in raws(town)
        assert ("look up" in raws(town)) == (show != "off")
        assert await bridge.store.dead_letters() == []


async def test_teams_says_in_a_chat_what_is_done_before_there_are_words(tmp_path: Path) -> None:
    agent = Worker()
    agent.think.set()
    async with asked_in_a_chat(tmp_path, agent) as (town, local, bridge, (workspace, chat)):
        await town.until(lambda: bool(local.informed(chat)))
        agent.speak.set()
        await town.until(lambda: bridge.router.parts.turns.queue.idle)

        def last() -> Any:
            return local.messages(workspace, chat)[-1]

        await town.until(lambda: WORDS in last().text and "final" in str(last().raw))

        assert local.informed(chat) == ["🔧 weather: look up"]
        assert len(local.messages(workspace, chat)) == 2
        assert await bridge.store.dead_letters() == []


async def test_teams_takes_every_edit_of_an_answer_that_shows_its_calls_whole(
    tmp_path: Path,
) -> None:
    agent = Worker(first="Let me look. ")
    async with street(names=("teams",), channels=1) as town:
        settings = configuration(town, tmp_path / "b.sqlite3", channels=["general"])
        settings["rooms"]["general"]["show_tools"] = "full"
        async with running(town, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            with capture_logs() as logs:
                await town.say("teams", "general", "@echo what is the weather?")
                await town.until(lambda: "Let me look." in shown(town))
                agent.think.set()
                await town.until(lambda: "sunny" in shown(town))
                agent.speak.set()
                await town.until(
                    lambda: bridge.router.parts.turns.queue.idle and WORDS in shown(town)
                )

    assert "Let me look." in shown(town)
    assert [one for one in logs if one["event"] == "stream_edit_failed"] == []


async def test_a_table_in_a_chat_of_teams_is_one_in_the_end(tmp_path: Path) -> None:
    agent = Worker(words="Costs: \n\n| City | Sun |\n|---|---|\n| Lima | much |")
    agent.think.set()
    agent.speak.set()
    async with asked_in_a_chat(tmp_path, agent) as (town, local, bridge, (workspace, chat)):
        await town.until(lambda: bridge.router.parts.turns.queue.idle)
        last = lambda: str(local.messages(workspace, chat)[-1].raw)  # noqa: E731
        await town.until(lambda: "'TableRow'" in last())

        assert "'rows'" in last()
        assert await bridge.store.dead_letters() == []


def shown(town: Street) -> str:
    return orjson.dumps([one.raw for one in town.standing("teams", "general")]).decode()


async def test_slacks_stop_ends_what_has_not_begun_to_speak(tmp_path: Path) -> None:
    agent = Worker()
    async with at_slack(tmp_path, agent) as (town, local, bridge):
        root = await asked_in_a_thread(town)
        place = town.place("slack", "general")
        await town.until(lambda: bool(local.status(*place, root)))

        await local.stop_as(*place, town.person("slack", place[0]), root)
        await town.until(lambda: agent.ended and bridge.router.parts.turns.queue.idle)
        await town.until(lambda: local.status(*place, root) == "")

        assert WORDS not in raws(town)


async def test_slacks_stop_ends_an_agent_that_says_nothing_more(tmp_path: Path) -> None:
    agent = Worker()
    agent.think.set()
    async with at_slack(tmp_path, agent) as (town, local, bridge):
        await asked_in_a_thread(town)
        place = town.place("slack", "general")
        await town.until(lambda: raws(town).count('"task_card"') == 3)
        answer = next(
            one for one in local.messages(*place) if "task_card" in orjson.dumps(one.raw).decode()
        )

        await local.stop_as(*place, town.person("slack", place[0]), answer.id)
        await town.until(lambda: agent.ended and bridge.router.parts.turns.queue.idle)
        await town.until(lambda: "stopped" in raws(town))

        assert await bridge.store.dead_letters() == []


async def test_teams_stop_ends_an_agent_that_has_said_nothing_yet(tmp_path: Path) -> None:
    agent = Worker()
    agent.think.set()
    async with asked_in_a_chat(tmp_path, agent) as (town, local, bridge, (_, chat)):
        await town.until(lambda: bool(local.informed(chat)))
        assert local.stop_all(chat)
        agent.speak.set()
        await town.until(lambda: agent.ended and bridge.router.parts.turns.queue.idle)

        assert await bridge.store.dead_letters() == []


async def test_what_an_agent_does_just_now_is_a_status_on_slack_and_typing_elsewhere(
    tmp_path: Path,
) -> None:
    """Nothing is posted for it, so nothing is to be taken away."""
    agent = Reporter()
    async with street(channels=1) as town:
        settings = configuration(town, tmp_path / "b.sqlite3", channels=["general"])
        chat = with_personal_chat(town, settings)
        slack = cast("LocalSlack", town.platforms["slack"])
        discord = cast("LocalDiscord", town.platforms["discord"])
        teams = cast("LocalTeams", town.platforms["teams"])
        who = teams.world().people[0]
        async with running(town, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            root = await asked_in_a_thread(town)
            await teams.post_as(who.workspace, chat, who.id, "what is the weather?")
            place = town.place("slack", "general")
            await town.until(lambda: "working on: Look at the map" in slack.status(*place, root))
            await town.until(lambda: town.place("discord", "general")[1] in dict(discord.typed))
            await town.until(lambda: chat in dict(teams.typed))
            agent.speak.set()
            await town.until(
                lambda: (
                    bridge.router.parts.turns.queue.idle and bridge.router.parts.outbound.lanes.idle
                )
            )

            standing = [
                *(one for name in town.platforms for one in town.standing(name, "general")),
                *teams.messages(who.workspace, chat),
            ]

    assert town.place("teams", "general")[1] not in dict(teams.typed)
    assert slack.status(*place, root) == ""
    assert teams.informed(chat) == []
    assert sum(WORDS in one.text for one in standing) == 4
    assert "Look at the map" not in str([one.raw for one in standing])
