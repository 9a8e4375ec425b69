"""A call that Discord refused in its form -> the same call in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from bridge.content.card_words import card_words
from bridge.content.markdown import markdown_to_text
from bridge.content.plain import plain_to_text, text_to_plain
from bridge.content.split import cut_text
from bridge.content.text import Document
from bridge.errors import CodecError
from bridge.model import Call
from connectors.discord.capabilities import TEXT_LIMIT
from connectors.discord.cards import read_message
from connectors.discord.text import text_to_discord

_FORM = ("embeds", "components")


def in_words(call: Call) -> Call | None:
    """What it says as one text, cut where Discord takes no more."""
    if not any(call.body.get(name) for name in _FORM):
        return None
    rest = {name: value for name, value in call.body.items() if name not in (*_FORM, "flags")}
    emptied: dict[str, JsonValue] = {} if call.kind == "post" else {name: [] for name in _FORM}
    return call.model_copy(update={"body": {**rest, **emptied, "content": _text(call.body)}})


def plain_words(body: Mapping[str, JsonValue]) -> str:
    """What it says, without any formatting."""
    return text_to_plain(_document(body))


def _text(body: Mapping[str, JsonValue]) -> str:
    return cut_text(text_to_discord(_document(body)), TEXT_LIMIT)


def _document(body: Mapping[str, JsonValue]) -> Document:
    shown = {name: body[name] for name in ("content", "flags", *_FORM) if name in body}
    try:
        return markdown_to_text(card_words(read_message(shown)))
    except CodecError:
        return plain_to_text(str(body.get("content") or ""))
