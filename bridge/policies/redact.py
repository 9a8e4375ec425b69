"""A content policy that hides personal data from models and restores it in their answers."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bridge.content.safety.personal_data import Kind, replace_personal_data
from bridge.content.text.patterns import RegularExpression, matches_of, pattern_of
from bridge.model.turns import Turn
from bridge.policies.strings import in_json, in_message, in_turn
from bridge.uacs import Message

_PLACEHOLDER = re.compile(r"\[[a-z]{1,20}-\d{1,6}\]")


class RedactSettings(BaseModel):
    """The data that the policy replaces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: tuple[Kind, ...] = Field(
        default=("email", "card", "key"), description="any of email, card, key, phone, iban"
    )
    patterns: tuple[RegularExpression, ...] = Field(
        default=(), description="further RE2 expressions to replace"
    )
    restore: bool = Field(
        default=True, description="whether people see the original values in the answer"
    )


class Redact:
    """Replaces personal data by placeholders: `[email-1]` for the first address of a turn.

    The same value has the same placeholder throughout a turn.
    """

    holdback = 80

    def __init__(self, settings: RedactSettings) -> None:
        self._settings = settings

    def begin(self) -> _RedactFilter:
        """Returns the filter of a new turn, which numbers its placeholders from 1."""
        return _RedactFilter(self._settings)


class _RedactFilter:
    def __init__(self, settings: RedactSettings) -> None:
        self._kinds = settings.kinds
        self._patterns = [pattern_of(pattern) for pattern in settings.patterns]
        self._restore = settings.restore
        self._placeholders: dict[str, str] = {}  # by original value
        self._originals: dict[str, str] = {}  # by placeholder

    async def filter_turn(self, turn: Turn) -> Turn:
        return in_turn(turn, self._redact)

    async def filter_message(self, message: Message) -> Message:
        return in_message(message, self._redact)

    async def filter_text(self, text: str) -> str:
        return self._for_people(text)

    async def filter_part(self, part: JsonValue) -> JsonValue:
        return in_json(part, self._for_people)

    def _redact(self, text: str) -> str:
        text = replace_personal_data(text, self._kinds, self._placeholder)
        for pattern in self._patterns:
            for value in matches_of(pattern, text):
                text = text.replace(value, self._placeholder("redacted", value))
        return text

    def _placeholder(self, kind: str, value: str) -> str:
        if value not in self._placeholders:
            placeholder = f"[{kind}-{len(self._placeholders) + 1}]"
            self._placeholders[value], self._originals[placeholder] = placeholder, value
        return self._placeholders[value]

    def _for_people(self, text: str) -> str:
        """Redacts values that the model invented and restores values that people wrote."""
        text = self._redact(text)
        if not self._restore:
            return text
        return _PLACEHOLDER.sub(
            lambda match: self._originals.get(match.group(), match.group()), text
        )


class _RedactType:
    kind: ClassVar[str] = "redact"
    settings: ClassVar[type[BaseModel]] = RedactSettings

    def build(self, settings: Any) -> Redact:
        return Redact(settings)


policy_type = _RedactType()
