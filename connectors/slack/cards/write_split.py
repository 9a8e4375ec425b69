"""A text that is too long for one block -> parts that fit, in order. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.inlines import STYLES, Style, plain_inlines
from bridge.content.text.split import split_text
from bridge.content.text.tree import (
    Block,
    ChannelLink,
    Document,
    Emoji,
    GroupMention,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Table,
    Text,
    Timestamp,
)
from connectors.slack.capabilities import URL
from connectors.slack.cards.write_pieces import Json, Writing
from connectors.slack.rich_text_writer import line_to_rich_text, rich_text_length, text_to_rich_text

_SMALLEST = 40
_LABEL = 500  # characters of a link or name that is not cut; `split_text` cuts longer ones


def rich_text(writing: Writing, document: Document, at: str) -> list[Json]:
    """Rich text elements without links that are too long."""
    elements = text_to_rich_text(document)
    if rich_text_length(elements) > URL:
        elements = text_to_rich_text(without_long_links(writing, document, at))
    return elements


def rich_line(writing: Writing, line: tuple[Inline, ...], at: str) -> Json:
    """The same for one section."""
    section = line_to_rich_text(line)
    if rich_text_length((section,)) > URL:
        section = line_to_rich_text(_run(writing, line, at))
    return section


def split_rich_text(document: Document, limit: int) -> Iterator[list[Json]]:
    """Rich text elements in parts of at most `limit`, cut between blocks if possible, else as
    `split_text` cuts.

    Lists, quotes and code continue in the next part.
    """
    run: list[Block] = []
    used = 0
    for block in document:
        size = rich_text_length(text_to_rich_text((block,))) + 2
        if used + size > limit and run:
            yield text_to_rich_text(run)
            run, used = [], 0
        if size > limit:
            yield from _cut(text_to_markdown((block,)), limit, limit)
        else:
            run.append(block)
            used += size
    if run:
        yield text_to_rich_text(run)


def _cut(markdown: str, size: int, limit: int) -> Iterator[list[Json]]:
    """The parts. Shown text is shorter than its Markdown, except for tables; where it is not, the
    parts are made smaller."""
    for part in split_text(markdown, size):
        elements = text_to_rich_text(markdown_to_text(part))
        if rich_text_length(elements) <= limit or size // 2 < _SMALLEST:
            yield elements
        else:
            yield from _cut(part, size // 2, limit)


# --- links that nothing can hold ------------------------------------------------------------


def without_long_links(writing: Writing, document: Document, at: str) -> Document:
    """Replace links of more than 3,000 characters by their text, with a Loss each."""
    return tuple(_block(writing, block, at) for block in document)


def _block(writing: Writing, block: Block, at: str) -> Block:
    match block:
        case Paragraph(children):
            return Paragraph(_run(writing, children, at))
        case Heading(level, children):
            return Heading(level, _run(writing, children, at))
        case Quote(blocks):
            return Quote(tuple(_block(writing, block, at) for block in blocks))
        case List(items, start):
            shorter = (
                ListItem(tuple(_block(writing, block, at) for block in item.blocks), item.checked)
                for item in items
            )
            return List(tuple(shorter), start)
        case Table(header, rows, align):
            lines = [tuple(_run(writing, cell, at) for cell in row) for row in (header, *rows)]
            return Table(lines[0], tuple(lines[1:]), align)
        case _:
            return block


def _run(writing: Writing, run: tuple[Inline, ...], at: str) -> tuple[Inline, ...]:
    """A run without links that are too long, and without text that cannot be cut."""
    shorter: list[Inline] = []
    for node in run:
        match node:
            case Link(url, children):
                shorter += _link(writing, url, _run(writing, children, at), at)
            case Mention() | GroupMention() | ChannelLink() | Timestamp() | Emoji():
                label = plain_inlines((node,))
                shorter.append(Text(label) if len(label) > _LABEL else node)
            case _ if type(node) in STYLES:
                style = cast("Style", node)
                shorter.append(type(style)(_run(writing, style.children, at)))
            case _:
                shorter.append(node)
    return tuple(shorter)


def _link(writing: Writing, url: str, children: tuple[Inline, ...], at: str) -> tuple[Inline, ...]:
    """A link, or only its text, or (for a very long text) its text and its URL."""
    if len(url) > URL - 100:
        writing.lose(at, "long_url", url, "its text")
        return children
    if len(plain_inlines(children)) <= max(_LABEL, len(url)):
        return (Link(url, children),)
    return (*children, Text(" "), Link(url, (Text(url),)))
