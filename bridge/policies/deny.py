"""A content policy that refuses whole questions and answers by regular expressions."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bridge.content.messages.parts import message_text
from bridge.content.text.patterns import RegularExpression, pattern_of
from bridge.errors import ContentRefused
from bridge.model.turns import Turn
from bridge.uacs import Message


class DenySettings(BaseModel):
    """The expressions that the policy refuses."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    asked: tuple[RegularExpression, ...] = Field(
        default=(), description="RE2 expressions: a question that matches one is refused"
    )
    answered: tuple[RegularExpression, ...] = Field(
        default=(), description="RE2 expressions: an answer that matches one is refused"
    )
    reason: str = Field(
        default="a policy of this room refuses it", description="the text that people then see"
    )


class Deny:
    """Refuses the current question, messages during the turn, and answers.

    The messages before the question are not inspected.
    """

    holdback = 200

    def __init__(self, settings: DenySettings) -> None:
        self._questions = [pattern_of(pattern) for pattern in settings.asked]
        self._answers = [pattern_of(pattern) for pattern in settings.answered]
        self._reason = settings.reason

    def begin(self) -> Deny:
        """Returns the policy itself: it keeps no state in a turn."""
        return self

    async def filter_turn(self, turn: Turn) -> Turn:
        """Returns the turn unchanged.

        Raises:
            ContentRefused: The last message of the turn matches an expression for questions.
        """
        for message in turn.conversation.messages[-1:]:
            await self.filter_message(message)
        return turn

    async def filter_message(self, message: Message) -> Message:
        """Returns the message unchanged.

        Raises:
            ContentRefused: Its text matches an expression for questions.
        """
        text, _ = message_text(message)
        if any(pattern.is_in(text) for pattern in self._questions):
            raise ContentRefused(self._reason)
        return message

    async def filter_text(self, text: str) -> str:
        """Returns the text unchanged.

        Raises:
            ContentRefused: It matches an expression for answers.
        """
        if any(pattern.is_in(text) for pattern in self._answers):
            raise ContentRefused(self._reason)
        return text

    async def filter_part(self, part: JsonValue) -> JsonValue:
        """Returns the part unchanged.

        Raises:
            ContentRefused: Its JSON matches an expression for answers.
        """
        await self.filter_text(json.dumps(part, ensure_ascii=False))
        return part


class _DenyType:
    kind: ClassVar[str] = "deny"
    settings: ClassVar[type[BaseModel]] = DenySettings

    def build(self, settings: Any) -> Deny:
        return Deny(settings)


policy_type = _DenyType()
