"""Questions and answers in which something is found are refused as a whole."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bridge.content.messages.parts import message_text
from bridge.content.text.patterns import RegularExpression, pattern_of
from bridge.errors import PolicyRefused
from bridge.model.turns import Turn
from bridge.uacs import Message


class DenySettings(BaseModel):
    """What is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: tuple[RegularExpression, ...] = Field(
        default=(), description="found in a question: expressions of RE2"
    )
    answered: tuple[RegularExpression, ...] = Field(default=(), description="found in an answer")
    reason: str = Field(default="a policy of this room refuses it", description="what is said")


class Deny:
    """Looks at what is asked now, not at what was said before."""

    hold_back = 200

    def __init__(self, settings: DenySettings) -> None:
        self._asked = [pattern_of(pattern) for pattern in settings.asked]
        self._answered = [pattern_of(pattern) for pattern in settings.answered]
        self._reason = settings.reason

    def begin(self) -> Deny:
        return self

    async def before(self, turn: Turn) -> Turn:
        for message in turn.conversation.messages[-1:]:
            await self.told(message)
        return turn

    async def told(self, message: Message) -> Message:
        text, _ = message_text(message)
        if any(pattern.is_in(text) for pattern in self._asked):
            raise PolicyRefused(self._reason)
        return message

    async def said(self, text: str) -> str:
        if any(pattern.is_in(text) for pattern in self._answered):
            raise PolicyRefused(self._reason)
        return text

    async def given(self, part: JsonValue) -> JsonValue:
        await self.said(json.dumps(part, ensure_ascii=False))
        return part


class _DenyType:
    kind: ClassVar[str] = "deny"
    settings: ClassVar[type[BaseModel]] = DenySettings

    def build(self, settings: Any) -> Deny:
        return Deny(settings)


policy_type = _DenyType()
