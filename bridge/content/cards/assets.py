"""Pictures, films, sounds and files of a card: found in order, and put in one another's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from bridge.content.cards.tree import Asset, Card

T = TypeVar("T")


def key_of(asset: Asset) -> str:
    """What names the bytes: the platform's own id of a file, else its address; empty for none."""
    return asset.file_id or asset.url


def assets_in(card: Card) -> Iterator[Asset]:
    """Every asset, in the order of the tree's fields."""
    stack: list[object] = [card]
    while stack:
        value = stack.pop()
        if isinstance(value, Asset):
            yield value
        elif isinstance(value, tuple):
            stack.extend(reversed(value))
        elif is_dataclass(value):
            stack.extend(reversed([getattr(value, name) for name in _names(type(value))]))


def with_assets(card: Card, other: Callable[[Asset], Asset]) -> Card:
    """The card with `other(asset)` for each asset; what does not change stays the same object."""
    return _changed(card, other)


def _changed(value: T, other: Callable[[Asset], Asset]) -> T:
    if isinstance(value, Asset):
        return other(value)  # pyright: ignore[reportReturnType]  # an Asset for an Asset
    if isinstance(value, tuple):
        items = [_changed(one, other) for one in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else tuple(items)  # pyright: ignore[reportReturnType]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changes: dict[str, Any] = {}
    for name in _names(type(value)):
        before = getattr(value, name)
        after = _changed(before, other)
        if after is not before:
            changes[name] = after
    return replace(value, **changes) if changes else value


@cache
def _names(kind: type) -> tuple[str, ...]:
    """The fields that may hold more than text and numbers."""
    plain = ("str", "bool", "int", "float", "Literal", "JsonValue", "Annotated[SkipJsonSchema")
    return tuple(
        one.name
        for one in fields(kind)
        if not str(one.type).startswith(plain) and one.name not in ("text", "label", "title")
    )
