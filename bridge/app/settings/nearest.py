"""What somebody wrote -> the known word that it is most likely to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.65  # below, a guess would be none


def closest(word: str, known: Iterable[str]) -> str:
    """Empty where none is near."""
    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=_ALIKE)), "")


def nearest(word: str, known: Iterable[object]) -> str:
    """The end of a sentence that says it, or what there is."""
    names = [str(name) for name in known]
    if close := closest(word, names):
        return f"; did you mean {close!r}?"
    return f"; known are {', '.join(sorted(names))}" if names else ""
