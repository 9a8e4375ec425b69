"""The text tree -> elements of an Adaptive Card: Markdown in TextBlocks if it suffices, otherwise
runs in RichTextBlocks; lists, quotes, code and tables have elements of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bridge.content.text.normal import flat_blocks
from bridge.content.text.tree import (
    Block,
    Break,
    CodeBlock,
    Document,
    Heading,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Table,
    Text,
)
from connectors.teams.cards.write_runs import (
    BOLD,
    CODE,
    ITALIC,
    MOMENT,
    SPOILER,
    STRIKE,
    UNDERLINE,
    Run,
    in_words,
    needs_care,
    paragraph,
    runs_of,
    to_markdown,
    with_line_ends,
)
from connectors.teams.cards.write_state import Element, Line, Writing, with_rules

MAX_DEPTH = 6  # levels; deeper lists and quotes become siblings
RULE: Element = {"type": "", "separator": True}
"""A placeholder of a line above the next element, which `with_rules` replaces."""

_SMALL_PRINT: Element = {"size": "small", "isSubtle": True}
_BOX = {None: "", True: "☑ ", False: "☐ "}
_HEADING_SIZES = {1: "extraLarge", 2: "large", 3: "medium"}
_LANGUAGES = {
    "sh": "Bash", "shell": "Bash", "zsh": "Bash", "console": "Bash", "c++": "Cpp", "cs": "CSharp",
    "c#": "CSharp", "bat": "Dos", "golang": "Go", "js": "JavaScript", "objc": "ObjectiveC",
    "objective-c": "ObjectiveC", "ps1": "PowerShell", "py": "Python", "ts": "TypeScript",
    "vb": "VbNet", "vb.net": "VbNet",
} | {
    name.lower(): name
    for name in (
        "Bash", "C", "Cpp", "CSharp", "Css", "Dos", "Go", "Graphql", "Html", "Java", "JavaScript",
        "Json", "ObjectiveC", "Perl", "Php", "PlainText", "PowerShell", "Python", "Sql",
        "TypeScript", "VbNet", "Verilog", "Vhdl", "Xml",
    )
}  # fmt: skip


# --- lines -> elements --------------------------------------------------------------------------


def line_element(
    line: Line, writing: Writing, look: Element | None = None, at: str = ""
) -> Element | None:
    """Return an element for a line; None for an empty line."""
    if len(line) == 1 and isinstance(only := line[0], Text):
        text: str | None = paragraph(with_line_ends(only.value))
        runs: list[Run] = []
    else:
        runs = runs_of(line, writing, at)
        text = to_markdown(runs)
    if text is not None:
        return text_block(text, look) if text else None
    return rich_block(runs, look)


def line_markdown(
    line: Line, writing: Writing, at: str = "", *, moments: bool = False
) -> str | None:
    """Return Markdown of a line for a Fact; None if it needs a RichTextBlock.

    `moments`: the place is a TextBlock, which shows dates in the reader's zone.
    """
    if len(line) == 1 and isinstance(only := line[0], Text) and "\n" not in only.value:
        return paragraph(only.value) if needs_care(only.value) else only.value
    if any(isinstance(node, Break) for node in line):
        return None
    before = writing.checkpoint()
    runs = runs_of(line, writing, at)
    text = to_markdown(runs if moments else in_words(runs))
    if text is None or "\n" in text:
        writing.roll_back_to(before)  # it will be written in another way
        return None
    return text


def text_block(markdown: str, look: Element | None = None) -> Element:
    if look:
        return {"type": "TextBlock", "text": markdown, "wrap": True, **look}
    return {"type": "TextBlock", "text": markdown, "wrap": True}


def rich_block(runs: Sequence[Run], look: Element | None = None) -> Element | None:
    """Runs of text; the look of a TextBlock is that of each run, less that it is a heading."""
    if not any(run[0].strip() for run in runs):
        return None
    style = {name: value for name, value in (look or {}).items() if name in _OF_RUNS}
    block: Element = {"type": "RichTextBlock", "inlines": [_text_run(run, style) for run in runs]}
    if look and (align := look.get("horizontalAlignment")):
        block["horizontalAlignment"] = align
    return block


_OF_RUNS = ("size", "color", "isSubtle", "weight")


def _text_run(run: Run, look: Element) -> Element:
    text, bits, url = run
    element: Element = {"type": "TextRun", "text": text, **look}
    if bits & BOLD:
        element["weight"] = "bolder"
    if bits & ITALIC:
        element["italic"] = True
    if bits & STRIKE:
        element["strikethrough"] = True
    if bits & UNDERLINE:
        element["underline"] = True
    if bits & SPOILER:
        element["highlight"] = True
    if bits & CODE:
        element["fontType"] = "monospace"
    if url and not bits & MOMENT:
        element["selectAction"] = {"type": "Action.OpenUrl", "url": url}
    return element


# --- blocks -> elements -------------------------------------------------------------------------


def document_elements(
    document: Document, writing: Writing, look: Element | None = None, at: str = ""
) -> list[Element]:
    """Return the elements of a document; rules are `RULE`, which `with_rules` replaces."""
    if len(document) == 1:
        only = document[0]
        if isinstance(only, Paragraph) and not (only.subtle or _is_spoiler(only.children)):
            return _some(line_element(only.children, writing, look, at))
        if isinstance(only, Heading):
            return _some(heading(only.level, only.children, writing, look, at))
    return _Blocks(writing, look, at).elements(document, 0)


def _some(element: Element | None) -> list[Element]:
    return [] if element is None else [element]


class _Blocks:
    """Paragraphs and simple lists that follow one another share a TextBlock."""

    def __init__(self, writing: Writing, look: Element | None, at: str) -> None:
        self._writing = writing
        self._look = look
        self._at = at

    def elements(self, blocks: Iterable[Block], depth: int) -> list[Element]:
        elements: list[Element] = []
        texts: list[str] = []
        after_list = False
        for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
            text = self._as_text(block)
            if text is None or (after_list and isinstance(block, List)):
                self._end_text(elements, texts)
            if text is None:
                elements += self._block(block, depth)
            elif text:
                texts.append(text)
            after_list = text is not None and isinstance(block, List)
        self._end_text(elements, texts)
        return elements

    def _end_text(self, elements: list[Element], texts: list[str]) -> None:
        if texts:
            elements.append(text_block("\n\n".join(texts), self._look))
            texts.clear()

    def _as_text(self, block: Block) -> str | None:
        """Return the Markdown of a block; None if it needs its own element."""
        match block:
            case Paragraph(children) if not (block.subtle or _is_spoiler(children)):
                before = self._writing.checkpoint()
                text = to_markdown(runs_of(children, self._writing, self._at))
                if text is None:
                    self._writing.roll_back_to(before)  # it is written again, as runs
                return text
            case List(items, start):
                return self._simple_list(items, start)
            case _:
                return None

    def _simple_list(self, items: Sequence[ListItem], start: int | None) -> str | None:
        lines: list[str] = []
        before = self._writing.checkpoint()
        for number, item in enumerate(items):
            line = self._simple_item(item)
            if line is None:
                self._writing.roll_back_to(before)  # all items are written again, in another way
                return None
            if line or start is not None:
                lines.append(f"{_mark(start, number)} {line}".rstrip())
        return "\n".join(lines)

    def _simple_item(self, item: ListItem) -> str | None:
        box = _BOX[item.checked]
        match item.blocks:
            case ():
                return box.rstrip()
            case (Paragraph(children),) if not any(
                isinstance(inline, Break) for inline in children
            ):
                text = line_markdown(children, self._writing, self._at, moments=True)
                return None if text is None else box + text
            case _:
                return None

    def _block(self, block: Block, depth: int) -> list[Element]:
        match block:
            case Paragraph((Spoiler(children),)):
                line = self._line(children, block)
                return hidden(line, "Spoiler", self._writing) if line else []
            case Paragraph(children):
                return self._line(children, block)
            case Heading(level, children):
                return _some(heading(level, children, self._writing, self._look, self._at))
            case Quote(blocks):
                inner = with_rules(self.elements(blocks, depth + 1))
                return [{"type": "Container", "style": "emphasis", "items": inner}] if inner else []
            case CodeBlock(value, language):
                return [code_block(value, language)] if value.strip() else []
            case List(items, start):
                return self._list(items, start, depth)
            case Table(header, rows, align):
                cells = [[self._cell(cell) for cell in row] for row in (header, *rows)]
                headed = any(cells[0])
                body = cells if headed else cells[1:]
                return [table(body, align, header=headed)] if body and header else []
            case Rule():
                return [RULE]

    def _line(self, line: Line, block: Paragraph) -> list[Element]:
        look = {**(self._look or {}), **_SMALL_PRINT} if block.subtle else self._look
        return _some(line_element(line, self._writing, look, self._at))

    def _cell(self, line: Line) -> list[Element]:
        return _some(line_element(line, self._writing, None, self._at))

    def _list(self, items: Sequence[ListItem], start: int | None, depth: int) -> list[Element]:
        """Items with more than a line of text: what belongs to one is indented below it. Where the
        line of one item is no Markdown, each item has its sign before it as text, so that all look
        alike."""
        elements: list[Element] = []
        simple: list[str] = []
        before = self._writing.checkpoint()
        firsts = [_first_line(item) for item in items]
        lines = [self._simple_item(ListItem((line,), item.checked))
                 for line, item in zip(firsts, items, strict=True)]  # fmt: skip
        alike = None not in lines
        if not alike:
            self._writing.roll_back_to(before)  # all items are written again, in another way
        for number, (item, first, line) in enumerate(zip(items, firsts, lines, strict=True)):
            mark = _mark(start, number)
            if alike:
                simple.append(f"{mark} {line}".rstrip())
            else:
                _follow(elements, self._signed_item(mark, item, first))
            if others := item.blocks[1:] if item.blocks[:1] == (first,) else item.blocks:
                self._end_list(elements, simple)
                elements += self._indented(others, depth)
        self._end_list(elements, simple)
        return elements

    def _end_list(self, elements: list[Element], simple: list[str]) -> None:
        if simple:
            _follow(elements, text_block("\n".join(simple), self._look))
            simple.clear()

    def _signed_item(self, mark: str, item: ListItem, first: Paragraph) -> Element | None:
        sign = "• " if mark == "-" else f"{mark} "
        line = (Text(sign + _BOX[item.checked]), *first.children)
        return line_element(line, self._writing, self._look, self._at)

    def _indented(self, blocks: Sequence[Block], depth: int) -> list[Element]:
        inner = with_rules(self.elements(blocks, depth + 1))
        return [indented(inner)] if inner else []


def _first_line(item: ListItem) -> Paragraph:
    """What stands behind the sign of the item."""
    first = item.blocks[0] if item.blocks else None
    return first if isinstance(first, Paragraph) else Paragraph(())


def _follow(elements: list[Element], element: Element | None) -> None:
    """The element as the next part of a list, near to the part before it."""
    if element is not None:
        elements.append({**element, "spacing": "small"} if elements else element)


def _mark(start: int | None, number: int) -> str:
    return "-" if start is None else f"{min(start + number, 999_999_999)}."


def indented(items: list[Element]) -> Element:
    margin: Element = {"type": "Column", "width": "20px", "items": []}
    column: Element = {"type": "Column", "width": "stretch", "items": items}
    return {"type": "ColumnSet", "spacing": "small", "columns": [margin, column]}


def heading(
    level: int, line: Line, writing: Writing, look: Element | None = None, at: str = ""
) -> Element | None:
    style: Element = {"style": "heading", "weight": "bolder", **(look or {})}
    if size := _HEADING_SIZES.get(level):
        style.setdefault("size", size)
    return line_element(line, writing, style, at)


def _is_spoiler(line: Line) -> bool:
    return len(line) == 1 and type(line[0]) is Spoiler


def hidden(items: list[Element], label: str, writing: Writing) -> list[Element]:
    """A button, and what it shows."""
    writing.toggles += 1
    name = writing.own_id("hidden")
    action = {"type": "Action.ToggleVisibility", "title": label, "targetElements": [name]}
    return [
        {"type": "ActionSet", "actions": [action]},
        {"type": "Container", "id": name, "isVisible": False, "items": items},
    ]


def knows_language(language: str) -> bool:
    """Return whether code blocks of cards support a language."""
    return not language or language.lower() in _LANGUAGES


def code_block(value: str, language: str, first_line: int = 1) -> Element:
    """Return a code block; other clients show monospace text."""
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    spaced = re.sub(r"(?m)^ +| {2,}", lambda spaces: "\u00a0" * len(spaces.group()), value)
    plain: Element = {
        "type": "RichTextBlock",
        "inlines": [{"type": "TextRun", "text": spaced, "fontType": "monospace"}],
    }
    block: Element = {
        "type": "CodeBlock",
        "codeSnippet": value,
        "language": _LANGUAGES.get(language.lower(), "PlainText"),
        "fallback": plain,
    }
    if first_line > 1:
        block["startLineNumber"] = first_line
    return block


def table(rows: Sequence[Sequence[list[Element]]], align: Sequence[str | None], *, header: bool
) -> Element:  # fmt: skip
    """Return a table of cells with elements; short rows get empty cells."""
    width = max((len(row) for row in rows), default=0)
    columns: list[Element] = [{"width": 1} for _ in range(width)]
    for column, alignment in zip(columns, align, strict=False):
        if alignment:
            column["horizontalCellContentAlignment"] = alignment
    element: Element = {
        "type": "Table",
        "columns": columns,
        "rows": [
            {
                "type": "TableRow",
                "cells": [
                    {"type": "TableCell", "items": row[index] if index < len(row) else []}
                    for index in range(width)
                ],
            }
            for row in rows
        ],
    }
    if not header:
        without_header(element)
    return element


def without_header(table_element: Element) -> None:
    """Mark a table as having no header.

    The schema has `firstRowAsHeader`, but clients read `firstRowAsHeaders` with default true, so
    the texts of the first row also get the default weight.
    """
    table_element["firstRowAsHeader"] = False
    for cell in table_element["rows"][0]["cells"] if table_element["rows"] else ():
        for item in cell["items"]:
            if item["type"] == "TextBlock":
                item.setdefault("weight", "default")
