"""Author and quoted message -> lines above a text, or elements at the top of a card. Pure.

Teams refuses an edit that has both text and a card.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from bridge.content.text.split import cut_text
from bridge.model import QuotedMessage
from connectors.teams.text import escape_name, escape_text

_QUOTE_LIMIT = 160


@dataclass(frozen=True, slots=True)
class Above:
    """The author of a copy, and the message that it answers.

    A bot has one name and picture, so the author's name is written in bold. The quote precedes the
    first native message only.
    """

    author: str
    quoted: QuotedMessage | None = None

    def without_quote(self) -> Above:
        return self if self.quoted is None else Above(self.author)

    def lines(self) -> Iterator[str]:
        """Yield the author and the quote as lines of Teams' Markdown."""
        yield f"**{escape_name(self.author)}**"
        if self.quoted is not None:
            excerpt = escape_text(_excerpt(self.quoted))
            yield f"> **{escape_name(self.quoted.author)}**: {excerpt}".rstrip()

    def elements(self) -> Iterator[JsonValue]:
        """Yield the author and the quote as elements of an Adaptive Card, without markup."""
        yield _line({"text": _one_line(self.author), "weight": "Bolder"})
        if self.quoted is not None:
            author = f"↪ {_one_line(self.quoted.author)}: "
            excerpt = _excerpt(self.quoted) or "…"
            yield _line({"text": author, "weight": "Bolder"}, {"text": excerpt}, subtle=True)


def _line(*runs: dict[str, JsonValue], subtle: bool = False) -> JsonValue:
    inlines: list[JsonValue] = [
        {"type": "TextRun", **run, **({"isSubtle": True} if subtle else {})} for run in runs
    ]
    return {"type": "RichTextBlock", "inlines": inlines}


def _excerpt(quoted: QuotedMessage) -> str:
    return cut_text(_one_line(quoted.excerpt), _QUOTE_LIMIT)


def _one_line(text: str) -> str:
    return " ".join(text.split())
