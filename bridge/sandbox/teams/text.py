"""What people type -> text, mentions, HTML as Teams sends them; activities -> what is read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape, unescape

from bridge.sandbox.teams.state import Bot, Json, Person

_AT = re.compile(r"<at\b[^>]*>(.*?)</at>", re.IGNORECASE | re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>|</p>(?=.)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def resolve_mentions(typed: str, known: Iterable[Person | Bot]) -> tuple[str, list[Json]]:
    """`@Bridge hi` -> `<at>Bridge</at> hi` and its mention entity, for the names known here."""
    if "@" not in typed:
        return typed, []
    names = {account.name: account for account in known}
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile("@(" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")
    entities: list[Json] = []

    def tag(match: re.Match[str]) -> str:
        entities.append(_mention(names[match[1]]))
        return f"<at>{match[1]}</at>"

    return (pattern.sub(tag, typed) if names else typed), entities


def _mention(account: Person | Bot) -> Json:
    mentioned = {"id": account.id, "name": account.name}
    return {"type": "mention", "mentioned": mentioned, "text": f"<at>{account.name}</at>"}


def typed_html(text: str, mentions: list[Json]) -> str:
    """The text/html attachment of a message: mentions are numbered spans, the rest is escaped."""
    html = escape(text, quote=False)
    for number, mention in enumerate(mentions):
        name = escape(mention["mentioned"]["name"], quote=False)
        span = (
            '<span itemscope="" itemtype="http://schema.skype.com/Mention" '
            f'itemid="{number}">{name}</span>'
        )
        html = html.replace(f"&lt;at&gt;{name}&lt;/at&gt;", span, 1)
    return "<div><div>" + html.replace("\n", "<br>") + "</div>\n</div>"


def readable(text: str, text_format: str | None = None) -> str:
    """An activity's text as it is read: `@Name` for mentions, no tags; markdown stays as it is."""
    if "<" not in text and "&" not in text:
        return text
    named = _AT.sub(r"@\1", text)
    if text_format == "plain":
        return named
    return unescape(_TAG.sub("", _BREAK.sub("\n", named)))
