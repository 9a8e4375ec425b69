"""Discord's texts -> prose and small print (`-# ` lines), runs of inlines, plain words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from bridge.content.cards.input_text import words
from bridge.content.cards.tree import Context, Node, Prose
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Block, Document, Inline, Paragraph, Text
from connectors.discord.cards.read_source import Source
from connectors.discord.text import discord_to_text

Line = tuple[Inline, ...]

# Text that means itself in every reading: no sign in it begins any markup.
_PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:?!'\"()%+=&$€-])*(?<! )")
BLANK = "\u200b"  # stands where Discord wants a text and its author none


def read_text(native: str, source: Source, at: str) -> tuple[Node, ...]:
    """Prose, and small print as contexts, in order."""
    document = read_document(native, source)
    if "-# " not in native:
        return (Prose(document, at=at),) if document else ()
    return tuple(
        Context((_large(blocks, at),), at=at) if small else Prose(tuple(blocks), at=at)
        for small, blocks in groupby(document, _is_small)
    )


def _is_small(block: Block) -> bool:
    return isinstance(block, Paragraph) and block.subtle


def _large(blocks: Iterable[Block], at: str) -> Prose:
    """The paragraphs without their size: that they are small, the node around them says."""
    paragraphs = (Paragraph(block.children) for block in blocks if isinstance(block, Paragraph))
    return Prose(tuple(paragraphs), at=at)


def read_document(native: str, source: Source) -> Document:
    if _PLAIN.fullmatch(native):
        return (Paragraph((Text(native),)),)
    return discord_to_text(native, source.names)


def read_line(native: str, source: Source) -> Line:
    """A text that Discord shows in one line, with the styles that it may have."""
    if not native or native == BLANK:
        return ()
    document = read_document(native, source)
    match document:
        case (Paragraph(children),):
            return children
        case (_,) if "\n" not in native:
            # A title is no list and no heading, whatever it begins with.
            return words(native)
        case _:
            return blocks_as_line(document)


def read_plain(native: str) -> Line:
    """A text without any markup, such as a label."""
    if "\n" in native or "\r" in native:
        return words(native)
    return (Text(native),) if native and native != BLANK else ()
