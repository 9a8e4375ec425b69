"""A delivery becomes calls that Slack accepts, that notify nobody, and that are stable."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.cards.bodies import Body
from bridge.content.cards.reader import Cards
from bridge.content.markdown import markdown_to_text
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.model import (
    FIRST_SLOT_OF_FILES,
    AccountId,
    AddReaction,
    Byline,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    Loss,
    MessageId,
    Operation,
    OperationId,
    PinMessage,
    PostMessage,
    QuotedMessage,
    RateLimitKey,
    Receipt,
    RemoveReaction,
    RoomId,
    UnpinMessage,
)
from bridge.ports.fetch import Fetched
from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import Actor, Message, TextPart, read_message
from connectors.slack import cards
from connectors.slack.capabilities import CAPABILITIES, NOTIFICATION, TEXT_LIMIT
from connectors.slack.encode import encode
from connectors.slack.feedback import with_question
from connectors.slack.ids import channel_ref
from connectors.slack.status import working_call
from connectors.slack.streams import METHODS as STREAMS
from connectors.slack.text import text_to_mrkdwn
from tests.examples import examples

Json = dict[str, Any]
CHANNEL = channel_ref("T1", "C1")
COMMON: dict[str, Any] = {
    "id": OperationId("op-1"),
    "account": AccountId("acme"),
    "channel": CHANNEL,
    "room": RoomId("lobby"),
    "message": MessageId("discord:G1:D1:7"),
}
ANN = Byline(name="Ann", picture="https://p.test/ann.png")
LONG = "A sentence of words. " * 400


def message(text: str) -> Message:
    return Message(
        message_id="discord:G1:D1:7",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="discord:G1:U1", role="human", name="Ann"),
        content=(TextPart(text=text),),
    )


def post(text: str, byline: Byline = ANN, **more: Any) -> Encoded:
    operation = PostMessage(byline=byline, **COMMON)
    return encode(Delivery(operation=operation, message=message(text), **more))


def edit(text: str, *copies: Receipt, **more: Any) -> Encoded:
    operation = EditMessage(byline=ANN, **COMMON)
    return encode(Delivery(operation=operation, message=message(text), copies=copies, **more))


def copy(slot: int, **more: Any) -> Receipt:
    return Receipt(slot=slot, native_id=f"1700000000.{slot:06}", **more)


def test_a_post_has_its_author_and_operation_id() -> None:
    encoded = post("**hi** Bob", thread="1700000000.000100")

    assert encoded == Encoded(
        calls=(
            Call(
                kind="post",
                method="chat.postMessage",
                operation=OperationId("op-1"),
                channel=CHANNEL,
                thread="1700000000.000100",
                rate_limits=(
                    RateLimitKey(rule="post_per_channel", of="acme:C1"),
                    RateLimitKey(rule="post_per_workspace", of="acme"),
                ),
                body={
                    "channel": "C1",
                    "text": "*hi* Bob",
                    "username": "Ann",
                    "icon_url": "https://p.test/ann.png",
                    "mrkdwn": True,
                    "parse": "none",
                    "link_names": False,
                    "unfurl_links": False,
                    "unfurl_media": True,
                    "metadata": {
                        "event_type": "uacs_bridge_operation",
                        "event_payload": {"operation": "op-1", "slot": 0},
                    },
                    "thread_ts": "1700000000.000100",
                },
            ),
        )
    )


def test_an_edit_updates_the_existing_copy() -> None:
    (call,) = edit("new", copy(0, thread="1.2")).calls

    assert (call.kind, call.method, call.native_id) == ("edit", "chat.update", "1700000000.000000")
    assert call.thread == "1.2"
    assert call.rate_limits == (RateLimitKey(rule="update_per_workspace", of="acme"),)
    assert call.body == {
        "channel": "C1", "ts": "1700000000.000000", "text": "new", "mrkdwn": True,
        "parse": "none", "link_names": False,
        "attachments": [],  # the copy may have been a card
    }  # fmt: skip


def test_a_longer_edit_posts_further_parts() -> None:
    calls = edit(LONG, copy(0)).calls

    assert [(call.kind, call.slot) for call in calls] == [("edit", 0), ("post", 1), ("post", 2)]


def test_a_shorter_edit_deletes_surplus_parts() -> None:
    calls = edit("short", copy(0), copy(1), copy(2)).calls

    assert [(call.kind, call.slot) for call in calls] == [
        ("edit", 0), ("delete", 1), ("delete", 2)
    ]  # fmt: skip


def test_a_copy_deleted_by_a_person_is_not_edited() -> None:
    assert edit("new", copy(0, deleted=True)).calls == ()


def test_a_deletion_deletes_every_remaining_copy() -> None:
    operation = DeleteMessage(**COMMON)
    copies = (copy(0), copy(1, deleted=True), copy(2))

    calls = encode(Delivery(operation=operation, message=message("x"), copies=copies)).calls

    assert [(c.method, c.body) for c in calls] == [
        ("chat.delete", {"channel": "C1", "ts": "1700000000.000000"}),
        ("chat.delete", {"channel": "C1", "ts": "1700000000.000002"}),
    ]


def marked(operation: Operation, *copies: Receipt) -> Encoded:
    return encode(Delivery(operation=operation, message=message("x"), copies=copies))


def test_reactions_and_pins_go_to_the_first_copy() -> None:
    on = {"channel": "C1", "timestamp": "1700000000.000000"}
    expected: list[tuple[Operation, str, dict[str, str]]] = [
        (AddReaction(emoji="👍", **COMMON), "reactions.add", {**on, "name": "+1"}),
        (RemoveReaction(emoji="👋🏼", **COMMON), "reactions.remove",
         {**on, "name": "wave::skin-tone-3"}),
        (AddReaction(emoji=":party:", **COMMON), "reactions.add", {**on, "name": "party"}),
        (PinMessage(**COMMON), "pins.add", on),
        (UnpinMessage(**COMMON), "pins.remove", on),
    ]  # fmt: skip
    for operation, method, body in expected:
        (call,) = marked(operation, copy(0), copy(1)).calls

        assert (call.kind, call.method, call.body) == ("other", method, body)
        assert {key.rule for key in call.rate_limits} == {method}


def test_an_emoji_without_a_name_is_a_loss() -> None:
    loss = Loss(path="", kind="reaction_unknown", what="no emoji", shown_as="a note")

    encoded = marked(AddReaction(emoji="no emoji", **COMMON), copy(0))

    assert encoded == Encoded(calls=(), losses=(loss,))


def test_only_the_post_of_a_broadcast_reply_is_broadcast() -> None:
    operation = PostMessage(byline=ANN, broadcast=True, **COMMON)
    delivery = Delivery(operation=operation, message=message("all of you"), thread="1700.1")

    (broadcast,) = encode(delivery).calls
    (unthreaded,) = encode(delivery.model_copy(update={"thread": None})).calls
    (plain,) = post("some of you", thread="1700.1").calls

    assert (broadcast.body["thread_ts"], broadcast.body["reply_broadcast"]) == ("1700.1", True)
    assert "reply_broadcast" not in {**plain.body, **unthreaded.body}


def test_a_reply_quotes_the_message_that_it_answers() -> None:
    quoted = QuotedMessage(author="Bob *B*", excerpt="shall we\n\n> go <!here>?")

    (call,) = post("yes", quoted=quoted).calls

    assert call.body["text"] == "> *Bob ∗B∗*: shall we &gt; go &lt;!here&gt;?\nyes"


def test_a_long_excerpt_ends_in_an_ellipsis() -> None:
    (call,) = post("yes", quoted=QuotedMessage(author="Bob", excerpt="word " * 100)).calls

    quote = str(call.body["text"]).split("\n")[0]
    assert quote.endswith("word…")
    assert len(quote) < 220


def test_every_part_of_a_long_post_has_the_author_and_a_slot() -> None:
    calls = post(LONG).calls

    assert len(calls) == 3
    assert [call.slot for call in calls] == [0, 1, 2]
    assert [call.body["username"] for call in calls] == ["Ann", "Ann", "Ann"]
    assert " ".join(str(call.body["text"]) for call in calls).split() == LONG.split()


def test_split_code_is_closed_and_reopened() -> None:
    calls = post("```py\n" + "print('x < y')\n" * 500 + "```").calls

    assert len(calls) > 1
    assert all(str(c.body["text"]).startswith("```\n") for c in calls)
    assert all(str(c.body["text"]).endswith("\n```") for c in calls)


def rich(
    *parts: Json, quoted: QuotedMessage | None = None, files: Files | None = None,
    edit: EditMessage | None = None, copies: tuple[Receipt, ...] = (),
) -> Encoded:  # fmt: skip
    document = orjson.loads(message("see").model_dump_json())
    card = read_message(orjson.dumps({**document, "content": parts}))
    operation = edit or PostMessage(byline=ANN, **COMMON)
    delivery = Delivery(operation=operation, message=card, quoted=quoted, copies=copies)
    return encode(delivery, Cards.over([cards], bytes(32)), files)


class NoFetcher:
    """A fetcher that fails: encoding fetches nothing."""

    async def fetch(self, url: str, **_more: Any) -> Fetched:
        raise AssertionError(url)

    async def close(self) -> None:
        return


def test_a_file_with_a_url_is_a_link_below_the_text() -> None:
    link = {"url": "https://f.test/a.pdf"}
    encoded = rich(
        {"type": "text", "text": "see"},
        {"type": "file", "source": link, "media_type": "application/pdf"},
    )

    (call,) = encoded.calls
    assert "https://f.test/a.pdf" in orjson.dumps(call.body).decode()
    assert call.body["username"] == "Ann"
    assert encoded.losses


def test_native_blocks_are_sent_home_unchanged() -> None:
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": "Hi"}, "block_id": "b1"}]
    encoded = rich(
        {
            "type": "structured_data", "schema_id": "application/vnd.slack.blocks+json",
            "data": blocks,
        }
    )  # fmt: skip

    (call,) = encoded.calls
    assert call.body["blocks"] == blocks
    assert encoded.losses == ()


def test_foreign_native_buttons_are_not_sent_as_buttons() -> None:
    button = {
        "type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "Approve"}
    }  # fmt: skip
    encoded = rich(
        {
            "type": "structured_data", "schema_id": "application/vnd.slack.blocks+json",
            "data": [{"type": "actions", "elements": [button]}],
        }
    )  # fmt: skip

    (call,) = encoded.calls
    assert '"action_id":"a"' not in orjson.dumps(call.body).decode()
    assert [loss.kind for loss in encoded.losses] == ["foreign_action"]
    assert "Approve" in orjson.dumps(call.body).decode()


def test_a_rich_reply_quotes_its_target_above_the_card() -> None:
    card = {"type": "card", "nodes": ["# Plan", {"type": "divider"}, "text"]}
    encoded = rich(
        {"type": "structured_data", "schema_id": "application/vnd.uacs.card+json", "data": card},
        quoted=QuotedMessage(author="Bob", excerpt="which plan?"),
    )

    (call,) = encoded.calls
    first = orjson.dumps(call.body["blocks"]).decode()
    assert first.index("which plan?") < first.index("Plan", first.index("which plan?") + 12)


def test_stored_files_are_shared_in_a_separate_message() -> None:
    stored = {"file_id": "blob:sha256-" + "0" * 64}
    encoded = rich(
        {"type": "text", "text": "see"},
        {"type": "image", "source": stored, "media_type": "image/png"},
        files=Files(MemoryBlobs(SystemClock()), NoFetcher()),
    )

    text_call, shared = encoded.calls
    assert (text_call.slot, text_call.method) == (0, "chat.postMessage")
    assert (shared.slot, shared.method) == (FIRST_SLOT_OF_FILES, "files.completeUploadExternal")
    assert [file.file_id for file in shared.files] == [stored["file_id"]]
    assert shared.body["initial_comment"] == "*Ann*"


@pytest.mark.parametrize("changed", [True, False])
def test_an_edit_shares_only_changed_files_again(*, changed: bool) -> None:
    stored = {"file_id": "blob:sha256-" + "0" * 64}
    encoded = rich(
        {"type": "text", "text": "see"},
        {"type": "image", "source": stored, "media_type": "image/png"},
        files=Files(MemoryBlobs(SystemClock()), NoFetcher()),
        edit=EditMessage(byline=ANN, files_changed=changed, **COMMON),
        copies=(copy(0), copy(FIRST_SLOT_OF_FILES)),
    )

    calls = [(call.kind, call.slot) for call in encoded.calls]
    anew = [("delete", FIRST_SLOT_OF_FILES), ("post", FIRST_SLOT_OF_FILES)]
    assert calls == [("edit", 0), *(anew if changed else [])]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_an_empty_stream_is_posted_as_an_ellipsis(text: str) -> None:
    (call,) = post(text).calls

    assert call.body["text"] == "…"


NAMES = {
    "Ann": "Ann",
    "  Ann \n Lee ": "Ann Lee",
    "": "somebody",
    "\t": "somebody",
    "x" * 200: "x" * 79 + "…",
    "👩‍👩‍👧" * 30: "👩‍👩‍👧" * 15 + "…",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_author_name_fits_slacks_limit(name: str) -> None:
    (call,) = post("hi", Byline(name=name)).calls

    assert call.body["username"] == NAMES[name]
    assert len(str(call.body["username"])) <= 80


@pytest.mark.parametrize(
    "picture", [None, "blob:sha256-1", "data:image/png;base64,AA", "file:///etc"]
)
def test_only_a_web_url_is_an_author_picture(picture: str | None) -> None:
    (call,) = post("hi", Byline(name="Ann", picture=picture)).calls

    assert "icon_url" not in call.body


def test_every_rate_limit_of_a_call_is_declared() -> None:
    calls = [*post(LONG).calls, *edit(LONG, copy(0)).calls, *edit("x", copy(0), copy(1)).calls]
    operations: list[Operation] = [
        AddReaction(emoji="👍", **COMMON), RemoveReaction(emoji="👍", **COMMON),
        PinMessage(**COMMON), UnpinMessage(**COMMON),
    ]  # fmt: skip
    calls += [call for mark in operations for call in marked(mark, copy(0)).calls]

    account, channel = COMMON["account"], COMMON["channel"]
    working = working_call(account, channel, "1700000000.000100", ANN, "is thinking…")
    assert working
    named = {key.rule for call in [*calls, working] for key in call.rate_limits}
    assert named | set(STREAMS) == set(CAPABILITIES.rate_limits)


_TEXTS = st.text(
    st.sampled_from("ab *_~`<>&|!@#:[]()\n-") | st.characters(exclude_categories=["Cs"]),
    min_size=1, max_size=60,
)  # fmt: skip


@given(_TEXTS, st.integers(1, 400))
@settings(max_examples=examples(40))
def test_any_text_fits_slacks_limit_and_is_sent(text: str, times: int) -> None:
    calls = post(text * times).calls

    assert calls
    for call in calls:
        assert 0 < len(str(call.body["text"])) <= TEXT_LIMIT
        assert str(call.body["text"]).strip()


@given(_TEXTS)
def test_a_text_within_the_limit_is_one_call(text: str) -> None:
    (call,) = post(text).calls

    whole = text_to_mrkdwn(markdown_to_text(text))
    assert call.body["text"] == (whole if whole.strip() else "…")


@pytest.mark.parametrize("text", ["**hi** Bob", LONG, "`code` & <b>\n\n" * 300])
def test_a_feedback_request_keeps_the_text_and_adds_buttons(text: str) -> None:
    plain, with_feedback = post(text), post(text, feedback=True)

    *first, last = with_feedback.calls
    assert first == list(plain.calls[:-1])
    blocks: Any = last.body["blocks"]
    *sections, question = blocks
    assert question["type"] == "context_actions"
    section_text = " ".join(section["text"]["text"] for section in sections)
    assert section_text.split() == str(plain.calls[-1].body["text"]).split()
    assert all(0 < len(section["text"]["text"]) <= 3000 for section in sections)
    assert last.body["text"] == plain.calls[-1].body["text"]


def test_a_message_with_fifty_blocks_gets_no_feedback_buttons_and_a_loss() -> None:
    blocks: list[Any] = [{"type": "divider"}] * 50
    body = Body({"text": "x", "blocks": blocks})

    unchanged, losses = with_question([body], lambda text: [text])

    assert unchanged == [body]
    assert [loss.kind for loss in losses] == ["feedback_not_asked"]


def test_the_notification_text_is_the_summary_of_the_message() -> None:
    failed = with_bridge_metadata(
        message(LONG), BridgeMetadata(summary="⚠️ bot could not finish this answer")
    )
    operation = PostMessage(byline=ANN, **COMMON)

    first, *others = encode(Delivery(operation=operation, message=failed)).calls

    assert first.body["text"] == "⚠️ bot could not finish this answer"
    assert all(len(str(posted.body["text"])) <= NOTIFICATION for posted in (first, *others))
    assert LONG[:2000] in str(first.body["blocks"])


@pytest.mark.parametrize(
    ("byline", "icon"),
    [
        (Byline(name="Ann", picture="https://x.example/a.png", color=1),
         {"icon_url": "https://x.example/a.png"}),
        (Byline(name="Ann", color=1), {"icon_emoji": ":red_circle:"}),
        (Byline(name="Bridge"), {}),
    ],
)  # fmt: skip
def test_an_author_without_a_picture_has_a_coloured_emoji(
    byline: Byline, icon: dict[str, str]
) -> None:
    (call,) = post("hi", byline=byline).calls
    account, channel = COMMON["account"], COMMON["channel"]
    status = working_call(account, channel, "1700000000.000100", byline, "is thinking…")

    assert status
    for body in (call.body, status.body):
        assert {key: value for key, value in body.items() if key.startswith("icon")} == icon
