"""Cards of four kinds, each pressed and filled in on three platforms, return to their agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any, cast

import orjson
import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import SCHEMA_ID
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, Turn, TurnDone
from bridge.uacs import StructuredDataPart
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.e2e.test_cards import hands, with_words

# Without IRC: cards of IRC are answered by numbers: see test_irc.py.
PLATFORMS = ("slack", "discord", "teams")
CARD: JsonValue = {
    "type": "card",
    "nodes": [
        "Ship neutral?",
        {"type": "text_input", "id": "why", "label": "Why"},
        {"type": "button", "label": "Send it", "id": "send", "value": 7, "does": "submit"},
        {"type": "button", "label": "Ship it", "id": "ship", "value": 42},
    ],
}
BLOCKS: JsonValue = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "Launch *blockwise*?"}},
    {
        "type": "actions",
        "block_id": "choices",
        "elements": [
            {
                "type": "button", "action_id": "ship", "value": "42",
                "text": {"type": "plain_text", "text": "Ship it"},
            }
        ],
    },
]  # fmt: skip
COMPONENTS: JsonValue = [
    {"type": 10, "content": "Launch **componentwise**?"},
    {"type": 1, "components": [{"type": 2, "style": 1, "label": "Ship it", "custom_id": "ship"}]},
]
ADAPTIVE: JsonValue = {
    "type": "AdaptiveCard",
    "version": "1.5",
    "body": [
        {"type": "TextBlock", "text": "Ship adaptive?"},
        {"type": "Input.Text", "id": "why", "label": "Why"},
    ],
    "actions": [{"type": "Action.Submit", "title": "Ship it", "data": {"ship": 42}}],
}
KINDS: dict[str, tuple[str, JsonValue, str]] = {
    "neutral": ("application/vnd.uacs.card+json", CARD, "Ship neutral?"),
    "blocks": ("application/vnd.slack.blocks+json", BLOCKS, "blockwise"),
    "components": ("application/vnd.discord.components+json", COMPONENTS, "componentwise"),
    "adaptive": ("application/vnd.microsoft.card.adaptive+json", ADAPTIVE, "Ship adaptive?"),
}


class Shower:
    """Shows one payload when it is asked; notes what is pressed, and by whom."""

    name = "echo"

    def __init__(self, kind: str) -> None:
        self.schema_id, self.data, _ = KINDS[kind]
        self.presses: list[tuple[str, dict[str, Any]]] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        last = turn.conversation.messages[-1]
        first = last.content[0]
        if isinstance(first, StructuredDataPart) and first.schema_id == SCHEMA_ID:
            self.presses.append((last.actor.id, cast("dict[str, Any]", first.data)))
        else:
            part: JsonValue = {
                "type": "structured_data", "schema_id": self.schema_id, "data": self.data,
            }  # fmt: skip
            yield PartGiven(part=part)
        yield TurnDone()


def field_of(raw: Any) -> str:
    """The name of the text input in a native message; empty where it has none."""
    stack = [raw]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        elif isinstance(node, dict):
            if node.get("type") in ("plain_text_input", "Input.Text"):
                return str(node.get("action_id") or node.get("id"))
            stack += node.values()
    return ""


async def press(local: Sandbox, platform: str, words: str, button: str, because: str) -> None:
    """Press the button; where that opens a form, fill it in."""
    person = hands(local)[platform]
    card = with_words(local, platform, words)
    assert card
    field = field_of(card.raw)
    outcome = await person.press(card.id, button, {field: because} if field else {})
    assert not outcome.failed, (platform, outcome)
    if outcome.form is not None:
        values = dict.fromkeys(outcome.form.fields, because)
        outcome = await person.submit_form(outcome.form.id, values)
    assert outcome.sent, (platform, outcome)
    assert not outcome.errors, (platform, outcome)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_payload_is_shown_on_every_platform_and_presses_name_the_person(
    tmp_path: Path, kind: str
) -> None:
    words = KINDS[kind][2]
    async with local_sandbox(channels=1) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            agent = Shower(kind)
            bridge.agents["echo"] = agent
            await local.say("slack", "general", "may I?")
            await local.until(
                lambda: all(with_words(local, platform, words) for platform in PLATFORMS)
            )

            for number, platform in enumerate(PLATFORMS, 1):
                await press(local, platform, words, "Ship it", f"because {number}")
                await local.until(lambda count=number: len(agent.presses) == count)
                who, action = agent.presses[-1]

                assert who.startswith(f"{platform}:"), action
                assert action["label"] == "Ship it"
                if kind == "adaptive":
                    assert action["inputs"] == {"why": f"because {number}"}
                    assert action["native"]["data" if "data" in action["native"] else "ship"]
                else:
                    assert action["id"] == "ship"
                    assert action["value"] == {"neutral": 42, "blocks": "42"}.get(kind)
                    assert (action["native"] is None) == (kind == "neutral")


async def test_a_form_in_a_neutral_card_is_sent_from_every_platform(tmp_path: Path) -> None:
    async with local_sandbox(channels=1) as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        settings["rooms"]["general"]["agents"] = [{"agent": "echo", "listen": "always"}]
        async with running(local, settings) as (bridge, _):
            agent = Shower("neutral")
            bridge.agents["echo"] = agent
            await local.say("teams", "general", "may I?")
            await local.until(
                lambda: all(with_words(local, platform, "Send it") for platform in PLATFORMS)
            )

            for number, platform in enumerate(PLATFORMS, 1):
                await press(local, platform, "Send it", "Send it", f"because {number}")
                await local.until(lambda count=number: len(agent.presses) == count)
                who, action = agent.presses[-1]

                assert who.startswith(f"{platform}:")
                assert (action["kind"], action["id"], action["value"]) == ("submitted", "send", 7)
                assert action["inputs"] == {"why": f"because {number}"}


def test_the_payloads_are_json() -> None:
    assert all(orjson.dumps(data) for _, data, _ in KINDS.values())
