"""Slack's Markdown -> the text tree: CommonMark with Slack's control sequences <...>.

The bridge's own Markdown additions (`uacs:` links, spoilers) are plain text here, so that nobody
can mention others by typing them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from bridge.content.markdown import markdown_to_text
from bridge.content.text.inlines import STYLES, Style, merge_texts, plain_inlines
from bridge.content.text.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Table,
    Text,
)
from connectors.slack.cards.read_texts import as_line
from connectors.slack.emoji import text_with_emoji
from connectors.slack.mrkdwn_reader import mrkdwn_to_text

_MARKED = re.compile(r"[<:]")
_MAYBE_OWN = re.compile(r"[<:&]|\|\|")  # `&` may begin an entity for any of them
_OWN = re.compile(r"<(?:[@#][A-Z0-9]+|![a-z]+)[^<>\n]*>")


def markdown_block_to_text(markdown: str, team: str) -> Document:
    """Read the text of a `markdown` block (or `markdown_text`) of the workspace `team`."""
    document = markdown_to_text(markdown)
    if _MAYBE_OWN.search(markdown) is None:
        return document
    return tuple([_block(block, team) for block in document])


def _block(block: Block, team: str) -> Block:
    match block:
        case Paragraph((Text(value),)) if _MARKED.search(value) is None:
            return block
        case Paragraph(children):
            return replace(block, children=_run(children, team))
        case Heading(level, children):
            return Heading(level, _run(children, team))
        case Quote(blocks):
            return Quote(tuple(_block(quoted, team) for quoted in blocks))
        case List(items):
            return replace(block, items=tuple(_item(item, team) for item in items))
        case Table(header, rows):
            table_rows = tuple(tuple(_run(cell, team) for cell in row) for row in (header, *rows))
            return replace(block, header=table_rows[0], rows=table_rows[1:])
        case CodeBlock() | Rule():
            return block


def _item(item: ListItem, team: str) -> ListItem:
    return ListItem(tuple(_block(block, team) for block in item.blocks), item.checked)


def _run(nodes: Iterable[Inline], team: str) -> tuple[Inline, ...]:
    return merge_texts(inline for node in nodes for inline in _inline(node, team))


def _inline(node: Inline, team: str) -> Iterable[Inline]:
    """One inline; the Markdown reader never nests a style in itself."""
    if isinstance(node, Text):
        return _text(node.value, team) if _MARKED.search(node.value) else (node,)
    if isinstance(node, Spoiler):
        return (Text("||"), *_run(node.children, team), Text("||"))
    if type(node) in STYLES:
        style = cast("Style", node)
        return (type(style)(_run(style.children, team)),)
    if isinstance(node, Link):
        return (Link(node.url, _run(node.children, team)),)
    if isinstance(node, Code | Break):
        return (node,)
    return (Text(plain_inlines((node,))),)


def _text(value: str, team: str) -> Iterator[Inline]:
    place = 0
    for match in _OWN.finditer(value):
        yield from text_with_emoji(value[place : match.start()])
        for block in mrkdwn_to_text(match.group(), team):
            yield from as_line((block,))
        place = match.end()
    yield from text_with_emoji(value[place:])
