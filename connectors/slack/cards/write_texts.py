"""Lines and documents -> Slack text objects within their limits. Cut text is a Loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import cast

from bridge.content.text.graphemes import cluster_start
from bridge.content.text.inlines import STYLES, Style, plain_inlines
from bridge.content.text.plain import text_to_plain
from bridge.content.text.split import utf16_length
from bridge.content.text.tree import (
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Spoiler,
    Strike,
    Strong,
    Text,
    Underline,
)
from connectors.slack.capabilities import TEXT_LIMIT
from connectors.slack.cards.write_pieces import Json, Writing
from connectors.slack.emoji import NAME, unicode_of
from connectors.slack.mrkdwn import BORDER, LOOK_LIKE_MORE, LOOKS_LIKE_MORE
from connectors.slack.mrkdwn_writer import text_to_mrkdwn

Line = tuple[Inline, ...]

_SIGNS = re.compile(
    "[\x00-\x1f\x7f*_~`:<>&\ud800-\udfff]"
)  # text without these characters is its own mrkdwn
_UNSOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_SIMPLE_URL = re.compile(r"https?://[\w./?=#%+-]+", re.ASCII)
_HALVES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_NAMED = re.compile(rf":({NAME}):")
_NAMES = re.compile("[@#]")  # Slack links these unless `verbatim` is set


def length(text: str) -> int:
    """The length that Slack may count: characters beyond 16 bits count as two."""
    return len(text) if text.isascii() else utf16_length(text)


def sound(text: str) -> str:
    """The text without control characters and lone surrogates."""
    if _UNSOUND.search(text) is None:
        return text
    return _HALVES.sub("\ufffd", _CONTROLS.sub("", text))


# --- mrkdwn ---------------------------------------------------------------------------------


def line_to_mrkdwn(line: Line) -> str:
    if len(line) == 1 and type(inline := line[0]) is Text and _is_itself(inline.value):
        return inline.value
    return document_to_mrkdwn((Paragraph(line),)) if line else ""


def _is_itself(text: str) -> bool:
    """Whether the text is its own mrkdwn: no signs, and no start like a list item."""
    if _SIGNS.search(text) is not None:
        return False
    return text[:1] not in LOOK_LIKE_MORE or LOOKS_LIKE_MORE.match(text) is None


def document_to_mrkdwn(document: Document) -> str:
    """The mrkdwn; blank text gives "".

    A document that is longer than any text object is returned as plain text of the same length.
    """
    if len(document) == 1 and type(block := document[0]) is Paragraph:
        line = block.children
        if len(line) == 1 and type(only := line[0]) is Text and _is_itself(only.value):
            return only.value if only.value.strip() else ""
        written = _simple_mrkdwn(line)
        if written is not None:
            return written if written.strip() else ""
    if _is_long(document):
        return text_to_plain(document)
    written = text_to_mrkdwn(document)
    written = written if written.isascii() else _HALVES.sub("\ufffd", written)
    return written if written.strip().strip(BORDER) else ""


def _is_long(document: Document) -> bool:
    """Whether it is surely longer than any text object and any message without blocks."""
    total = 0
    stack: list[object] = [document]
    while stack and total <= TEXT_LIMIT:
        match stack.pop():
            case Text(value) | Code(value) | CodeBlock(value):
                total += len(value)
            case tuple() as several:
                stack += several
            case Paragraph(inner) | Quote(inner) | List(inner) | ListItem(inner):
                stack.append(inner)
            case (
                Strong(inner) | Emphasis(inner) | Strike(inner) | Underline(inner) | Spoiler(inner)
            ):
                stack.append(inner)
            case Heading(_, inner) | Link(_, inner):
                stack.append(inner)
            case _:
                pass
    return total > TEXT_LIMIT


def _simple_mrkdwn(line: Line) -> str | None:
    """The mrkdwn of words and styled words between spaces, in half the time of the general writer;
    None for other lines."""
    written = ""
    was_styled = False
    for node in line:
        kind = type(node)
        if kind is Text:
            piece = cast("Text", node).value
            if _SIGNS.search(piece) is not None:
                return None
        else:
            piece = _simple_piece(node)
        if not piece:
            return None
        is_styled = kind is not Text and kind is not Link
        if (is_styled or was_styled) and written and _binds(written[-1]) and _binds(piece[0]):
            return None
        written += piece
        was_styled = is_styled
    return None if written[:1] in LOOK_LIKE_MORE else written


def _simple_piece(node: Inline) -> str:
    match node:
        case Strong((Text(value),)) if _is_bare(value):
            return f"*{value}*"
        case Emphasis((Text(value),)) if _is_bare(value):
            return f"_{value}_"
        case Code(value) if _is_bare(value):
            return f"`{value}`"
        case Link(url, (Text(value),)) if _SIMPLE_URL.fullmatch(url) and _is_bare(value):
            return f"<{url}|{value}>" if url != value else ""
        case _:
            return ""


def _is_bare(value: str) -> bool:
    return _SIGNS.search(value) is None and value.strip() == value != ""


def _binds(char: str) -> bool:
    return char.isalnum() or char in "*_`"


def bold_mrkdwn(line: Line) -> str:
    """A label: one bold line."""
    if len(line) == 1 and type(inline := line[0]) is Text and _SIGNS.search(inline.value) is None:
        text = inline.value.strip()
        return f"*{text}*" if text else ""
    return document_to_mrkdwn((Paragraph((Strong(line),)),)) if line else ""


def mrkdwn(text: str) -> Json:
    """A text object; `verbatim`, so that Slack does not resolve names of people and channels."""
    if _NAMES.search(text) is None:
        return {"type": "mrkdwn", "text": text}
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: str) -> Json:
    return {"type": "section", "text": mrkdwn(text)}


# --- plain text -----------------------------------------------------------------------------


def words(line: Line) -> str:
    """The line as plain text."""
    if len(line) == 1 and type(inline := line[0]) is Text:
        return one_line(inline.value)
    return one_line(plain_inlines(line)) if line else ""


def one_line(text: str) -> str:
    if text.isprintable():
        return text.strip()
    return sound(text.replace("\n", " ").replace("\t", " ")).strip()


def plain(text: str, *, named: bool = False) -> Json:
    """A plain text object; `:name:` stays text unless emoji names are meant (`named`)."""
    if named or ":" not in text or not any(unicode_of(match[1]) for match in _NAMED.finditer(text)):
        return {"type": "plain_text", "text": text}
    return {"type": "plain_text", "text": text, "emoji": False}


def labelled(writing: Writing, line: Line, limit: int, at: str, kind: str) -> Json | None:
    """A line as plain text of at most `limit` characters; None when it is empty."""
    if not line:
        return None
    if len(line) == 1 and type(inline := line[0]) is Text and _is_simple(inline.value, limit):
        text = inline.value.strip()
        return {"type": "plain_text", "text": text} if text else None
    text = words(line)
    if not text:
        return None
    lose_links(writing, line, at)
    named = any(type(inline) is Emoji and inline.unicode is None for inline in line)
    return plain(shortened(writing, text, limit, at, kind), named=named)


def _is_simple(text: str, limit: int) -> bool:
    return 2 * len(text) <= limit and ":" not in text and text.isprintable()


def shortened(writing: Writing, text: str, limit: int, at: str, kind: str) -> str:
    """A text that fits; a longer one is cut at a word, and all of it is a Loss."""
    if 2 * len(text) <= limit or length(text) <= limit:
        return text
    cut = f"{_cut(text, limit - 1)}…"
    writing.lose(at, kind, text, cut)
    return cut


def _cut(text: str, limit: int) -> str:
    end = limit
    while length(text[:end]) > limit:
        end -= max(1, (length(text[:end]) - limit) // 2)
    space = text.rfind(" ", end // 2, end + 1)
    return text[: space if space > 0 else cluster_start(text, end)].rstrip()


def lose_links(writing: Writing, line: Line, at: str) -> None:
    """The losses of links where only plain text is possible."""
    for url in _urls(line):
        writing.lose(at, "link", url, "its text")


def _urls(line: Iterable[Inline]) -> Iterator[str]:
    stack = [iter(line)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif isinstance(node, Link):
            if plain_inlines(node.children) != node.url:
                yield node.url
        elif type(node) in STYLES:
            stack.append(iter(cast("Style", node).children))
