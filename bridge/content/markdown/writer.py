"""The text tree -> UACS Markdown.

This module writes blocks. Plain runs of inlines, which most messages have, are written in one pass;
others in their normal form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from bridge.content.markdown.inline_writer import own_node_to_markdown, run_to_markdown
from bridge.content.markdown.plain_run_writer import NotPlain, plain_run_to_markdown
from bridge.content.text.normal import MAX_DEPTH, code_block, normal
from bridge.content.text.tree import (
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

__all__ = ["own_node_to_markdown", "text_to_markdown"]

_LINE_START = re.compile(r"(?:[#+=:>-]|[0-9]{1,9}[.)](?=[\s<&]|$)|[ \t])")
_EMPTY_PARAGRAPH = "&#32;"  # a paragraph that is read as empty
_ENTITY = {" ": "&#32;", "\t": "&#9;"}
_MAX_NUMBER = 999_999_999


class _Runs(Protocol):
    """Writes a run of inlines: any run in its normal form, or plain runs only (else: NotPlain)."""

    def __call__(
        self, nodes: Sequence[Inline], *, line: bool = False, cell: bool = False
    ) -> str: ...


def text_to_markdown(document: Document) -> str:
    """Writes UACS Markdown, from which `markdown_to_text` reads `normal(document)`."""
    written: list[str] = []
    mark = ""
    for block in document:
        try:
            mark = _write((block,), written, mark, plain_run_to_markdown, 0)
        except NotPlain:
            mark = _write(normal((block,)), written, mark, run_to_markdown, 0)
    return "\n\n".join(written)


def _write(blocks: Sequence[Block], written: list[str], mark: str, runs: _Runs, depth: int) -> str:
    """Writes blocks. `mark` is that of the list just before, or of the item around them; returns
    the mark of a list at their end."""
    in_item = depth > 0 and mark != ""
    for block in blocks:
        if isinstance(block, List):
            mark = _other_mark(block, mark)
            written.append(_list(block, mark, runs, depth + 1))
        else:
            mark = ""
            written.append(_block(block, runs, depth, in_item=in_item))
    return mark


def _other_mark(node: List, previous: str) -> str:
    """A mark that separates this list from the one before it or around it."""
    bullets = ("-", "*") if node.start is None else (".", ")")
    return bullets[1] if previous == bullets[0] else bullets[0]


def _block(block: Block, runs: _Runs, depth: int, *, in_item: bool) -> str:
    match block:
        case Paragraph(children, subtle):
            text = runs(children)
            if subtle:
                text = f"<small>{text}</small>"
            return "\n".join([_escape_start(line) for line in text.split("\n")])
        case Heading(level, children):
            marks = "#" * min(max(level, 1), 6)
            return f"{marks} {_escape_end(runs(children, line=True))}"
        case Quote(blocks):
            return _quote(blocks, runs, depth + 1)
        case CodeBlock(value, language):
            return _fenced(code_block(value, language))
        case Table():
            return _table(block, runs)
        case Rule():
            return "___" if in_item else "---"  # "- ---" would be one rule
        case List():
            return _list(block, "-", runs, depth + 1)


def _quote(blocks: Sequence[Block], runs: _Runs, depth: int) -> str:
    if not blocks or depth > MAX_DEPTH:
        raise NotPlain
    parts: list[str] = []
    _write(blocks, parts, "", runs, depth)
    lines = "\n\n".join(parts).split("\n")
    return "\n".join([f"> {line}" if line else ">" for line in lines])


def _fenced(block: CodeBlock) -> str:
    value, language = block.value, block.language
    longest = 0
    if "```" in value:
        longest = max(len(run) for run in re.findall(r"`+", value))
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{value}\n{fence}" if value else f"{fence}{language}\n{fence}"


def _list(node: List, mark: str, runs: _Runs, depth: int) -> str:
    if not node.items or depth > MAX_DEPTH:
        raise NotPlain
    if node.start is None:
        return "\n".join([_item(item, mark, mark, runs, depth) for item in node.items])
    first = min(max(node.start, 0), _MAX_NUMBER)
    return "\n".join(
        [
            _item(item, f"{min(number, _MAX_NUMBER)}{mark}", mark, runs, depth)
            for number, item in enumerate(node.items, first)
        ]
    )


def _item(item: ListItem, bullet: str, mark: str, runs: _Runs, depth: int) -> str:
    body = ""
    if item.checked is not None:
        body = "[x] " if item.checked else "[ ] "
        if item.blocks and not isinstance(item.blocks[0], Paragraph):
            body += f"{_EMPTY_PARAGRAPH}\n\n"  # a box needs a paragraph after it
    if not item.blocks:
        # pulldown-cmark 0.13 loses quotes and code after items without text.
        body += _EMPTY_PARAGRAPH
    parts: list[str] = []
    _write(item.blocks, parts, mark, runs, depth)
    for index, part in enumerate(parts):
        if index:
            body += "\n" if _is_close(item.blocks[index - 1], item.blocks[index]) else "\n\n"
        body += part
    if "\n" not in body:
        return f"{bullet} {body}"
    indent = " " * (len(bullet) + 1)
    first, *rest = body.split("\n")
    return "\n".join([f"{bullet} {first}", *[indent + line if line else "" for line in rest]])


def _is_close(before: Block, block: Block) -> bool:
    """Whether a block may follow on the next line: after a paragraph, a list that starts at 1."""
    follows = isinstance(before, Paragraph)
    return follows and isinstance(block, List) and block.start in (None, 1)


def _table(node: Table, runs: _Runs) -> str:
    width = len(node.header)
    rows = (node.header, *node.rows)
    if (
        len(node.align) != width
        or any(len(row) != width for row in rows)
        or not any(map(any, rows))
    ):
        raise NotPlain
    marks = {"left": ":--", "center": ":-:", "right": "--:", None: "---"}
    lines = [
        f"| {' | '.join([runs(cell, line=True, cell=True) if cell else '' for cell in row])} |"
        for row in rows
    ]
    lines.insert(1, f"| {' | '.join([marks[mark] for mark in node.align])} |")
    return "\n".join(lines)


def _escape_start(line: str) -> str:
    """A paragraph's line must not begin as another block does."""
    match = _LINE_START.match(line)
    if not match:
        return line
    sign = match.group()
    if sign in _ENTITY:
        return _ENTITY[sign] + line[1:]
    return f"{sign[:-1]}\\{sign[-1]}{line[len(sign) :]}"


def _escape_end(line: str) -> str:
    """Escapes the last `#` of a heading, which would be read as its closing sequence."""
    return f"{line[:-1]}\\#" if line.endswith("#") else line
