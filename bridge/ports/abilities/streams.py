"""Shows a message while it is being written, by a streaming call of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import Call, Delivery
from bridge.model.turns import PlanStep


class Streams(Protocol):
    """Shows a message while it is being written, by calls of the platform that begin, continue and
    end a stream.

    The connector remembers the open streams from `send`, not beyond a restart. After a restart, an
    edit of a message whose stream was left open must still end the stream.
    """

    @property
    def pace(self) -> float:
        """Seconds between two calls of a stream."""
        ...

    @property
    def shows_steps(self) -> bool:
        """Whether the platform shows an agent's steps (`Delivery.steps`) apart from the text; the
        text then names no tools."""
        ...

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        """Return the call that begins a stream in place of the post `call`, in the same slot; None
        if the place, the content or a limit forbids a stream: the message is then posted as
        usual."""
        ...

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        """Return the calls that add to the open stream what the edit `call` would add; empty if
        nothing is new. They end a stream that would soon expire. `steps` are the agent's plan.

        Returns:
            None if no stream is open.
        """
        ...

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        """Return the calls that end the open stream and leave the message as the edit `call` would;
        empty if no stream is open."""
        ...

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        """Return the ordinary post in place of a refused opening; None if `call` is no opening."""
        ...
