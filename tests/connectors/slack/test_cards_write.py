"""A card becomes messages: text, notification, and as many messages as needed."""

from __future__ import annotations

from typing import Any

from bridge.content.cards.tree import (
    Card,
    Divider,
    Native,
)
from connectors.slack.cards.write import write_card
from tests.connectors.slack.written_cards import (
    FOREIGN,
    INTERACTIVE,
    blocks,
    bodies,
    mrkdwn,
    plain,
    prose,
    section,
    write,
)

# --- messages ---------------------------------------------------------------------------------


def test_a_card_of_paragraphs_alone_is_a_text() -> None:
    written = write(prose("**Hi** there"), prose("> quoted"), summary="")

    assert [message.body for message in written.messages] == [{"text": "*Hi* there\n\n> quoted"}]


def test_the_summary_becomes_the_notification_text() -> None:
    (message,) = write(prose("# Head"), summary="In & short").messages

    assert message.body == {
        "text": "In &amp; short",
        "blocks": [{"type": "header", "text": plain("Head")}],
    }


def test_a_card_without_a_summary_uses_its_first_words_as_notification_text() -> None:
    card = Card((Divider(), prose("- a list & more"), prose("word " * 40)))

    (message,) = write_card(card, INTERACTIVE).messages

    assert message.body["text"] == "a list &amp; more"


def test_a_long_summary_is_cut_in_the_notification_text() -> None:
    (message,) = write(prose("# x"), summary="word " * 60).messages

    assert message.body["text"] == f"{'word ' * 29}word…"


def test_an_empty_card_is_a_message_with_an_ellipsis() -> None:
    written = write(summary="")

    assert [message.body for message in written.messages] == [{"text": "…"}]


def test_more_than_fifty_blocks_continue_in_the_next_message() -> None:
    written_bodies = bodies(*[prose(f"# {number}") for number in range(70)])

    texts = [[block["text"]["text"] for block in body["blocks"]] for body in written_bodies]
    assert texts == [[str(n) for n in range(50)], [str(n) for n in range(50, 70)]]
    assert [body["text"] for body in written_bodies] == ["s", "50"]


def test_text_above_the_message_limit_continues_in_the_next_message() -> None:
    paragraph = "word " * 500
    written_bodies = bodies(*[prose(f"{number} {paragraph}") for number in range(8)])

    assert [len(body["blocks"]) for body in written_bodies] == [4, 4]


# --- native -----------------------------------------------------------------------------------

FEEDBACK: Any = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "f",
            "positive_button": {"text": plain("Good"), "value": "1"},
            "negative_button": {"text": plain("Bad"), "value": "0"},
        }
    ],
}
SLACK = "application/vnd.slack.blocks+json"


def test_valid_native_slack_blocks_are_written_unchanged() -> None:
    assert blocks(Native(SLACK, FEEDBACK, (prose("?"),))) == [FEEDBACK]


def test_invalid_or_foreign_native_payloads_are_written_as_their_fallback() -> None:
    payloads: list[Any] = [
        {**FEEDBACK, "elements": []},
        {"type": "header", "text": plain("x" * 151)},
        {"type": "section", "text": mrkdwn("<!channel>")},
        {"type": "section", "text": plain("\ud800")},
        {"type": "unheard_of"},
        "text",
    ]

    for payload in payloads:
        assert blocks(Native(SLACK, payload, (prose("# so"),))) == [
            {"type": "header", "text": plain("so")}
        ]
    assert blocks(Native("application/x", FEEDBACK, (prose("so"),))) == [section("so")]
    assert blocks(Native(SLACK, FEEDBACK, (prose("so"),)), rendering=FOREIGN) == [section("so")]


def test_a_native_block_with_a_repeated_action_id_is_written_as_its_fallback() -> None:
    first, second = blocks(Native(SLACK, FEEDBACK), Native(SLACK, FEEDBACK, (prose("so"),)))

    assert (first, second) == (FEEDBACK, section("so"))
