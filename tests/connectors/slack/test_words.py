"""A form that Slack refuses is posted as text, in the same message."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.model import Call, OperationId
from connectors.slack.capabilities import TEXT_LIMIT
from connectors.slack.ids import channel_ref
from connectors.slack.words import in_words

Body = dict[str, JsonValue]
CARD: Body = {
    "text": "Deploy", "channel": "C1",
    "blocks": [
        {"type": "header", "text": {"type": "plain_text", "text": "Deploy"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "to *all* <!channel>"}},
        {"type": "actions", "elements": [
            {"type": "button", "action_id": "t", "text": {"type": "plain_text", "text": "Go"}},
        ]},
    ],
}  # fmt: skip


def call(body: Body, kind: str = "post") -> Call:
    return Call(
        kind=kind,  # type: ignore[arg-type]
        method="chat.postMessage", operation=OperationId("o"), slot=2,
        channel=channel_ref("T1", "C1"), body={**body, "kept": "as it is"},
    )  # fmt: skip


def test_the_plain_form_has_the_text_and_no_blocks() -> None:
    simpler = in_words(call(CARD))

    assert simpler
    assert simpler.slot == 2
    assert "blocks" not in simpler.body
    assert simpler.body["kept"] == "as it is"
    assert all(word in str(simpler.body["text"]) for word in ("Deploy", "all", "Go"))
    assert "<!channel>" not in str(simpler.body["text"])


def test_the_plain_form_of_an_edit_removes_the_blocks() -> None:
    simpler = in_words(call(CARD, "edit"))

    assert simpler
    assert simpler.body.items() >= {"blocks": [], "attachments": []}.items()


def test_the_plain_form_is_cut_at_the_text_limit() -> None:
    block: JsonValue = {"type": "markdown", "text": "word " * TEXT_LIMIT}
    simpler = in_words(call({"text": "", "blocks": [block]}))

    assert simpler
    assert len(str(simpler.body["text"])) <= TEXT_LIMIT
    assert str(simpler.body["text"]).endswith("…")


def test_plain_text_has_no_further_plain_form() -> None:
    assert in_words(call({"text": "hi"})) is None
