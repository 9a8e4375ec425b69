"""Names -> their skeletons: names that look the same have the same skeleton. Pure.

The skeleton of UTS #39, made coarser: it also drops case, accents, spaces, punctuation and emoji,
because people read a name at a glance. Names with equal skeletons are only marked to be told apart,
so a coarse skeleton is safe.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from bridge.content.text.confusables import TABLE

_DRAWN = {  # letters in circles, in squares, and those that flags are made of
    start + index: letter
    for start in (0x1F150, 0x1F170, 0x1F1E6)
    for index, letter in enumerate("abcdefghljklmnopqrstuvwxyz")
}
_LETTERS = {
    **_DRAWN,
    **{
        int(point, 16): letter
        for letter, points in (word.split("=") for word in TABLE.split())
        for point in points.split(",")
    },
    **dict.fromkeys(map(ord, "1i|"), "l"),
    ord("0"): "o",
}
# Invisible: spaces, controls, joiners, variation selectors, fillers, and accents.
_INVISIBLE_CHARACTERS = re.compile(
    "[\\s\x00-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
_INVISIBLE = ("Cc", "Cf", "Cs", "Me", "Mn", "Zl", "Zp", "Zs")
_ORNAMENT_CATEGORIES = ("Cf", "Me", "Sk", "So")


@lru_cache(maxsize=4096)
def skeleton(name: str) -> str:
    """Returns the skeleton of a name, for comparison and not for display.

    It is not empty if the name has a visible character.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    visible = _INVISIBLE_CHARACTERS.sub("", folded)
    letters = visible.translate(_LETTERS).replace("rn", "m").replace("vv", "w")
    return "".join([c for c in letters if not _is_ornament(c)]) or letters


def is_unseen(text: str) -> bool:
    """Whether the text has no visible character."""
    return all(
        _INVISIBLE_CHARACTERS.match(c) or unicodedata.category(c) in _INVISIBLE for c in text
    )


def _is_ornament(char: str) -> bool:
    """Punctuation, emoji and marks beside a name, which are no part of it."""
    return (
        unicodedata.category(char) in _ORNAMENT_CATEGORIES or unicodedata.category(char)[0] == "P"
    )
