"""Structured answers are read by people: fields, tables, lists."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.parts import card_parts
from bridge.content.cards.reader import NO_CARDS
from bridge.content.cards.values import value_nodes
from bridge.content.messages.agent_parts import VALUE
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart


def text(value: Any) -> str:
    parts = [card_part.part for card_part in card_parts(value_nodes(value))]
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def test_an_object_is_shown_as_fields() -> None:
    markdown = text(
        {"due_date": "2026-12-01", "open": True, "people": ["Ann", "Bob"], "note": None}
    )

    assert "due date" in markdown
    assert "yes" in markdown
    assert "Ann, Bob" in markdown
    assert "{" not in markdown
    assert '"' not in markdown


def test_objects_with_the_same_keys_are_shown_as_a_table() -> None:
    markdown = text([{"city": "Paris", "people": 2}, {"city": "Rome", "people": 3}])

    assert markdown == ("| city | people |\n| --- | --- |\n| Paris | 2 |\n| Rome | 3 |")


def test_scalars_are_shown_as_a_list_and_one_scalar_as_text() -> None:
    assert text(["a", "b"]) == "- a\n- b"
    assert text({"value": 42}) == "42"
    assert text({"value": []}) == "(nothing)"


def test_nested_values_follow_a_heading_with_their_key() -> None:
    markdown = text({"title": "Trip", "stops": [{"at": "Rome", "days": 2}]})

    assert markdown.index("Trip") < markdown.index("### stops") < markdown.index("| Rome | 2 |")


def test_only_values_that_are_too_deep_are_shown_as_json() -> None:
    deep: Any = {"leaf": {"x": [{"y": {"z": 1}}]}}
    for _ in range(4):
        deep = {"more": deep}

    assert "```json" in text(deep)


@pytest.mark.parametrize("schema_id", [VALUE, "https://example.org/city.json"])
def test_an_answer_in_a_requested_format_has_a_readable_fallback(schema_id: str) -> None:
    part = StructuredDataPart(schema_id=schema_id, data={"city": "Paris", "people": 2})
    message = Message(
        message_id="agent:helper:1",
        timestamp="2026-11-22T12:00:00Z",
        actor=Actor(id="agent:helper", role="assistant"),
        content=(part,),
    )

    whole = NO_CARDS.with_fallbacks(message)
    card, losses = NO_CARDS.read(whole)

    assert whole.content[0] == part
    assert isinstance(whole.content[1], TextPart)
    assert "Paris" in whole.content[1].text
    assert "{" not in whole.content[1].text
    assert not losses
    assert "Paris" in str(card)
