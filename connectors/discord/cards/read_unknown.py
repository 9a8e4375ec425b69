"""What is not what Discord says it is -> `Native` with the words that it holds. Pure; total."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from bridge.content.card import Native, Nodes, Prose
from bridge.content.input_text import words
from bridge.content.text import Paragraph

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
    blocks = tuple(Paragraph(line) for one in shown_words(value) if (line := words(one)))
    return (Prose(blocks, at=at),) if blocks else ()


def shown_words(value: JsonValue) -> Iterator[str]:
    """The strings that people are meant to read, in order; a bare string is one."""
    stack: list[tuple[JsonValue, bool]] = [(value, isinstance(value, str))]
    while stack:
        one, shown = stack.pop()
        if isinstance(one, str):
            if shown:
                yield one
        elif isinstance(one, list):
            stack += [(each, shown or isinstance(each, str)) for each in reversed(one)]
        elif isinstance(one, dict):
            entries = [(v, shown or k in _SHOWN) for k, v in one.items() if k not in _HIDDEN]
            stack += reversed(entries)
