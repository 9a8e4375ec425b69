"""UACS Markdown -> the text tree. Total: any string gives a tree, however deep or broken."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pyromark

from bridge.content.inlines import merge_texts, plain_inlines
from bridge.content.text import (
    Block,
    Break,
    Code,
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
from bridge.content.uacs_links import link_to_own_node

MAX_DEPTH = 40  # deeper quotes, lists and emphasis are read as if they were not there
_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
)
_BARE_URL = re.compile(r"\bhttps?://[^\s<>\"'`|]+", re.IGNORECASE)
_ALLOWED_URL = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_TAGS: dict[str, Callable[[tuple[Inline, ...]], Inline]] = {
    "u": Underline,
    "spoiler": Spoiler,
    "b": Strong,
    "strong": Strong,
    "i": Emphasis,
    "em": Emphasis,
    "s": Strike,
    "del": Strike,
}
_STYLES = {"Strong": Strong, "Emphasis": Emphasis, "Strikethrough": Strike}
_ALIGN = {"Left": "left", "Center": "center", "Right": "right", "None": None}


def markdown_to_text(markdown: str) -> Document:
    """Read UACS Markdown. Links keep http, https and mailto; others become their own text."""
    clean = markdown.encode("utf-8", "replace").decode()
    reader = _Reader()
    for event in pyromark.events(clean, options=_OPTIONS):
        reader.take(event)
    return reader.document()


@dataclass
class _Frame:
    """An open container and what it holds so far; `kind` is the parser's name or an HTML tag."""

    kind: str
    detail: Any = None
    inlines: list[Inline] = field(default_factory=list[Inline])
    blocks: list[Block] = field(default_factory=list[Block])
    items: list[Any] = field(default_factory=list[Any])
    checked: bool | None = None


class _Reader:
    def __init__(self) -> None:
        self._stack = [_Frame("Document")]
        self._skipped = 0

    def take(self, event: Any) -> None:
        match event:
            case {"Start": start}:
                self._start(*_name_and_detail(start))
            case {"End": end}:
                self._end(_name_and_detail(end)[0])
            case {"Text": text}:
                self._text(text)
            case {"Code": code}:
                self._inline(Code(code))
            case {"InlineHtml": html}:
                self._html_tag(html)
            case {"Html": html}:
                self._top.inlines.extend(_lines(html))
            case {"TaskListMarker": checked}:
                self._frame_of("Item").checked = checked
            case "SoftBreak" | "HardBreak":
                self._inline(Break())
            case "Rule":
                self._block(Rule())
            case _:
                pass

    def document(self) -> Document:
        while len(self._stack) > 1:
            self._close()
        self._flush_inlines(self._top)
        return tuple(self._top.blocks)

    @property
    def _top(self) -> _Frame:
        return self._stack[-1]

    def _frame_of(self, kind: str) -> _Frame:
        return next((f for f in reversed(self._stack) if f.kind == kind), self._top)

    def _start(self, kind: str, detail: Any) -> None:
        if len(self._stack) > MAX_DEPTH and kind not in ("Paragraph", "Table", "Item"):
            self._skipped += 1
            return
        if kind in _BLOCKS:
            self._close_html()
            self._flush_inlines(self._top)
        self._stack.append(_Frame(kind, detail))

    def _end(self, kind: str) -> None:
        self._close_html()
        if self._top.kind == kind:
            self._close()
        elif self._skipped:
            self._skipped -= 1

    def _close_html(self) -> None:
        """An HTML tag that was opened in a container ends with it."""
        while self._top.kind.startswith("<"):
            self._close()

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.kind.startswith("<"):
            self._inline(_TAGS[frame.kind[1:]](_tidy(frame.inlines)))
        elif frame.kind in _STYLES:
            self._inline(_STYLES[frame.kind](_tidy(frame.inlines)))
        elif frame.kind in ("Link", "Image"):
            self._inlines(_link(frame))
        elif frame.kind in ("TableHead", "TableRow"):
            self._top.items.append((frame.kind, tuple(frame.items)))
        elif frame.kind == "TableCell":
            self._top.items.append(_tidy(frame.inlines))
        elif frame.kind == "Item":
            self._flush_inlines(frame)
            self._top.items.append(ListItem(tuple(frame.blocks), frame.checked))
        else:
            self._flush_inlines(frame, only=frame.kind in ("BlockQuote",))
            for block in _blocks_of(frame):
                self._block(block)

    def _text(self, text: str) -> None:
        if self._top.kind == "CodeBlock":
            self._top.inlines.append(Text(text))
        else:
            self._inline(Text(text))

    def _html_tag(self, html: str) -> None:
        name = html.strip("</> ").lower()
        if name == "br":
            self._inline(Break())
        elif name not in _TAGS or len(self._stack) > MAX_DEPTH:
            self._inline(Text(html))
        elif not html.startswith("</"):
            self._stack.append(_Frame(f"<{name}", html))
        elif self._top.kind == f"<{name}":
            self._close()
        else:
            self._inline(Text(html))

    def _inline(self, node: Inline) -> None:
        self._top.inlines.append(node)

    def _inlines(self, nodes: Iterable[Inline]) -> None:
        self._top.inlines.extend(nodes)

    def _block(self, block: Block) -> None:
        self._flush_inlines(self._top)
        self._top.blocks.append(block)

    def _flush_inlines(self, frame: _Frame, *, only: bool = True) -> None:
        """Loose inlines in a block container (a tight list item) are a paragraph."""
        if only and frame.inlines and frame.kind in _HOLDS_BLOCKS:
            if children := _tidy(frame.inlines):
                frame.blocks.append(Paragraph(children))
            frame.inlines = []


_HOLDS_BLOCKS = {"Document", "Item", "BlockQuote"}
_BLOCKS = {"Paragraph", "Heading", "BlockQuote", "CodeBlock", "List", "Table", "HtmlBlock", "Item"}


def _blocks_of(frame: _Frame) -> list[Block]:
    match frame.kind:
        case "Paragraph" | "HtmlBlock":
            children = _tidy(frame.inlines)
            return [Paragraph(children)] if children else []
        case "Heading":
            return [Heading(int(frame.detail["level"][1:]), _tidy(frame.inlines))]
        case "BlockQuote":
            return [Quote(tuple(frame.blocks))]
        case "CodeBlock":
            return [_code_block(frame)]
        case "List":
            return [List(tuple(frame.items), frame.detail)]
        case "Table":
            return [_table(frame)]
        case _:
            return []


def _code_block(frame: _Frame) -> CodeBlock:
    fenced = frame.detail.get("Fenced", "") if isinstance(frame.detail, dict) else ""
    language = str(fenced).split(maxsplit=1)[0] if str(fenced).strip() else ""
    value = "".join(node.value for node in frame.inlines if isinstance(node, Text))
    return CodeBlock(value.removesuffix("\n"), language)


def _table(frame: _Frame) -> Table:
    rows = [cells for kind, cells in frame.items if kind == "TableRow"]
    header = next((cells for kind, cells in frame.items if kind == "TableHead"), ())
    align = tuple(_ALIGN.get(str(name)) for name in frame.detail)
    return Table(header, tuple(rows), align)  # type: ignore[arg-type]


def _link(frame: _Frame) -> list[Inline]:
    url = str(frame.detail["dest_url"])
    if frame.detail["link_type"] == "Email" and not url.startswith("mailto:"):
        url = f"mailto:{url}"
    children = merge_texts(frame.inlines)
    if own := link_to_own_node(plain_inlines(children), url):
        return [own]
    if not _ALLOWED_URL.match(url):
        return [*children, Text(f" ({url})")] if url else list(children)
    return [Link(url, children or (Text(url),))]


def _name_and_detail(tag: Any) -> tuple[str, Any]:
    if isinstance(tag, str):
        return tag, None
    ((name, detail),) = tag.items()
    return name, detail


def _lines(html: str) -> list[Inline]:
    """Raw HTML is text: what it would have shown is not ours to guess."""
    nodes: list[Inline] = []
    for line in html.removesuffix("\n").split("\n"):
        nodes += [Break(), Text(line)] if nodes else [Text(line)]
    return [*nodes, Break()]


def _tidy(nodes: list[Inline]) -> tuple[Inline, ...]:
    """Merge neighbours, find bare URLs, drop breaks at the edges."""
    merged = list(merge_texts(node for part in merge_texts(nodes) for node in _autolinked(part)))
    while merged and isinstance(merged[0], Break):
        merged.pop(0)
    while merged and isinstance(merged[-1], Break):
        merged.pop()
    return tuple(merged)


def _autolinked(node: Inline) -> list[Inline]:
    if not isinstance(node, Text) or "://" not in node.value:
        return [node]
    found: list[Inline] = []
    end = 0
    for match in _BARE_URL.finditer(node.value):
        url = _without_tail(match.group())
        found += [Text(node.value[end : match.start()]), Link(url, (Text(url),))]
        end = match.start() + len(url)
    return [*found, Text(node.value[end:])]


def _without_tail(url: str) -> str:
    """Punctuation at the end belongs to the sentence, as does a bracket that the URL never opened
    (GFM, extended autolinks)."""
    while url and (
        url[-1] in "?!.,:;*_~'\"" or (url[-1] == ")" and url.count(")") > url.count("("))
    ):
        url = url[:-1]
    return url
