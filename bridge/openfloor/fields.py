"""Reads the members of a JSON object leniently: any of several names, wrong types left aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import JsonValue

T = TypeVar("T")


@dataclass
class Warnings:
    """What a reader left aside, each as "pointer: problem"; texts of people are not repeated."""

    lines: list[str] = field(default_factory=list[str])

    def add(self, pointer: str, problem: str) -> None:
        """Note something that was left aside."""
        self.lines.append(f"{pointer}: {problem}")


class Fields:
    """One object while it is read; `rest` is what nobody has taken yet."""

    def __init__(self, value: JsonValue, pointer: str, warnings: Warnings) -> None:
        self.rest: dict[str, JsonValue] = dict(value) if isinstance(value, dict) else {}
        self.pointer = pointer
        self.warnings = warnings
        if not isinstance(value, dict) and value is not None:
            warnings.add(pointer, "is no object")

    def take(self, *names: str) -> JsonValue:
        """Return the first of these members that is there, and remove it."""
        for name in names:
            if name in self.rest:
                return self.rest.pop(name)
        return None

    def text(self, *names: str) -> str | None:
        """Return the first of these members that is a text or a number."""
        for name in names:
            value = self.rest.get(name)
            if isinstance(value, str):
                del self.rest[name]
                return value
            if isinstance(value, int | float) and not isinstance(value, bool):
                self.warnings.add(f"{self.pointer}/{name}", "is a number, read as a text")
                del self.rest[name]
                return str(value)
        return None

    def texts(self, *names: str) -> tuple[str, ...]:
        """Return the texts of a list; one text is a list of one."""
        value = self.take(*names)
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list):
            return ()
        return tuple(item for item in value if isinstance(item, str))

    def each(
        self, read: Callable[[JsonValue, str, Warnings], T | None], *names: str
    ) -> tuple[T, ...]:
        """Return what `read` makes of the items of these lists; one object is a list of one."""
        found: list[T] = []
        for name in names:
            if name not in self.rest:
                continue
            value = self.rest.pop(name)
            items: Sequence[JsonValue] = value if isinstance(value, list) else [value]
            for index, item in enumerate(items):
                one = read(item, f"{self.pointer}/{name}/{index}", self.warnings)
                found += [] if one is None else [one]
        return tuple(found)
