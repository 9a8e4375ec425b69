"""Short constructors of card nodes, and of the blocks that tests expect of them."""

from __future__ import annotations

from typing import Any

from bridge.content.cards.rendering import Rendering, Written
from bridge.content.cards.tree import Asset, Card, Node, Prose
from bridge.content.markdown import markdown_to_text
from bridge.content.text.tree import Inline, Text
from bridge.model import Loss
from connectors.slack.cards.write import write_card
from tests.connectors.slack.slack_rules import faults

Json = dict[str, Any]


def token(path: str) -> str:
    return f"{path:t>22}"[-22:]


INTERACTIVE = Rendering(token=token, origin="https://origin.example/1")
FOREIGN = Rendering(origin="https://origin.example/1")


def write(*nodes: Node, rendering: Rendering = INTERACTIVE, summary: str = "s") -> Written:
    written = write_card(Card(nodes, summary=summary), rendering)
    assert [fault for message in written.messages for fault in faults(message.body)] == []
    return written


def bodies(*nodes: Node, rendering: Rendering = INTERACTIVE, summary: str = "s") -> list[Any]:
    return [
        message.body for message in write(*nodes, rendering=rendering, summary=summary).messages
    ]


def blocks(*nodes: Node, rendering: Rendering = INTERACTIVE) -> Any:
    (body,) = bodies(*nodes, rendering=rendering)
    return body["blocks"]


def losses(*nodes: Node, rendering: Rendering = INTERACTIVE) -> tuple[Loss, ...]:
    return write(*nodes, rendering=rendering).losses


def prose(markdown: str, **more: Any) -> Prose:
    return Prose(markdown_to_text(markdown), **more)


def line_of(text: str) -> tuple[Inline, ...]:
    return (Text(text),)


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def section(text: str, **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text), **more}


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "elements": list(elements)}


def run(*elements: Json) -> Json:
    return {"type": "rich_text_section", "elements": list(elements)}


def text(value: str, **style: bool) -> Json:
    return {"type": "text", "text": value, **({"style": style} if style else {})}


PICTURE = Asset(url="https://e.example/p.png", alt="A cat")
PICTURE_ELEMENT = {"type": "image", "image_url": "https://e.example/p.png", "alt_text": "A cat"}
