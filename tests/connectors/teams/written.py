"""Short helpers that write cards for Teams, and return parts of the result."""

from __future__ import annotations

from typing import Any

from bridge.content.cards.rendering import Rendering, Written
from bridge.content.cards.tree import Card, Node, Prose
from bridge.content.text.tree import Inline, Paragraph, Text
from connectors.teams.cards import write_card
from tests.connectors.teams.teams_rules import faults

Json = dict[str, Any]
RENDERING = Rendering(token=lambda at: f"token{at}")
FOREIGN = Rendering(origin="https://origin.example/1")
CARD = "application/vnd.microsoft.card.adaptive"


def line(words: str) -> tuple[Inline, ...]:
    return (Text(words),)


def prose(words: str, **look: Any) -> Prose:
    return Prose((Paragraph(line(words)),), **look)


def write(*nodes: Node, rendering: Rendering = RENDERING, summary: str = "") -> Written:
    """Write a card of these nodes, and check that Teams would accept the result."""
    written = write_card(Card(nodes, summary=summary), rendering)
    assert [fault for message in written.messages for fault in faults(dict(message.body))] == []
    return written


def bodies(written: Written) -> list[Json]:
    return [dict(message.body) for message in written.messages]


def cards(written: Written) -> list[Json]:
    """Return the cards of all messages, in order."""
    return [
        attachment["content"]
        for body in bodies(written)
        for attachment in body.get("attachments", ())
    ]


def elements(*nodes: Node, rendering: Rendering = RENDERING) -> list[Json]:
    """Return the body of the single card of the single message."""
    (card,) = cards(write(*nodes, rendering=rendering))
    return card["body"]


def kinds(written: Written) -> list[tuple[str, str, str]]:
    """Return the losses as (path, kind, what)."""
    return [(loss.path, loss.kind, loss.what) for loss in written.losses]


def text(markdown: str, **look: Any) -> Json:
    return {"type": "TextBlock", "text": markdown, "wrap": True, **look}


def press(title: str, token: str, **more: Any) -> Json:
    """Return a press action with its fallback for clients without invokes."""
    look = {"title": title, **more}
    data = {"token": token}
    fallback = {"type": "Action.Submit", **look, "data": data}
    return {"type": "Action.Execute", **look, "verb": "press", "data": data, "fallback": fallback}
