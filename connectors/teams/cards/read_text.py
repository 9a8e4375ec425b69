"""Text in cards -> the text tree: Markdown of Adaptive Cards, or plain text. Pure.

Cards have bold, italic, links and lists (adaptivecards.io, "Text features"), `{{DATE()}}` and
`{{TIME()}}`, and in Teams `<at>` tags; other characters are text. One pass for any string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import unescape

from bridge.content.cards.degrade import timestamp
from bridge.content.text import normal
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import (
    Block,
    Break,
    Document,
    Emphasis,
    Inline,
    Link,
    ListItem,
    Paragraph,
    Strong,
    Text,
    Timestamp,
)
from bridge.content.text.urls import safe_url
from connectors.teams.cards.read_mentions import Mentions

Line = tuple[Inline, ...]

_LINE_END = re.compile(r"\r\n?|\n")
_NOT_PLAIN = re.compile("[\x00-\x1f\ud800-\udfff]|://|\\{\\{")
_NOT_UNMARKED = re.compile(
    "[\x00-\x1f\ud800-\udfff\\\\*_\\[<&{]|://|^\\s*(?:[-+]|[0-9]{1,9}[.)])\\s"
)
_ITEM = re.compile(r"[ \t]*+(?:(?P<bullet>[-*+])|(?P<number>[0-9]{1,9})[.)])[ \t]++(?P<text>.*)")
_FUNCTION = (
    r"\{\{(?P<what>DATE|TIME)\((?P<moment>[^(){},]{0,60})(?:,\s*(?P<form>[A-Za-z]{1,20})\s*)?\)\}\}"
)
# No part of a token matches the start of another one, which keeps the search linear.
_TOKEN = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<marks>\*+|_+)"
    r"|\[(?P<label>(?:[^\[\]\\]|\\.)*+)\]"
    r"\((?P<url>[^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+)(?:\s+\"[^\"]{0,300}\")?\s*\)"
    r"|<at(?:\s[^<>]*)?>(?P<at>[^<]*)</at>"
    r"|&(?P<entity>#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    rf"|{_FUNCTION}"
    r"|(?P<end>\r\n?|\n)",
    re.DOTALL,
)


# --- plain text ---------------------------------------------------------------------------


def plain_line(text: str) -> Line:
    """Return plain text as one line."""
    if not _NOT_PLAIN.search(text):
        text = text.strip()
        return (Text(text),) if text else ()
    return blocks_as_line(plain_text(text))


def plain_text(text: str) -> Document:
    """Return plain text; empty lines separate paragraphs."""
    run: list[Inline] = []
    for line in _LINE_END.split(text):
        run += [Break(), *dated(line)] if run else dated(line)
    return tuple(normal.paragraphs(_trimmed(normal.joined(run, linked=True))))


def _trimmed(run: list[Inline]) -> list[Inline]:
    """Remove white space at starts of lines and at the end."""
    trimmed: list[Inline] = []
    for node in run:
        if isinstance(node, Text) and (not trimmed or isinstance(trimmed[-1], Break)):
            value = node.value.lstrip()
            trimmed += [Text(value)] if value else []
        else:
            trimmed.append(node)
    while trimmed and isinstance(last := trimmed[-1], Text) and last.value[-1].isspace():
        value = last.value.rstrip()
        trimmed[-1:] = [Text(value)] if value else []
    return trimmed


# --- the Markdown of cards ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CardContext:
    """Data of the card that its texts refer to: mentions and numbered sources."""

    mentions: Mentions = field(default_factory=Mentions)
    sources: Mapping[int, str] = field(default_factory=dict[int, str])


NO_CONTEXT = CardContext()


def marked_line(text: str, context: CardContext = NO_CONTEXT) -> Line:
    """Return Markdown of a card as one line."""
    if not _NOT_UNMARKED.search(text):
        text = text.strip()
        return (Text(text),) if text else ()
    return blocks_as_line(marked_text(text, context))


def marked_text(text: str, context: CardContext = NO_CONTEXT) -> Document:
    """Return Markdown of a card as a document."""
    if not _NOT_UNMARKED.search(text):
        text = text.strip()
        return (Paragraph((Text(text),)),) if text else ()
    return tuple(_Blocks(context).read(text))


class _Blocks:
    """Lines -> paragraphs and lists."""

    def __init__(self, context: CardContext) -> None:
        self._context = context
        self._done: list[Block] = []
        self._lines: list[str] = []
        self._items: list[ListItem] = []
        self._start: int | None = None

    def read(self, text: str) -> list[Block]:
        for line in _LINE_END.split(text):
            item = _ITEM.match(line)
            if item is not None:
                self._item(item)
            elif line.strip():
                self._line(line)
            else:
                self._end_paragraph()
        self._end_paragraph()
        self._end_list()
        return self._done

    def _item(self, item: re.Match[str]) -> None:
        self._end_paragraph()
        start = int(item["number"]) if item["number"] else None
        if self._items and (self._start is None) != (start is None):
            self._end_list()
        if not self._items:
            self._start = start
        self._items.append(ListItem(self._paragraphs(item["text"])))

    def _line(self, line: str) -> None:
        self._end_list()
        self._lines.append(line)

    def _end_paragraph(self) -> None:
        if self._lines:
            self._done += self._paragraphs("\n".join(self._lines))
            self._lines = []

    def _end_list(self) -> None:
        if self._items:
            self._done += normal.bullets(self._items, self._start)
            self._items = []

    def _paragraphs(self, text: str) -> Document:
        if not _NOT_UNMARKED.search(text):
            return (Paragraph((Text(text.strip()),)),) if text.strip() else ()
        run = normal.tidy(_Inlines(self._context).read(text))
        return tuple(normal.paragraphs(_trimmed(run)))


@dataclass(slots=True)
class _Open:
    """A style opened by `width` characters `mark`."""

    mark: str
    width: int
    children: list[Inline] = field(default_factory=list[Inline])


class _Inlines:
    """Reads one paragraph. Each style is open at most once, which bounds the stack."""

    def __init__(self, context: CardContext) -> None:
        self._context = context
        self._stack = [_Open("", 0)]
        self._day_form = ""  # of the last date

    def read(self, text: str) -> list[Inline]:
        end = 0
        for token in _TOKEN.finditer(text):
            self._say(text[end : token.start()])
            self._token(token, text)
            end = token.end()
        self._say(text[end:])
        while len(self._stack) > 1:
            self._unfold()
        return self._stack[0].children

    def _say(self, text: str) -> None:
        if text:
            self._add(Text(text))

    def _add(self, *nodes: Inline) -> None:
        self._stack[-1].children += nodes

    def _token(self, token: re.Match[str], text: str) -> None:
        match token.lastgroup:
            case "escaped":
                self._say(token["escaped"])
            case "marks":
                self._marks(token, text)
            case "url":
                self._link(token["label"], token["url"])
            case "at":
                self._add(self._context.mentions.by_text(unescape(token["at"])))
            case "entity":
                self._say(unescape(token[0]))
            case "end":
                self._add(Break())
            case _:
                self._moment(token)

    def _moment(self, function: re.Match[str]) -> None:
        add_moment(self._stack[-1].children, function, self._day_form)
        self._day_form = function["form"] or ""

    def _link(self, label: str, url: str) -> None:
        children = _Inlines(self._context).read(label)
        source = self._source(url)
        if source is None:
            self._add(*normal.link(url, normal.tidy(children, linked=True)))
        else:
            self._add(*cited(normal.tidy(children), source, self._context))

    def _source(self, url: str) -> int | None:
        """Return the number of a link `cite:3` to a source of the card, or None."""
        scheme, _, number = url.partition(":")
        return (
            int(number) if scheme == "cite" and number.isascii() and number[:9].isdigit() else None
        )

    # --- styles

    def _marks(self, token: re.Match[str], text: str) -> None:
        mark, count = token["marks"][0], len(token["marks"])
        before = text[token.start() - 1 : token.start()] if token.start() else " "
        after = text[token.end() : token.end() + 1] or " "
        opens, closes = _flanks(before, after)
        if mark == "_":  # snake_case is no style
            opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        if closes:
            count = self._close(mark, count)
        if opens:
            count = self._open(mark, count)
        self._say(mark * count)

    def _close(self, mark: str, count: int) -> int:
        """Close open styles; return the number of unused characters."""
        while count:
            widths = [
                style.width for style in self._stack if style.mark == mark and style.width <= count
            ]
            if not widths:
                break
            while self._stack[-1].mark != mark or self._stack[-1].width != widths[-1]:
                self._unfold()
            done = self._stack.pop()
            kind = Strong if done.width == 2 else Emphasis
            self._add(kind(tuple(done.children)))
            count -= done.width
        return count

    def _open(self, mark: str, count: int) -> int:
        for width in (2, 1):
            is_open = any(style.mark == mark and style.width == width for style in self._stack)
            if count >= width and not is_open and count - width <= 1:
                self._stack.append(_Open(mark, width))
                count -= width
        return count

    def _unfold(self) -> None:
        """Turn an unclosed style into text."""
        lost = self._stack.pop()
        self._add(Text(lost.mark * lost.width), *lost.children)


def _flanks(before: str, after: str) -> tuple[bool, bool]:
    """Return whether marks between two characters can open and can close (CommonMark 6.2)."""
    left = not after.isspace() and (
        not _is_punctuation(after) or before.isspace() or _is_punctuation(before)
    )
    right = not before.isspace() and (
        not _is_punctuation(before) or after.isspace() or _is_punctuation(after)
    )
    return left, right


def _is_punctuation(sign: str) -> bool:
    return not sign.isalnum() and not sign.isspace() and sign.isprintable()


def cited(label: list[Inline], number: int, context: CardContext) -> list[Inline]:
    """Return the label as a link to a source; without an address, with its number."""
    url = safe_url(context.sources.get(number, ""))
    if url and label:
        return [Link(url, tuple(label))]
    mark = Text(f"[{number}]")
    return [*label, Link(url, (mark,)) if url else mark]


# --- moments --------------------------------------------------------------------------------

_MOMENT = re.compile(_FUNCTION)


def dated(text: str) -> list[Inline]:
    """Return plain text with `{{DATE()}}` and `{{TIME()}}` as moments."""
    if "{{" not in text:
        return [Text(text)]
    inlines: list[Inline] = []
    end, form = 0, ""
    for match in _MOMENT.finditer(text):
        if match.start() > end:
            inlines.append(Text(text[end : match.start()]))
        add_moment(inlines, match, form)
        end, form = match.end(), match["form"] or ""
    return [*inlines, Text(text[end:])] if end < len(text) or not inlines else inlines


def add_moment(children: list[Inline], function: re.Match[str], day_form: str) -> None:
    """Append a date or time function; a date, a space and the time of the same moment merge.

    `day_form` is the format of the last date.
    """
    node = _moment(function)
    match children[-2:]:
        case [Timestamp(unix, "d" | "D"), Text(" ")] if (
            isinstance(node, Timestamp) and function["what"] == "TIME" and node.unix == unix
        ):
            style = "F" if day_form.upper() == "LONG" else "f"
            children[-2:] = [Timestamp(unix, style, timestamp(unix).fallback)]
        case _:
            children.append(node)


_DATES = {"": "d", "COMPACT": "d", "SHORT": "D", "LONG": "D"}


def _moment(function: re.Match[str]) -> Inline:
    """Return a date or time in the reader's zone; an invalid moment stays text."""
    moment = moment_of(function["moment"].strip())
    if moment is None or not -62_000_000_000 < (unix := int(moment.timestamp())) < 250_000_000_000:
        return Text(function[0])
    if function["what"] == "TIME":
        return Timestamp(unix, "t", f"{moment.astimezone(UTC):%H:%M} UTC")
    style = _DATES.get((function["form"] or "").upper(), "d")
    return Timestamp(unix, style, f"{moment:%Y-%m-%d}")


def moment_of(text: str) -> datetime | None:
    """Return a moment of RFC 3339; None if it is invalid or has no zone."""
    if len(text) < 16 or text[4:5] != "-":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        return None
    return moment if moment.tzinfo is not None else None
