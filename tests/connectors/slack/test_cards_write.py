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


def test_the_summary_is_what_notifications_say() -> None:
    (message,) = write(prose("# Head"), summary="In & short").messages

    assert message.body == {
        "text": "In &amp; short",
        "blocks": [{"type": "header", "text": plain("Head")}],
    }


def test_without_a_summary_notifications_say_the_first_words() -> None:
    card = Card((Divider(), prose("- a list & more"), prose("word " * 40)))

    (message,) = write_card(card, INTERACTIVE).messages

    assert message.body["text"] == "a list &amp; more"


def test_a_long_summary_is_cut_for_notifications() -> None:
    (message,) = write(prose("# x"), summary="word " * 60).messages

    assert message.body["text"] == f"{'word ' * 29}word…"


def test_a_card_of_nothing_is_still_a_message() -> None:
    written = write(summary="")

    assert [message.body for message in written.messages] == [{"text": "…"}]


def test_more_than_fifty_blocks_go_on_in_the_next_message() -> None:
    written_bodies = bodies(*[prose(f"# {number}") for number in range(70)])

    texts = [[block["text"]["text"] for block in body["blocks"]] for body in written_bodies]
    assert texts == [[str(n) for n in range(50)], [str(n) for n in range(50, 70)]]
    assert [body["text"] for body in written_bodies] == ["s", "50"]


def test_more_than_a_message_of_characters_goes_on_in_the_next() -> None:
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


def test_sound_blocks_of_slack_go_home_as_they_are() -> None:
    assert blocks(Native(SLACK, FEEDBACK, (prose("?"),))) == [FEEDBACK]


def test_other_payloads_are_what_stands_for_them() -> None:
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


def test_an_id_that_is_taken_is_not_taken_again() -> None:
    first, second = blocks(Native(SLACK, FEEDBACK), Native(SLACK, FEEDBACK, (prose("so"),)))

    assert (first, second) == (FEEDBACK, section("so"))
