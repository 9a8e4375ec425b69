"""What stands on a local platform -> what a person reads there: the author and the bare words.

Written from how the platforms show text, not from how our connectors write it. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.content.messages.metadata import select_parts
from bridge.sandbox.feed import Shown
from bridge.uacs import Message, TextPart

_MARKS = re.compile(r"\\([^\w\s])|```(?:\w+\n)?|\*\*|__|~~|\|\||[*`]|^(?:> |-# )", re.MULTILINE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BYLINE = re.compile(r"\*\*(.+?)\*\*\n\n(.*)", re.DOTALL)
_ITEM = re.compile(r"^\s*(?:[-•*]|\d{1,3}\.)\s+|^> ?", re.MULTILINE)


@dataclass(frozen=True)
class Read:
    """One message as it is read; `thread` is the native id of its thread's root."""

    id: str
    author: str
    text: str
    time: str
    bot: bool
    thread: str | None = None


def read(shown: Shown) -> Read:
    """A message as a person reads it on its platform."""
    author, text = _READERS[shown.platform](shown)
    thread = None if shown.thread == shown.id else shown.thread
    return Read(shown.id, author, text, shown.time, shown.bot, thread)


def read_archived(message: Message) -> str:
    """The words of an archived message."""
    shown = select_parts(message, ())
    texts = [part.text for _, part in shown if isinstance(part, TextPart)]
    return text_to_plain(markdown_to_text("\n\n".join(texts)))


def bare(text: str) -> str:
    """What two texts must have in common: all but spaces, invisible characters, list signs."""
    plain = _ITEM.sub("", text)
    return "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Zs", "Cc"))


def _read_slack(shown: Shown) -> tuple[str, str]:
    blocks = [b for b in shown.raw.get("blocks") or [] if b.get("type") == "rich_text"]
    if not blocks:
        return shown.author, shown.text
    return shown.author, "\n".join(_rich_words(block["elements"]) for block in blocks)


def _rich_words(elements: Sequence[dict[str, Any]]) -> str:
    words: list[str] = []
    for element in elements:
        match element["type"]:
            case "text" | "link":
                words.append(element.get("text") or element.get("url", ""))
            case "emoji":
                words.append(f":{element['name']}:")
            case "user":
                words.append(f"@{element['user_id']}")
            case _:
                words.append(_rich_words(element.get("elements", ())) + "\n")
    return "".join(words)


def _read_discord(shown: Shown) -> tuple[str, str]:
    return shown.author, _without_marks(shown.text)


def _read_teams(shown: Shown) -> tuple[str, str]:
    """A bot's message begins with its author in bold: a bot has one name only."""
    text = str(shown.raw.get("text", ""))
    if shown.raw.get("textFormat") != "markdown":
        return shown.author, text
    found = _BYLINE.fullmatch(text)
    author, rest = found.groups() if found else (shown.author, text)
    with_breaks = rest.replace("<br>", "\n")
    return unescape(author), unescape(_without_marks(_TAG.sub("", with_breaks)))


def _without_marks(text: str) -> str:
    return _MARKS.sub(lambda match: match[1] or "", text)


_READERS = {"slack": _read_slack, "discord": _read_discord, "teams": _read_teams}


def in_order(messages: Iterable[Shown]) -> list[Read]:
    """As it is read from the top: each thread below its root."""
    reads = [read(shown) for shown in messages]
    roots = {one.id for one in reads}
    replies: dict[str, list[Read]] = {}
    top: list[Read] = []
    for one in reads:
        if one.thread in roots:
            replies.setdefault(one.thread, []).append(one)
        else:
            top.append(one)
    return [each for one in top for each in (one, *replies.get(one.id, ()))]
