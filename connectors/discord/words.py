"""A call whose embeds or components Discord refused -> the same call as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from bridge.content.cards.words import card_words
from bridge.content.markdown import markdown_to_text
from bridge.content.text.plain import plain_to_text, text_to_plain
from bridge.content.text.split import cut_text
from bridge.content.text.tree import Document, Heading
from bridge.errors import CodecError
from bridge.model import Call
from connectors.discord.capabilities import TEXT_LIMIT
from connectors.discord.cards import read_message
from connectors.discord.cards.schemas import COMPONENTS_V2, TEXT_DISPLAY
from connectors.discord.text import escape, text_to_discord

_FORM = ("embeds", "components")


def in_words(call: Call) -> Call | None:
    """Return the call with its content as one text of at most 2,000 characters.

    An edit puts the text into a component: a message that once had V2 components never takes
    `content` again (docs: components/reference). None if the call is already plain text.
    """
    rich = any(call.body.get(name) for name in _FORM)
    if not rich and call.kind != "edit":
        return None
    text = _text(call.body) if rich else call.body.get("content")
    return _call_with_text(call, text)


def without_files(call: Call) -> Call | None:
    """Return the call as text with the names of its files, which Discord refused.

    None if the call has no files.
    """
    if not call.files:
        return None
    rich = any(call.body.get(name) for name in _FORM)
    text = _text(call.body) if rich else str(call.body.get("content") or "")
    names = ", ".join(escape(file.name) for file in call.files)
    note = cut_text(f"-# 📎 {names}: could not be brought here", TEXT_LIMIT // 2)
    text = f"{cut_text(text, TEXT_LIMIT - len(note) - 1)}\n{note}".lstrip()
    return _call_with_text(call, text).model_copy(update={"files": ()})


def _call_with_text(call: Call, text: JsonValue) -> Call:
    other_fields = {
        name: value for name, value in call.body.items() if name not in (*_FORM, "flags")
    }
    text_fields: dict[str, JsonValue] = {"content": text}
    if call.kind == "edit":
        display: dict[str, JsonValue] = {"type": TEXT_DISPLAY, "content": text}
        text_fields = {
            "content": None,
            "embeds": [],
            "components": [display],
            "flags": COMPONENTS_V2,
        }
    return call.model_copy(update={"body": {**other_fields, **text_fields}})


def title_words(body: Mapping[str, JsonValue]) -> str:
    """Return the body's text without formatting; only its heading if it begins with one."""
    document = _document(body)
    begins = document and isinstance(document[0], Heading)
    return text_to_plain(document[:1] if begins else document)


def _text(body: Mapping[str, JsonValue]) -> str:
    return cut_text(text_to_discord(_document(body)), TEXT_LIMIT)


def _document(body: Mapping[str, JsonValue]) -> Document:
    fields = {name: body[name] for name in ("content", "flags", *_FORM) if name in body}
    try:
        return markdown_to_text(card_words(read_message(fields)))
    except CodecError:
        return plain_to_text(str(body.get("content") or ""))
