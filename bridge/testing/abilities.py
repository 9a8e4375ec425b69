"""The abilities that a test expects of a connector."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def required(ability: T | None) -> T:
    """The ability of the connector under test. Raises AssertionError where it lacks the ability."""
    assert ability is not None, "the connector lacks this ability"
    return ability
