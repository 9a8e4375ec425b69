"""Lists of elements -> rows of nodes.

An item that does not fit in a row goes between two rows; an image that shows nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bridge.content.cards.tree import Node
from connectors.slack.cards.read_media import is_picture
from connectors.slack.cards.read_texts import is_blank
from connectors.slack.cards.read_unknown import unknown


def rows(
    values: Iterable[object],
    at: str,
    row_at: str,
    team: str,
    read: Callable[[object, str, str], Sequence[Any] | None],
    row: Callable[..., Node],
) -> list[Node]:
    """The rows of values at the pointers `at/0`, `at/1` ...

    `read` returns an empty list for a value of another kind, and None for a value that shows
    nothing.
    """
    nodes: list[Node] = []
    items: list[Any] = []
    for index, value in enumerate(values):
        place = f"{at}/{index}"
        read_items = read(value, place, team)
        if read_items:
            items += read_items
        elif read_items is not None and (other := _between(value, place, team)) is not None:
            nodes += [row(tuple(items), at=row_at)] if items else []
            nodes.append(other)
            items = []
    if items:
        nodes.append(row(tuple(items), at=row_at))
    return nodes


def _between(value: object, at: str, team: str) -> Node | None:
    """The node between two rows; None for a value that shows nothing."""
    if is_blank(value):
        return None
    native = unknown(value, at, team)
    return native if native.fallback or not is_picture(value) else None
