"""Blocks of text that Discord has no form for: tables as code or lists, links that no message has
room for as their words. What changes is named.
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

_DEEPEST = 12


def shown_blocks(w: Writing, document: Document, at: str) -> Document:
    """Tables as code or lists; what changes is named."""
    for block in document:
        if not isinstance(block, (Paragraph, CodeBlock)) and not (
            isinstance(block, Heading) and block.level <= 3
        ):
            return tuple(_shown(w, document, at, 0))
    return document


def _shown(w: Writing, blocks: Iterable[Block], at: str, depth: int) -> Iterator[Block]:
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
            case Quote(inner) if depth < _DEEPEST:
                yield Quote(tuple(_shown(w, inner, at, depth + 1)))
            case List(items) if depth < _DEEPEST:
                shown = tuple(
                    ListItem(tuple(_shown(w, one.blocks, at, depth + 1)), one.checked)
                    for one in items
                )
                yield replace(block, items=shown)
            case _:
                yield block


def table_blocks(w: Writing, table: Table, at: str) -> Document:
    """A narrow table in a fixed-width font, a wide one as a list of its rows."""
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
    """A list of rows has no place for the names of columns that hold nothing."""
    for index, name in enumerate(table.header):
        if name and table.rows and not any(row[index] for row in table.rows):
            yield plain_inlines(name)


def _hides(cells: Sequence[Line]) -> bool:
    """Whether a cell hides something: code would show it."""
    return any(isinstance(one, Spoiler) for cell in cells for one in _nodes(cell))


def _hidden_links(cell: Line) -> Iterator[str]:
    for one in _nodes(cell):
        if isinstance(one, Link) and plain_inlines(one.children) != one.url:
            yield one.url


def _nodes(line: Line) -> Iterator[Inline]:
    stack: list[Inline] = list(reversed(line))
    while stack:
        one = stack.pop()
        yield one
        children = getattr(one, "children", ())
        stack += reversed(children)


# --- links longer than any text ------------------------------------------------------------


def has_long_link(blocks: Iterable[Block]) -> bool:
    return any(isinstance(one, Link) and len(one.url) > limits.LINK for one in _all_nodes(blocks))


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
                stack += (one for item in items for one in item.blocks)
            case Table(header, rows):
                yield from (one for row in (header, *rows) for cell in row for one in _nodes(cell))
            case _:
                pass


def without_long_links(w: Writing, blocks: Iterable[Block], at: str) -> Document:
    """Links that no message has room for are their words."""
    return tuple(_block_without(w, block, at) for block in blocks)


def _block_without(w: Writing, block: Block, at: str) -> Block:
    match block:
        case Paragraph(children) | Heading(_, children):
            return replace(block, children=_line_without(w, children, at))
        case Quote(inner):
            return Quote(without_long_links(w, inner, at))
        case List(items):
            found = (replace(one, blocks=without_long_links(w, one.blocks, at)) for one in items)
            return replace(block, items=tuple(found))
        case _:
            return block


def _line_without(w: Writing, line: Line, at: str) -> Line:
    found: list[Inline] = []
    for one in line:
        if isinstance(one, Link) and len(one.url) > limits.LINK:
            w.lose(at, "long_link", one.url)
            bare = one.children == (Text(one.url),)
            found += (Text(f"{one.url[:100]}…"),) if bare else one.children
        elif isinstance(one, Strong | Emphasis | Strike | Underline | Spoiler):
            found.append(replace(one, children=_line_without(w, one.children, at)))
        else:
            found.append(one)
    return tuple(found)
