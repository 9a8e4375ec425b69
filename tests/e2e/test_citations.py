"""What an agent cites: Teams' own citations, numbered links on Slack and Discord."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import JsonValue

from bridge.app.build import Bridge
from bridge.content.messages.agent_parts import CITATIONS
from bridge.model import MessageId
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, TextDelta, Turn, TurnDone
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.e2e.test_streaming import with_personal_chat
from tests.waiting import LONGEST_WAIT

MANY = 23


class Scholar:
    """Cites one source twice, then many."""

    name = "echo"

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        law = source(1, quote="Nobody may. " * 20)
        yield TextDelta(text="It is **forbidden**.")
        yield cites(law)
        yield TextDelta(text="Everybody says so.")
        yield cites(law, *(source(n) for n in range(2, MANY + 1)))
        yield TextDelta(text="The end.")
        yield TurnDone()


def source(number: int, quote: str = "") -> dict[str, JsonValue]:
    return {"title": f"Page {number}", "url": f"https://law.example/{number}", "quote": quote}


def cites(*sources: dict[str, JsonValue]) -> PartGiven:
    data: JsonValue = {"citations": [*sources]}
    return PartGiven(part={"type": "structured_data", "schema_id": CITATIONS, "data": data})


async def test_sources_are_numbered_links_or_native_citations_on_teams(
    tmp_path: Path,
) -> None:
    async with local_sandbox(channels=1) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = Scholar()
            await local.say("slack", "general", "may I?")

            def whole(name: str) -> dict[str, Any]:
                messages = local.standing(name, "general")
                return next(
                    (message.raw for message in messages if f"/{MANY}" in str(message.raw)), {}
                )

            await local.until(lambda: all(map(whole, local.platforms)))

            for name in ("slack", "discord"):
                content = orjson.dumps(whole(name)).decode()
                assert "[1]" in content.replace("\\\\", ""), content
                assert all(f"law.example/{n}" in content for n in range(1, MANY + 1))
            teams = whole("teams")
            text = teams["text"]
            assert "forbidden" in text
            assert text.count("[1]") == 2
            assert "[20]" in text
            (entity,) = [entity for entity in teams["entities"] if "citation" in entity]
            assert entity["additionalType"] == ["AIGeneratedContent"]
            assert [citation["position"] for citation in entity["citation"]] == [*range(1, 21)]
            first = entity["citation"][0]["appearance"]
            assert (first["name"], first["url"]) == ("Page 1", "https://law.example/1")
            assert first["abstract"].startswith("Nobody may.")
            assert "law.example/20" not in text
            assert f"law.example/{MANY}" in text
            assert await bridge.store.dead_letters() == []
            conversation = await bridge.store.conversation(bridge.rooms.all[0].conversation)
            answer = MessageId(conversation.messages[-1].message_id)
            async with asyncio.timeout(LONGEST_WAIT):
                while not {"citation_quote", "citation_cut"} <= await lost(bridge, answer):  # noqa: ASYNC110 - another task
                    await asyncio.sleep(0.02)


async def lost(bridge: Bridge, answer: MessageId) -> set[str]:
    """What the platforms could not show of it."""
    explained = await bridge.store.explain(answer)
    assert explained
    return {loss.kind for record in explained.operations for loss in record.losses}


async def test_citations_come_with_the_end_of_a_stream_of_teams(tmp_path: Path) -> None:
    async with local_sandbox(names=("teams",), channels=1) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        chat = with_personal_chat(local, settings)
        teams = local.platforms["teams"]
        who = teams.world().people[0]
        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = Scholar()
            await teams.post_as(who.workspace, chat, who.id, "may I?")

            def last() -> str:
                return orjson.dumps(teams.messages(who.workspace, chat)[-1].raw).decode()

            await local.until(lambda: '"citation"' in last())

            assert "\ue000" not in last()
            assert len(teams.messages(who.workspace, chat)) == 2
            assert await bridge.store.dead_letters() == []
