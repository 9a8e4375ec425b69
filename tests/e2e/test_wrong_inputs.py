"""Whoever sends a form with a mistake is told so alone; what is right reaches the agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import SCHEMA_ID
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, TextDelta, Turn, TurnDone
from bridge.sandbox.user_actions import LocalUser, TakesUserActions
from bridge.uacs import StructuredDataPart
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_long_forms import until_known

CARD: dict[str, JsonValue] = {
    "type": "card",
    "nodes": [
        "# Release",
        {"type": "text_input", "id": "version", "label": "Version", "required": True,
         "pattern": "^[0-9]+[.][0-9]+$", "error": "Two numbers, as in 4.2"},
        {"type": "button", "label": "Send", "id": "send", "does": "submit"},
    ],
}  # fmt: skip


class Releaser:
    """Shows a form when somebody speaks; keeps what was sent."""

    name = "echo"

    def __init__(self) -> None:
        self.submissions: list[dict[str, Any]] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        first = turn.conversation.messages[-1].content[0]
        if isinstance(first, StructuredDataPart) and first.schema_id == SCHEMA_ID:
            self.submissions.append(orjson.loads(first.model_dump_json())["data"])
            yield TextDelta(text="Released")
        else:
            yield PartGiven(
                part={
                    "type": "structured_data", "data": CARD,
                    "schema_id": "application/vnd.uacs.card+json",
                }
            )  # fmt: skip
        yield TurnDone()


@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_only_the_person_who_submitted_a_form_sees_the_error_of_an_input(
    platform: str, tmp_path: Path
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            agent = Releaser()
            bridge.agents["echo"] = agent
            await local.say("slack", "general", "please release")
            await local.until(lambda: bool(_form(local, platform)))
            hands = local.platforms[platform]
            assert isinstance(hands, TakesUserActions)
            workspace, channel = local.place(platform, "general")
            person = local.person(platform, workspace)
            local_user = LocalUser(hands, workspace, channel, person)

            def whispered() -> str:
                return str([whisper.raw for whisper in hands.whispers(workspace, person)])

            if platform == "discord":  # it is asked for the form before the press counts
                await until_known(bridge.store, local, _form(local, platform))
            await _send(local, platform, local_user, "four")
            await local.until(lambda: "Two numbers, as in 4.2" in whispered())
            assert agent.submissions == []
            texts = [
                message.text
                for name in local.platforms
                for message in local.standing(name, "general")
            ]
            assert not [text for text in texts if "was not sent" in text]
            await _send(local, platform, local_user, "4.2")
            await local.until(lambda: len(agent.submissions) == 1)

    assert agent.submissions[0]["inputs"] == {"version": "4.2"}


def _form(local: Sandbox, platform: str) -> str:
    """The id of the message with the form."""
    messages = local.standing(platform, "general")
    return next(
        (message.id for message in messages if '"Send"' in orjson.dumps(message.raw).decode()), ""
    )


async def _send(local: Sandbox, platform: str, local_user: LocalUser, version: str) -> None:
    """Fill in what stands in the message, or the form that the button opens."""
    message = _form(local, platform)
    if platform == "slack":
        outcome = await local_user.press(message, "Send", {"Version": version})
    else:
        opened = await local_user.press(message, "Send")
        assert opened.form, opened
        values = dict.fromkeys(opened.form.fields, version)
        outcome = await local_user.submit_form(opened.form.id, values)
    assert outcome.sent, outcome
