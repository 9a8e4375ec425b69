"""Deliveries become calls, and calls lines, for what a connection can carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.cards.reader import Cards
from bridge.content.cards.rendering import public_url
from bridge.content.cards.tree import Asset
from bridge.model import (
    AccountId,
    AddReaction,
    Byline,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    MessageId,
    OperationId,
    PinMessage,
    PostMessage,
    QuotedMessage,
    Receipt,
    RoomId,
    UnpinMessage,
)
from bridge.ports.files import Files
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart
from connectors.irc import compose, ids
from connectors.irc.bylines import GAP
from connectors.irc.caps import Multiline
from connectors.irc.encode import REDACT, encode, paste_bytes
from connectors.irc.form import Form
from connectors.irc.wire import parse, size_without_tags
from connectors.irc.words import in_words

TARGET = "#general"
CHANNEL = ids.channel_ref("net", TARGET)
ROOMY = Form(mask=20)
MODERN = Form(mask=20, multiline=Multiline(4096, 100), redacts=True, replies=True)
ANN = f"<A{GAP}nn> "
IDS: dict[str, Any] = {
    "id": OperationId("op"), "account": AccountId("irc"), "channel": CHANNEL,
    "room": RoomId("room"), "message": MessageId("x:y:z:1"),
}  # fmt: skip


def delivery(
    text: str, kind: type[PostMessage | EditMessage] = PostMessage, **more: Any
) -> Delivery:
    message = Message(
        message_id="x:y:z:1", timestamp="2026-11-25T00:00:00.000Z",
        actor=Actor(id="x:y:ann", role="human", name="Ann"), content=(TextPart(text=text),),
    )  # fmt: skip
    return Delivery(operation=kind(**IDS, byline=Byline(name="Ann")), message=message, **more)


def lines_of(calls: Sequence[Call], form: Form = ROOMY) -> list[str]:
    found: list[str] = []
    for call in calls:
        for raw in compose.message(call, form, TARGET).lines:
            assert size_without_tags(raw) <= 512
            line = parse(raw)
            assert line is not None
            found += [line.last] if line.command == "PRIVMSG" else []
    return found


def test_each_line_is_a_message_under_the_authors_name() -> None:
    encoded = encode(delivery("**one**\ntwo"), ROOMY)

    assert lines_of(encoded.calls) == [f"{ANN}\x02one\x0f", f"{ANN}two"]
    assert [call.slot for call in encoded.calls] == [0, 1]


def test_several_lines_are_one_message_on_a_server_with_multiline() -> None:
    (call,) = encode(delivery("one\ntwo"), MODERN).calls

    composed = compose.message(call, MODERN, TARGET, label="L", batch="b")
    assert [raw.decode().rstrip() for raw in composed.lines] == [
        "@label=L BATCH +b draft/multiline #general",
        f"@batch=b PRIVMSG #general :{ANN}one",
        "@batch=b PRIVMSG #general two",
        "BATCH -b",
    ]
    assert composed.together


def test_a_long_line_is_split_so_that_the_server_joins_it_again() -> None:
    words = " ".join(f"word{n}" for n in range(200))
    (call,) = encode(delivery(words), MODERN).calls
    composed = compose.message(call, MODERN, TARGET)

    assert composed.first == f"{ANN}{words}"
    assert sum(b"multiline-concat" in line for line in composed.lines) > 1
    assert all(size_without_tags(line) <= 512 for line in composed.lines)


def test_a_multiline_call_is_sent_as_single_lines_on_a_server_without_multiline() -> None:
    (call,) = encode(delivery("one\ntwo"), MODERN).calls

    assert lines_of([call], ROOMY) == [f"{ANN}one", f"{ANN}two"]


def test_an_author_with_a_connection_of_their_own_needs_no_name() -> None:
    (call,) = encode(delivery("hi"), ROOMY).calls

    assert compose.message(call, ROOMY, TARGET, bare=True).lines == (b"PRIVMSG #general hi\r\n",)


def test_a_call_made_for_a_shorter_mask_loses_no_text() -> None:
    (call, *_) = encode(delivery("x" * 2000), ROOMY).calls
    longer = Form(mask=100)

    lines = compose.message(call, longer, TARGET).lines
    assert all(len(line) + 1 + longer.mask + 1 <= 512 for line in lines)
    assert b"".join(line.split(b"> ", 1)[1].rstrip() for line in lines) == (
        str(call.body["lines"][0]).encode()  # type: ignore[index]
    )


@given(st.text(max_size=1500), st.booleans())
def test_any_text_fits_into_lines_of_512_bytes(text: str, modern: bool) -> None:
    form = MODERN if modern else ROOMY
    for call in encode(delivery(text), form).calls:
        for raw in compose.message(call, form, TARGET).lines:
            size = size_without_tags(raw) + 1 + form.mask + 1
            assert size <= 512 or not raw.startswith(b"PRIVMSG")
            assert raw.count(b"\n") == 1


def test_a_reply_has_a_tag_or_a_quote() -> None:
    quoted = QuotedMessage(author="Bob", excerpt="shall we meet?", native_id="m1")
    (tagged,) = encode(delivery("yes", quoted=quoted), MODERN).calls

    (line,) = compose.message(tagged, MODERN, TARGET).lines
    assert line.startswith(b"@+reply=m1;+draft/reply=m1 PRIVMSG")
    assert lines_of([tagged], ROOMY) == [f"{ANN}↪ B{GAP}ob “shall we meet?”: yes"]


def test_a_text_emphasised_as_a_whole_is_an_action() -> None:
    (call,) = encode(delivery("*waves*"), ROOMY).calls

    assert lines_of([call]) == [f"\x01ACTION A{GAP}nn waves\x01"]


def test_an_edit_posts_the_whole_message_again_in_slots_of_its_own() -> None:
    original = Receipt(slot=0, native_id="m1")
    calls = encode(delivery("typo\nfixed", EditMessage, copies=(original,)), ROOMY).calls

    assert lines_of(calls) == [f"{ANN}(edited) typo", f"{ANN}fixed"]
    first = ids.correction_slot(OperationId("op"))
    assert [(call.kind, call.slot) for call in calls] == [("post", first), ("post", first + 1)]


def test_an_interrupted_edit_continues_where_it_stopped() -> None:
    original = Receipt(slot=0, native_id="m1")
    edit = delivery("typo\nfixed", EditMessage, copies=(original,))
    calls = encode(edit, ROOMY).calls
    first_line = Receipt(slot=calls[0].slot, native_id="m2")

    continued = edit.model_copy(update={"copies": (original, first_line)})

    assert encode(continued, ROOMY).calls == calls[1:]


def test_another_edit_of_the_message_has_other_slots() -> None:
    slots = {ids.correction_slot(OperationId(f"edit {number}")) for number in range(1000)}

    assert len(slots) == 1000
    assert 0 not in slots


def test_an_edit_of_a_message_without_copies_is_a_post() -> None:
    (call,) = encode(delivery("hi", EditMessage), ROOMY).calls

    assert (call.kind, call.slot, lines_of([call])) == ("post", 0, [f"{ANN}hi"])


def test_a_deletion_is_a_redaction_or_a_loss() -> None:
    copies = (Receipt(slot=0, native_id="m1"), Receipt(slot=1, native_id="m2"))
    deletion = Delivery(
        operation=DeleteMessage(**IDS), message=delivery("x").message, copies=copies
    )

    calls = encode(deletion, MODERN).calls
    assert [(call.method, call.native_id) for call in calls] == [(REDACT, "m1"), (REDACT, "m2")]
    assert compose.mark(calls[0], TARGET).lines == (b"REDACT #general m1\r\n",)
    plain = encode(deletion, ROOMY)
    assert (plain.calls, [loss.kind for loss in plain.losses]) == ((), ["deletion_not_shown"])


def test_a_reaction_is_a_tag_on_the_first_copy() -> None:
    stands = (Receipt(slot=0, native_id="m1"),)
    reaction = Delivery(
        operation=AddReaction(**IDS, emoji="👍"), message=delivery("x").message, copies=stands
    )

    (call,) = encode(reaction, MODERN).calls
    (line,) = compose.mark(call, TARGET).lines
    assert line.decode() == "@+draft/react=👍;+reply=m1;+draft/reply=m1 TAGMSG #general\r\n"


@pytest.mark.parametrize("mark", [PinMessage, UnpinMessage])
def test_a_pin_is_a_loss_so_that_a_note_names_it(
    mark: type[PinMessage | UnpinMessage],
) -> None:
    stands = (Receipt(slot=0, native_id="m1"),)
    pinned = Delivery(operation=mark(**IDS), message=delivery("x").message, copies=stands)

    encoded = encode(pinned, MODERN)

    assert (encoded.calls, [loss.kind for loss in encoded.losses]) == ((), ["pin_unknown"])


def test_every_line_counts_against_the_pace() -> None:
    (call,) = encode(delivery("one\ntwo\nthree"), MODERN).calls

    assert len(call.rate_limits) == 3


# --- long texts -----------------------------------------------------------------------------


class NoBlobs:
    """Only addresses are assets for here."""


def files(url: str) -> Files:
    return Files(NoBlobs(), NoBlobs(), lambda asset: url if asset.file_id else public_url(asset))  # type: ignore[arg-type]


LONG = "\n".join(f"line {n}" for n in range(30))


def test_a_long_text_ends_with_a_link_to_all_of_it() -> None:
    calls = encode(
        delivery(LONG), ROOMY, files=files("https://b.example/files/t/message.txt")
    ).calls

    lines = lines_of(calls)
    assert len(lines) == ROOMY.max_lines
    assert lines[-1] == f"{ANN}… 23 more lines: https://b.example/files/t/message.txt"
    assert calls[0].body["paste"] == LONG


def test_a_long_text_is_posted_whole_without_a_link() -> None:
    assert len(encode(delivery(LONG), ROOMY).calls) == 30
    assert len(encode(delivery(LONG), ROOMY, files=files("")).calls) == 30


def test_the_link_of_a_long_text_names_the_stored_bytes() -> None:
    assets: list[Asset] = []

    def url_of(asset: Asset) -> str:
        assets.append(asset)
        return "https://b.example/x"

    given = Files(NoBlobs(), NoBlobs(), url_of)  # type: ignore[arg-type]
    encode(delivery(LONG), ROOMY, files=given)

    assert assets[0].size == len(paste_bytes(LONG))
    assert assets[0].file_id.startswith("blob:sha256-")


# --- cards ----------------------------------------------------------------------------------

CARD = {
    "type": "card",
    "nodes": [
        {"type": "prose", "text": "Deploy **now**?"},
        {"type": "text_input", "id": "why", "label": "Why"},
        {"type": "actions", "items": [
            {"type": "button", "label": "Yes", "id": "yes", "does": "submit"},
            {"type": "button", "label": "Docs", "does": "open", "url": "https://example.com/"},
        ]},
    ],
}  # fmt: skip


def card_delivery(author: str) -> Delivery:
    part = StructuredDataPart(schema_id="application/vnd.uacs.card+json", data=CARD)  # type: ignore[arg-type]
    message = Message(
        message_id="agent:helper:1", timestamp="2026-11-25T00:00:00.000Z",
        actor=Actor(id=author, role="assistant", name="helper"), content=(part,),
    )  # fmt: skip
    operation = PostMessage(**IDS, byline=Byline(name="helper", agent=True))
    return Delivery(operation=operation, message=message)


def test_a_card_is_text_and_its_actions_have_numbers() -> None:
    calls = encode(card_delivery("agent:helper"), ROOMY, Cards({}, bytes(32))).calls

    lines = [line.partition("> ")[2] for line in lines_of(calls)]
    code = ids.card_code("agent:helper:1")
    assert lines == [
        "Deploy \x02now\x0f?",
        "\x02Why\x0f",
        "[Yes] Docs (example.com) (https://example.com/)",
        f"Answer with !1 (Why: your words), !2 (Yes), or !1 {code} ... for this card",
    ]
    assert calls[-1].body["card"] == code


def test_actions_that_nobody_receives_have_no_numbers() -> None:
    encoded = encode(card_delivery("slack:T:U"), ROOMY, Cards({}, bytes(32)))

    assert not any("!1" in line for line in lines_of(encoded.calls))
    assert "actions_as_text" in [loss.kind for loss in encoded.losses]


def test_a_call_in_words_has_the_text_without_formatting() -> None:
    (call,) = encode(delivery("**bold** text"), ROOMY).calls

    plain = in_words(call)
    assert plain is not None
    assert lines_of([plain]) == [f"{ANN}bold text"]
    assert in_words(plain) is None


@pytest.mark.parametrize("name", ["a\r\nQUIT", "a\0b", "\x01ACTION"])
def test_a_name_injects_nothing(name: str) -> None:
    found = delivery("hi")
    operation = found.operation.model_copy(update={"byline": Byline(name=name)})
    (call,) = encode(found.model_copy(update={"operation": operation}), ROOMY).calls

    (line,) = compose.message(call, ROOMY, TARGET).lines
    assert line.count(b"\n") == 1
    assert b"\0" not in line
    assert b"\x01" not in line
