"""Any model with tools can show buttons and forms, and is told what is wrong with a card."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from llmock.pytest_plugin import LLMock

from bridge.agents.model.show_card import card_of_call, show_card_tool, with_presses
from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.content.cards.json import SCHEMA_ID
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.model.turns import PartGiven, ToolAnswered, ToolCalled, TurnDone
from bridge.uacs import StructuredDataPart, TextPart, ToolCallPart
from tests.agents.talking import answer, message_from, room, text_of
from tests.agents.vendors import VENDORS

PATHS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/anthropic",
         "gemini": "/gemini"}  # fmt: skip
CARD: dict[str, Any] = {
    "nodes": [
        "Deploy **4.2**?",
        {"type": "choice", "id": "where", "label": "Where",
         "options": [{"label": "Here", "value": "here"}]},
        {"type": "button", "label": "Yes", "id": "yes", "does": "submit"},
    ]
}  # fmt: skip


def call(**arguments: Any) -> ToolCallPart:
    return ToolCallPart(id="c1", name="show_card", arguments=arguments)


def test_the_schema_of_the_tool_is_valid_and_accepts_the_example() -> None:
    parameters: Any = show_card_tool()["parameters"]

    Draft202012Validator.check_schema(parameters)
    assert not list(Draft202012Validator(parameters).iter_errors(CARD))
    assert len(json.dumps(show_card_tool())) < 12_000
    part, result = card_of_call(call(**CARD))
    assert part is not None
    assert part.schema_id == SCHEMA_ID
    assert not result.is_error


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "nodes"),
        ({"nodes": []}, "at /nodes: it is empty"),
        ({"nodes": [{"type": "buton", "label": "x"}]}, "at /nodes/0"),
        ({"nodes": [{"type": "button"}]}, "at /nodes/0/label"),
        ({"nodes": [{"type": "image", "asset": {"url": "https://evil.example/?d=1"}}]}, "'image'"),
        (
            {"nodes": [{"type": "button", "label": "x", "does": "open", "url": "https://e.org"}]},
            "write links as text",
        ),
        (
            {"nodes": [{"type": "container", "nodes": ["x"], "link": "https://evil.example"}]},
            "link",
        ),
        (
            {"nodes": [{"type": "button", "label": "x", "id": "a"}] * 2},
            "at /nodes/1/id: 'a' stands twice",
        ),
    ],
)
def test_an_invalid_card_is_answered_with_its_errors(arguments: dict[str, Any], fault: str) -> None:
    part, result = card_of_call(call(**arguments))

    assert part is None
    assert result.is_error
    assert fault in str(result.content)
    assert "call show_card again" in str(result.content)


def test_a_link_in_a_card_shows_its_target() -> None:
    part, _ = card_of_call(call(nodes=["[here](https://evil.example/?d=secret)"]))

    assert part is not None
    assert "here (<https://evil.example/?d=secret>)" in str(part.data)


def test_a_press_is_reported_with_the_ids_of_the_card() -> None:
    press: Any = {
        "kind": "submitted", "id": "yes", "value": 7, "label": "Yes", "inputs": {"where": "here"},
        "message": "agent:bot:1", "path": "/content/0/data/nodes/2", "native": None,
    }  # fmt: skip
    content = (
        StructuredDataPart(schema_id=INTERACTION, data=press), TextPart(text="pressed “Yes”"),
    )  # fmt: skip
    message = with_bridge_metadata(
        message_from("slack:T1:U1", content, "Ann"), BridgeMetadata(fallbacks={"0": (1,)})
    )

    (report,) = with_presses(room(message)).messages[0].content

    assert isinstance(report, TextPart)
    assert report.text.startswith("submitted “Yes”, where: here\n")
    assert '"id":"yes","value":7,"inputs":{"where":"here"}' in report.text


@pytest.mark.parametrize("kind", PATHS)
async def test_a_model_of_any_api_shows_a_card_and_corrects_an_invalid_one(
    kind: str, llmock: LLMock
) -> None:
    llmock.call_tool("show_card", {"nodes": [{"type": "buton"}]})
    llmock.call_tool("show_card", CARD)
    llmock.reply("Choose, please.")

    events = await answer(VENDORS[kind], llmock.url + PATHS[kind], cards=True)

    parts = [event.part for event in events if isinstance(event, PartGiven)]
    cards = [
        part for part in parts if isinstance(part, dict) and part.get("schema_id") == SCHEMA_ID
    ]
    assert len(cards) == 1
    assert "Deploy" in str(cards[0])
    wrong, right = [event.part for event in events if isinstance(event, ToolAnswered)]
    assert wrong.is_error
    assert not right.is_error
    assert not [event for event in events if isinstance(event, ToolCalled)]
    assert text_of(events) == "Choose, please."
    assert isinstance(events[-1], TurnDone)


async def test_the_card_tool_is_offered_only_with_its_setting(llmock: LLMock) -> None:
    llmock.call_tool("show_card", CARD)
    llmock.reply("I cannot.")

    events = await answer(VENDORS["openai-chat"], llmock.url + "/v1")

    (result,) = [event.part for event in events if isinstance(event, ToolAnswered)]
    assert result.is_error
    assert "show_card" not in json.dumps(llmock.requests[0].body)
