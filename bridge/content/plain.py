"""The text tree -> plain text: what it says, for places that show no formatting. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.content.inlines import plain_inlines
from bridge.content.text import (
    Block,
    CodeBlock,
    Document,
    Heading,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Table,
)


def text_to_plain(document: Document) -> str:
    """Paragraphs are set apart by an empty line; lists and quotes keep a sign of what they are."""
    return "\n\n".join(_block(block) for block in document)


def _block(block: Block) -> str:
    match block:
        case Paragraph(children) | Heading(_, children):
            return plain_inlines(children)
        case Quote(blocks):
            return _indented("> ", "> ", text_to_plain(blocks))
        case CodeBlock(value):
            return value
        case List(items, start):
            return "\n".join(_item(item, index, start) for index, item in enumerate(items))
        case Table(header, rows):
            return "\n".join(_row(row) for row in (header, *rows))
        case Rule():
            return "---"


def _item(item: ListItem, index: int, start: int | None) -> str:
    mark = "• " if start is None else f"{start + index}. "
    box = {None: "", True: "☑ ", False: "☐ "}[item.checked]
    return _indented(mark, " " * len(mark), box + "\n".join(_block(b) for b in item.blocks))


def _row(cells: Sequence[Sequence[object]]) -> str:
    return " | ".join(plain_inlines(cell).replace("\n", " ") for cell in cells)  # type: ignore[arg-type]


def _indented(first: str, rest: str, text: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *(rest + line for line in tail)])
