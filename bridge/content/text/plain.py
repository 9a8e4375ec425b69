"""The text tree -> plain text, for places that show no formatting. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from bridge.content.text.graphemes import display_width
from bridge.content.text.inlines import merge_texts, plain_inlines
from bridge.content.text.normal import MAX_DEPTH, flat_blocks, normal
from bridge.content.text.tree import (
    BREAK,
    Block,
    Break,
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

_BOX = {None: "", True: "☑ ", False: "☐ "}


def text_to_plain(document: Document) -> str:
    """Returns the text of a document: an empty line separates paragraphs; lists and quotes keep
    their marks."""
    return "\n\n".join(_blocks(document, 0))


def blocks_as_line(document: Document) -> tuple[Inline, ...]:
    """Returns text as one run of inlines with its links and styles: paragraphs become lines, other
    blocks their plain text."""
    run: list[Inline] = []
    for block in document:
        run += [BREAK] if run else []
        match block:
            case Paragraph(children) | Heading(_, children):
                run += children
            case _:
                for index, line in enumerate(_lines(block, 0)):
                    run += [BREAK, *line] if index else line
    return tuple(run)


def hidden_in(document: Document) -> Iterator[str]:
    """Yields the hidden text of each spoiler."""
    stack: list[object] = [document]
    while stack:
        match stack.pop():
            case tuple() as nodes:
                stack += reversed(cast("tuple[object, ...]", nodes))
            case Spoiler(children):
                yield plain_inlines(children)
            case Text():
                pass
            case Paragraph(inner) | Quote(inner) | List(inner) | ListItem(inner):
                stack.append(inner)
            case Heading(_, inner) | Link(_, inner) | Strong(inner) | Emphasis(inner):
                stack.append(inner)
            case Strike(inner) | Underline(inner):
                stack.append(inner)
            case Table(header, rows):
                stack += (rows, header)
            case _:
                pass


def labels_in(document: Document) -> Iterator[tuple[Inline, ...]]:
    """Yields the label of each link."""
    stack: list[object] = [document]
    while stack:
        match stack.pop():
            case tuple() as nodes:
                stack += reversed(cast("tuple[object, ...]", nodes))
            case Link(_, label):
                yield label
            case Text():
                pass
            case Table(header, rows):
                stack += (rows, header)
            case Paragraph(inner) | Quote(inner) | List(inner) | ListItem(inner):
                stack.append(inner)
            case Heading(_, inner) | Strong(inner) | Emphasis(inner) | Strike(inner):
                stack.append(inner)
            case Underline(inner) | Spoiler(inner):
                stack.append(inner)
            case _:
                pass


def _lines(block: Block, depth: int) -> list[tuple[Inline, ...]]:
    """The lines of a block, as `text_to_plain` has them, with their nodes."""
    match block:
        case Paragraph(children) | Heading(_, children):
            return _split(children)
        case Quote(blocks):
            return [_led("> ", line) for line in _lines_of(blocks, depth, apart=True)]
        case List(items, start):
            lines_out: list[tuple[Inline, ...]] = []
            for index, item in enumerate(items):
                mark = ("• " if start is None else f"{start + index}. ") + _BOX[item.checked]
                lines = _lines_of(item.blocks, depth, apart=False) or [()]
                lines_out.append(_led(mark, lines[0]))
                lines_out += (_led(" " * len(mark), line) for line in lines[1:])
            return lines_out
        case Table():
            rows = (_barred(row) for row in _rows(block))
            return [row for row in rows if row]
        case _:
            return [(Text(line),) for line in _block(block, depth).split("\n")]


def _lines_of(blocks: Iterable[Block], depth: int, *, apart: bool) -> list[tuple[Inline, ...]]:
    lines: list[tuple[Inline, ...]] = []
    for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
        lines += [()] if apart and lines else []
        lines += _lines(block, depth + 1)
    return lines


def _led(mark: str, line: tuple[Inline, ...]) -> tuple[Inline, ...]:
    return merge_texts((Text(mark), *line))


def _split(run: Iterable[Inline]) -> list[tuple[Inline, ...]]:
    lines: list[list[Inline]] = [[]]
    for inline in run:
        if isinstance(inline, Break):
            lines.append([])
        else:
            lines[-1].append(inline)
    return [tuple(line) for line in lines]


def _barred(cells: Sequence[Sequence[Inline]]) -> tuple[Inline, ...]:
    line: list[Inline] = []
    for index, cell in enumerate(cells):
        line += [Text(" | ")] if index else []
        line += (Text(" ") if isinstance(inline, Break) else inline for inline in cell)
    return merge_texts(line)


def aligned_table(node: Table, cross: str) -> str:
    """Returns a table in characters of one width: aligned columns, and a line below the header.

    Args:
        node: The table.
        cross: The character where that line meets the border of a column.
    """
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


def _aligned(cell: str, width: int, align: str | None) -> str:
    room = width - display_width(cell)
    left = {"right": room, "center": room // 2}.get(align or "", 0)
    return " " * left + cell + " " * (room - left)


def plain_to_text(plain: str) -> Document:
    """Reads plain text: lines, and paragraphs between empty lines. Bare URLs become links."""
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
