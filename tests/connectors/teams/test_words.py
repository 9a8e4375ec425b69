"""A call whose form Teams refuses becomes plain text in the same message."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.model import Call, OperationId
from connectors.teams.capabilities import TEXT_LIMIT
from connectors.teams.ids import channel_ref
from connectors.teams.words import in_words

Body = dict[str, JsonValue]
CARD: Body = {
    "type": "message", "textFormat": "markdown", "text": "**Ann**",
    "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": {
        "type": "AdaptiveCard", "version": "1.5",
        "body": [{"type": "TextBlock", "text": "Deploy to all"}],
        "actions": [{"type": "Action.Submit", "title": "Go"}],
    }}],
}  # fmt: skip


def call(body: Body, kind: str = "post") -> Call:
    return Call(
        kind=kind,  # type: ignore[arg-type]
        method="POST", operation=OperationId("o"), slot=2, channel=channel_ref("T1", "C1"),
        body={**body, "kept": "as it is"},
    )  # fmt: skip


def test_the_plain_form_has_the_text_and_no_attachments() -> None:
    simpler = in_words(call(CARD))

    assert simpler
    assert simpler.slot == 2
    assert "attachments" not in simpler.body
    assert simpler.body["kept"] == "as it is"
    assert all(word in str(simpler.body["text"]) for word in ("Deploy", "all", "Go"))
    assert "<!channel>" not in str(simpler.body["text"])


def test_the_plain_form_of_an_edit_is_text() -> None:
    simpler = in_words(call(CARD, "edit"))

    assert simpler
    assert simpler.body.items() >= {}.items()


def test_the_plain_form_is_cut_at_the_text_limit() -> None:
    text: JsonValue = "word " * TEXT_LIMIT
    simpler = in_words(call({"text": text, "attachments": [{"text": "more"}]}))

    assert simpler
    assert len(str(simpler.body["text"])) <= TEXT_LIMIT
    assert str(simpler.body["text"]).endswith("…")


def test_plain_text_has_no_further_plain_form() -> None:
    assert in_words(call({"text": "hi"})) is None
