"""The text tree -> plain text: what it says, for places that show no formatting. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bridge.content.inlines import plain_inlines
from bridge.content.normal import MAX_DEPTH, flat_blocks
from bridge.content.text import (
    Block,
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
)

_BOX = {None: "", True: "☑ ", False: "☐ "}


def text_to_plain(document: Document) -> str:
    """Paragraphs are set apart by an empty line; lists and quotes keep a sign of what they are."""
    return "\n\n".join(_blocks(document, 0))


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
        case Table(header, rows):
            return "\n".join(_row(row) for row in (header, *rows))
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
