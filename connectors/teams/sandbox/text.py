"""What people type -> text, mentions, HTML as Teams sends them; activities -> what is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape, unescape

from connectors.teams.sandbox.state import Bot, Json, Person

# Each of these looks at a character once, whatever is sent.
_AT = re.compile(r"<at\b[^<>]*>([^<]*)</at>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>|</p>(?=.)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


@dataclass(frozen=True)
class Typed:
    """What a person typed, as it goes to bots: `<at>` in the text, spans in the HTML."""

    text: str
    html: str
    mentions: list[Json]


def typed(plain: str, accounts: Iterable[Person | Bot]) -> Typed:
    """`@Bridge hi` -> `<at>Bridge</at> hi` and a mention entity, for the names known here."""
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
    """An activity's text as it is read: `@Name` for mentions, no tags; markdown stays as it is."""
    if "<" not in text and "&" not in text:
        return text
    named = _AT.sub(r"@\1", text)
    if text_format == "plain":
        return named
    return unescape(_TAG.sub("", _BREAK.sub("\n", named)))


def _split_at_names(plain: str, names: list[str]) -> list[str]:
    """Text and names by turns; a longer name wins over its beginning."""
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
