"""Regular expressions that people configure: found and replaced in time linear in the text.

RE2's syntax (https://github.com/google/re2/wiki/Syntax): no look-around and no back-references,
so no pattern runs away on any text.
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
_HOLDBACK = 80  # characters of a text that grows
# Expressions that surely find no white space: letters, digits, some signs, words, choices.
_ONE_WORD = re.compile(
    r"(?:\(\?i\))?(?:\\[bwd]|[A-Za-z0-9_@#/:-]|[()|?+*]|\{\d+(?:,\d*)?\}|\[[A-Za-z0-9_-]+\])+"
)
_MEMORY = 1 << 20  # bytes that RE2 may take for one


@dataclass(frozen=True)
class Pattern:
    """A regular expression that was checked: see `pattern_of`."""

    source: str

    def is_in(self, text: str) -> bool:
        """Whether it is found anywhere in the text."""
        return _compiled(self.source).search(_encodable(text)) is not None


@dataclass(frozen=True)
class Replacement:
    """What stands in place of all that the pattern finds; its text is taken as it is."""

    pattern: Pattern
    text: str

    def applied_to(self, text: str) -> str:
        return _compiled(self.pattern.source).sub(lambda _: self.text, _encodable(text))


def pattern_of(source: str) -> Pattern:
    """Raises InvalidData that says what is wrong with it."""
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
    """All that it finds, each once, the longest first."""
    matches = {match.group() for match in _compiled(pattern.source).finditer(_encodable(text))}
    return sorted(matches - {""}, key=len, reverse=True)


def replaced_in_text(text: str, replacements: Sequence[Replacement]) -> str:
    """Plain text, such as a name, with all replacements made, one after the other."""
    for replacement in replacements:
        text = replacement.applied_to(text)
    return text


def settled_words(text: str, replacements: Sequence[Replacement]) -> str:
    """The beginning of a text that is still being written in which what is found now is found
    whatever follows: without a word that has not ended, and without the last characters where
    something that is found may have several words."""
    one_word = all(_ONE_WORD.fullmatch(replacement.pattern.source) for replacement in replacements)
    upto = len(text) if one_word else max(len(text) - _HOLDBACK, 0)
    while upto > 0 and not text[upto - 1].isspace():
        upto -= 1
    while upto > 0 and (start := _match_across(text, upto, replacements)) is not None:
        upto = start
    return text[:upto]


def _match_across(text: str, upto: int, replacements: Sequence[Replacement]) -> int | None:
    """Where something begins that is found across this place."""
    for replacement in replacements:
        for match in _compiled(replacement.pattern.source).finditer(_encodable(text)):
            if match.start() < upto < match.end():
                return match.start()
    return None


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Any:
    import re2  # a second package to load, only for those who have patterns

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(source, options=options)
    except re2.error as error:
        reason = str(error).removeprefix("b'").removesuffix("'")
        raise InvalidData(f"{source!r} is no regular expression that RE2 knows: {reason}") from None


def _encodable(text: str) -> str:
    """RE2 reads UTF-8, which has no halves of characters."""
    return text.encode("utf-8", "replace").decode("utf-8")
