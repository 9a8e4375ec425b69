"""Trees of frozen dataclasses, texts and cards: finding nodes and replacing them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")
Tree = TypeVar("Tree")
_PLAIN = ("str", "bool", "int", "float", "Literal", "JsonValue", "Annotated[SkipJsonSchema")


@cache
def node_fields(kind: type) -> tuple[str, ...]:
    """Returns the names of the fields of a dataclass that may hold nodes."""
    return tuple(field.name for field in fields(kind) if not str(field.type).startswith(_PLAIN))


def nodes_in(
    tree: object,
    kinds: type[T] | tuple[type[T], ...],
    inner: Callable[[type], tuple[str, ...]] = node_fields,
) -> Iterator[T]:
    """Yields the nodes of these kinds, in the order of the tree's fields.

    Args:
        tree: A node, or a tuple of nodes.
        kinds: The types to find.
        inner: Returns the fields of a type to search.
    """
    stack: list[object] = [tree]
    while stack:
        value = stack.pop()
        if isinstance(value, kinds):
            yield value
        if isinstance(value, tuple):
            stack.extend(reversed(value))  # pyright: ignore[reportUnknownArgumentType]
        elif is_dataclass(value):
            stack.extend(reversed([getattr(value, name) for name in inner(type(value))]))


def with_nodes(
    tree: Tree,
    kinds: type[T] | tuple[type[T], ...],
    other: Callable[[T], object],
    inner: Callable[[type], tuple[str, ...]] = node_fields,
) -> Tree:
    """Returns the tree with `other(node)` for each node of these kinds; unchanged parts stay the
    same objects.

    Args:
        tree: A node, or a tuple of nodes.
        kinds: The types to replace.
        other: Returns the replacement of a node.
        inner: Returns the fields of a type to search.
    """
    return _with(tree, kinds, other, inner)


def _with(value: Any, kinds: Any, other: Callable[[Any], Any], inner: Any) -> Any:
    if isinstance(value, kinds):
        return other(value)
    if isinstance(value, tuple):
        before: tuple[Any, ...] = value
        items = [_with(item, kinds, other, inner) for item in before]
        same = all(after is item_before for after, item_before in zip(items, before, strict=True))
        return value if same else tuple(items)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changes: dict[str, Any] = {}
    for name in inner(type(value)):
        before = getattr(value, name)
        after = _with(before, kinds, other, inner)
        if after is not before:
            changes[name] = after
    return replace(value, **changes) if changes else value
