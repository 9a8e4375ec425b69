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

# Text without any sign that could begin markup: it reads as itself.
_PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:?!'\"()%+=&$€-])*(?<! )")
BLANK = "\u200b"  # fills a field where Discord requires a text and the author has none


def read_text(native: str, source: Source, at: str) -> tuple[Node, ...]:
    """Return prose nodes, and small print as context nodes, in order."""
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
    """Return the paragraphs at normal size: the context node around them makes them small."""
    paragraphs = (Paragraph(block.children) for block in blocks if isinstance(block, Paragraph))
    return Prose(tuple(paragraphs), at=at)


def read_document(native: str, source: Source) -> Document:
    if _PLAIN.fullmatch(native):
        return (Paragraph((Text(native),)),)
    return discord_to_text(native, source.names)


def read_line(native: str, source: Source) -> Line:
    """Return a one-line text with its styles."""
    if not native or native == BLANK:
        return ()
    document = read_document(native, source)
    match document:
        case (Paragraph(children),):
            return children
        case (_,) if "\n" not in native:
            # A title never is a list or a heading, whatever it begins with.
            return words(native)
        case _:
            return blocks_as_line(document)


def read_plain(native: str) -> Line:
    """Return a text without markup, such as a label."""
    if "\n" in native or "\r" in native:
        return words(native)
    return (Text(native),) if native and native != BLANK else ()
