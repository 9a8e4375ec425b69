"""Only what pinged somebody on Discord is a mention elsewhere; only counterparts are pinged."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.model import (
    AccountId,
    Byline,
    Counterparts,
    Delivery,
    EditMessage,
    MessageId,
    MessagePosted,
    OperationId,
    Person,
    PostMessage,
    QuotedMessage,
    Receipt,
    RoomId,
    actor_id_of,
    join_key,
)
from bridge.uacs import Actor, Message, TextPart
from connectors.discord import ids
from connectors.discord.decode import decode
from connectors.discord.encode import encode
from connectors.discord.links import address_of, message_at
from tests.connectors.discord import payloads

THERE = ids.channel_ref("700", "800")
ANN = actor_id_of("slack", "T1", "U1")
ANN_THERE = Person(id=actor_id_of("discord", "700", "42"), name="Ann")
TEXT = (
    f"[@Ann](uacs:actor/{ANN}) [@Bob](uacs:actor/slack:T1:U2) [@here](uacs:broadcast/here) "
    "[@ops](uacs:group/slack:T1:S1) \\<@42\\> `<@42>`"
)


SHARED: dict[str, Any] = {
    "id": OperationId("1"), "account": AccountId("d"), "channel": THERE, "room": RoomId("r"),
    "message": MessageId("slack:T1:C1:1.0"),
}  # fmt: skip
DIRECT: dict[str, Any] = {**SHARED, "channel": ids.channel_ref(None, "800")}


def message_of(text: str) -> Message:
    return Message(
        message_id="slack:T1:C1:1.0",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="slack:T1:U9", role="human", name="Cara"),
        content=(TextPart(text=text),),
    )


def sent(counterparts: Counterparts, text: str = TEXT, **more: Any) -> dict[str, Any]:
    operation = PostMessage(**SHARED, byline=Byline(name="Cara"))
    delivery = Delivery(
        operation=operation, message=message_of(text), counterparts=counterparts, **more
    )
    (call,) = encode(delivery).calls
    return call.body


def test_without_counterparts_nobody_is_pinged() -> None:
    body = sent(Counterparts())

    assert body["allowed_mentions"] == {"parse": []}
    assert str(body["content"]).startswith("@Ann @Bob @\u200bhere @ops ")


def test_only_mentions_with_a_counterpart_ping() -> None:
    groups = {join_key("slack", "T1", "S1"): join_key("discord", "700", "99")}
    body = sent(Counterparts(people={ANN: ANN_THERE}, groups=groups))

    assert body["allowed_mentions"] == {"parse": [], "users": ["42"], "roles": ["99"]}
    assert str(body["content"]).startswith("<@42> @Bob @\u200bhere <@&99> \\<@42>")


def test_everyone_is_mentioned_when_the_channel_allows_it() -> None:
    body = sent(Counterparts(everyone=True))

    assert body["allowed_mentions"] == {"parse": ["everyone"]}
    assert " @here " in str(body["content"])


HERE: list[tuple[str, str]] = [
    ("@here", r"\@here"),
    ("hello (@here)", r"hello (\@here)"),
    ("# @here", r"# \@here"),
    ("**@here**", r"**\@here**"),
    ("- @here", r"- \@here"),
    ("> @here", r"> \@here"),
    ("[@here](https://x.yz)", r"[\@here](https://x.yz)"),
    (f"[@here](uacs:actor/{ANN})", "@\u200bhere"),
    ("[@here](uacs:group/slack:T1:S1)", "@\u200bhere"),
]


@pytest.mark.parametrize(("text", "content"), HERE)
def test_a_typed_here_is_escaped_even_when_everyone_may_be_mentioned(
    text: str, content: str
) -> None:
    body = sent(Counterparts(everyone=True), text)

    assert body["allowed_mentions"] == {"parse": ["everyone"]}
    assert body["content"] == content


def test_a_typed_here_is_escaped_in_a_quoted_line() -> None:
    quoted = QuotedMessage(author="@here", excerpt="@here")

    body = sent(Counterparts(everyone=True), "hi", quoted=quoted)

    assert body["content"] == "-# ↪ \\@here: \\@here\nhi"


@pytest.mark.parametrize("text", ["@here", "[@here](uacs:broadcast/here)", "`@here`"])
@pytest.mark.parametrize("counterparts", [Counterparts(), Counterparts(people={ANN: ANN_THERE})])
def test_allowed_mentions_forbid_a_here_unless_everyone_may_be_mentioned(
    text: str, counterparts: Counterparts
) -> None:
    body = sent(counterparts, text)

    assert body["allowed_mentions"]["parse"] == []


@pytest.mark.parametrize(
    "operation",
    [
        PostMessage(**SHARED, byline=Byline(name="Cara")),
        PostMessage(**DIRECT, byline=Byline(name="Cara")),
        PostMessage(**SHARED, byline=Byline(name="Cara"), answers="1:token"),
        EditMessage(**SHARED, byline=Byline(name="Cara")),
    ],
    ids=["post", "direct message", "answer", "edit"],
)
def test_every_call_with_text_forbids_pings_in_allowed_mentions(
    operation: PostMessage | EditMessage,
) -> None:
    copies = (Receipt(slot=0, native_id="1"),) if isinstance(operation, EditMessage) else ()
    message = message_of("@here")

    (call,) = encode(Delivery(operation=operation, message=message, copies=copies)).calls

    assert call.body["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"mention_roles": ["99"]}, "[@99](uacs:group/"),
        ({"mention_roles": []}, "@99"),
        ({"mention_everyone": True}, "[@everyone](uacs:broadcast/everyone)"),
        ({"mention_everyone": False}, "@everyone"),
    ],
)
def test_a_role_or_everyone_mention_needs_the_authors_permission(
    more: dict[str, Any], text: str
) -> None:
    content = "<@&99>" if "mention_roles" in more else "@everyone"
    raw = payloads.raw(payloads.message(content=content, **more))

    (event,) = decode(raw)

    assert isinstance(event, MessagePosted)
    part = event.message.content[0]
    assert isinstance(part, TextPart)
    assert part.text.startswith(text)


def test_a_message_url_is_resolved_to_its_message() -> None:
    address = address_of(THERE, Receipt(slot=0, native_id="900", thread="850"))

    assert message_at(address) == (ids.channel_ref("700", "850"), "900")
    assert message_at("https://discord.com/channels/@me/1/2") is None
    assert message_at("https://evil.example/https://discord.com/channels/1/2/3") is None
