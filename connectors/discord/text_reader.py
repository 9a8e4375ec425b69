"""Discord's markdown -> the text tree, as Discord's clients show it: its blocks. Pure; total.

Source: docs, reference#message-formatting (2026-08), and the clients where the docs are silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bridge.content.text.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
)
from connectors.discord.inline_reader import Names, read_inline
from connectors.discord.styles import APART, FENCE, LANGUAGE

__all__ = ["Names", "discord_to_text", "read_inline"]

_DEEPEST = 12  # nesting of lists; deeper lines are read as plain lines
_FIRST = frozenset(" >#-*0123456789─")  # first characters of lines that are no paragraph
_HEADING = re.compile(r"(#{1,3}) +(\S.*)")
_SUBTEXT = re.compile(r"-# +(\S.*)")
_ITEM = re.compile(r"( *)(?:[-*]|([0-9]{1,9})\.) +(\S.*)")
_QUOTE = re.compile(r"> (.*)|>$")
_LONG_QUOTE = re.compile(r">>> ?(.*)")
_RULE = re.compile(r"─{3,}\s*")
_CHECKED = {"☑": True, "☐": False}


def discord_to_text(native: str, names: Names) -> Document:
    """Return the text tree of any string; never raises. `-# ` makes a subtle paragraph."""
    if "\r" in native:
        native = native.replace("\r\n", "\n").replace("\r", "\n")
    return tuple(_Blocks(names, fences=FENCE in native).read(native.split("\n")))


class _Blocks:
    """Reads lines one after the other; a fence without an end is text."""

    def __init__(self, names: Names, depth: int = 0, *, fences: bool, quoted: bool = False) -> None:
        self._names = names
        self._depth = depth
        self._fences = fences
        self._quoted = quoted
        self._pending: list[str] = []
        self._subtle = False

    def read(self, lines: list[str]) -> list[Block]:
        blocks: list[Block] = []
        at = 0
        while at < len(lines):
            line = lines[at]
            if not line or line.isspace():
                self._end_paragraph(blocks)
                at += 1
            elif line[0] in _FIRST and (kind := self._kind(line)):
                self._end_paragraph(blocks)
                block, at = kind(lines, at)
                blocks.append(block)
            elif self._fences and (column := _find_fence(line)) is not None:
                at = self._fence(lines, at, column, blocks)
            else:
                self._take(line, blocks)
                at += 1
        self._end_paragraph(blocks)
        return blocks

    # --- paragraphs -------------------------------------------------------------------------

    def _take(self, line: str, blocks: list[Block]) -> None:
        small = _SUBTEXT.fullmatch(line) if line[0] == "-" else None
        if self._pending and self._subtle != bool(small):
            self._end_paragraph(blocks)
        self._subtle = bool(small)
        self._pending.append(small[1] if small else line)

    def _end_paragraph(self, blocks: list[Block]) -> None:
        if not self._pending:
            return
        text = "\n".join(self._pending).strip()
        self._pending.clear()
        if text and (children := read_inline(text, self._names)):
            blocks.append(Paragraph(children, self._subtle))

    # --- other blocks -----------------------------------------------------------------------

    def _kind(self, line: str) -> _ReadBlock | None:
        """Return the reader of the block that begins with this line; None for a text line."""
        if self._depth >= _DEEPEST:
            return None
        first = line[0]
        if first == ">" and not self._quoted and (_QUOTE.match(line) or line.startswith(">>>")):
            return self._quote
        if first == "#" and _HEADING.match(line):
            return self._heading
        if first == "─":
            return self._rule if _RULE.fullmatch(line) else None
        return self._list if _ITEM.match(line) else None

    def _heading(self, lines: list[str], at: int) -> tuple[Block, int]:
        signs, _, text = lines[at].partition(" ")
        return Heading(len(signs), read_inline(text.strip(), self._names)), at + 1

    def _rule(self, _lines: list[str], at: int) -> tuple[Block, int]:
        return Rule(), at + 1

    def _quote(self, lines: list[str], at: int) -> tuple[Block, int]:
        end = at
        inner: list[str] = []
        if long_quote := _LONG_QUOTE.match(lines[at]):
            inner, end = [long_quote[1], *lines[at + 1 :]], len(lines)
        else:
            while end < len(lines) and (quoted := _QUOTE.match(lines[end])):
                inner.append(quoted[1] or "")
                end += 1
        return Quote(tuple(self._inside(inner))), end

    def _list(self, lines: list[str], at: int) -> tuple[Block, int]:
        first = _ITEM.match(lines[at])
        base = len(first[1]) if first else 0
        number = first[2] if first else None
        items: list[list[str]] = []
        width = 2
        while at < len(lines):
            line = lines[at]
            indent = len(line) - len(line.lstrip(" "))
            item = _ITEM.match(line) if base <= indent < base + 2 else None
            if item and bool(item[2]) == bool(number):
                items.append([item[3]])
                width = item.start(3) - indent
            elif items and indent >= base + 2 and indent < len(line):
                items[-1].append(line[min(indent, base + width) :])
            else:
                break
            at += 1
        return List(tuple(map(self._item, items)), int(number) if number else None), at

    def _item(self, lines: list[str]) -> ListItem:
        checked = _CHECKED.get(lines[0][:1]) if lines[0][1:2] == " " else None
        if checked is not None:
            lines[0] = lines[0][2:]
        elif lines[0].startswith(APART):
            lines[0] = lines[0].removeprefix(APART)
        return ListItem(tuple(self._inside(lines)), checked)

    def _inside(self, lines: list[str]) -> list[Block]:
        inner = _Blocks(self._names, self._depth + 1, fences=self._fences, quoted=True)
        return inner.read(lines)

    # --- code -------------------------------------------------------------------------------

    def _fence(self, lines: list[str], at: int, column: int, blocks: list[Block]) -> int:
        """Read a code block and return the next line; code may begin and end within a line."""
        line = lines[at]
        code = _read_fence(lines, at, column)
        if code is None:
            self._fences = False
            return at
        if line[:column].strip() or not code.block.value:
            # Discord shows an empty fence as its ticks.
            self._take(line[:column] + ("" if code.block.value else FENCE * 2), blocks)
        if code.block.value:
            self._end_paragraph(blocks)
            blocks.append(code.block)
        lines[code.line] = code.remainder
        return code.line + (not code.remainder.strip())


@dataclass(frozen=True)
class _Fenced:
    block: CodeBlock
    line: int  # on which the fence ends
    remainder: str  # the text after the fence on that line


def _find_fence(line: str) -> int | None:
    column = line.find(FENCE)
    return None if column < 0 or line[:column].endswith("\\") else column


def _read_fence(lines: Sequence[str], at: int, column: int) -> _Fenced | None:
    inside = [lines[at][column + len(FENCE) :]]
    last = at
    while FENCE not in inside[-1]:
        last += 1
        if last == len(lines):
            return None
        inside.append(lines[last])
    inside[-1], remainder = inside[-1].split(FENCE, 1)
    text = "\n".join(inside)
    language = LANGUAGE.match(text)
    value = text[language.end() :] if language else text
    return _Fenced(CodeBlock(value.strip("\n"), language[1] if language else ""), last, remainder)


_ReadBlock = Callable[[list[str], int], tuple[Block, int]]
