"""UACS Markdown -> the text tree. Any string gives a tree, however deep or malformed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import pyromark

from bridge.content.markdown.by_html import MARKDOWN_OPTIONS, read_by_html
from bridge.content.text import normal
from bridge.content.text.inlines import Style, plain_inlines
from bridge.content.text.tree import (
    BREAK,
    Block,
    Code,
    Document,
    Emphasis,
    Inline,
    ListItem,
    Paragraph,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Text,
    Underline,
)
from bridge.content.text.uacs_links import link_to_own_node

_TAGS: dict[str, type[Style] | None] = {
    "u": Underline,
    "ins": Underline,
    "spoiler": Spoiler,
    "b": Strong,
    "strong": Strong,
    "i": Emphasis,
    "em": Emphasis,
    "s": Strike,
    "del": Strike,
    "code": None,
}
_STYLES: dict[str, type[Style]] = {
    "Strong": Strong,
    "Emphasis": Emphasis,
    "Strikethrough": Strike,
}
_CONTAINERS = frozenset(("BlockQuote", "List"))
_BLOCKS = _CONTAINERS | {"Paragraph", "Heading", "CodeBlock", "Table", "HtmlBlock", "Item"}
_ALIGN: dict[str, Any] = {"Left": "left", "Center": "center", "Right": "right"}
_CACHED_LENGTH = 4096  # characters: results for longer texts are not cached
_MAX_OPEN_TAGS = 16  # HTML tags open at once; any further tag is text
# A line without markup has no sign anywhere, and no sign or space at its start.
_SIGN = re.compile(r"[\\`*_\[\]<>~&|\r\t\n:]")
_START = re.compile(r"[#+=-]|[ ]|[0-9]{1,9}[.)]")


def markdown_to_text(markdown: str) -> Document:
    """Reads UACS Markdown.

    Links to http, https and mailto stay links; others become text.

    Returns:
        A document in its normal form.
    """
    clean = normal.cleaned(markdown)
    if not _SIGN.search(clean) and not _START.match(clean):
        visible = clean.rstrip(" ")
        return (Paragraph((Text(visible),)),) if visible else ()
    return _read_cached(clean) if len(clean) <= _CACHED_LENGTH else _read(clean)


def _read(clean: str) -> Document:
    document = read_by_html(clean)
    return read_events(clean) if document is None else document


def read_events(clean: str) -> Document:
    """Reads any Markdown from the parser's events.

    Args:
        clean: Markdown as `normal.cleaned` returns it.
    """
    reader = _Reader()
    for event in _events(clean):
        reader.take(event)
    return reader.document()


# The bridge writes one message for several platforms, one after the other.
_read_cached = lru_cache(maxsize=256)(_read)


def _events(markdown: str) -> Iterable[Any]:
    if "||" in markdown:
        return _events_with_spoilers(markdown)
    return pyromark.events(markdown, options=MARKDOWN_OPTIONS)


def _events_with_spoilers(markdown: str) -> Iterator[Any]:
    """The parser's events, with "Bars" for each `||` that is not escaped.

    A text that begins after a backslash begins with an escaped sign. A text that is an entity is
    spelled otherwise in the source.
    """
    source = markdown.encode()
    for event, place in pyromark.events_with_range(markdown, options=MARKDOWN_OPTIONS):
        text = event.get("Text") if isinstance(event, dict) else None
        if not text or "||" not in text:
            yield event
            continue
        start = place["start"]
        escaped = int(start > 0 and source[start - 1] == ord("\\"))
        for number, piece in enumerate(text[escaped:].split("||")):
            if number:
                yield "Bars"
            yield {"Text": text[:escaped] + piece if not number else piece}


@dataclass(slots=True)
class _Frame:
    """An open construct and its content so far.

    `kind` is the parser's name, "<" before an HTML tag, or empty for a construct that is ignored:
    then its lists are those of its parent.
    """

    kind: str
    detail: Any = None
    inlines: list[Any] = field(default_factory=list[Any])
    blocks: list[Block] = field(default_factory=list[Block])
    items: list[Any] = field(default_factory=list[Any])
    checked: bool | None = None


@dataclass(frozen=True, slots=True)
class _Bars:
    """`||`, which opens or closes a spoiler, or is text."""


@dataclass(frozen=True, slots=True)
class _Small:
    """A tag of small print.

    A pair of them that encloses a whole paragraph makes it small; elsewhere the tag is text.
    """

    html: str


class _Reader:
    def __init__(self) -> None:
        self._stack = [_Frame("Document")]
        self._active: Counter[type[Inline]] = Counter()
        self._links = 0
        self._depth = 0
        self._tags = 0
        self._has_bars = False
        self._has_small = False

    def take(self, event: Any) -> None:
        if isinstance(event, str):
            self._sign(event)
            return
        ((kind, value),) = event.items()
        if kind == "Text":
            self._top.inlines.append(Text(value))
        elif kind == "Start":
            self._start(*_name_and_detail(value))
        elif kind == "End":
            self._end()
        elif kind == "Code":
            self._top.inlines.append(Code(value))
        elif kind == "InlineHtml":
            self._html_tag(value)
        elif kind == "Html":
            self._top.inlines += _lines(value)
        elif kind == "TaskListMarker":
            next(f for f in reversed(self._stack) if f.kind in ("Item", "")).checked = value

    def document(self) -> Document:
        self._flush(self._top)
        return tuple(self._top.blocks)

    @property
    def _top(self) -> _Frame:
        return self._stack[-1]

    def _sign(self, event: str) -> None:
        if event == "Bars":
            self._has_bars = True
            self._top.inlines.append(Text("||") if _is_literal(self._top) else _Bars())
        elif event == "Rule":
            self._flush(self._top)
            self._top.blocks.append(Rule())
        elif event in ("SoftBreak", "HardBreak"):
            self._top.inlines.append(BREAK)

    # --- nesting ----------------------------------------------------------------------------

    def _start(self, kind: str, detail: Any) -> None:
        if kind in _BLOCKS:
            self._flush(self._top)
        if kind in _STYLES:
            self._open(_STYLES[kind], kind, detail, hidden=self._active[_STYLES[kind]] > 0)
        elif kind in _CONTAINERS:
            self._depth += 1
            self._open(None, kind, detail, hidden=self._depth > normal.MAX_DEPTH)
        elif kind == "Item":
            self._open(None, kind, detail, hidden=self._depth > normal.MAX_DEPTH)
        else:
            self._links += kind in ("Link", "Image")
            self._open(None, kind, detail)

    def _open(
        self, style: type[Style] | None, kind: str, detail: Any = None, *, hidden: bool = False
    ) -> None:
        parent = self._top
        if hidden:
            frame = _Frame("", kind, parent.inlines, parent.blocks, parent.items)
        else:
            frame = _Frame(kind, detail)
        if style:
            self._active[style] += 1
        self._stack.append(frame)

    def _end(self) -> None:
        while self._top.kind.startswith("<"):
            self._give_up_tag()
        frame = self._stack.pop()
        kind = frame.kind or frame.detail
        if frame.kind:
            self._close(frame)
        elif kind == "Item":
            self._flush(self._top)
        if kind in _STYLES:
            self._active[_STYLES[kind]] -= 1
        elif kind in _CONTAINERS:
            self._depth -= 1
        elif kind in ("Link", "Image"):
            self._links -= 1

    def _close(self, frame: _Frame) -> None:
        parent = self._top
        match frame.kind:
            case "Strong" | "Emphasis" | "Strikethrough":
                parent.inlines += normal.styled(_STYLES[frame.kind], self._run(frame))
            case "Link" | "Image":
                parent.inlines += self._link(frame)
            case "TableCell":
                parent.items.append(self._run(frame))
            case "TableHead" | "TableRow":
                parent.items.append(frame.items)
            case "Item":
                self._flush(frame)
                parent.items.append(ListItem(tuple(frame.blocks), frame.checked))
            case _:
                parent.blocks.extend(self._blocks(frame))

    def _blocks(self, frame: _Frame) -> Iterable[Block]:
        match frame.kind:
            case "Paragraph" | "HtmlBlock":
                return self._paragraphs(frame)
            case "Heading":
                return normal.heading(int(frame.detail["level"][1:]), self._run(frame))
            case "BlockQuote":
                self._flush(frame)
                return normal.quote(frame.blocks)
            case "CodeBlock":
                value = "".join(node.value for node in frame.inlines)
                fenced = isinstance(frame.detail, dict)
                language = str(frame.detail["Fenced"]) if fenced else ""
                return [normal.code_block(value.removesuffix("\n"), language)]
            case "List":
                return normal.bullets(frame.items, frame.detail)
            case "Table":
                align = [_ALIGN.get(str(name)) for name in frame.detail]
                return normal.table(frame.items[0], frame.items[1:], align)
            case _:
                return ()

    # --- inlines ----------------------------------------------------------------------------

    def _flush(self, frame: _Frame) -> None:
        """Makes a paragraph of loose inlines among blocks (a tight list item)."""
        if frame.inlines:
            frame.blocks += self._paragraphs(frame)
            frame.inlines.clear()

    def _paragraphs(self, frame: _Frame) -> Iterable[Block]:
        match frame.inlines:
            case [_Small("<small>"), *inner, _Small("</small>")]:
                frame.inlines[:] = inner
                return normal.paragraphs(self._run(frame), subtle=True)
            case _:
                return normal.paragraphs(self._run(frame))

    def _run(self, frame: _Frame) -> list[Inline]:
        nodes = frame.inlines
        if self._has_small:
            nodes = [Text(node.html) if isinstance(node, _Small) else node for node in nodes]
        if self._has_bars:
            nodes = self._with_spoilers(nodes)
        return normal.joined(nodes, linked=self._links > 0)

    def _with_spoilers(self, nodes: list[Any]) -> list[Inline]:
        """Bars around text without white space at its edges make a spoiler."""
        nodes_out: list[Inline] = []
        hidden: list[Inline] | None = None
        for node in nodes:
            if not isinstance(node, _Bars):
                (nodes_out if hidden is None else hidden).append(node)
            elif hidden is None:
                hidden = []
            elif _may_be_hidden(hidden):
                nodes_out += self._tidy(Spoiler(tuple(hidden)))
                hidden = None
            else:
                nodes_out += [Text("||"), *hidden]
                hidden = []
        return nodes_out if hidden is None else [*nodes_out, Text("||"), *hidden]

    def _tidy(self, node: Inline) -> list[Inline]:
        return normal.tidy((node,), frozenset(+self._active), linked=self._links > 0)

    def _link(self, frame: _Frame) -> list[Inline]:
        label = self._run(frame)
        if self._links > 1:
            return label
        url = str(frame.detail["dest_url"])
        if frame.detail["link_type"] == "Email":
            url = f"mailto:{url}"
        if own_node := link_to_own_node(plain_inlines(label), url):
            return [own_node]
        return normal.link(url, label, frozenset(+self._active))

    def _html_tag(self, html: str) -> None:
        name = html.strip("</> \n").lower()
        top = self._top
        if name == "br":
            top.inlines.append(BREAK)
        elif html.lower() in ("<small>", "</small>"):
            self._has_small = True
            top.inlines.append(_Small(html.lower()))
        elif name not in _TAGS:
            top.inlines += normal.joined(_lines(html, block=False), linked=True)
        elif html.startswith("</") and top.kind == f"<{name}":
            self._close_tag(name)
        elif html.startswith("</") or self._tags >= _MAX_OPEN_TAGS:
            top.inlines.append(Text(html))
        else:
            self._tags += 1
            self._open(_TAGS[name], f"<{name}", html)

    def _close_tag(self, name: str) -> None:
        run = self._run(self._top)
        self._leave_tag()
        style = _TAGS[name]
        if style is None:
            self._top.inlines += normal.tidy((Code(plain_inlines(run)),))
        elif self._active[style]:
            self._top.inlines += run
        else:
            self._top.inlines += normal.styled(style, run)

    def _give_up_tag(self) -> None:
        """Makes text of an HTML tag that was not closed in the construct that contains it."""
        frame = self._leave_tag()
        self._top.inlines += [Text(str(frame.detail)), *frame.inlines]

    def _leave_tag(self) -> _Frame:
        frame = self._stack.pop()
        self._tags -= 1
        if style := _TAGS[frame.kind[1:]]:
            self._active[style] -= 1
        return frame


def _is_literal(frame: _Frame) -> bool:
    """Whether nothing inside is markup: code, and links that are spelled out."""
    if frame.kind == "Link":
        return frame.detail["link_type"] in ("Autolink", "Email")
    return frame.kind == "CodeBlock"


def _may_be_hidden(nodes: list[Inline]) -> bool:
    run = normal.joined(nodes, linked=True)
    return bool(run) and len(normal.one_line(run)) == len(run) and _edges_are_full(run)


def _edges_are_full(run: list[Inline]) -> bool:
    first, last = run[0], run[-1]
    return not (isinstance(first, Text) and first.value[0].isspace()) and not (
        isinstance(last, Text) and last.value[-1].isspace()
    )


def _name_and_detail(tag: Any) -> tuple[str, Any]:
    if isinstance(tag, str):
        return tag, None
    ((name, detail),) = tag.items()
    return name, detail


def _lines(html: str, *, block: bool = True) -> list[Inline]:
    """Raw HTML as text, because the bridge does not render it."""
    nodes: list[Inline] = []
    for line in html.removesuffix("\n").split("\n"):
        nodes += [BREAK, Text(line)] if nodes else [Text(line)]
    return [*nodes, BREAK] if block else nodes
