"""Unknown elements -> a Native node, with their words and known elements as fallback."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from bridge.content.cards.tree import Node, Prose
from connectors.teams.cards.json_values import Json, written_number
from connectors.teams.cards.reading import MAX_DEPTH, Reading, as_it_is

_VISIBLE_KEYS = frozenset(
    (
        *("text", "title", "subtitle", "subTitle", "label", "description", "caption", "header"),
        *("headerTitle", "body", "content", "altText", "placeholder", "summary", "message"),
        *("displayName", "badge", "codeSnippet"),
    )
)
_HIDDEN_KEYS = frozenset(("fallback", "requires", "msteams", "type", "id"))


def read_unknown(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Return a native node with a fallback; within another unknown element only the fallback."""
    reading.bare += 1
    nodes = list(_known_nodes(reading, item, at, depth))
    reading.bare -= 1
    if reading.bare or depth >= MAX_DEPTH or (len(item) == 1 and "text" in item and nodes):
        return nodes
    return as_it_is(item, nodes, at)


def _known_nodes(reading: Reading, item: Json, at: str, depth: int) -> Iterator[Node]:
    """Yield words and known elements in document order, without recursion."""
    waiting = _members(item, at)
    while waiting:
        value, place, is_visible = waiting.pop()
        if isinstance(value, dict):
            if depth < MAX_DEPTH and reading.knows(value):
                yield from reading.element(value, place, depth + 1)
            else:
                waiting += _members(value, place)
        elif isinstance(value, list):
            several = [(inner, _below(place, str(i)), is_visible) for i, inner in enumerate(value)]
            waiting += reversed(several)
        elif is_visible and (text := value if isinstance(value, str) else written_number(value)):
            yield from _words(reading, text, place)


def _members(item: Json, at: str) -> list[tuple[JsonValue, str, bool]]:
    """Return the members in reverse order; a `value` is visible if it has a name or title."""
    named = "title" in item or "name" in item
    members: list[tuple[JsonValue, str, bool]] = []
    for key, value in item.items():
        is_visible = key in _VISIBLE_KEYS or (named and key in ("value", "name"))
        is_press_data = key == "data" and isinstance(value, dict)
        if key in _HIDDEN_KEYS or is_press_data:
            continue
        if is_visible or isinstance(value, dict | list):
            members.append((value, _below(at, key), is_visible))
    members.reverse()
    return members


def _below(at: str, step: str) -> str:
    """Return the pointer of a member; very deep members have that of their ancestor."""
    if len(at) + len(step) > 400:
        return at
    if "~" in step or "/" in step:
        step = step.replace("~", "~0").replace("/", "~1")
    return f"{at}/{step}"


def _words(reading: Reading, text: str, at: str) -> Iterator[Prose]:
    if document := reading.marked(text):
        yield Prose(document, at=at)
