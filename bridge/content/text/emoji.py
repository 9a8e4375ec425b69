"""Short names of emoji <-> their characters: `wave::skin-tone-3` <-> 👋🏼. Pure; one table.

The names are those that chats share (iamcal's emoji-data). Connectors know the signs around them
and the names that only their platform has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bridge.content.text.emoji_table import TABLE

_TONES = dict(zip("23456", "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff", strict=True))
_TONE_NUMBERS = {tone: number for number, tone in _TONES.items()}
_TONED = re.compile(r"(.+)::skin-tone-([2-6])(?:-([2-6]))?")
_ANY_TONE = re.compile("[\U0001f3fb-\U0001f3ff]")
_AS_PICTURE = "\ufe0f"  # selects the picture of a character that is also text


@dataclass(frozen=True, slots=True)
class _Entry:
    """`toned`: a skin tone may follow the first character; `pair`: two people with one tone
    each."""

    plain: str
    toned: bool
    pair: str


def emoji_of(name: str) -> str | None:
    """Returns the characters of a short name (without colons); None for an unknown name."""
    if entry := _entries().get(name):
        return entry.plain
    toned = _TONED.fullmatch(name) if "::" in name else None
    entry = _entries().get(toned[1]) if toned else None
    return _with_tones(entry, toned[2], toned[3]) if toned and entry else None


def short_name_of(emoji: str) -> str | None:
    """Returns the first short name of an emoji, with its skin tone; None for an unknown emoji."""
    bare = emoji.replace(_AS_PICTURE, "")
    if name := _names().get(bare):
        return name
    numbers = [_TONE_NUMBERS[tone] for tone in _ANY_TONE.findall(bare)]
    name = _names().get(_ANY_TONE.sub("", bare)) if numbers else None
    for suffix in (numbers[0], "-".join(numbers)) if name else ():
        toned = f"{name}::skin-tone-{suffix}"
        if (emoji_of(toned) or "").replace(_AS_PICTURE, "") == bare:
            return toned
    return None


def emoji_by_name() -> dict[str, str]:
    """Returns the characters of every known short name, in the order of the table."""
    return {name: entry.plain for name, entry in _entries().items()}


def canonical_emoji(emoji: str) -> str:
    """Returns one form of an emoji, whichever variation selectors a platform adds to it."""
    name = short_name_of(emoji)
    return (emoji_of(name) if name else None) or emoji


def _with_tones(entry: _Entry, first: str, second: str | None) -> str | None:
    if entry.toned and second is None:
        return entry.plain[0] + _TONES[first] + entry.plain[1:].removeprefix(_AS_PICTURE)
    if entry.pair:
        return entry.pair.replace("a", _TONES[first]).replace("b", _TONES[second or first])
    return None


@cache
def _entries() -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    for word in TABLE.split():
        names, _, shape = word.partition("=")
        points, _, form = shape.removeprefix("+").partition("~")
        entry = _Entry(_characters(points), shape.startswith("+"), _characters(form))
        for name in names.split("/"):
            entries[name] = entry
    return entries


@cache
def _names() -> dict[str, str]:
    """The first name by characters, without tones and variation selectors."""
    names: dict[str, str] = {}
    for name, entry in _entries().items():
        for form in (entry.plain, re.sub("[ab]", "", entry.pair)):
            names.setdefault(form.replace(_AS_PICTURE, ""), name)
    names.pop("", None)
    return names


def _characters(points: str) -> str:
    parts = points.split("-") if points else []
    return "".join(part if part in "ab" else chr(int(part, 16)) for part in parts)
