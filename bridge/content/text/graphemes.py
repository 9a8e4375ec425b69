"""The ends of characters as people see them: no cut separates a letter from its accent. Pure.

These are the rules of UAX #29 that matter in chats; Python's tables have the categories.
"""

from __future__ import annotations

import unicodedata

_MAX_CLUSTER = 64  # a longer cluster is cut (Zalgo)
_JOINER = "\u200d"
_AS_PICTURE = "\ufe0f"


def cluster_start(text: str, cut: int, lowest: int = 0) -> int:
    """Returns the cut, or the nearest place before it that is inside no grapheme cluster.

    Args:
        text: The text.
        cut: An index into it.
        lowest: The result is greater than this index, or the cut itself.
    """
    at = cut
    while at > lowest and cut - at < _MAX_CLUSTER and is_inside(text, at):
        at -= 1
    return at if at > lowest and not is_inside(text, at) else cut


def display_width(text: str) -> int:
    """Returns the number of cells of a fixed-width font that the text takes.

    Wide characters take two cells, accents none, joined emoji as many as one.
    """
    if text.isascii():
        return len(text)
    width = 0
    before = ""
    for char in text:
        if char == _AS_PICTURE and before and _cells(before) == 1:
            width += 1
        elif before != _JOINER and not _is_tone(char):
            width += _cells(char)
        before = char
    return width


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _is_tone(char: str) -> bool:
    return "\U0001f3fb" <= char <= "\U0001f3ff"


def is_inside(text: str, cut: int) -> bool:
    """Whether a cut here would separate characters of one grapheme cluster."""
    if not 0 < cut < len(text):
        return False
    before, after = text[cut - 1], text[cut]
    if before < "\u0300" and after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        _extends(after)
        or (before == _JOINER and not after.isspace())
        or (unicodedata.combining(before) == 9 and unicodedata.category(after) == "Lo")
        or (_is_flag(after) and _is_flag(before) and _flags_before(text, cut) % 2 == 1)
        or _is_hangul_syllable(before, after)
    )


def _extends(char: str) -> bool:
    """Accents and marks (M*), joiners, skin tones, tags of flags, halfwidth voicing marks."""
    return (
        unicodedata.category(char)[0] == "M"
        or char in "\u200c\u200d\uff9e\uff9f\u0e33\u0eb3"
        or _is_tone(char)
        or "\U000e0020" <= char <= "\U000e007f"
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, cut: int) -> int:
    count = 0
    while count < min(cut, _MAX_CLUSTER) and _is_flag(text[cut - 1 - count]):
        count += 1
    return count


def _is_hangul_syllable(before: str, after: str) -> bool:
    """Jamo written one by one: leading consonants, vowels, trailing consonants."""
    if "\u1100" <= before <= "\u115f":
        return "\u1100" <= after <= "\u11a7"
    syllable = "\uac00" <= before <= "\ud7a3" or "\u1160" <= before <= "\u11ff"
    return syllable and "\u1160" <= after <= "\u11ff"
