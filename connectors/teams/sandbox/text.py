"""Typed text -> text, mentions and HTML as Teams sends them; activities -> readable text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape, unescape

from connectors.teams.sandbox.state import Bot, Json, Person

# These patterns read each character once, for any input.
_AT = re.compile(r"<at\b[^<>]*>([^<]*)</at>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>|</p>(?=.)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True)
class Typed:
    """Typed text as bots receive it: mentions are `<at>` in the text and spans in the HTML."""

    text: str
    html: str
    mentions: list[Json]


def typed(plain: str, accounts: Iterable[Person | Bot]) -> Typed:
    """Convert `@Bridge hi` to `<at>Bridge</at> hi` and an entity, for names of `accounts`."""
    text, html, mentions = "", "", list[Json]()
    names = {account.name: account for account in accounts} if "@" in plain else {}
    for number, piece in enumerate(_split_at_names(plain, list(names))):
        if number % 2:
            html += _span(piece, len(mentions))
            mentions.append(_mention(names[piece]))
            text += f"<at>{piece}</at>"
        else:
            text += piece
            html += _escape(piece)
    return Typed(text, f"<div><div>{html}</div>\n</div>", mentions)


def readable(text: str, text_format: str) -> str:
    """Return an activity's text with `@Name` for mentions and without tags; Markdown stays."""
    if "<" not in text and "&" not in text:
        return text
    named = _AT.sub(r"@\1", text)
    if text_format == "plain":
        return named
    return unescape(_TAG.sub("", _BREAK.sub("\n", named)))


def _split_at_names(plain: str, names: list[str]) -> list[str]:
    """Split into alternating texts and names; the longest matching name wins."""
    if not names:
        return [plain]
    longest_first = sorted(names, key=len, reverse=True)
    return re.split("@(" + "|".join(map(re.escape, longest_first)) + r")(?!\w)", plain)


def _mention(account: Person | Bot) -> Json:
    mentioned = {"id": account.id, "name": account.name}
    return {"type": "mention", "mentioned": mentioned, "text": f"<at>{account.name}</at>"}


def _span(name: str, number: int) -> str:
    kind = "http://schema.skype.com/Mention"
    return f'<span itemscope="" itemtype="{kind}" itemid="{number}">{_escape(name)}</span>'


def _escape(text: str) -> str:
    return escape(text, quote=False).replace("\n", "<br>")
