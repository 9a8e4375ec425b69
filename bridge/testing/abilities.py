"""The abilities that a test expects of a connector."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def required(ability: T | None) -> T:
    """Return the ability; fail the test when the connector lacks it."""
    assert ability is not None, "the connector lacks this ability"
    return ability
