"""A misspelt word -> the known word that is most similar to it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_CUTOFF = 0.65  # similarity below which nothing is suggested


def closest(word: str, names: Iterable[str]) -> str:
    """The most similar known word; empty if none is similar."""
    return next(iter(difflib.get_close_matches(word, list(names), n=1, cutoff=_CUTOFF)), "")


def nearest(word: str, names: Iterable[object]) -> str:
    """The end of an error that suggests the most similar known word, or lists all of them."""
    names = [str(name) for name in names]
    if close := closest(word, names):
        return f"; did you mean {close!r}?"
    return f"; known are {', '.join(sorted(names))}" if names else ""
