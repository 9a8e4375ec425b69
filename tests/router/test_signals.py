"""Signals call their listeners in order, and hide no error of theirs."""

from __future__ import annotations

import pytest

from bridge.errors import StoreError
from bridge.router.signals import Signal


async def test_listeners_are_called_one_after_the_other_in_the_order_of_their_subscription() -> (
    None
):
    signal, called = Signal[str](), list[str]()

    async def first(value: str) -> None:
        called.append(f"first {value}")

    async def second(value: str) -> None:
        called.append(f"second {value}")

    signal.subscribe(first)
    signal.subscribe(second)
    await signal.emit("a")
    await signal.emit("b")

    assert called == ["first a", "second a", "first b", "second b"]


async def test_emit_raises_the_error_of_a_listener() -> None:
    async def listener(_: str) -> None:
        raise StoreError("no room left")

    signal = Signal[str]()
    signal.subscribe(listener)

    with pytest.raises(StoreError, match="no room left"):
        await signal.emit("a")


async def test_a_signal_that_nobody_listens_to_changes_nothing() -> None:
    await Signal[str]().emit("a")
