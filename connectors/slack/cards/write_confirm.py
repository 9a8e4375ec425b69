"""Confirmations of actions -> Slack's confirmation dialog, which needs every text."""

from __future__ import annotations

from bridge.content.cards.tree import Button, Confirm, Input
from bridge.content.text.inlines import plain_inlines
from connectors.slack.capabilities import CONFIRM_BUTTON, CONFIRM_TEXT, CONFIRM_TITLE
from connectors.slack.cards.write_pieces import Json, Writing
from connectors.slack.cards.write_texts import one_line, plain, shortened


def confirm_object(writing: Writing, confirm: Confirm, at: str) -> Json:
    title, text = one_line(confirm.title), one_line(plain_inlines(confirm.text))
    if not text:
        title, text = "", title
    body: Json = {
        "title": _plain(writing, title or "Confirm", CONFIRM_TITLE, at),
        "text": _plain(writing, text or "OK?", CONFIRM_TEXT, at),
        "confirm": _plain(writing, one_line(confirm.ok) or "OK", CONFIRM_BUTTON, at),
        "deny": _plain(writing, one_line(confirm.cancel) or "Cancel", CONFIRM_BUTTON, at),
    }
    if confirm.danger:
        body["style"] = "danger"
    return body


def add_confirm(writing: Writing, element: Json, node: Button | Input) -> None:
    if node.confirm is not None:
        element["confirm"] = confirm_object(writing, node.confirm, node.at)


def lose_confirm(writing: Writing, node: Button | Input) -> None:
    """The loss of a confirmation where Slack shows no dialog."""
    if node.confirm is None:
        return
    confirm = node.confirm
    texts = (confirm.title, plain_inlines(confirm.text), confirm.ok, confirm.cancel)
    lost_text = "\n".join(text for text in texts if text.strip())
    writing.lose(node.at, "confirm", lost_text or "a question beforehand")


def _plain(writing: Writing, text: str, limit: int, at: str) -> Json:
    return plain(shortened(writing, text, limit, at, "long_text"))
