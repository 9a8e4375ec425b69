"""Whether a part has one of the abilities that its port offers."""

from __future__ import annotations

from typing import TypeGuard, TypeVar

T = TypeVar("T")

_KNOWN: dict[tuple[type, type], bool] = {}


def has(part: object, ability: type[T]) -> TypeGuard[T]:
    """As `isinstance` with a Protocol, but asked once for each type: Python looks at every member
    of a Protocol each time, which shows where every message passes."""
    kind = (type(part), ability)
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = isinstance(part, ability)
    return known
