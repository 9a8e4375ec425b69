"""Blocks that Discord lacks: tables become code or lists, overlong links become their words. Each
change is a Loss.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from bridge.content.cards.degrade import table_as_code, table_as_prose
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import (
    Block,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Underline,
)
from connectors.discord.cards import limits
from connectors.discord.cards.write_state import Writing

Line = tuple[Inline, ...]

_MAX_DEPTH = 12


def supported_blocks(w: Writing, document: Document, at: str) -> Document:
    """Return the document with tables as code or lists; each change is a Loss."""
    for block in document:
        if not isinstance(block, (Paragraph, CodeBlock)) and not (
            isinstance(block, Heading) and block.level <= 3
        ):
            return tuple(_supported(w, document, at, 0))
    return document


def _supported(w: Writing, blocks: Iterable[Block], at: str, depth: int) -> Iterator[Block]:
    for block in blocks:
        match block:
            case Table():
                yield from table_blocks(w, block, at)
            case Rule():
                w.lose(at, "rule_as_text", "rule", "a line")
                yield block
            case Heading(level) if level > 3:
                w.lose(at, "heading_level", f"heading {level}", "heading 3")
                yield block
            case Quote(inner) if depth < _MAX_DEPTH:
                yield Quote(tuple(_supported(w, inner, at, depth + 1)))
            case List(items) if depth < _MAX_DEPTH:
                supported_items = tuple(
                    ListItem(tuple(_supported(w, item.blocks, at, depth + 1)), item.checked)
                    for item in items
                )
                yield replace(block, items=supported_items)
            case _:
                yield block


def table_blocks(w: Writing, table: Table, at: str) -> Document:
    """Return a narrow table as code, a wide one as a list of its rows."""
    cells = [cell for row in (table.header, *table.rows) for cell in row]
    code = None if _hides(cells) else table_as_code(table, limits.TABLE_WIDTH)
    size = f"table of {len(table.rows)} rows, {len(table.header)} columns"
    if code is None:
        w.lose(at, "table_as_prose", " ".join((size, *_empty_columns(table))), "a list of its rows")
        return table_as_prose(table)
    links = dict.fromkeys(url for cell in cells for url in _hidden_links(cell))
    w.lose(at, "table_as_code", " ".join((size, *links)), "a block of code")
    return (code,)


def _empty_columns(table: Table) -> Iterator[str]:
    """Yield the names of empty columns, which a list of rows leaves out."""
    for index, name in enumerate(table.header):
        if name and table.rows and not any(row[index] for row in table.rows):
            yield plain_inlines(name)


def _hides(cells: Sequence[Line]) -> bool:
    """Return whether a cell has a spoiler, which code would show."""
    return any(isinstance(node, Spoiler) for cell in cells for node in _nodes(cell))


def _hidden_links(cell: Line) -> Iterator[str]:
    for node in _nodes(cell):
        if isinstance(node, Link) and plain_inlines(node.children) != node.url:
            yield node.url


def _nodes(line: Line) -> Iterator[Inline]:
    stack: list[Inline] = list(reversed(line))
    while stack:
        value = stack.pop()
        yield value
        children = getattr(value, "children", ())
        stack += reversed(children)


# --- links longer than any text ------------------------------------------------------------


def has_long_link(blocks: Iterable[Block]) -> bool:
    return any(
        isinstance(node, Link) and len(node.url) > limits.LINK for node in _all_nodes(blocks)
    )


def _all_nodes(blocks: Iterable[Block]) -> Iterator[Inline]:
    stack: list[Block] = list(blocks)
    while stack:
        block = stack.pop()
        match block:
            case Paragraph(children) | Heading(_, children):
                yield from _nodes(children)
            case Quote(inner):
                stack += inner
            case List(items):
                stack += (block for item in items for block in item.blocks)
            case Table(header, rows):
                yield from (
                    node for row in (header, *rows) for cell in row for node in _nodes(cell)
                )
            case _:
                pass


def without_long_links(w: Writing, blocks: Iterable[Block], at: str) -> Document:
    """Return the blocks with overlong links replaced by their words."""
    return tuple(_block_without(w, block, at) for block in blocks)


def _block_without(w: Writing, block: Block, at: str) -> Block:
    match block:
        case Paragraph(children) | Heading(_, children):
            return replace(block, children=_line_without(w, children, at))
        case Quote(inner):
            return Quote(without_long_links(w, inner, at))
        case List(items):
            shorter = (
                replace(item, blocks=without_long_links(w, item.blocks, at)) for item in items
            )
            return replace(block, items=tuple(shorter))
        case _:
            return block


def _line_without(w: Writing, line: Line, at: str) -> Line:
    inlines: list[Inline] = []
    for inline in line:
        if isinstance(inline, Link) and len(inline.url) > limits.LINK:
            w.lose(at, "long_link", inline.url)
            bare = inline.children == (Text(inline.url),)
            inlines += (Text(f"{inline.url[:100]}…"),) if bare else inline.children
        elif isinstance(inline, Strong | Emphasis | Strike | Underline | Spoiler):
            inlines.append(replace(inline, children=_line_without(w, inline.children, at)))
        else:
            inlines.append(inline)
    return tuple(inlines)
