"""A supervisor's agents appear under their own names on each platform and in the archive, whether
the supervisor is a program, or a webhook agent of the room."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.model_server import Answer, model_server
from tests.app.api.served import ROOM, client, token_for
from tests.e2e.graph_programs import AUTOGEN, LANGGRAPH
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.waiting import LONGEST_WAIT

PLATFORMS = ("slack", "discord", "teams")


def stands(local: Sandbox, platform: str, name: str, words: str) -> bool:
    """Whether somebody of this name said the words there; a bot of Teams has the name in the
    text."""
    return any(
        words in m.text and (m.author.startswith(name) or f"**{name}**" in m.text)
        for m in local.standing(platform, ROOM)
    )


def python() -> str:
    found = os.environ.get("UACS_GRAPHS_PYTHON", "")
    if not found:
        pytest.skip("UACS_GRAPHS_PYTHON names no Python with langgraph; .ci/run makes one")
    return found


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        (LANGGRAPH, {"I found 42.": "researcher", "Done: 42.": "supervisor"}),
        (AUTOGEN, {"Plan: pack.": "planner", "And rain?": "critic"}),
    ],
    ids=["langgraph", "autogen"],
)
async def test_the_transcript_of_a_graph_is_the_archive_of_the_room(
    tmp_path: Path, program: str, shown: dict[str, str]
) -> None:
    interpreter = python()
    async with local_sandbox(names=PLATFORMS) as local:
        settings = configuration(local, tmp_path / "b.sqlite3", channels=(ROOM,))
        settings["rooms"][ROOM]["show_tools"] = "full"
        async with running(local, settings) as (bridge, url):
            token = await token_for(bridge.store, bridge.clock, "graph", actors=("*",))
            process = await asyncio.create_subprocess_exec(
                interpreter, "-c", program, stdout=asyncio.subprocess.PIPE,
                env={**os.environ, "BRIDGE_URL": url, "BRIDGE_TOKEN": token},
            )  # fmt: skip
            async with asyncio.timeout(LONGEST_WAIT):
                out, _ = await process.communicate()
            assert process.returncode == 0
            async with client(url, token) as http:
                answer = await http.get(
                    f"/v1/rooms/{ROOM}", params={"tool_results": "messages", "limit": 200}
                )
            for platform in PLATFORMS:
                for words, name in shown.items():
                    await local.until(partial(stands, local, platform, name, words))

    messages = answer.json()["messages"]
    assert orjson.loads(out) == [
        [m["actor"]["name"], m["actor"]["role"], m["content"]] for m in messages
    ]
    assert len({m["actor"]["id"] for m in messages}) == len({m["actor"]["name"] for m in messages})


async def test_a_webhook_agent_lets_the_agents_below_it_speak(tmp_path: Path) -> None:
    messages: Any = [
        {"actor": {"id": "agent:boss/planner", "name": "Planner"}, "content": [_text("I plan.")]},
        {"actor": {"id": "agent:boss/other", "name": "Other"}, "content": [_text("I object.")]},
        {"content": [_text("We are done.")]},
    ]
    async with local_sandbox(names=PLATFORMS) as local, model_server() as server:
        server.answers.append(Answer([orjson.dumps(messages)], kind="application/json"))
        settings = configuration(local, tmp_path / "b.sqlite3", channels=(ROOM,))
        settings["agents"]["boss"] = {
            "kind": "webhook", "url": server.url, "private_addresses": True, "actors": ["plan*"],
        }  # fmt: skip
        settings["rooms"][ROOM]["agents"] = [{"agent": "boss"}]
        async with running(local, settings) as (bridge, _):
            await local.say("slack", ROOM, "@boss go")
            for platform in PLATFORMS:
                await local.until(partial(stands, local, platform, "Planner", "I plan."))
                await local.until(partial(stands, local, platform, "boss", "We are done."))
                assert stands(local, platform, "boss", "Other:")
                assert stands(local, platform, "boss", "I object.")
                assert not stands(local, platform, "boss", "I plan.")
            (turn,) = [
                stored.actor.id
                for timeline, _ in await bridge.store.conversations()
                for stored in (await bridge.store.conversation(timeline.id)).messages
                if stored.actor.name == "Planner"
            ][:1]

    assert turn == "agent:boss/planner"


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}
