"""Adaptive Cards for the tests, and the nodes that they become."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card, Node, Prose
from bridge.content.text.tree import Inline, Paragraph, Text
from connectors.teams.cards import read_payload

ADAPTIVE = "application/vnd.microsoft.card.adaptive+json"
TENANT = "T0"

Json = dict[str, JsonValue]


def card(*body: JsonValue, **more: JsonValue) -> Json:
    return {"type": "AdaptiveCard", "version": "1.5", "body": list(body), **more}


def read(native: JsonValue) -> Card:
    return read_payload(Payload(ADAPTIVE, native), TENANT)


def nodes(*body: JsonValue) -> tuple[Node, ...]:
    """Return the nodes of the elements in a body."""
    return read(card(*body)).nodes


def line(text: str) -> tuple[Inline, ...]:
    return (Text(text),)


def prose(text: str) -> Prose:
    return Prose((Paragraph(line(text)),))
