"""A name from a platform -> the same name, safe in a line of text. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from bridge.content.text.graphemes import cluster_start
from bridge.content.text.look_alikes import is_unseen
from bridge.content.text.split import utf16_length
from bridge.model import split_key

NAME_LIMIT = 128  # characters; the platforms allow 32 to 80
MARKED_LIMIT = 76  # UTF-16 units: a name with a mark behind it fits on every platform
# Controls, lone surrogates, and marks that reverse the reading direction or hide: a name with
# them can look like another's. Joiners (U+200C, U+200D) stay: Persian and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)
# More accents above one another than any script has: they would cover the lines around.
_HEAP = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{4})"
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)


def display_name(name: str, nameless: str) -> str:
    """Returns a name as one line without invisible characters, at most `NAME_LIMIT` long.

    Args:
        name: The name that a platform reports.
        nameless: The name to use if no character of `name` is visible.
    """
    line = " ".join(_HIDDEN.sub(" ", name[: 8 * NAME_LIMIT]).split())
    if is_unseen(line):
        return nameless
    return cut_name(_HEAP.sub(r"\1", line), NAME_LIMIT, len)


def cut_name(name: str, limit: int, length: Callable[[str], int] = utf16_length) -> str:
    """Returns the name, cut to the limit and ended by an ellipsis; no cut is inside a grapheme
    cluster.

    Args:
        name: The name.
        limit: The maximum length.
        length: Returns the length of a text in the unit of the limit.
    """
    if length(name) <= limit:
        return name
    low, high = 0, min(len(name), limit)
    while low < high:  # the longest beginning that fits, with the ellipsis
        middle = (low + high + 1) // 2
        low, high = (middle, high) if length(name[:middle]) < limit else (low, middle - 1)
    return f"{name[: cluster_start(name, low)].rstrip()}…"


def name_with_mark(name: str, mark: str) -> str:
    """Returns `Ann (mark)`, for a name that somebody else has, too."""
    mark = f" ({cut_name(mark, 30)})"
    return f"{cut_name(name, MARKED_LIMIT - utf16_length(mark))}{mark}"


def is_bare_id(key: str, name: str) -> bool:
    """Whether the name of an actor, a group or a channel is only its native id."""
    return name == split_key(key)[-1]
