"""What reading and writing of Discord's text share: styles, and runs of nodes made tidy. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.content.text import (
    Code,
    Emphasis,
    Inline,
    Spoiler,
    Strike,
    Strong,
    Text,
    Underline,
)

Styled = Strong | Emphasis | Strike | Underline | Spoiler

FENCE = "```"
LANGUAGE = re.compile(r"([A-Za-z0-9_+\-.#]+)\n")
URL_END = ".,:;\"'!?]}*_~|"  # what ends a sentence, not an address
LAST_SECOND = 253_402_300_799  # of the year 9999


def tidy(children: Sequence[Inline]) -> tuple[Inline, ...]:
    """Neighbours of one kind become one; what is empty goes; a style within itself is one."""
    out: list[Inline] = []
    for child in children:
        last = out[-1] if out else None
        if isinstance(child, Text) and not child.value:
            continue
        if isinstance(child, Text) and isinstance(last, Text):
            out[-1] = Text(last.value + child.value)
        elif isinstance(child, Code) and isinstance(last, Code):
            out[-1] = Code(last.value + child.value)
        elif isinstance(child, Styled) and not child.children:
            continue
        elif isinstance(child, Styled) and isinstance(last, Styled) and type(child) is type(last):
            out[-1] = type(child)(tidy((*last.children, *child.children)))
        else:
            out.append(child)
    return tuple(out)


def is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
