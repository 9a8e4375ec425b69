"""Regular expressions from the configuration, matched in time linear in the text.

The syntax is RE2's (https://github.com/google/re2/wiki/Syntax): without look-around and
back-references, so that no pattern takes exponential time on any text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator

from bridge.errors import InvalidData

_MAX_LENGTH = 1000  # characters of a pattern
_HOLDBACK = 80  # characters of a growing text that may still change
# Expressions that never match white space: letters, digits, some signs, words, choices.
_ONE_WORD = re.compile(
    r"(?:\(\?i\))?(?:\\[bwd]|[A-Za-z0-9_@#/:-]|[()|?+*]|\{\d+(?:,\d*)?\}|\[[A-Za-z0-9_-]+\])+"
)
_MEMORY = 1 << 20  # bytes of memory for RE2, per pattern


@dataclass(frozen=True)
class Pattern:
    """A valid regular expression; see `pattern_of`."""

    source: str

    def is_in(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        return _compiled(self.source).search(_encodable(text)) is not None


@dataclass(frozen=True)
class Replacement:
    """A literal text that replaces every match of the pattern."""

    pattern: Pattern
    text: str

    def applied_to(self, text: str) -> str:
        """Returns the text with every match replaced."""
        return _compiled(self.pattern.source).sub(lambda _: self.text, _encodable(text))


def pattern_of(source: str) -> Pattern:
    """Returns a regular expression after checking it.

    Raises:
        InvalidData: The expression is empty or too long, or RE2 does not accept it.
    """
    if not source or len(source) > _MAX_LENGTH:
        raise InvalidData(f"A pattern has 1 to {_MAX_LENGTH} characters, not {len(source)}")
    _compiled(source)
    return Pattern(source)


def _checked(source: str) -> str:
    if "\b" in source:
        raise ValueError(r"YAML reads \b in double quotes as a backspace; use single quotes")
    try:
        pattern_of(source)
    except InvalidData as error:
        raise ValueError(str(error)) from None
    return source


RegularExpression = Annotated[str, AfterValidator(_checked)]
"""Of a configuration: checked when it is read."""


def matches_of(pattern: Pattern, text: str) -> list[str]:
    """Returns all matches of a pattern in a text, each once, the longest first."""
    matches = {match.group() for match in _compiled(pattern.source).finditer(_encodable(text))}
    return sorted(matches - {""}, key=len, reverse=True)


def replaced_in_text(text: str, replacements: Sequence[Replacement]) -> str:
    """Returns plain text, such as a name, after all replacements, one after the other."""
    for replacement in replacements:
        text = replacement.applied_to(text)
    return text


def settled_words(text: str, replacements: Sequence[Replacement]) -> str:
    """Returns the beginning of a growing text in which the replacements find the same, whatever
    follows.

    The rest is an incomplete word, or the last characters if a match may contain several words.
    """
    one_word = all(_ONE_WORD.fullmatch(replacement.pattern.source) for replacement in replacements)
    end = len(text) if one_word else max(len(text) - _HOLDBACK, 0)
    while end > 0 and not text[end - 1].isspace():
        end -= 1
    while end > 0 and (start := _match_across(text, end, replacements)) is not None:
        end = start
    return text[:end]


def _match_across(text: str, end: int, replacements: Sequence[Replacement]) -> int | None:
    """The start of a match across this place."""
    for replacement in replacements:
        for match in _compiled(replacement.pattern.source).finditer(_encodable(text)):
            if match.start() < end < match.end():
                return match.start()
    return None


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Any:
    import re2  # loaded only if the configuration has patterns

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(source, options=options)
    except re2.error as error:
        reason = str(error).removeprefix("b'").removesuffix("'")
        raise InvalidData(
            f"{source!r} is not a regular expression that RE2 accepts: {reason}"
        ) from None


def _encodable(text: str) -> str:
    """RE2 reads UTF-8, which has no lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8")
