"""What no platform has a form for travels as a file of JSON, through the real SDKs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from pydantic import JsonValue

from bridge.app.build import Bridge
from bridge.model import Loss, MessageId
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, TextDelta, Turn, TurnDone
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import FileUpload
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import in_personal_chat
from tests.waiting import LONGEST_WAIT

SCHEMA_ID = "application/vnd.acme.invoice+json"
INVOICE: dict[str, JsonValue] = {
    "type": "structured_data",
    "schema_id": SCHEMA_ID,
    "data": {"total": "12 €"},
}
NAME = "vnd.acme.invoice.json"
AS_FILE = Loss(path="/content/1", kind="part_as_file", what=SCHEMA_ID, shown_as=NAME)
BY_NAME = Loss(path="/content/1", kind="file_as_link", what=NAME, shown_as="its name")

IN_TEXT = Loss(path="", kind="media_as_text", what=NAME, shown_as="its name")


class Biller:
    """Answers with words and with something that only its own kind understands."""

    name = "echo"

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        yield TextDelta(text="Here is your invoice.")
        yield PartGiven(part=INVOICE)
        yield TurnDone()


def standing(local: Sandbox, platform: str, words: str) -> dict[str, Any] | None:
    messages = local.standing(platform, "general")
    return next(
        (message.raw for message in messages if words in orjson.dumps(message.raw).decode()), None
    )


async def test_an_unknown_part_of_an_agent_is_a_json_file(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = Biller()
            await local.say("slack", "general", "what do I owe?")
            for platform in local.platforms:
                await local.until(lambda name=platform: standing(local, name, NAME) is not None)

            slack, discord = (standing(local, name, NAME) or {} for name in ("slack", "discord"))
            token = local.platforms["slack"].world().apps[0]["bot_token"]
            assert await fetched(slack["files"][0]["url_private"], token) == INVOICE
            assert await fetched(discord["attachments"][0]["url"]) == INVOICE
            assert await losses_of(bridge) == {
                "slack": (AS_FILE,),
                "discord": (AS_FILE,),
                "teams": (AS_FILE, BY_NAME),
                "irc": (AS_FILE, IN_TEXT),
            }
            assert await bridge.store.dead_letters() == []


async def test_an_unknown_part_is_offered_as_a_file_in_a_personal_chat_of_teams(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [
            {"agent": "echo", "listen": "always", "allow": ["**"]}
        ]
        chat, person = in_personal_chat(local, settings)
        teams = local.platforms["teams"]
        tenant, _ = local.place("teams", "general")

        def question() -> LocalMessage | None:
            messages = teams.messages(tenant, chat)
            return next(
                (message for message in messages if "file.consent" in str(message.raw)), None
            )

        async with running(local, settings) as (bridge, _):
            bridge.agents["echo"] = Biller()
            await person.post_files([FileUpload(name="a.txt", data=b"what do I owe?")])
            await local.until(lambda: question() is not None)
            card = question()
            assert card
            assert (await person.press(card.id, "Accept")).answered
            await local.until(lambda: question() is None)

            brought = next(
                message for message in teams.messages(tenant, chat) if message.id == card.id
            )
            own = brought.raw["attachments"][0]["content"]["uniqueId"]
            assert orjson.loads(teams.drive.read(own)) == INVOICE  # type: ignore[attr-defined]


async def fetched(url: str, token: str = "") -> JsonValue:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        answer.raise_for_status()
        return orjson.loads(await answer.read())


async def losses_of(bridge: Bridge) -> dict[str, tuple[Loss, ...]]:
    """Of each copy of the answer, by its platform, when all of them are settled."""
    (room,) = bridge.rooms.by_id.values()
    conversation = await bridge.store.conversation(room.conversation)
    (answer,) = [message for message in conversation.messages if message.actor.id == "agent:echo"]
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            explained = await bridge.store.explain(MessageId(answer.message_id))
            if explained and all(operation.state == "done" for operation in explained.operations):
                records = explained.operations
                return {record.operation.channel.platform: record.losses for record in records}
            await asyncio.sleep(0.01)
