"""Configured replacements in UACS Markdown. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.content.markdown.reader import markdown_to_text
from bridge.content.markdown.writer import text_to_markdown
from bridge.content.text.inlines import merge_texts
from bridge.content.text.normal import normal
from bridge.content.text.patterns import Replacement, replaced_in_text
from bridge.content.text.tree import (
    Block,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Underline,
)


def replaced_in_markdown(markdown: str, replacements: Sequence[Replacement]) -> str:
    """Returns the Markdown with all replacements made in its words.

    Code, addresses, mentions and channel names stay as they are, and the inserted text is never
    markup.
    """
    before = markdown_to_text(markdown)
    after = tuple(_block(block, replacements) for block in before)
    return markdown if after == before else text_to_markdown(normal(after))


def _block(block: Block, replacements: Sequence[Replacement]) -> Block:
    match block:
        case Paragraph(children, subtle):
            return Paragraph(_run(children, replacements), subtle)
        case Heading(level, children):
            return Heading(level, _run(children, replacements))
        case Quote(blocks):
            return Quote(tuple(_block(inner, replacements) for inner in blocks))
        case List(items, start):
            return List(tuple(_item(item, replacements) for item in items), start)
        case Table(header, rows, align):
            return Table(
                tuple(_run(cell, replacements) for cell in header),
                tuple(tuple(_run(cell, replacements) for cell in row) for row in rows),
                align,
            )
        case _:
            return block


def _item(item: ListItem, replacements: Sequence[Replacement]) -> ListItem:
    return ListItem(tuple(_block(block, replacements) for block in item.blocks), item.checked)


def _run(run: Sequence[Inline], replacements: Sequence[Replacement]) -> tuple[Inline, ...]:
    return merge_texts(_inline(node, replacements) for node in run)


def _inline(node: Inline, replacements: Sequence[Replacement]) -> Inline:
    match node:
        case Text(value):
            return Text(replaced_in_text(value, replacements))
        case Link(url, children):
            return Link(url, _run(children, replacements))
        case Strong() | Emphasis() | Strike() | Underline() | Spoiler():
            return type(node)(_run(node.children, replacements))
        case _:
            return node
