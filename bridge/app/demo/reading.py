"""Messages on a local platform -> what a person reads there: the author and the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.content.messages.metadata import select_parts
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.installed import local_platform_types
from bridge.uacs import Message, TextPart

_ITEM = re.compile(r"^\s*(?:[-•*]|\d{1,3}\.)\s+|^> ?", re.MULTILINE)


@dataclass(frozen=True)
class VisibleMessage:
    """A message as a person sees it; `thread` is the native id of its thread's root."""

    id: str
    author: str
    text: str
    time: str
    bot: bool
    thread: str | None = None


def read(message: LocalMessage) -> VisibleMessage:
    """The message as a person sees it; its platform must be one that the demo shows."""
    side = local_platform_types()[message.platform].demo
    author, text = side.read(message) if side else (message.author, message.text)
    thread = None if message.thread == message.id else message.thread
    return VisibleMessage(message.id, author, text, message.time, message.bot, thread)


def read_archived(message: Message) -> str:
    """The text of an archived message."""
    parts = select_parts(message, ())
    texts = [part.text for _, part in parts if isinstance(part, TextPart)]
    return text_to_plain(markdown_to_text("\n\n".join(texts)))


def bare(text: str) -> str:
    """The text without spaces, invisible characters and list markers, for comparisons."""
    plain = _ITEM.sub("", text)
    return "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Zs", "Cc"))


def in_order(messages: Iterable[LocalMessage]) -> list[VisibleMessage]:
    """The messages in reading order: each thread below its root."""
    reads = [read(message) for message in messages]
    roots = {message.id for message in reads}
    replies: dict[str, list[VisibleMessage]] = {}
    top: list[VisibleMessage] = []
    for message in reads:
        if message.thread in roots:
            replies.setdefault(message.thread, []).append(message)
        else:
            top.append(message)
    return [each for message in top for each in (message, *replies.get(message.id, ()))]
