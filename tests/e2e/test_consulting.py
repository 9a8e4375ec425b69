"""An agent asks another one behind the scenes: nobody else reads it, in no channel, over no
interface, in no export."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import orjson

from bridge.model import ActorId
from bridge.model.archive_records import View
from bridge.model.search_records import Search, Words
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    TextDelta,
    ToolCalled,
    ToolResultGiven,
    Turn,
    TurnDone,
)
from bridge.uacs import ToolCallPart
from tests.app.api.served import client, reading, token_for
from tests.app.running import cli, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

PLATFORMS = ("slack", "discord", "teams")
QUESTION, ANSWER = "quicksilverquestion", "quicksilveranswer"


class Asking:
    """Asks the agents that the question names, and says only how many answered."""

    name = "host"

    def __init__(self, *asked: str) -> None:
        self.asked = asked
        self.results: list[Any] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn
        for number, agent in enumerate(self.asked):
            arguments: Any = {"agent": agent, "question": f"{QUESTION} {number}"}
            call = ToolCallPart(id=f"c{number}", name="agents__ask_agent", arguments=arguments)
            yield ToolCalled(part=call)
            async for given in inputs:
                assert isinstance(given, ToolResultGiven)
                self.results.append(given.part.content)
                break
        yield TextDelta(text=f"I asked {len(self.results)}.")
        yield TurnDone()


class Knowing:
    """Keeps what it was told, and answers with the number of messages that it sees."""

    def __init__(self, name: str, says: str) -> None:
        self.name = name
        self.says = says
        self.heard: list[str] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        self.heard += [str(message.content) for message in turn.conversation.messages]
        yield TextDelta(text=f"{self.says} {len(turn.conversation.messages)}")
        yield TurnDone()


def settings_of(local: Sandbox, path: Path) -> dict[str, Any]:
    settings = configuration(local, path, channels=("general",))
    settings["agents"] |= {name: {"kind": "echo", "pace": 0} for name in ("host", "kaja", "other")}
    settings["agents"]["host"]["tools"] = ["agents"]
    room = settings["rooms"]["general"]
    room["agents"] = [{"agent": name} for name in ("host", "kaja", "other")]
    room["show_tools"] = "full"
    return settings


async def test_a_consultation_is_for_the_two_alone(tmp_path: Path) -> None:
    async with local_sandbox(names=PLATFORMS) as local:
        settings = settings_of(local, tmp_path / "b.sqlite3")
        config = write(tmp_path / "bridge.yaml", json.dumps(settings))
        async with running(local, settings) as (bridge, url):
            agents: Any = bridge.agents
            host = agents["host"] = Asking(
                "kaja", "other", "@kaja", "host", "nobody", "https://x.example"
            )
            kaja = agents["kaja"] = Knowing("kaja", ANSWER)
            other = agents["other"] = Knowing("other", "nothing")
            token = await token_for(bridge.store, bridge.clock, "reader", role="human")
            async with client(url, token) as http, reading(http, "general", after="0.0") as events:
                await local.say("slack", "general", "@host find out")
                for platform in PLATFORMS:
                    await local.until(
                        lambda platform=platform: "I asked 6." in shown(local, platform)
                    )
                await local.say("slack", "general", "@other what do you know?")
                await local.until(lambda: bool(other.heard))
                await bridge.router.settled()
                api = (await http.get("/v1/rooms/general?limit=200")).text
                found = (await http.get(f"/v1/search?q={ANSWER}")).text
                streamed = str([event.data for event in events.events])
            room = bridge.rooms.all[0].conversation
            everybody = await bridge.store.conversation(room)
            mine = await bridge.store.conversation(
                room, view=View(readers=(ActorId("agent:kaja"),))
            )
            searched = await bridge.store.find(Search((Words(ANSWER),)), limit=5)
            plain = await asyncio.to_thread(cli, "archive", "show", "general", "-c", str(config))
            read = await asyncio.to_thread(
                cli, "archive", "show", "general", "--reader", "agent:kaja", "-c", str(config)
            )
            out = tmp_path / "out.jsonl"
            exported = await asyncio.to_thread(
                cli, "archive", "export", str(out), "--format", "uacs-lines", "-c", str(config)
            )
            known = str(kaja.heard)

    first, aside, second = (orjson.loads(result) for result in host.results[:3])
    assert first == {"agent": "kaja", "answer": f"{ANSWER} 1"}
    assert aside["answer"] == "nothing 1"
    assert second["answer"] == f"{ANSWER} 3"  # it remembers what the two said before
    assert "does not ask itself" in host.results[3]
    assert "no agent 'nobody' in this room" in host.results[4]
    assert "may not be invited" in host.results[5]
    assert f"{QUESTION} 0" in known
    assert f"{QUESTION} 1" not in known  # that was for the other
    assert [m.actor.name for m in mine.messages if "quicksilver" in str(m.content)] == [
        "host", "kaja", "host", "kaja",
    ]  # fmt: skip
    assert exported.exit_code == 0, exported.output
    leaks = {
        "another agent": str(other.heard[1:]), "the archive": str(everybody.messages),
        "search": str(searched), "/v1": api, "/v1/search": found, "/events": streamed,
        "archive show": plain.stdout, "an export": out.read_text(),
        **{platform: shown(local, platform) for platform in PLATFORMS},
    }  # fmt: skip
    assert [where for where, text in leaks.items() if "quicksilver" in text] == []
    assert ANSWER in read.stdout


def shown(local: Sandbox, platform: str) -> str:
    return "\n".join(f"{m.raw} {m.text}" for m in local.standing(platform, "general"))
