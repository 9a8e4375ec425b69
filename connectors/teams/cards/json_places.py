"""Where in any JSON something stands: one walk in its order, without recursion, pointers only for
what is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer

Step = str | int


def places_of(
    value: JsonValue,
    wanted: Callable[[Step, JsonValue], bool],
    within: Callable[[Step], bool] = lambda _step: True,
) -> Iterator[tuple[str, Step, JsonValue]]:
    """Pointer, last step and value of all that is `wanted`; members are looked into where
    `within` says so, and what is wanted is not."""
    way: list[Step] = [""]
    stack: list[Iterator[tuple[Step, JsonValue]]] = [iter([("", value)])]
    while stack:
        found = next(stack[-1], None)
        if found is None:
            stack.pop()
            way.pop()
            continue
        step, one = found
        way[-1] = step
        if wanted(step, one):
            yield pointer("", *way[1:]), step, one
        elif isinstance(one, dict | list) and within(step):
            way.append("")
            stack.append(iter(_members(one)))


def _members(value: dict[str, JsonValue] | list[JsonValue]) -> Iterable[tuple[Step, JsonValue]]:
    return value.items() if isinstance(value, dict) else enumerate(value)
