"""Typed signals between the router's folders: who reports something need not know who listens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bridge.model import Mark, Operation
from bridge.model.outbox_records import OutboxState

T = TypeVar("T")


class Signal(Generic[T]):
    """Calls its listeners one after the other, in the order in which they subscribed."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], Awaitable[None]]] = []

    def subscribe(self, listener: Callable[[T], Awaitable[None]]) -> None:
        """Call `listener` with every value that is emitted from now on."""
        self._listeners.append(listener)

    async def emit(self, value: T) -> None:
        """Return when every listener has. Raises what a listener raises; the listeners after it
        are not called then."""
        for listener in self._listeners:
            await listener(value)


@dataclass(frozen=True)
class OperationEnded:
    """A lane ended an operation, in this state."""

    operation: Operation
    state: OutboxState


@dataclass(frozen=True)
class Signals:
    """Every signal of the router.

    - `operation_ended`: the store holds the operation's end.
    - `mark_not_shown`: a platform does not show a reaction or a pin; a note says it in words. The
      lane of the channel's marks emits it, so that the notes change in the order of the events.
    """

    operation_ended: Signal[OperationEnded] = field(default_factory=Signal[OperationEnded])
    mark_not_shown: Signal[Mark] = field(default_factory=Signal[Mark])
