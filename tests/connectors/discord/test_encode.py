"""A delivery becomes calls with valid names and texts that ping nobody."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Card
from bridge.content.text.split import utf16_length
from bridge.model import (
    AccountId,
    AddReaction,
    Byline,
    Call,
    ChannelRef,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    MessageId,
    OperationId,
    PostMessage,
    QuotedMessage,
    RateLimitKey,
    Receipt,
    RoomId,
)
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart
from connectors.discord import cards as codec
from connectors.discord.encode import encode, webhook_name
from connectors.discord.ids import channel_ref
from tests.connectors.discord.payloads import CHANNEL, GUILD, WHERE
from tests.examples import examples

DIRECT = channel_ref(None, CHANNEL)
NOBODY: JsonValue = {"parse": []}
CARDS = Cards.over([codec], bytes(32))  # type: ignore[list-item]


def delivery(
    text: str = "hi",
    *,
    kind: type[Any] = PostMessage,
    name: str = "Ann",
    picture: str | None = None,
    channel: ChannelRef = WHERE,
    **more: Any,
) -> Delivery:
    message = Message(
        message_id="slack:T:C:1",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="slack:T:U", role="human", name=name),
        content=(TextPart(text=text),),
    )
    fields: dict[str, Any] = {"byline": Byline(name=name, picture=picture)}
    if kind is DeleteMessage:
        fields = {}
    if kind is AddReaction:
        fields = {"emoji": "👍"}
    operation = kind(
        id=OperationId("op-1"), account=AccountId("discord"), channel=channel,
        room=RoomId("r"), message=MessageId("slack:T:C:1"), **fields,
    )  # fmt: skip
    return Delivery(operation=operation, message=message, **more)


def contents(encoded: Encoded) -> list[Any]:
    return [call.body.get("content") for call in encoded.calls]


def test_an_empty_message_has_no_feedback_buttons() -> None:
    base = delivery("", feedback=True)
    empty = StructuredDataPart(schema_id=SCHEMA_ID, data=cast("Any", card_to_json(Card(()))))
    message = base.message.model_copy(update={"content": (empty,)})

    encoded = encode(base.model_copy(update={"message": message}), CARDS)

    assert encoded.calls == ()
    assert [loss.kind for loss in encoded.losses] == ["feedback_not_asked"]


def test_a_post_is_one_webhook_call_with_author_name_and_picture() -> None:
    encoded = encode(delivery("**hi**", picture="https://x.yz/a.png"))

    assert encoded == Encoded(
        calls=(
            Call(
                kind="post",
                method="webhook.execute",
                operation=OperationId("op-1"),
                channel=WHERE,
                rate_limits=(
                    RateLimitKey(rule="webhook_execute", of=CHANNEL),
                    RateLimitKey(rule="global", of="discord"),
                ),
                body={
                    "content": "**hi**",
                    "allowed_mentions": NOBODY,
                    "username": "Ann",
                    "avatar_url": "https://x.yz/a.png",
                },
            ),
        )
    )


def test_a_direct_message_is_a_bot_post_with_the_name_in_bold_and_a_nonce() -> None:
    (call,) = encode(delivery("hi", name="Ann *", channel=DIRECT)).calls

    nonce = call.body["nonce"]
    assert isinstance(nonce, str)
    assert len(nonce) <= 25
    assert (call.method, call.body) == (
        "message.create",
        {
            "content": r"**Ann \*:** hi",
            "allowed_mentions": NOBODY,
            "nonce": nonce,
            "enforce_nonce": True,
        },
    )


def test_every_part_of_a_direct_message_has_its_own_nonce() -> None:
    calls = encode(delivery("word " * 900, channel=DIRECT)).calls

    assert len({str(call.body["nonce"]) for call in calls}) == len(calls) == 3


QUOTES: list[tuple[QuotedMessage, str]] = [
    (QuotedMessage(author="Bob", excerpt="who?", native_id="12"),
     f"-# ↪ Bob: https://discord.com/channels/{GUILD}/{CHANNEL}/12\nhi"),
    (QuotedMessage(author="B*b", excerpt="who *are*\nyou"), "-# ↪ B\\*b: who \\*are\\* you\nhi"),
    (QuotedMessage(author="", excerpt="x" * 100), f"-# ↪ ?: {'x' * 79}…\nhi"),
    (QuotedMessage(author="Bob", excerpt=""), "-# ↪ Bob\nhi"),
]  # fmt: skip


@pytest.mark.parametrize(("quoted", "content"), QUOTES)
def test_a_reply_quotes_its_target_in_a_line_of_small_print(
    quoted: QuotedMessage, content: str
) -> None:
    assert contents(encode(delivery(quoted=quoted))) == [content]


def test_a_jump_link_to_a_thread_message_has_the_thread_id() -> None:
    quoted = QuotedMessage(author="Bob", excerpt="", native_id="12")

    (content,) = contents(encode(delivery(quoted=quoted, thread="77")))

    assert content.startswith(f"-# ↪ Bob: https://discord.com/channels/{GUILD}/77/12\n")


def test_an_edit_edits_adds_and_deletes_parts_as_needed() -> None:
    copies = (
        Receipt(slot=0, native_id="1", thread="7"),
        Receipt(slot=1, native_id="2", thread="7"),
    )

    longer = encode(delivery("word " * 900, kind=EditMessage, copies=copies)).calls
    shorter = encode(delivery("word", kind=EditMessage, copies=copies)).calls

    assert [(c.kind, c.slot, c.native_id, c.thread) for c in longer] == [
        ("edit", 0, "1", "7"), ("edit", 1, "2", "7"), ("post", 2, None, "7"),
    ]  # fmt: skip
    assert [(c.kind, c.slot, c.native_id, c.thread) for c in shorter] == [
        ("edit", 0, "1", "7"), ("delete", 1, "2", "7"),
    ]  # fmt: skip
    assert shorter[0].body == {"content": "word", "allowed_mentions": NOBODY}


def test_a_deletion_skips_copies_that_are_deleted() -> None:
    copies = (Receipt(slot=0, native_id="1", deleted=True), Receipt(slot=1, native_id="2"))

    calls = encode(delivery(kind=DeleteMessage, copies=copies)).calls

    assert [(c.method, c.native_id) for c in calls] == [("webhook.delete", "2")]


def test_a_reaction_goes_to_the_first_copy() -> None:
    copies = (Receipt(slot=0, native_id="2", thread="7"), Receipt(slot=1, native_id="3"))

    (call,) = encode(delivery(kind=AddReaction, copies=copies)).calls

    assert (call.kind, call.method, call.native_id, call.thread) == (
        "other", "reaction.add", "2", "7",
    )  # fmt: skip
    assert call.body == {"emoji": "👍"}
    assert [key.rule for key in call.rate_limits] == ["reaction", "global"]


def test_blocks_that_discord_lacks_are_losses() -> None:
    encoded = encode(delivery("| a |\n|---|\n| 1 |\n\n---\n\n##### deep"))

    assert [loss.kind for loss in encoded.losses] == [
        "table_as_code",
        "rule_as_text",
        "heading_level",
    ]


def test_an_empty_text_is_written_as_a_placeholder() -> None:
    assert contents(encode(delivery("  "))) == ["-# (no text)"]


NAMES: list[tuple[str, str]] = [
    ("Ann", "Ann"),
    ("  Ann \n B ", "Ann B"),
    ("", "(no name)"),
    ("\u200b\u2060 ", "(no name)"),
    ("Discord", "Disc\u200aord"),
    ("my dIsCoRd bot", "my dIsC\u200aoRd bot"),
    ("Clyde", "Cly\u200ade"),
    ("everyone", "every\u200aone"),
    ("HERE", "HE\u200aRE"),
    ("here we go", "here we go"),
    ("```", "`\u200a`\u200a`"),
    ("x" * 81, "x" * 79 + "…"),
    ("😀" * 41, "😀" * 39 + "…"),
    ("discording clydeiscord", "disc\u200aording cly\u200adeiscord"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_webhook_names_that_discord_refuses_are_changed(name: str, expected: str) -> None:
    assert webhook_name(name) == expected


@given(st.text(max_size=200) | st.text(st.sampled_from("discorlye ehr`\u200b"), max_size=100))
@settings(max_examples=examples(300))
def test_any_name_becomes_a_valid_webhook_name(name: str) -> None:
    visible_name = webhook_name(name)

    assert 1 <= utf16_length(visible_name) <= 80
    assert visible_name == visible_name.strip()
    assert not any(word in visible_name.lower() for word in ("discord", "clyde", "```"))
    assert visible_name.lower() not in ("everyone", "here")


@given(st.text(st.sampled_from("@everyonehr <>&#!1*_`|\n[]()x:/"), min_size=1, max_size=80))
@settings(max_examples=examples(200))
def test_no_text_pings_or_exceeds_the_limit(text: str) -> None:
    for call in encode(delivery(text * 40, quoted=QuotedMessage(author=text, excerpt=text))).calls:
        content = call.body["content"]
        assert isinstance(content, str)
        assert call.body["allowed_mentions"] == NOBODY
        assert 1 <= len(content) <= 2000
        assert content == content.strip()


def test_an_author_without_a_picture_has_a_default_avatar() -> None:
    def pictured(byline: Byline) -> object:
        base = delivery()
        operation = base.operation.model_copy(update={"byline": byline})
        (call,) = encode(base.model_copy(update={"operation": operation})).calls
        return call.body.get("avatar_url")

    address = "https://cdn.discordapp.com/embed/avatars/1.png"
    assert pictured(Byline(name="Ann", color=7)) == address
    assert pictured(Byline(name="Ann", picture="https://x.yz/a.png", color=7)) != address
    assert pictured(Byline(name="Bridge")) is None
