"""The notification text of a message with blocks: one short line of mrkdwn. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from bridge.content.text.split import split_text
from connectors.slack.capabilities import NOTIFICATION
from connectors.slack.cards.write_pieces import Json
from connectors.slack.cards.write_texts import length, one_line
from connectors.slack.mrkdwn import escape

_NOTHING = "…"
_TEXT_KEYS = ("text", "title", "label", "alt_text", "name", "url")


def notification(summary: str, blocks: Iterable[Json]) -> str:
    """The summary, or the first words of the blocks."""
    if summary and (line := " ".join(one_line(summary).split())):
        return _short(escape(line))
    for block in blocks:
        if line := _first_line(block):
            return _short(line)
    return _NOTHING


def _short(line: str) -> str:
    if length(line) <= NOTIFICATION:
        return line
    return f"{split_text(line, NOTIFICATION - 1, length)[0].rstrip()}…"


def _first_line(block: Json) -> str:
    """The first line: mrkdwn unchanged, other text escaped."""
    if block.get("type") == "header":
        return escape(block["text"]["text"]).strip()
    run = ""
    for text in _texts(block):
        run += text
        for line in run.split("\n"):
            if line.strip().strip("`").strip():
                return line.strip()
    return ""


def _texts(block: Json) -> Iterator[str]:
    """The texts of a block in order; a line of rich text is one text."""
    stack: list[object] = [block]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += reversed(cast("list[object]", value))
        elif isinstance(value, dict):
            members = cast("Json", value)
            if str(members.get("type")).startswith("rich_text_"):
                yield _line(members)
                continue
            is_mrkdwn = members.get("type") == "mrkdwn"
            for key, inner in members.items():
                if key in _TEXT_KEYS and isinstance(inner, str):
                    yield inner if is_mrkdwn else escape(inner)
            stack += [
                inner for inner in reversed(members.values()) if isinstance(inner, dict | list)
            ]


def _line(element: Json) -> str:
    """The inline elements of a section, or of the first item of a list."""
    line = ""
    for inner in element.get("elements", []):
        if "elements" in inner:
            return _line(inner)
        line += (
            inner.get("text")
            or inner.get("url")
            or inner.get("fallback")
            or inner.get("name")
            or ""
        )
    return escape(one_line(line.strip().split("\n")[0]))
