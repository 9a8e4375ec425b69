"""Signs of Discord's text, and the merging of nodes, for its readers and writers. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import cast

from bridge.content.text.inlines import has_neighbours_of_one_kind
from bridge.content.text.tree import (
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
URL_END = ".,:;\"'!?]}*_~|"  # these end a sentence and do not belong to an address
LAST_SECOND = 253_402_300_799  # of the year 9999
RULE = "─" * 12  # Discord has no rules in text
REPLY_SIGN = "↪"  # begins the small line that names the author of the quoted message
BOXES = {True: "☑ ", False: "☐ ", None: ""}
APART = "\u200b"  # a zero-width space: keeps signs apart that Discord would read together
STYLES: frozenset[type[Inline]] = frozenset((Strong, Emphasis, Strike, Underline, Spoiler))


def tidy(children: Iterable[Inline]) -> tuple[Inline, ...]:
    """Return the nodes with neighbours of one kind merged and empty nodes removed."""
    full = list(filter(_is_full, children))
    if not has_neighbours_of_one_kind(full):
        return tuple(full)
    out: list[Inline] = []
    for kind, group in groupby(full, type):
        nodes = list(group)
        if len(nodes) == 1:
            out += nodes
        elif kind is Text:
            out.append(Text("".join([node.value for node in cast("list[Text]", nodes)])))
        elif kind is Code:
            out.append(Code("".join([node.value for node in cast("list[Code]", nodes)])))
        elif kind in STYLES:
            styled = cast("list[Styled]", nodes)
            inner = tidy([child for node in styled for child in node.children])
            out.append(type(styled[0])(inner))
        else:
            out += nodes
    return tuple(out)


def _is_full(node: Inline) -> bool:
    if isinstance(node, (Text, Code)):
        return node.value != ""
    return type(node) not in STYLES or cast("Styled", node).children != ()


def is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
