"""A call whose form Teams refused -> the same call as plain text. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.words import card_words
from bridge.content.markdown import markdown_to_text
from bridge.content.text.split import cut_text
from bridge.errors import CodecError
from bridge.model import Call
from connectors.teams.capabilities import TEXT_LIMIT
from connectors.teams.cards import read_message
from connectors.teams.text import text_to_teams

_FORM = ("attachments", "attachmentLayout", "suggestedActions", "summary")


def in_words(call: Call) -> Call | None:
    """Return the call with the words of its card as text, cut at the limit; None without a card."""
    if not call.body.get("attachments"):
        return None
    fields = {name: value for name, value in call.body.items() if name not in _FORM}
    return call.model_copy(
        update={"body": {**fields, "textFormat": "markdown", "text": _text(call.body)}}
    )


def without_files(call: Call) -> Call | None:
    """Return None: calls to Teams carry no files; files are offered or linked."""
    return None


def _text(body: dict[str, JsonValue]) -> str:
    try:
        markdown = card_words(read_message(body))
    except CodecError:
        return str(body.get("text", ""))
    return cut_text(text_to_teams(markdown_to_text(markdown)), TEXT_LIMIT)
