"""A call whose form Slack refused -> the same call as plain text. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.words import card_words
from bridge.content.markdown import markdown_to_text
from bridge.content.text.split import cut_text
from bridge.content.text.tree import Paragraph, Text
from bridge.errors import CodecError
from bridge.model import Call
from connectors.slack.capabilities import METADATA_TYPE, TEXT_LIMIT
from connectors.slack.cards import read_message
from connectors.slack.text import text_to_mrkdwn

_FORM = ("blocks", "attachments")


def in_words(call: Call) -> Call | None:
    """The content as one text, cut at Slack's limit; None when the call has no blocks or
    attachments."""
    if not any(call.body.get(name) for name in _FORM):
        return None
    members = {name: value for name, value in call.body.items() if name not in _FORM}
    emptied: dict[str, JsonValue] = {} if call.kind == "post" else {name: [] for name in _FORM}
    return call.model_copy(update={"body": {**members, **emptied, "text": _text(call.body)}})


def without_files(call: Call) -> Call | None:
    """The names of the files under their author's name, as Slack refused the files; None without
    files."""
    if not call.files:
        return None
    names = text_to_mrkdwn((Paragraph((Text(", ".join(file.name for file in call.files)),)),))
    text = f"{call.body.get('initial_comment') or ''}\n📎 {names}: could not be brought here"
    body: dict[str, JsonValue] = {
        "channel": call.channel.channel,
        "text": cut_text(text.strip(), TEXT_LIMIT),
        "mrkdwn": True, "parse": "none", "link_names": False, "unfurl_links": False,
        "metadata": {
            "event_type": METADATA_TYPE,
            "event_payload": {"operation": call.operation, "slot": call.slot},
        },
    }  # fmt: skip
    if call.thread is not None:
        body["thread_ts"] = call.thread
    return call.model_copy(update={"method": "chat.postMessage", "body": body, "files": ()})


def _text(body: dict[str, JsonValue]) -> str:
    try:
        markdown = card_words(read_message({name: body.get(name) for name in ("text", *_FORM)}))
    except CodecError:
        return str(body.get("text", ""))
    return cut_text(text_to_mrkdwn(markdown_to_text(markdown)), TEXT_LIMIT)
