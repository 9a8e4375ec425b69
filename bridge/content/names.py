"""A name as a platform gave it -> the same name as it may stand in a line of text. Pure."""

from __future__ import annotations

import re

NAME_LIMIT = 128  # characters; the platforms allow 32 to 80
# Controls, halves of characters, and signs that turn the reading direction or hide: a name made of
# them looks like another's. Joiners (U+200C, U+200D) stay: Persian and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)
_JOINERS = re.compile("[\u200c\u200d\u3164\ufe0f\\s]")


def shown_name(name: str, nameless: str) -> str:
    """One line, nothing in it invisible, at most `NAME_LIMIT` long; `nameless` where nothing of it
    can be seen."""
    line = " ".join(_HIDDEN.sub(" ", name[: 8 * NAME_LIMIT]).split())
    if not _JOINERS.sub("", line):
        return nameless
    return line if len(line) <= NAME_LIMIT else f"{line[: NAME_LIMIT - 1].rstrip()}…"
