"""Search in JSON: one walk in document order, without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer

Step = str | int


def places_of(
    value: JsonValue,
    is_match: Callable[[Step, JsonValue], bool],
    within: Callable[[Step], bool] = lambda _step: True,
) -> Iterator[tuple[str, Step, JsonValue]]:
    """Yield pointer, last step and value of each match.

    The walk enters members for which `within` is true, but not matches.
    """
    way: list[Step] = [""]
    stack: list[Iterator[tuple[Step, JsonValue]]] = [iter([("", value)])]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            way.pop()
            continue
        step, item = entry
        way[-1] = step
        if is_match(step, item):
            yield pointer("", *way[1:]), step, item
        elif isinstance(item, dict | list) and within(step):
            way.append("")
            stack.append(iter(_members(item)))


def _members(value: dict[str, JsonValue] | list[JsonValue]) -> Iterable[tuple[Step, JsonValue]]:
    return value.items() if isinstance(value, dict) else enumerate(value)
