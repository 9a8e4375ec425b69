"""A call that Slack refused in its form -> the same call in words. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.card_words import card_words
from bridge.content.markdown import markdown_to_text
from bridge.content.split import cut_text
from bridge.errors import CodecError
from bridge.model import Call
from connectors.slack.capabilities import TEXT_LIMIT
from connectors.slack.cards import read_message
from connectors.slack.text import text_to_mrkdwn

_FORM = ("blocks", "attachments")


def in_words(call: Call) -> Call | None:
    """What it says as one text, cut where Slack takes no more."""
    if not any(call.body.get(name) for name in _FORM):
        return None
    rest = {name: value for name, value in call.body.items() if name not in _FORM}
    emptied: dict[str, JsonValue] = {} if call.kind == "post" else {name: [] for name in _FORM}
    return call.model_copy(update={"body": {**rest, **emptied, "text": _text(call.body)}})


def _text(body: dict[str, JsonValue]) -> str:
    try:
        markdown = card_words(read_message({name: body.get(name) for name in ("text", *_FORM)}))
    except CodecError:
        return str(body.get("text", ""))
    return cut_text(text_to_mrkdwn(markdown_to_text(markdown)), TEXT_LIMIT)
