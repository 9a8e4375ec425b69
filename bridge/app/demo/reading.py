"""What stands on a local platform -> what a person reads there: the author and the bare words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.content.messages.metadata import select_parts
from bridge.sandbox.feed import Shown
from bridge.sandbox.installed import local_platform_types
from bridge.uacs import Message, TextPart

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
    """A message as a person reads it on its platform, which must be one that the demo shows."""
    side = local_platform_types()[shown.platform].demo
    author, text = side.read(shown) if side else (shown.author, shown.text)
    thread = None if shown.thread == shown.id else shown.thread
    return Read(shown.id, author, text, shown.time, shown.bot, thread)


def read_archived(message: Message) -> str:
    """The words of an archived message."""
    parts = select_parts(message, ())
    texts = [part.text for _, part in parts if isinstance(part, TextPart)]
    return text_to_plain(markdown_to_text("\n\n".join(texts)))


def bare(text: str) -> str:
    """What two texts must have in common: all but spaces, invisible characters, list signs."""
    plain = _ITEM.sub("", text)
    return "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Zs", "Cc"))


def in_order(messages: Iterable[Shown]) -> list[Read]:
    """As it is read from the top: each thread below its root."""
    reads = [read(message) for message in messages]
    roots = {read_message.id for read_message in reads}
    replies: dict[str, list[Read]] = {}
    top: list[Read] = []
    for read_message in reads:
        if read_message.thread in roots:
            replies.setdefault(read_message.thread, []).append(read_message)
        else:
            top.append(read_message)
    return [
        each for read_message in top for each in (read_message, *replies.get(read_message.id, ()))
    ]
