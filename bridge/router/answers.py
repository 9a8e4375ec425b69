"""An agent's answer while it grows: agent events in, the UACS message as it stands out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bridge.model import MessageId
from bridge.model.turns import (
    AgentEvent,
    PartGiven,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    UsageReported,
)
from bridge.uacs import Actor, Message, TextPart


class Answer:
    """Collects text and parts in their order."""

    def __init__(self, message_id: MessageId, agent: str, began: float) -> None:
        self.id = message_id
        self.agent = agent
        self._timestamp = datetime.fromtimestamp(began, UTC).isoformat(timespec="milliseconds")
        self._parts: list[Any] = []
        self._text: list[str] = []
        self._metadata: dict[str, Any] = {}

    @property
    def visible(self) -> bool:
        """Whether there is anything to show."""
        return bool(self._parts) or any(piece.strip() for piece in self._text)

    def take(self, event: AgentEvent) -> None:
        match event:
            case TextDelta(text=text):
                self._text.append(text)
            case PartGiven(part=part) | ToolCalled(part=part) | ToolAnswered(part=part):
                self._close_text()
                self._parts.append(part)
            case UsageReported(usage=usage):
                self._metadata["usage"] = usage
            case _:
                pass

    def resume(self, message: Message) -> None:
        """Begin with what was said before an interruption."""
        self._parts = list(message.content)

    def fail(self, reason: str) -> None:
        """Say in the answer that it is not complete, and why."""
        gap = "\n\n" if self.visible else ""
        self._text.append(f"{gap}⚠️ {self.agent} could not finish this answer: {reason}")

    def message(self) -> Message:
        """The answer as it stands."""
        text = "".join(self._text).strip()
        parts = [*self._parts, TextPart(text=text)] if text else self._parts
        extra = {"metadata": self._metadata} if self._metadata else {}
        return Message(
            message_id=self.id,
            timestamp=self._timestamp,
            actor=Actor(id=f"agent:{self.agent}", role="assistant", name=self.agent),
            content=tuple(parts),
            **extra,
        )

    def _close_text(self) -> None:
        if text := "".join(self._text).strip():
            self._parts.append(TextPart(text=text))
        self._text = []
