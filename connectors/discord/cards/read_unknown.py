"""JSON of an undocumented shape -> `Native` with the words in it. Pure; total."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

from bridge.content.cards.input_text import words
from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import Native, Nodes, Prose
from bridge.content.text.tree import Paragraph

_TEXT_KEYS = frozenset((
    "alt", "content", "description", "filename", "label", "name", "placeholder", "question", "text",
    "title", "value",
))  # fmt: skip
_IGNORED_KEYS = frozenset((
    "custom_id", "hash", "icon_url", "id", "proxy_icon_url", "proxy_url", "timestamp", "type",
    "url", "waveform",
))  # fmt: skip


def unknown(value: JsonValue, schema_id: str, at: str, fallback: Nodes | None = None) -> Native:
    """Return the value as a `Native` node; without `fallback` its words are the fallback."""
    return Native(
        schema_id, value, words_as_nodes(value, at) if fallback is None else fallback, at=at
    )


def words_as_nodes(value: JsonValue, at: str) -> Nodes:
    """Return the words in the value as one prose node at the place of the first one."""
    lines = [(line, place) for string, place in _visible_strings(value) if (line := words(string))]
    blocks = tuple(Paragraph(line) for line, _ in lines)
    return (Prose(blocks, at=pointer(at, *_steps(lines[0][1]))),) if lines else ()


_Place = tuple[Any, str | int]  # the place around it (None at the top), and the step from there


def _visible_strings(value: JsonValue) -> Iterator[tuple[str, _Place | None]]:
    """Yield the strings that people read, in order, with their places; a bare string counts."""
    stack: list[tuple[JsonValue, _Place | None, bool]] = [(value, None, isinstance(value, str))]
    while stack:
        item, place, visible = stack.pop()
        if isinstance(item, str):
            if visible:
                yield item, place
        elif isinstance(item, list):
            children = [
                (child, (place, index), visible or isinstance(child, str))
                for index, child in enumerate(item)
            ]
            stack += reversed(children)
        elif isinstance(item, dict):
            entries = [
                (child, (place, key), visible or key in _TEXT_KEYS)
                for key, child in item.items()
                if key not in _IGNORED_KEYS
            ]
            stack += reversed(entries)


def _steps(place: _Place | None) -> list[str | int]:
    """Return the steps to a place; built for few places, because paths can be long."""
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return steps[::-1]
