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
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
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


async def ask_in_a_thread(sandbox: Sandbox) -> str:
    """The thread, in the first Slack channel."""
    root = await sandbox.say("slack", "general", "hello")
    await sandbox.say("slack", "general", "@echo what is the weather?", thread=root)
    return root


def raws(sandbox: Sandbox) -> str:
    return orjson.dumps([message.raw for message in sandbox.standing("slack", "general")]).decode()


@asynccontextmanager
async def at_slack(
    tmp_path: Path, agent: Worker, show: str | None = None
) -> AsyncGenerator[tuple[Sandbox, LocalSlack, Bridge]]:
    """A room of one Slack channel with this agent; `show` is its `show_tools`."""
    async with local_sandbox(names=("slack",), channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        if show is not None:
            settings["rooms"]["general"]["show_tools"] = show
        async with running(sandbox, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            yield sandbox, cast("LocalSlack", sandbox.platforms["slack"]), bridge


@asynccontextmanager
async def ask_in_a_chat(
    tmp_path: Path, agent: Worker
) -> AsyncGenerator[tuple[Sandbox, LocalTeams, Bridge, tuple[str, str]]]:
    """Somebody's chat with this agent on Teams (workspace and chat), which has just asked it."""
    async with local_sandbox(names=("teams",), channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        chat = with_personal_chat(sandbox, settings)
        local = cast("LocalTeams", sandbox.platforms["teams"])
        who = local.world().people[0]
        async with running(sandbox, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            await local.post_as(who.workspace, chat, who.id, "what is the weather?")
            yield sandbox, local, bridge, (who.workspace, chat)


@pytest.mark.parametrize("show", ["names", "full", "off"])
async def test_slack_shows_a_status_then_tasks_then_the_exact_answer(
    tmp_path: Path, show: str
) -> None:
    agent = Worker()
    async with at_slack(tmp_path, agent, show) as (sandbox, local, bridge):
        root = await ask_in_a_thread(sandbox)
        place = sandbox.place("slack", "general")
        await sandbox.until(lambda: "working on: Look at" in local.status(*place, root))
        workspace, own_id = place
        channel = local.slack.workspaces[workspace].channels[own_id]
        ((_, status),) = channel.statuses.items()
        byline = byline_fields(Bylines().of_agent("echo"))
        face = {"username": "echo", "icons": {"emoji": byline["icon_emoji"]}}
        assert status.identity == face

        agent.think.set()
        if show != "off":
            await sandbox.until(lambda: raws(sandbox).count('"task_card"') == 3)
            assert local.status(*place, root) == ""
            assert '"title":"weather: look up"' in raws(sandbox)
            (streamed,) = [message for message in channel.messages.values() if message.live]
            assert {"username": streamed.username, "icons": streamed.icons} == face
        agent.speak.set()
        await sandbox.until(lambda: bridge.router.parts.turns.queue.idle)
        await sandbox.until(lambda: '"in_progress"' not in raws(sandbox) and WORDS in raws(sandbox))

        assert local.status(*place, root) == ""
        assert "task_card" not in raws(sandbox)
        assert ("look up" in raws(sandbox)) == (show != "off")
        assert await bridge.store.dead_letters() == []


async def test_a_teams_chat_shows_the_steps_before_the_text(tmp_path: Path) -> None:
    agent = Worker()
    agent.think.set()
    async with ask_in_a_chat(tmp_path, agent) as (sandbox, local, bridge, (workspace, chat)):
        await sandbox.until(lambda: bool(local.informed(chat)))
        agent.speak.set()
        await sandbox.until(lambda: bridge.router.parts.turns.queue.idle)

        def last() -> Any:
            return local.messages(workspace, chat)[-1]

        await sandbox.until(lambda: WORDS in last().text and "final" in str(last().raw))

        assert local.informed(chat) == ["🔧 weather: look up"]
        assert len(local.messages(workspace, chat)) == 2
        assert await bridge.store.dead_letters() == []


async def test_teams_accepts_every_edit_of_an_answer_with_tool_calls(
    tmp_path: Path,
) -> None:
    agent = Worker(first="Let me look. ")
    async with local_sandbox(names=("teams",), channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        settings["rooms"]["general"]["show_tools"] = "full"
        async with running(sandbox, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            with capture_logs() as logs:
                await sandbox.say("teams", "general", "@echo what is the weather?")
                await sandbox.until(lambda: "Let me look." in all_texts(sandbox))
                agent.think.set()
                await sandbox.until(lambda: "sunny" in all_texts(sandbox))
                agent.speak.set()
                await sandbox.until(
                    lambda: bridge.router.parts.turns.queue.idle and WORDS in all_texts(sandbox)
                )

    assert "Let me look." in all_texts(sandbox)
    assert [log for log in logs if log["event"] == "stream_edit_failed"] == []


async def test_a_table_in_a_chat_of_teams_ends_as_a_table(tmp_path: Path) -> None:
    agent = Worker(words="Costs: \n\n| City | Sun |\n|---|---|\n| Lima | much |")
    agent.think.set()
    agent.speak.set()
    async with ask_in_a_chat(tmp_path, agent) as (sandbox, local, bridge, (workspace, chat)):
        await sandbox.until(lambda: bridge.router.parts.turns.queue.idle)
        last = lambda: str(local.messages(workspace, chat)[-1].raw)  # noqa: E731
        await sandbox.until(lambda: "'TableRow'" in last())

        assert "'rows'" in last()
        assert await bridge.store.dead_letters() == []


def all_texts(sandbox: Sandbox) -> str:
    return orjson.dumps([message.raw for message in sandbox.standing("teams", "general")]).decode()


async def test_slacks_stop_ends_a_turn_before_its_first_text(tmp_path: Path) -> None:
    agent = Worker()
    async with at_slack(tmp_path, agent) as (sandbox, local, bridge):
        root = await ask_in_a_thread(sandbox)
        place = sandbox.place("slack", "general")
        await sandbox.until(lambda: bool(local.status(*place, root)))

        await local.stop_as(*place, sandbox.person("slack", place[0]), root)
        await sandbox.until(lambda: agent.ended and bridge.router.parts.turns.queue.idle)
        await sandbox.until(lambda: local.status(*place, root) == "")

        assert WORDS not in raws(sandbox)


async def test_slacks_stop_ends_a_turn_whose_agent_hangs(tmp_path: Path) -> None:
    agent = Worker()
    agent.think.set()
    async with at_slack(tmp_path, agent) as (sandbox, local, bridge):
        await ask_in_a_thread(sandbox)
        place = sandbox.place("slack", "general")
        await sandbox.until(lambda: raws(sandbox).count('"task_card"') == 3)
        answer = next(
            message
            for message in local.messages(*place)
            if "task_card" in orjson.dumps(message.raw).decode()
        )

        await local.stop_as(*place, sandbox.person("slack", place[0]), answer.id)
        await sandbox.until(lambda: agent.ended and bridge.router.parts.turns.queue.idle)
        await sandbox.until(lambda: "stopped" in raws(sandbox))

        assert await bridge.store.dead_letters() == []


async def test_teams_stop_ends_a_turn_before_its_first_text(tmp_path: Path) -> None:
    agent = Worker()
    agent.think.set()
    async with ask_in_a_chat(tmp_path, agent) as (sandbox, local, bridge, (_, chat)):
        await sandbox.until(lambda: bool(local.informed(chat)))
        assert local.stop_all(chat)
        agent.speak.set()
        await sandbox.until(lambda: agent.ended and bridge.router.parts.turns.queue.idle)

        assert await bridge.store.dead_letters() == []


async def test_the_work_of_an_agent_is_a_status_on_slack_and_typing_elsewhere(
    tmp_path: Path,
) -> None:
    """Nothing is posted for it, so nothing is to be taken away."""
    agent = Reporter()
    async with local_sandbox(channels=1) as sandbox:
        settings = configuration(sandbox, tmp_path / "b.sqlite3", channels=["general"])
        chat = with_personal_chat(sandbox, settings)
        slack = cast("LocalSlack", sandbox.platforms["slack"])
        discord = cast("LocalDiscord", sandbox.platforms["discord"])
        teams = cast("LocalTeams", sandbox.platforms["teams"])
        who = teams.world().people[0]
        async with running(sandbox, settings) as (bridge, _):
            bridge.agents["echo"] = agent
            root = await ask_in_a_thread(sandbox)
            await teams.post_as(who.workspace, chat, who.id, "what is the weather?")
            place = sandbox.place("slack", "general")
            await sandbox.until(lambda: "working on: Look at the map" in slack.status(*place, root))
            await sandbox.until(
                lambda: sandbox.place("discord", "general")[1] in dict(discord.typed)
            )
            await sandbox.until(lambda: chat in dict(teams.typed))
            agent.speak.set()
            await sandbox.until(
                lambda: (
                    bridge.router.parts.turns.queue.idle and bridge.router.parts.outbound.lanes.idle
                )
            )

            standing = [
                *(
                    message
                    for name in sandbox.platforms
                    for message in sandbox.standing(name, "general")
                ),
                *teams.messages(who.workspace, chat),
            ]

    assert sandbox.place("teams", "general")[1] not in dict(teams.typed)
    assert slack.status(*place, root) == ""
    assert teams.informed(chat) == []
    assert sum(WORDS in one.text for one in standing) == len(sandbox.platforms) + 1
    assert "Look at the map" not in str([one.raw for one in standing])
