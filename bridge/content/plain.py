"""The text tree -> plain text: what it says, for places that show no formatting. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bridge.content.graphemes import display_width
from bridge.content.inlines import plain_inlines
from bridge.content.normal import MAX_DEPTH, flat_blocks, normal
from bridge.content.text import (
    Block,
    Break,
    CodeBlock,
    Document,
    Heading,
    Inline,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
)

_BOX = {None: "", True: "☑ ", False: "☐ "}


def text_to_plain(document: Document) -> str:
    """Paragraphs are set apart by an empty line; lists and quotes keep a sign of what they are."""
    return "\n\n".join(_blocks(document, 0))


def blocks_as_line(document: Document) -> tuple[Inline, ...]:
    """Text as one run of inlines: paragraphs become lines, other blocks what they say."""
    run: list[Inline] = []
    for block in document:
        run += [Break()] if run else []
        match block:
            case Paragraph(children) | Heading(_, children):
                run += children
            case _:
                for index, text in enumerate(text_to_plain((block,)).split("\n")):
                    run += [Break(), Text(text)] if index else [Text(text)]
    return tuple(run)


def aligned_table(node: Table, cross: str) -> str:
    """A table in characters of one width: columns of equal cells, a line below the header; `cross`
    stands where that line meets the border of a column."""
    rows = [[" ".join(plain_inlines(cell).split()) for cell in row] for row in _rows(node)]
    count = max(map(len, rows))
    if not count:
        return ""
    rows = [row + [""] * (count - len(row)) for row in rows]
    widths = [max(display_width(row[column]) for row in rows) for column in range(count)]
    align = [*node.align, *[None] * count][:count]
    lines = [" | ".join(map(_aligned, row, widths, align)).rstrip() for row in rows]
    lines.insert(1, f"-{cross}-".join(["-" * width for width in widths]))
    return "\n".join(lines)


def _rows(node: Table) -> tuple[tuple[tuple[Inline, ...], ...], ...]:
    return (node.header, *node.rows)


def _aligned(cell: str, width: int, how: str | None) -> str:
    room = width - display_width(cell)
    left = {"right": room, "center": room // 2}.get(how or "", 0)
    return " " * left + cell + " " * (room - left)


def plain_to_text(plain: str) -> Document:
    """Characters as they are: lines, and paragraphs between empty ones. Bare URLs are links."""
    return normal((Paragraph((Text(plain),)),))


def _blocks(blocks: Iterable[Block], depth: int) -> list[str]:
    shallow = blocks if depth < MAX_DEPTH else flat_blocks(blocks)
    return [_block(block, depth + 1) for block in shallow]


def _block(block: Block, depth: int) -> str:
    match block:
        case Paragraph(children) | Heading(_, children):
            return plain_inlines(children)
        case Quote(blocks):
            return _indented("> ", "> ", "\n\n".join(_blocks(blocks, depth)))
        case CodeBlock(value):
            return value
        case List(items, start):
            return "\n".join(_item(item, index, start, depth) for index, item in enumerate(items))
        case Table():
            return "\n".join(_row(row) for row in _rows(block))
        case Rule():
            return "---"


def _item(item: ListItem, index: int, start: int | None, depth: int) -> str:
    mark = "• " if start is None else f"{start + index}. "
    body = _BOX[item.checked] + "\n".join(_blocks(item.blocks, depth))
    return _indented(mark, " " * len(mark), body)


def _row(cells: Sequence[Sequence[Inline]]) -> str:
    return " | ".join(plain_inlines(cell).replace("\n", " ") for cell in cells)


def _indented(first: str, rest: str, text: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *(rest + line for line in tail)])
