"""Checks of JSON that report what is wrong and where, in the words of Slack's validator. Pure.

The words are those of github.com/slackhq/hack-json-schema, with which Slack checks requests
(2019-2021), and of refusals that were observed since.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
_MAX_FAULTS = 20


@dataclass(slots=True)
class Faults:
    """The collected faults; `about` is the context that checks need."""

    surface: str = "message"  # message, modal or home
    knows_file: Callable[[Json], bool] = lambda _file: True
    may_embed: Callable[[str], bool] = lambda _url: False
    messages: list[str] = field(default_factory=list[str])

    def say(self, message: str, pointer: str) -> None:
        if len(self.messages) < _MAX_FAULTS:
            self.messages.append(f"{message} [json-pointer:{pointer}]")


Check = Callable[[Any, str, Faults], None]
Checks = Mapping[str, Check]


def string(maximum: int, minimum: int = 0) -> Check:
    def check(value: Any, at: str, faults: Faults) -> None:
        if not isinstance(value, str):
            faults.say("must provide a string", at)
        elif len(value) > maximum:
            faults.say(f"must be less than {maximum + 1} characters", at)
        elif len(value) < minimum:
            faults.say(f"must be more than {minimum - 1} characters", at)

    return check


def boolean(value: Any, at: str, faults: Faults) -> None:
    if not isinstance(value, bool):
        faults.say("must be a boolean", at)


def anything(_value: Any, _at: str, _faults: Faults) -> None:
    """Accept any value."""


def integer(minimum: int, maximum: int) -> Check:
    def check(value: Any, at: str, faults: Faults) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            faults.say("must provide an integer", at)
        elif value > maximum:
            faults.say(f"must be less than {maximum}", at)
        elif value < minimum:
            faults.say(f"must be greater than {minimum}", at)

    return check


def number(value: Any, at: str, faults: Faults) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        faults.say("must provide a number", at)


def one_of(*allowed: Any) -> Check:
    def check(value: Any, at: str, faults: Faults) -> None:
        if value not in allowed:
            faults.say("must be a valid enum value", at)

    return check


def items(check_item: Check, maximum: int, minimum: int = 1) -> Check:
    def check(value: Any, at: str, faults: Faults) -> None:
        if not isinstance(value, list):
            faults.say("must provide an array", at)
            return
        if len(value) > maximum:
            faults.say(f"no more than {maximum} items allowed", at)
            return
        if len(value) < minimum:
            faults.say(f"must provide at least {minimum} items", at)
        for index, item in enumerate(value):
            check_item(item, f"{at}/{index}", faults)

    return check


def shape(needed: Checks, allowed: Checks | None = None, also: Check | None = None) -> Check:
    """Check for an object with the fields `needed`, optionally the `allowed` ones, and
    no others."""
    known_fields = {**needed, **(allowed or {})}

    def check(value: Any, at: str, faults: Faults) -> None:
        if not isinstance(value, dict):
            faults.say("must provide an object", at)
            return
        for name in needed:
            if value.get(name) is None:
                faults.say(f"missing required field: {name}", at)
        for name, inner in value.items():
            if name not in known_fields:
                faults.say(f"invalid additional property: {name}", at)
            elif inner is not None:
                known_fields[name](inner, f"{at}/{name}", faults)
        if also is not None:
            also(value, at, faults)

    return check


def checked_by_type(kinds: Checks) -> Check:
    """Check an object by the check of its `type`."""

    def check(value: Any, at: str, faults: Faults) -> None:
        if not isinstance(value, dict):
            faults.say("must provide an object", at)
            return
        kind = value.get("type")
        if not isinstance(kind, str):
            faults.say("missing required field: type", at)
        elif kind not in kinds:
            faults.say(f"unsupported type: {kind[:80]}", f"{at}/type")
        else:
            kinds[kind](value, at, faults)

    return check


def exactly_one(*names: str) -> Check:
    """Check that exactly one of these fields is present."""
    alternatives = " or ".join(f"`{name}`" for name in names)

    def check(value: Json, at: str, faults: Faults) -> None:
        present = [name for name in names if value.get(name) is not None]
        if len(present) != 1:
            faults.say(f"must define either {alternatives}", at)

    return check
