"""The text tree -> elements of a rich_text block.

The elements are literal: no text in them is markup, and only pings notify people. Source: npm
@slack/types 3.2.0 and docs.slack.dev "Rich text block" (2026-08).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any, cast

from bridge.content.cards.degrade import table_as_code
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.normal import flat_blocks
from bridge.content.text.tree import (
    Block,
    Break,
    BroadcastPing,
    ChannelThere,
    Code,
    CodeBlock,
    Emoji,
    Emphasis,
    GroupPing,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Ping,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Timestamp,
    Underline,
)
from bridge.content.text.urls import safe_url
from bridge.model import split_key
from connectors.slack import ids
from connectors.slack.mrkdwn import DATE_FORMS, is_emoji_name

Json = dict[str, Any]
Line = Sequence[Inline]

MAX_INDENT = 8
_DEEPEST = 12  # nesting of lists and quotes; deeper levels are flattened
_FLAGS: dict[type[Inline], str] = {
    Strong: "bold",
    Emphasis: "italic",
    Strike: "strike",
    Underline: "underline",
}
_GAP = (Break(), Break())
_BOXES = {True: Text("☑ "), False: Text("☐ ")}
_BARS = (Text("||"),)
_UNCLEAN = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_CODE_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_HALVES = re.compile("[\ud800-\udfff]")


def text_to_rich_text(document: Iterable[Block]) -> list[Json]:
    """The `elements` of a rich_text block; an empty list for an empty document."""
    writing = _Writing()
    writing.blocks(document, 0)
    return writing.done()


def line_to_rich_text(line: Line) -> Json:
    """One section, for a table cell; a space for an empty line."""
    return _element("rich_text_section", inlines_to_rich_text(line) or [_text(" ", ())])


def rich_text_length(elements: Iterable[Json]) -> int:
    """The number of characters that the elements show, including link addresses."""
    total = 0
    stack: list[Iterator[Json]] = [iter(elements)]
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
        elif "elements" in element:
            stack.append(iter(element["elements"]))
            total += 1
        else:
            total += sum(len(element.get(key, "")) for key in ("text", "url", "name", "fallback"))
    return total


def _element(kind: str, elements: list[Json], **more: object) -> Json:
    return {"type": kind, "elements": elements, **more}


# --- blocks ---------------------------------------------------------------------------------


class _Writing:
    """The elements so far. Adjacent paragraphs share a section, with an empty line between them."""

    def __init__(self) -> None:
        self._elements: list[Json] = []
        self._run: list[Inline] = []
        self._after_list = False

    def done(self) -> list[Json]:
        self._end_section()
        return self._elements

    def blocks(self, blocks: Iterable[Block], depth: int) -> None:
        for block in blocks if depth < _DEEPEST else flat_blocks(blocks):
            self._block(block, depth)

    def _block(self, block: Block, depth: int) -> None:
        match block:
            case Paragraph(children):
                self._paragraph(children)
            case Heading(_, children):
                self._paragraph((Strong(children),))
            case Rule():
                self._paragraph((Text("———"),))
            case CodeBlock():
                self._add([_code_block(block)])
            case Table():
                self.blocks(_table(block), depth + 1)
            case Quote(inner):
                self._quote(inner, depth + 1)
            case List():
                self._add(_lists(block, 0, depth + 1, bordered=False))
                self._after_list = True

    def _paragraph(self, children: Line) -> None:
        if self._run:
            self._run += _GAP
        elif self._after_list:
            self._run.append(Break())
        self._run += children

    def _quote(self, blocks: Iterable[Block], depth: int) -> None:
        """Slack's quotes have only lines: lists and code in them get the bar by their border."""
        run: list[Inline] = []
        for block in blocks if depth < _DEEPEST else flat_blocks(blocks):
            if isinstance(block, List | CodeBlock):
                self._add(_quote(run))
                run = []
                new_elements = (
                    _lists(block, 0, depth + 1, bordered=True)
                    if isinstance(block, List)
                    else [_code_block(block, border=1)]
                )
                self._add(new_elements)
                continue
            run += [*(_GAP if run else ()), *_quoted(block, depth)]
        self._add(_quote(run))

    def _add(self, elements: Iterable[Json]) -> None:
        new_elements = list(elements)
        if new_elements:
            self._end_section()
            self._elements += new_elements
            self._after_list = False

    def _end_section(self) -> None:
        inlines = inlines_to_rich_text(self._run)
        self._run = []
        if any(not _is_blank(inline) for inline in inlines):
            self._elements.append(_element("rich_text_section", inlines))


def _code_block(block: CodeBlock, border: int = 0) -> Json:
    code = _HALVES.sub("\ufffd", _CODE_CONTROLS.sub("", block.value))
    element = _element("rich_text_preformatted", [_text(code if code.strip() else " ", ())])
    if language := _clean(block.language).strip():
        element["language"] = language
    if border:
        element["border"] = border
    return element


def _table(table: Table) -> Sequence[Block]:
    """A table where a table block is not possible: code if it is plain and narrow, else its rows as
    lines."""
    rows = (table.header, *table.rows)
    if all(type(node) is Text for row in rows for cell in row for node in cell):
        code = table_as_code(table)
        if code is not None:
            return (code,)
    bold = tuple((Strong(cell),) if cell else () for cell in table.header)
    lines = [_row(row) for row in (bold, *table.rows)]
    return (Paragraph(tuple(_broken(line for line in lines if line))),)


def _row(cells: Iterable[Line]) -> list[Inline]:
    run: list[Inline] = []
    for cell in cells:
        run += [Text(" | ")] if run and cell else []
        run += cell
    return run


def _quote(run: Line) -> list[Json]:
    inlines = inlines_to_rich_text(run)
    has_text = any(not _is_blank(inline) for inline in inlines)
    return [_element("rich_text_quote", inlines)] if has_text else []


def _quoted(block: Block, depth: int) -> list[Inline]:
    """A block in a quote as lines; a nested quote has a sign before each line."""
    match block:
        case Paragraph(children):
            return list(children)
        case Heading(_, children):
            return [Strong(children)]
        case Quote(inner):
            return _with_signs(_lines(inner, depth + 1))
        case _:
            return _lines((block,), depth + 1)


def _with_signs(run: Iterable[Inline]) -> list[Inline]:
    signed: list[Inline] = [Text("> ")]
    for node in run:
        signed += [node, Text("> ")] if isinstance(node, Break) else [node]
    return signed


def _lines(blocks: Iterable[Block], depth: int) -> list[Inline]:
    """Blocks as lines, where no other element is possible."""
    run: list[Inline] = []
    for block in blocks if depth < _DEEPEST else flat_blocks(blocks):
        run += [Break()] if run else []
        match block:
            case Paragraph() | Heading() | Quote():
                run += _quoted(block, depth)
            case CodeBlock(value):
                run += _broken(Code(line) for line in value.split("\n"))
            case Rule():
                run.append(Text("———"))
            case Table():
                run += _lines(_table(block), depth + 1)
            case List(items, start):
                run += _broken(_marked(item, n, start, depth) for n, item in enumerate(items))
    return run


def _marked(item: ListItem, number: int, start: int | None, depth: int) -> list[Inline]:
    sign = Text("• " if start is None else f"{start + number}. ")
    return [sign, *_box(item), *_lines(item.blocks, depth + 1)]


def _broken(lines: Iterable[Inline | list[Inline]]) -> list[Inline]:
    run: list[Inline] = []
    for line in lines:
        run += [Break()] if run else []
        run += line if isinstance(line, list) else [line]
    return run


# --- lists ----------------------------------------------------------------------------------


def _lists(node: List, indent: int, depth: int, *, bordered: bool) -> Iterator[Json]:
    """A list and its nested lists, one after the other: the indent gives the nesting.

    Blocks that an item cannot have go between two lists; the numbering continues.
    """
    items: list[Json] = []
    first = 0
    for number, item in enumerate(node.items):
        run, below = _split(item)
        items.append(line_to_rich_text((*_box(item), *run)))
        if below:
            yield _list(items, node.start, first, indent, bordered=bordered)
            items, first = [], number + 1
            for block in below:
                yield from _below(block, indent + 1, depth, bordered=bordered)
    if items:
        yield _list(items, node.start, first, indent, bordered=bordered)


def _split(item: ListItem) -> tuple[list[Inline], Sequence[Block]]:
    """The paragraphs at the start of the item as one run, and the blocks after them."""
    run: list[Inline] = []
    for index, block in enumerate(item.blocks):
        if not isinstance(block, Paragraph | Heading):
            return run, item.blocks[index:]
        run += _GAP if run else ()
        run += (Strong(block.children),) if isinstance(block, Heading) else block.children
    return run, ()


def _below(block: Block, indent: int, depth: int, *, bordered: bool) -> Iterator[Json]:
    match block:
        case List() if depth < _DEEPEST:
            yield from _lists(block, indent, depth + 1, bordered=bordered)
        case CodeBlock():
            yield _code_block(block, 1 if bordered else 0)
        case Quote(blocks):
            yield from _quote(_lines(blocks, depth + 1))
        case Table():
            for row in _table(block):
                yield from _below(row, indent, depth + 1, bordered=bordered)
        case _:
            inlines = inlines_to_rich_text(_lines((block,), depth + 1))
            if any(not _is_blank(inline) for inline in inlines):
                yield _element("rich_text_section", inlines)


def _list(
    items: list[Json], start: int | None, skipped: int, indent: int, *, bordered: bool
) -> Json:
    node = _element("rich_text_list", items, style="bullet" if start is None else "ordered")
    if indent:
        node["indent"] = min(indent, MAX_INDENT)
    offset = 0 if start is None else max(start, 1) - 1 + skipped
    if offset:
        node["offset"] = offset
    if bordered:
        node["border"] = 1
    return node


def _box(item: ListItem) -> tuple[Inline, ...]:
    return () if item.checked is None else (_BOXES[item.checked],)


# --- inline ---------------------------------------------------------------------------------


def inlines_to_rich_text(line: Line) -> list[Json]:
    """The elements of a run of inlines; adjacent texts of the same style are merged."""
    elements = [
        element for element in _elements(line) if element["type"] != "text" or element["text"]
    ]
    if len(elements) < 2:
        return elements
    return [
        joined
        for style, group in groupby(elements, _text_style)
        for joined in _joined(style, group)
    ]


def _elements(line: Line) -> Iterator[Json]:
    stack: list[tuple[Iterator[Inline], tuple[str, ...]]] = [(iter(line), ())]
    while stack:
        nodes, style = stack[-1]
        node = next(nodes, None)
        if node is None:
            stack.pop()
        elif type(node) is Text:
            yield _text(_clean(node.value), style)
        elif type(node) is Spoiler:
            stack.append((chain(_BARS, node.children, _BARS), style))
        elif type(node) in _FLAGS:
            flag = _FLAGS[type(node)]
            inner = style if flag in style else (*style, flag)
            stack.append((iter(cast("Strong", node).children), inner))
        else:
            yield _leaf(node, style)


def _text_style(element: Json) -> Json | None:
    """The style of a text element; None for other elements, which are not merged."""
    return element.get("style", {}) if element["type"] == "text" else None


def _joined(style: Json | None, group: Iterable[Json]) -> Iterable[Json]:
    if style is None:
        return group
    first, *others = group
    first["text"] += "".join([other["text"] for other in others])
    return (first,)


def _leaf(node: Inline, style: tuple[str, ...]) -> Json:
    match node:
        case Break():
            return _text("\n", style)
        case Ping(actor) if parts := ids.split_actor(actor):
            return _styled({"type": "user", "user_id": parts[1]}, style)
        case GroupPing(group):
            return _styled({"type": "usergroup", "usergroup_id": split_key(group)[-1]}, style)
        case BroadcastPing(range=range_):
            return _styled({"type": "broadcast", "range": range_}, style)
        case ChannelThere(channel):
            return _styled({"type": "channel", "channel_id": split_key(channel)[-1]}, style)
        case Code(value):
            code = _clean(value)
            return _text(code, (*style, "code") if code.strip() else style)
        case Link(url, (only,)) if type(only) in _FLAGS:
            flag = _FLAGS[type(only)]
            inner = style if flag in style else (*style, flag)
            return _leaf(Link(url, cast("Strong", only).children), inner)
        case Link(url, children):
            return _link(url, _words(children), style)
        case Emoji(name, None) if is_emoji_name(name):
            return _styled({"type": "emoji", "name": name}, style)
        case Timestamp(unix, form, _) if 0 <= unix < 10**11:
            fallback = {"fallback": words} if (words := _words((node,)).strip()) else {}
            format_ = DATE_FORMS.get(form, DATE_FORMS["f"])
            return _styled(
                {"type": "date", "timestamp": unix, "format": format_, **fallback}, style
            )
        case _:
            return _text(_words((node,)), style)


def _link(url: str, label: str, style: tuple[str, ...]) -> Json:
    safe = safe_url(url)
    if safe is None:
        return _text(label, style)
    text_member = {"text": label} if label.strip() and label != safe else {}
    return _styled({"type": "link", "url": safe, **text_member}, style)


def _words(nodes: Line) -> str:
    return _clean(plain_inlines(nodes))


def _clean(text: str) -> str:
    """One line without control characters and lone surrogates."""
    return _HALVES.sub("\ufffd", _CONTROLS.sub(" ", text)) if _UNCLEAN.search(text) else text


def _text(value: str, style: tuple[str, ...]) -> Json:
    return _styled({"type": "text", "text": value}, style)


def _styled(element: Json, style: tuple[str, ...]) -> Json:
    if style:
        element["style"] = dict.fromkeys(sorted(style), True)
    return element


def _is_blank(element: Json) -> bool:
    return element["type"] == "text" and not element["text"].strip()
