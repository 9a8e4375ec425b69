"""The platform shows a message while it is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import Call, Delivery
from bridge.model.turns import PlanStep


class Streams(Protocol):
    """A message can be shown while it is written in a way of the platform's own, with a beginning
    and an end. Which streams are open is remembered from `send`, not beyond a restart: there an
    edit of one that was left open must end it all the same."""

    @property
    def pace(self) -> float:
        """Seconds between two steps of a stream."""
        ...

    @property
    def shows_steps(self) -> bool:
        """Whether steps of work have a place of their own (`Delivery.steps`): the text then names
        no tools."""
        ...

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        """The post of a growing message as the beginning of a stream, in the same slot. None: it
        is posted as any other, because of its place, its content or the limits of the moment."""
        ...

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        """The calls by which the open stream that this edit would change shows what is new; none
        where nothing is yet. `steps` are the agent's plan. A stream near its end of life is ended
        by them. None: no stream is open there."""
        ...

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        """The calls that end the open stream which this edit changes, and leave the message as the
        edit would. Empty: no stream is open there."""
        ...

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        """The ordinary post in place of an opening that was refused; None: it is no opening."""
        ...
