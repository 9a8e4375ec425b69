"""Several answers of one turn: each begins a paragraph of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from pydantic import JsonValue

from bridge.content.messages.agent_parts import HIDDEN_SCHEMAS
from bridge.model.turns import (
    AgentEvent,
    PartGiven,
    TextDelta,
    TextReplaced,
    ToolAnswered,
    ToolCalled,
)


class Paragraphs:
    """Passes events on, with a gap before text that would continue an earlier answer of the turn.
    An answer that replaces its text does not replace an earlier answer's."""

    def __init__(self) -> None:
        self._text = False  # whether the last visible content was text
        self._gap = False
        self._earlier = ""  # text of earlier answers since the last part
        self._own: list[str] = []  # text of this answer since the last part

    def next(self) -> None:
        """Begin the next answer of the turn."""
        self._gap = self._text
        self._earlier += "".join(self._own)
        self._own = []

    async def of(self, events: AsyncGenerator[AgentEvent]) -> AsyncGenerator[AgentEvent]:
        """Yield the events of one answer, with gaps."""
        async with aclosing(events):
            async for event in events:
                for agent_event in self.pass_on(event):
                    yield agent_event

    def pass_on(self, event: AgentEvent) -> list[AgentEvent]:
        """Return the event, after the gap that it needs."""
        match event:
            case TextDelta(text=text):
                gap = "\n\n" if self._gap and text.strip() else ""
                if text.strip():
                    self._text, self._gap = True, False
                self._own += [gap, text]
                return [*([TextDelta(text=gap)] if gap else []), event]
            case TextReplaced(text=text):
                gap = "\n\n" if self._earlier.strip() else ""
                self._text, self._gap = True, False
                self._own = [gap, text]
                return [event.model_copy(update={"text": f"{self._earlier}{gap}{text}"})]
            case PartGiven(part=part):
                self._earlier, self._own = "", []
                if not _is_unshown(part):
                    self._text = self._gap = False
            case ToolCalled() | ToolAnswered():
                self._earlier, self._own = "", []
                self._text = self._gap = False
            case _:
                pass
        return [event]


def _is_unshown(part: JsonValue) -> bool:
    return isinstance(part, dict) and part.get("schema_id") in HIDDEN_SCHEMAS
