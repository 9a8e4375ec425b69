"""The demo's desk: a form for a question, and the form's new content for a press."""

from __future__ import annotations

from typing import Any

import orjson

from bridge.app.demo.desk import INTERACTION, answered_form, booking_form, respond
from bridge.content.cards.json import card_from_json

LABELS = {"discord": "Discord"}


def _turn(*content: dict[str, Any]) -> dict[str, Any]:
    message = {
        "message_id": "discord:1:2:3",
        "actor": {"id": "discord:1:9", "name": "Chen Wei"},
        "content": list(content),
    }
    return {"conversation": {"messages": [message]}}


def test_a_question_is_answered_with_a_valid_form() -> None:
    answer = orjson.loads(
        bytes(respond(_turn({"type": "text", "text": "@desk hello"}), LABELS).body)
    )

    (part,) = answer["content"]
    assert part["data"] == booking_form()
    card_from_json(part["data"])


def test_a_sent_form_changes_the_message_that_showed_it() -> None:
    press = {"id": "book", "message": "agent:desk:1", "inputs": {"size": "hall", "coffee": True}}
    part = {"type": "structured_data", "schema_id": INTERACTION, "data": press}

    lines = bytes(respond(_turn(part), LABELS).body).decode().split("\n\n")

    event = orjson.loads(lines[0].removeprefix("data: "))
    assert event["type"] == "message_changed"
    assert event["message"] == "agent:desk:1"
    card = event["parts"][0]["data"]
    card_from_json(card)
    assert "Hall, 60 seats" in str(card)
    assert "**Chen Wei** filled in the form on Discord" in str(card)


def test_a_declined_form_says_who_declined_it() -> None:
    card = answered_form({"id": "decline"}, "Ada Park", "IRC")

    assert card["nodes"][1] == "Ada Park pressed *No room needed* on IRC."
