"""Several answers of one turn, apart: each begins a paragraph of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bridge.content.agent_parts import UNSHOWN
from bridge.model.turns import AgentEvent, PartGiven, TextDelta, ToolAnswered, ToolCalled


class Paragraphs:
    """Passes events on; text that would run on from an earlier answer of the turn gets a gap."""

    def __init__(self) -> None:
        self._text = False  # whether text was shown last
        self._gap = False

    def next(self) -> None:
        """The next answer of the turn begins."""
        self._gap = self._text

    async def of(self, events: AsyncGenerator[AgentEvent]) -> AsyncGenerator[AgentEvent]:
        """The events of one answer."""
        async with aclosing(events):
            async for event in events:
                for one in self.pass_on(event):
                    yield one

    def pass_on(self, event: AgentEvent) -> list[AgentEvent]:
        """The event, behind the gap that it needs."""
        match event:
            case TextDelta(text=said) if said.strip():
                gap = [TextDelta(text="\n\n")] if self._gap else []
                self._text, self._gap = True, False
                return [*gap, event]
            case PartGiven(part={"schema_id": str(schema)}) if schema in UNSHOWN:
                pass
            case PartGiven() | ToolCalled() | ToolAnswered():
                self._text = self._gap = False
            case _:
                pass
        return [event]
