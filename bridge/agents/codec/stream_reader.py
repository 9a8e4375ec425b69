"""What the readers of streams share: how an answer ended, and what a reader is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json
from bridge.model.turns import AgentEvent

DONE = "[DONE]"
"""The last event of some streams; it is no JSON."""

BROKEN_LINE = "[BROKEN]"
"""Stands for a line of a stream that is no JSON. Readers of streams pass it over."""

Outcome = Literal["done", "calls", "length", "refused"]


@dataclass(frozen=True)
class Ending:
    """`calls`: the answers of tools are awaited; `length`: a limit was reached. `words` is the
    vendor's own word for it, or what a model said when it refused."""

    outcome: Outcome
    words: str = ""


ENDED_EARLY = "the stream ended before the answer did"
"""The text of the AgentError that readers raise where a stream ends within an answer."""


class StreamReader(Protocol):
    """The events of one streamed answer, in order. An answer that came as a whole is one event.

    `take` and `end` raise PlatformError for a fault that the vendor tells in the stream, and
    AgentError where the stream breaks its own rules or ends too early.
    """

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        """What is said with this event."""
        ...

    def end(self) -> Sequence[AgentEvent]:
        """What is said after the last event."""
        ...

    @property
    def ending(self) -> Ending: ...

    @property
    def response(self) -> Json:
        """The same answer as it would have come without a stream."""
        ...


@runtime_checkable
class ReportsThinking(Protocol):
    """A reader of answers whose thoughts may stand within their text."""

    @property
    def thinks_first(self) -> bool:
        """Whether the answer began within thoughts, without a tag that says so."""
        ...
