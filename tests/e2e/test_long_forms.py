"""A form of more inputs than Discord shows at once: its pages follow one another, and its author
hears once, when all of them are filled in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import orjson
from pydantic import JsonValue

from bridge.content.cards.interactions import SCHEMA_ID
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, TextDelta, Turn, TurnDone
from bridge.ports.store.whole import Store
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.user_actions import LocalUser, TakesUserActions
from bridge.uacs import StructuredDataPart
from connectors.discord.ids import channel_ref
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

FIELDS: list[JsonValue] = [
    {"type": "text_input", "id": f"f{number}", "label": f"Field {number}"} for number in range(6)
]
CARD: dict[str, JsonValue] = {
    "type": "card",
    "nodes": [
        "# Report",
        *FIELDS,
        {"type": "toggle", "id": "urgent", "title": "Urgent"},
        {
            "type": "actions",
            "items": [{"type": "button", "label": "Send", "does": "submit", "id": "send"}],
        },
    ],
}


class Clerk:
    """Shows the form; keeps what was sent with it."""

    name = "echo"

    def __init__(self) -> None:
        self.submissions: list[dict[str, Any]] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        first = turn.conversation.messages[-1].content[0]
        if isinstance(first, StructuredDataPart) and first.schema_id == SCHEMA_ID:
            self.submissions.append(orjson.loads(first.model_dump_json())["data"])
            yield TextDelta(text="thanks")
        else:
            part: JsonValue = {
                "type": "structured_data", "schema_id": "application/vnd.uacs.card+json",
                "data": CARD,
            }  # fmt: skip
            yield PartGiven(part=part)
        yield TurnDone()


async def test_the_pages_of_a_long_form_are_one_submission(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            clerk = Clerk()
            bridge.agents["echo"] = clerk
            await local.say("slack", "general", "the form, please")
            await local.until(lambda: form_on_discord(local) is not None)
            message, local_user = form_on_discord(local), discord_user(local)
            assert message

            await until_known(bridge.store, local, message.id)
            first = (await local_user.press(message.id, "Send")).form
            assert first
            assert first.title == "Send (1/2)"
            outcome = await local_user.submit_form(
                first.id, {"Field 0": "zero", "Field 4": "two\nlines"}
            )
            assert outcome.notice == "Page 1 of 2 is filled in."
            assert clerk.submissions == []

            (between,) = whispers(local)
            second = (await local_user.press(between.id, "Next (2/2)")).form
            assert second
            await local_user.submit_form(second.id, {"Field 5": "five", "Urgent": True})
            await local.until(lambda: bool(clerk.submissions))

            assert [whisper.text for whisper in whispers(local)] == ["✓"]

    (submission,) = clerk.submissions
    assert (submission["kind"], submission["id"]) == ("submitted", "send")
    assert submission["inputs"] == {
        "f0": "zero", "f1": "", "f2": "", "f3": "", "f4": "two\nlines", "f5": "five",
        "urgent": True,
    }  # fmt: skip


async def until_known(store: Store, local: Sandbox, native_id: str) -> None:
    """People see a post a moment before we know which it is."""
    channel = channel_ref(*local.place("discord", "general"))
    for _ in range(500):
        if await store.resolve(channel, native_id) is not None:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"nobody knows {native_id}")


def form_on_discord(local: Sandbox) -> LocalMessage | None:
    messages = local.standing("discord", "general")
    return next((message for message in messages if b"Report" in orjson.dumps(message.raw)), None)


def discord_user(local: Sandbox) -> LocalUser:
    platform = local.platforms["discord"]
    assert isinstance(platform, TakesUserActions)
    workspace, channel = local.place("discord", "general")
    return LocalUser(platform, workspace, channel, local.person("discord", workspace))


def whispers(local: Sandbox) -> list[LocalMessage]:
    platform = local.platforms["discord"]
    assert isinstance(platform, TakesUserActions)
    workspace, _ = local.place("discord", "general")
    return platform.whispers(workspace, local.person("discord", workspace))
