"""Slack's text objects -> the text tree: mrkdwn, plain text with emoji names, rich text.

Total: other JSON gives an empty document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from bridge.content.cards.tree import LabelledValue, Prose
from bridge.content.text import normal
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Break, Document, Inline, Paragraph, Strong, Text
from connectors.slack.emoji import text_with_emoji
from connectors.slack.json_values import Json
from connectors.slack.mrkdwn import unescape
from connectors.slack.mrkdwn_reader import mrkdwn_to_text
from connectors.slack.rich_text import rich_text_to_text

Line = tuple[Inline, ...]

RICH = frozenset(  # the elements of rich text sections
    ("text", "link", "emoji", "user", "channel", "usergroup", "team", "broadcast", "date", "color")
)
_MARKED = re.compile(r"[:\n\r]")  # plain text without these characters needs no parsing
_CONTROL = re.compile(r"<[^<>\n]+>|&(?:amp|lt|gt);")
_MANY_LINES = re.compile(r"\n{3,}")
_BOLD = re.compile(r"\*([^\s*_~`<>&:](?:[^*_~`<>&:]*[^\s*_~`<>&:])?:?)\*[ \t]*")


def document(value: object, team: str) -> Document:
    """The document of a text object, a rich_text block, or a bare string, which is plain text."""
    if isinstance(value, str):
        return plain_document(value)
    if not isinstance(value, dict):
        return ()
    object_ = cast("Json", value)
    kind, text = object_.get("type"), object_.get("text")
    if kind == "mrkdwn" and isinstance(text, str):
        return mrkdwn_to_text(text, team)
    if kind == "plain_text" and isinstance(text, str):
        return plain_document(text, emoji=object_.get("emoji") is not False)
    if isinstance(kind, str) and (kind in RICH or kind.startswith("rich_text")):
        return _rich(object_, kind, team)
    return plain_document(text) if isinstance(text, str) else ()


def _rich(object_: Json, kind: str, team: str) -> Document:
    """The document of a rich_text block, or of a single part of one."""
    block = object_ if kind == "rich_text" else {"elements": [object_]}
    if kind in RICH:
        block = {"elements": [{"elements": [object_]}]}
    return rich_text_to_text(block, team)


def line(value: object, team: str) -> Line:
    """The text as one run of inlines."""
    return as_line(document(value, team))


def prose(value: object, at: str, team: str) -> Prose | None:
    """The text as a Prose node; None when it is empty."""
    blocks = document(value, team)
    return Prose(blocks, at=at) if blocks else None


def words(value: object) -> str:
    """The plain characters of a text, for fields without formatting."""
    return value if isinstance(value, str) else plain_inlines(line(value, ""))


def is_blank(value: object) -> bool:
    """Whether a text object is empty."""
    text = cast("Json", value).get("text") if isinstance(value, dict) else None
    return isinstance(text, str) and not text.strip()


def as_line(blocks: Document) -> Line:
    """The blocks as one line."""
    if len(blocks) == 1 and isinstance(first := blocks[0], Paragraph):
        return first.children
    return blocks_as_line(blocks)


# --- mrkdwn ---------------------------------------------------------------------------------


def unformatted(text: str, team: str) -> Document:
    """mrkdwn without styles, quotes and code: only control sequences, entities and emoji."""
    run: list[Inline] = []
    place = 0
    for control in _CONTROL.finditer(text):
        run += _lines(text[place : control.start()], emoji=True)
        run += _controlled(control.group(), team)
        place = control.end()
    run += _lines(text[place:], emoji=True)
    return tuple(normal.paragraphs(normal.joined(run, linked=True)))


def _controlled(part: str, team: str) -> Line:
    return (Text(unescape(part)),) if part[0] == "&" else as_line(mrkdwn_to_text(part, team))


def field(value: object, at: str, team: str) -> LabelledValue | None:
    """A text as a labelled value: a bold first line is the label. None when it is empty."""
    text = cast("Json", value).get("text") if isinstance(value, dict) else None
    if isinstance(text, str) and text.startswith("*"):
        head, _, body = text.replace("\r\n", "\n").partition("\n")
        label = _bold(head, team) if cast("Json", value).get("type") == "mrkdwn" else ()
        if label:
            return LabelledValue(label, mrkdwn_to_text(body, team), at=at)
    blocks = document(value, team)
    return LabelledValue((), blocks, at=at) if blocks else None


def _bold(head: str, team: str) -> Line:
    """The children of the bold node that is the whole line."""
    if simple := _BOLD.fullmatch(head):
        return (Text(simple[1]),)
    if "```" in head:
        return ()
    match mrkdwn_to_text(head, team):
        case (Paragraph((Strong(children),)),):
            return children
        case (Paragraph((Strong(children), Text(tail))),) if not tail.strip():
            return children
        case _:
            return ()


# --- plain text -----------------------------------------------------------------------------


def plain_document(text: str, *, emoji: bool = True) -> Document:
    """The document of plain text; `emoji` converts emoji names."""
    if _MARKED.search(text) is None:
        return (Paragraph((Text(text),)),) if text.strip() else ()
    lines = _lines(_MANY_LINES.sub("\n\n", text.strip("\n")), emoji=emoji)
    return tuple(normal.paragraphs(normal.joined(lines, linked=True)))


def _lines(text: str, *, emoji: bool) -> Iterator[Inline]:
    for number, row in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            yield Break()
        if emoji:
            yield from text_with_emoji(row)
        elif row:
            yield Text(row)
