"""The port of traces: what happened to a message, as spans that others may export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

SpanKind = Literal["received", "sent", "asked", "inside"]


@dataclass(frozen=True)
class Span:
    """One step of a message's way that has ended; it never holds text of people or secrets.

    - `trace`: what the trace follows: the id of a message, or of an event without a message.
    - `key`: names the span in its trace; the root has none.
    - `parent`: the key of the span above it.
    - `began`, `ended`: in seconds since 1970.
    - `error`: the kind of the failure; empty for a step that worked.
    - `links`: the messages whose traces belong to this step, too.
    """

    trace: str
    name: str
    kind: SpanKind
    began: float
    ended: float
    key: str = ""
    parent: str = ""
    attributes: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    error: str = ""
    links: tuple[str, ...] = ()


class Tracer(Protocol):
    """Takes the spans of traces."""

    def record(self, span: Span) -> None:
        """Take a span. Never waits and never fails: a span that has no place is lost."""
        ...

    async def close(self) -> None:
        """Export the spans that are left, for a few seconds at most."""
        ...
