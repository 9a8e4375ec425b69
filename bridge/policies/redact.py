"""What a model need not know is replaced before it reads it, and put back in its answer."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bridge.content.text.patterns import RegularExpression, found_by, pattern_of
from bridge.model.turns import Turn
from bridge.policies.strings import in_json, in_message, in_turn
from bridge.uacs import Message

_KNOWN = {
    "email": r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+",
    "card": r"\b(?:\d[ -]?){12,18}\d\b",
    "key": r"\b(?:sk|pk|ghp|gho|glpat|AKIA|AIza|xox[a-z])[-_A-Za-z0-9]{12,}",
    "phone": r"\+\d(?:[ ().-]?\d){7,14}",
}
Known = Literal["email", "card", "key", "phone"]
_PLACEHOLDER = re.compile(r"\[[a-z]{1,20}-\d{1,6}\]")


class RedactSettings(BaseModel):
    """What is replaced."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: tuple[Known, ...] = Field(
        default=("email", "card", "key"), description="any of email, card, key, phone"
    )
    patterns: tuple[RegularExpression, ...] = Field(
        default=(), description="more, as expressions of RE2"
    )
    restore: bool = Field(
        default=True, description="whether people read in the answer what was replaced"
    )


class Redact:
    """`[email-1]` stands for the first address of a turn wherever it is named."""

    hold_back = 80

    def __init__(self, settings: RedactSettings) -> None:
        self._settings = settings

    def begin(self) -> _Redacting:
        return _Redacting(self._settings)


class _Redacting:
    def __init__(self, settings: RedactSettings) -> None:
        own = [("redacted", pattern_of(pattern)) for pattern in settings.patterns]
        self._patterns = [(kind, pattern_of(_KNOWN[kind])) for kind in settings.kinds] + own
        self._restore = settings.restore
        self._names: dict[str, str] = {}  # what was found -> what stands for it
        self._found: dict[str, str] = {}

    async def before(self, turn: Turn) -> Turn:
        return in_turn(turn, self._hide)

    async def told(self, message: Message) -> Message:
        return in_message(message, self._hide)

    async def said(self, text: str) -> str:
        return self._shown(text)

    async def given(self, part: JsonValue) -> JsonValue:
        return in_json(part, self._shown)

    def _hide(self, text: str) -> str:
        for kind, pattern in self._patterns:
            for match in found_by(pattern, text):
                if kind != "card" or _is_card(match):
                    text = text.replace(match, self._name(kind, match))
        return text

    def _name(self, kind: str, text: str) -> str:
        if text not in self._names:
            name = f"[{kind}-{len(self._names) + 1}]"
            self._names[text], self._found[name] = name, text
        return self._names[text]

    def _shown(self, text: str) -> str:
        """What a model makes up by itself is hidden all the same; what people wrote comes back."""
        text = self._hide(text)
        if not self._restore:
            return text
        return _PLACEHOLDER.sub(lambda match: self._found.get(match.group(), match.group()), text)


def _is_card(text: str) -> bool:
    """Whether its last digit is the right one (ISO/IEC 7812, Luhn)."""
    digits = [int(character) for character in text if character.isdigit()][::-1]
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


class _RedactType:
    kind: ClassVar[str] = "redact"
    settings: ClassVar[type[BaseModel]] = RedactSettings

    def build(self, settings: Any) -> Redact:
        return Redact(settings)


policy_type = _RedactType()
