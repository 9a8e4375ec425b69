"""What the stream readers of all APIs share: how an answer ended, and the reader's protocol.
Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json
from bridge.model.turns import AgentEvent

DONE = "[DONE]"
"""The last event of some streams; it is not JSON."""

BROKEN_LINE = "[BROKEN]"
"""The event that replaces a line of a stream that is not JSON. Stream readers skip it."""

Outcome = Literal["done", "calls", "length", "refused"]


@dataclass(frozen=True)
class Ending:
    """How an answer ended. `calls`: the model awaits tool results; `length`: a limit was reached.
    `words` is the vendor's reason, or the text of a refusal."""

    outcome: Outcome
    words: str = ""


ENDED_EARLY = "the stream ended before the answer did"
"""The text of the AgentError that readers raise if a stream ends within an answer."""


class StreamReader(Protocol):
    """Reads the events of one streamed answer, in order. A whole answer is one event.

    `take` and `end` raise PlatformError for an error in the stream, and AgentError if the stream
    violates its protocol or ends too early."""

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        """Return what the agent says with this event."""
        ...

    def end(self) -> Sequence[AgentEvent]:
        """Return what the agent says after the last event."""
        ...

    @property
    def ending(self) -> Ending: ...

    @property
    def response(self) -> Json:
        """Return the response that the API would have given without streaming."""
        ...


@runtime_checkable
class ReportsThinking(Protocol):
    """A reader of answers whose text may contain the model's reasoning."""

    @property
    def thinks_first(self) -> bool:
        """Whether the answer began with reasoning, without an opening tag."""
        ...
