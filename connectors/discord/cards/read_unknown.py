"""What is not what Discord says it is -> `Native` with the words that it holds. Pure; total."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import JsonValue

from bridge.content.cards.input_text import words
from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import Native, Nodes, Prose
from bridge.content.text.tree import Paragraph

_SHOWN = frozenset((
    "alt", "content", "description", "filename", "label", "name", "placeholder", "question", "text",
    "title", "value",
))  # fmt: skip
_HIDDEN = frozenset((
    "custom_id", "hash", "icon_url", "id", "proxy_icon_url", "proxy_url", "timestamp", "type",
    "url", "waveform",
))  # fmt: skip


def unknown(value: JsonValue, schema_id: str, at: str, said: Nodes | None = None) -> Native:
    """As the platform has it; `said` says the same, else the words in it do."""
    return Native(schema_id, value, words_as_nodes(value, at) if said is None else said, at=at)


def words_as_nodes(value: JsonValue, at: str) -> Nodes:
    """The words stand where the first of them stood."""
    found = [(line, place) for one, place in _shown_words(value) if (line := words(one))]
    blocks = tuple(Paragraph(line) for line, _ in found)
    return (Prose(blocks, at=pointer(at, *_steps(found[0][1]))),) if found else ()


_Place = tuple[Any, str | int]  # the place around it (None at the top), and the step from there


def _shown_words(value: JsonValue) -> Iterator[tuple[str, _Place | None]]:
    """The strings that people are meant to read, in order, with their places; a bare string is
    one."""
    stack: list[tuple[JsonValue, _Place | None, bool]] = [(value, None, isinstance(value, str))]
    while stack:
        one, place, shown = stack.pop()
        if isinstance(one, str):
            if shown:
                yield one, place
        elif isinstance(one, list):
            held = [
                (each, (place, index), shown or isinstance(each, str))
                for index, each in enumerate(one)
            ]
            stack += reversed(held)
        elif isinstance(one, dict):
            entries = [
                (each, (place, key), shown or key in _SHOWN)
                for key, each in one.items()
                if key not in _HIDDEN
            ]
            stack += reversed(entries)


def _steps(place: _Place | None) -> list[str | int]:
    """The way to a place; made for few of them, because ways can be long."""
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return steps[::-1]
