"""The local Slack in the demo: its page, its people and its script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.sandbox.demo_side import DemoLine, DemoSide
from bridge.sandbox.feed import LocalMessage

REFUSED_NAME = "Clyde of Discord"
"""Discord refuses names with either word in them (docs: resources/webhook)."""

_PARAGRAPH = (
    "Part {n}. When a text is longer than a platform takes, it is cut where a reader would pause: "
    "between paragraphs, else between lines, sentences or words, and never inside a character. "
    "The parts stand one after another under the same name, and nothing of them is lost. "
    "This paragraph is here to be long, and that is all it has to say about itself.{end}"
)
_LONG = "\n\n".join(
    _PARAGRAPH.format(n=number, end=" The end." if number == 12 else "") for number in range(1, 13)
)

_SCRIPT = (
    DemoLine(
        0,
        "Ada Park",
        "Good morning! The *release notes* are ready: _two_ fixes, `v1.4.0`, ~no~ few surprises.\n"
        "https://example.org/notes",
        "Good morning! The release notes are ready: two fixes, v1.4.0, no few surprises.\n"
        "https://example.org/notes",
    ),
    DemoLine(40, "Chloe Meyer", "@echo what do you remember?", answered=True),
    DemoLine(
        50,
        "Ben Ortiz",
        "The *login* one and the *export* one.",
        "The login one and the export one.",
        thread=0,
    ),
    DemoLine(60, REFUSED_NAME, "My name is one that Discord refuses."),
    DemoLine(70, "Dev Rao", _LONG),
)
_OPENING = (
    DemoLine(0, "Ada Park", "Good morning! The *release notes* are ready, `v1.4.0`"),
    DemoLine(30, "Ben Ortiz", "The _login_ one and the _export_ one.", thread=0),
)
_CARD = (DemoLine(0, "Ada Park", "@desk we need a room for the release party", answered=True),)
_SCENE = (DemoLine(10, "Dev Rao", "That is the memory limit. I raise it now.", thread=0),)


def _read(message: LocalMessage) -> tuple[str, str]:
    blocks = [b for b in message.raw.get("blocks") or [] if b.get("type") == "rich_text"]
    if not blocks:
        return message.author, message.text
    return message.author, "\n".join(_rich_words(block["elements"]) for block in blocks)


def _rich_words(elements: Sequence[dict[str, Any]]) -> str:
    words: list[str] = []
    for element in elements:
        match element["type"]:
            case "text" | "link":
                words.append(element.get("text") or element.get("url", ""))
            case "emoji":
                words.append(f":{element['name']}:")
            case "user":
                words.append(f"@{element['user_id']}")
            case _:
                words.append(_rich_words(element.get("elements", ())) + "\n")
    return "".join(words)


SIDE = DemoSide(
    static=Path(__file__).parent / "static",
    writer="Ada Park",
    read=_read,
    scenes={"script": _SCRIPT, "opening": _OPENING, "card": _CARD, "scene": _SCENE},
)
