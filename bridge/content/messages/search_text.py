"""The words of a message that a search finds, and what kinds of content it has. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bridge.content.messages.metadata import KEY

# Scripts that put no space between words: each character is a word of its own, in the index and in
# the search, and neighbours are found as a phrase.
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff])"
)
_LINK = re.compile(r"https?://", re.IGNORECASE)
_MEDIA = ("image", "video", "audio", "file")


def search_text(message: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Returns the words of a UACS message, given as JSON, and its kinds of content.

    Texts, names and descriptions of files are words; tool calls and payloads are not, because their
    fallback says the same. The kinds are `image`, `video`, `audio`, `file`, `link`, `card` and
    `code`.
    """
    texts: list[str] = []
    kinds: set[str] = set()
    for part in message.get("content") or ():
        kind = part.get("type")
        if kind == "text":
            text = part.get("text")
            if isinstance(text, str):
                texts.append(text)
                if _LINK.search(text):
                    kinds.add("link")
                if "`" in text and part.get("format") != "plain":
                    kinds.add("code")
        elif kind in _MEDIA:
            kinds.add(kind)
        elif kind == "structured_data":
            kinds.add("card")
    texts += _names(message)
    return spaced(" ".join(texts)), kinds


def _names(message: Mapping[str, Any]) -> list[str]:
    """The names and descriptions of the message's files."""
    metadata = message.get("metadata")
    additions = metadata.get(KEY) if isinstance(metadata, dict) else None
    parts = additions.get("parts") if isinstance(additions, dict) else None
    if not isinstance(parts, dict):
        return []
    found = (
        details.get(name)
        for details in parts.values()
        if isinstance(details, dict)
        for name in ("name", "alt")
    )
    return [name for name in found if isinstance(name, str)]


def spaced(text: str) -> str:
    """Returns the text with spaces around each character of a script without spaces, and without
    case."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", text).casefold()
