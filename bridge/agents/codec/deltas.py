"""Agent events -> UACS deltas. Applied in order, the deltas make the agent's message. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import cast

from pydantic import TypeAdapter

from bridge.model.turns import (
    AgentEvent,
    PartGiven,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.uacs import (
    ContentPart,
    Delta,
    JsonObject,
    MessageEnvelope,
    MessageFinished,
    MessageStarted,
    MetadataMerged,
    PartStarted,
    TextAppended,
    TextPart,
)

_PART: TypeAdapter[ContentPart] = TypeAdapter(ContentPart)


def deltas_of(events: Iterable[AgentEvent], envelope: MessageEnvelope) -> Iterator[Delta]:
    """Yield the deltas of a turn. Text that follows another part begins a new text part; a turn
    without content has no deltas."""
    seq = count()
    index = -1
    in_text = False
    for event in events:
        if index < 0 and isinstance(event, (TextDelta, PartGiven, ToolCalled, ToolAnswered)):
            yield MessageStarted(seq=next(seq), envelope=envelope)
        match event:
            case TextDelta(text=text) if in_text:
                yield TextAppended(seq=next(seq), index=index, text=text)
            case TextDelta(text=text):
                index, in_text = index + 1, True
                yield PartStarted(seq=next(seq), index=index, part=TextPart(text=text))
            case PartGiven(part=part) | ToolCalled(part=part) | ToolAnswered(part=part):
                index, in_text = index + 1, False
                yield PartStarted(seq=next(seq), index=index, part=_PART.validate_python(part))
            case UsageReported(usage=usage) if index >= 0:
                merged = cast("JsonObject", {"usage": usage})
                yield MetadataMerged(seq=next(seq), metadata=merged)
            case TurnDone() | TurnFailed() if index >= 0:
                yield MessageFinished(seq=next(seq))
            case _:
                pass
