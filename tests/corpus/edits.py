"""A sound message, broken in places that dice choose: the same dice, the same message. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, cast

Place = tuple[Any, Any]
"""A list or object, and an index or key in it."""

_TEXTS = (
    "", " ", "\n", "\x00", "\u202e", "é", "e\u0301", "👩\u200d👩\u200d👧", "漢字、かな。", "שלום",
    "@everyone <!channel> <@U1> <@1> <at>A</at> <#C1>", "<!date^1^{date}|x>", "<t:1:R>",
    "{{DATE(x)}}",
    "*a* **b** _c_ ~~d~~ ||e|| `f` ```g``` > # - 1. | \\", "[x](javascript:alert(1))", "[a](b)[c](",
    "<https://e.example|x", "<<<<>>>>", "&lt;b&gt;&amp;", "${x}", "https://e.example/?a=1&b=<2>",
    "http://", "javascript:alert(1)", "attachment://x.png", "data:image/png;base64,AA==", "1e999",
    "2026-13-41", "99999999999999999999", "-1", "true", "#2EB67D", "mailto:a@e.example", ":tada:",
)  # fmt: skip
_VALUES = (
    None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, 10**30, 2**63, [], {}, [[]], [None], {"": ""},
    {"type": None}, {"type": []}, {"type": "section"}, {"type": 17}, {"type": "TextBlock"},
)  # fmt: skip
_LENGTHS = (76, 151, 257, 2001, 3001, 4097, 30_000)
_COUNTS = (2, 6, 11, 26, 51, 101, 300)
_DEPTHS = (3, 17, 40, 200, 450)


class Dice(Protocol):
    """Whoever chooses: chance, or the bytes of a fuzzer."""

    def choice(self, seq: Sequence[Any], /) -> Any: ...


class Bytes:
    """Chooses by the bytes it is given, then always the first."""

    def __init__(self, data: bytes) -> None:
        self._data = iter(data)

    def choice(self, seq: Sequence[Any], /) -> Any:
        return seq[(next(self._data, 0) * 256 + next(self._data, 0)) % len(seq)]


def edited(dice: Dice, messages: Sequence[Any]) -> Any:
    """One of the messages after one to six edits."""
    message = copied(dice.choice(messages))
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 6))):
        places = list(_places(message))
        if not places:
            return dice.choice(_VALUES)
        inside, key = dice.choice(places)
        dice.choice(_EDITS)(dice, inside, key, messages)
    return message


def _places(value: Any, limit: int = 4000) -> Iterator[Place]:
    stack = [value]
    count = 0
    while stack and count < limit:
        node = stack.pop()
        items = (
            node.items()
            if isinstance(node, dict)
            else enumerate(node)
            if isinstance(node, list)
            else ()
        )
        for key, item in items:
            count += 1
            yield node, key
            if isinstance(item, dict | list):
                stack.append(item)


def copied(value: Any) -> Any:
    """A deep copy of JSON of any nesting."""
    whole: list[Any] = [None]
    stack: list[tuple[Any, Any, Any]] = [(whole, 0, value)]
    while stack:
        inside, key, node = stack.pop()
        if isinstance(node, dict):
            inside[key] = new = dict.fromkeys(node)
            stack += [(new, name, item) for name, item in node.items()]
        elif isinstance(node, list):
            inside[key] = new = [None] * len(node)
            stack += [(new, index, item) for index, item in enumerate(node)]
        else:
            inside[key] = node
    return whole[0]


# --- edits ----------------------------------------------------------------------------------


def _value(dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    inside[key] = copied(dice.choice(_VALUES))


def _text(dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    old = inside[key] if isinstance(inside[key], str) else ""
    new = dice.choice(_TEXTS)
    inside[key] = dice.choice((new, old + new, new + old, f"{old} {new} {old}"))


def _long(dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    unit = inside[key] if isinstance(inside[key], str) and inside[key] else "word "
    length = dice.choice(_LENGTHS)
    inside[key] = (unit * (length // len(unit) + 1))[:length]


def _remove(_dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    del inside[key]


def _many(dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    count = dice.choice(_COUNTS)
    if isinstance(inside, list):
        inside[key:key] = [copied(inside[key]) for _ in range(count)]
    else:
        inside[key] = [copied(inside[key]) for _ in range(count)]


def _deep(dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    """What stands there, within copies of what is around it, again and again."""
    name = f"{key}" if isinstance(inside, dict) else "items"
    shell = cast("dict[str, Any]", inside) if isinstance(inside, dict) else {"type": "Container"}
    small = {key: item for key, item in shell.items() if _is_small(item)}
    listed = isinstance(inside[key], list) or isinstance(inside, list)
    nested: Any = inside[key]
    for _step in range(dice.choice(_DEPTHS)):
        nested = {**small, name: [nested] if listed else nested}
    inside[key] = [nested] if isinstance(inside[key], list) else nested


def _is_small(value: Any) -> bool:
    return not isinstance(value, dict | list) and (not isinstance(value, str) or len(value) < 200)


def _moved(dice: Dice, inside: Any, key: Any, messages: Sequence[Any]) -> None:
    """Something of any other message, of any platform."""
    places = list(_places(dice.choice(messages), 400))
    if places:
        other, name = dice.choice(places)
        inside[key] = copied(other[name])


def _renamed(dice: Dice, inside: Any, key: Any, messages: Sequence[Any]) -> None:
    if isinstance(inside, dict):
        names = [name for _, name in _places(dice.choice(messages), 200) if isinstance(name, str)]
        inside[dice.choice(names or ["type"])] = inside.pop(key)


def _swapped(dice: Dice, inside: Any, key: Any, _: Sequence[Any]) -> None:
    other = dice.choice(list(inside) if isinstance(inside, dict) else range(len(inside)))
    inside[key], inside[other] = inside[other], inside[key]


_EDITS: tuple[Callable[[Dice, Any, Any, Sequence[Any]], None], ...] = (
    _value, _value, _text, _text, _text, _long, _remove, _many, _deep, _moved, _moved, _renamed,
    _swapped,
)  # fmt: skip
