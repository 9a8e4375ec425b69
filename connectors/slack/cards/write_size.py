"""The share of a message's limits that JSON uses. Pure, no recursion."""

from __future__ import annotations

from typing import cast

import orjson

from connectors.slack.cards.write_pieces import Json
from connectors.slack.cards.write_texts import length

_UNSEEN = frozenset(
    (
        *("type", "url", "image_url", "action_id", "block_id", "value", "style", "align", "level"),
        *("color", "language", "format", "status", "task_id", "name", "width"),
    )
)


def is_small(values: list[Json], limit: int) -> bool:
    """Whether the values surely have at most `limit` bytes: a fast check."""
    return len(orjson.dumps(values)) <= limit


def item_cost(item: Json) -> tuple[int, int]:
    """The cost of one list item: itself, and its characters."""
    return 1, size_of(item)


def size_of(value: Json) -> int:
    """The number of characters of all texts."""
    total = 0
    stack: list[object] = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            for key, inner in cast("Json", part).items():
                if isinstance(inner, str):
                    total += 0 if key in _UNSEEN else length(inner)
                else:
                    stack.append(inner)
        elif isinstance(part, list):
            stack += cast("list[object]", part)
        elif isinstance(part, str):
            total += length(part)
    return total
