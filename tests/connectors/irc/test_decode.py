"""Lines of a server become events; one line, one expectation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bridge.errors import UndecodableEvent
from bridge.model import (
    AccountId,
    ActionPressed,
    ActorId,
    ChannelClosed,
    Event,
    Ignored,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessagePosted,
    OperationId,
    Person,
    Place,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    TopicChanged,
    TypingStarted,
    Unknown,
)
from bridge.uacs import TextPart
from connectors.irc import ids
from connectors.irc.batches import Batch, Batches
from connectors.irc.bylines import GAP, byline, quieted
from connectors.irc.decode import NETJOIN, NETSPLIT, PRESS, decode
from connectors.irc.raws import Order, RawBuilder, Sent, nicks_in
from connectors.irc.wire import Line, parse

RAWS = RawBuilder(AccountId("irc"), "net")
CHANNEL = ids.channel_ref("net", "#General")
DIRECT = ids.channel_ref("net", "alice")
NOW = 1_790_000_000.5
TIME = datetime.fromtimestamp(NOW, UTC)
BASE: dict[str, Any] = {"account": AccountId("irc"), "place": Place(channel=CHANNEL), "time": TIME}
ALICE = ActorId("irc:net:~alice")


def line_of(text: str) -> Line:
    line = parse(text.encode())
    assert line is not None
    return line


def message(text: str, **more: Any) -> MessagePosted:
    raw = RAWS.message(
        line_of(text), more.pop("channel", CHANNEL), Order(), now=NOW, us="bridge", **more
    )
    (event,) = decode(raw)
    assert isinstance(event, MessagePosted)
    return event


def event(text: str, **more: Any) -> Event:
    (found,) = decode(RAWS.event(line_of(text), CHANNEL, Order(), now=NOW, **more))
    return found


def text_of(posted: MessagePosted) -> str:
    (part,) = posted.message.content
    assert isinstance(part, TextPart)
    return part.text


def test_a_message_has_its_id_its_time_and_its_author() -> None:
    tags = "@msgid=abc;time=2026-09-21T14:13:20.250Z;account=Alice2"
    posted = message(f"{tags} :alice!u@h PRIVMSG #general :hi \x02there\x02")

    assert posted.native_id == "abc"
    assert posted.time == datetime(2026, 9, 21, 14, 13, 20, 250_000, UTC)
    assert posted.author == Person(id=ActorId("irc:net:alice2"), name="alice")
    assert text_of(posted) == "hi **there**"
    assert posted.message.message_id == "irc:net:#general:abc"


def test_a_nick_without_an_account_is_no_account() -> None:
    assert message(":alice!u@h PRIVMSG #general :hi").author.id == ALICE


def test_an_action_is_emphasised_as_a_whole() -> None:
    assert text_of(message(":alice!u@h PRIVMSG #general :\x01ACTION waves\x01")) == "_waves_"


@pytest.mark.parametrize("text", [" ", "", "\x01VERSION\x01", "\x01ACTION \x01"])
def test_a_line_without_text_is_ignored(text: str) -> None:
    raw = RAWS.message(line_of(f":alice!u@h PRIVMSG #general :{text}"), CHANNEL, Order(), now=NOW)

    assert isinstance(decode(raw)[0], Ignored)


def test_the_author_of_a_notice_is_a_bot_and_addresses_nobody() -> None:
    posted = message(":alice!u@h NOTICE #general :bridge: done")

    assert (posted.author.bot, posted.addresses_us) == (True, False)


def test_the_bot_tag_marks_its_author_as_a_bot() -> None:
    assert message("@bot :robot!u@h PRIVMSG #general :beep").author.bot


@pytest.mark.parametrize(
    ("text", "addressed"),
    [("bridge: status", True), ("hello Bridge!", True), ("@bridge hi", True),
     ("bridges are nice", False), ("the-bridge", False), ("hello", False)],
)  # fmt: skip
def test_our_nick_as_a_word_addresses_us(text: str, addressed: bool) -> None:
    assert message(f":alice!u@h PRIVMSG #general :{text}").addresses_us is addressed


def test_a_direct_message_addresses_the_bot() -> None:
    assert message(":alice!u@h PRIVMSG bridge :hello", channel=DIRECT).addresses_us


def test_a_nick_before_a_colon_is_a_mention() -> None:
    people = {"bob": "bobby", "bridge": "~bridge"}

    assert text_of(message(":alice!u@h PRIVMSG #general :bob: look", people=people)) == (
        "[@bob](uacs:actor/irc:net:bobby): look"
    )


@pytest.mark.parametrize("tag", ["+reply", "+draft/reply"])
def test_a_reply_names_the_message_that_it_answers(tag: str) -> None:
    assert message(f"@{tag}=m1 :alice!u@h PRIVMSG #general :yes").reply_to == "m1"


def test_our_own_message_has_its_operation_and_slot() -> None:
    sent = Sent(OperationId("op"), 2)
    posted = message("@msgid=m1 :bridge!u@h PRIVMSG #general :hi", sent=sent)

    assert (posted.own, posted.operation, posted.slot) == (True, "op", 2)


@pytest.mark.parametrize("text", [f"{byline('Ann')}hi", f"\x01ACTION {quieted('Ann')} waves\x01"])
def test_the_author_of_a_copy_of_another_bridge_is_a_bot(text: str) -> None:
    posted = message(f":other!u@h PRIVMSG #general :{text}")

    assert posted.author.bot
    assert not message(f":alice!u@h PRIVMSG #general :{text.replace(GAP, '')}").author.bot


def test_the_invisible_gap_in_a_copied_name_is_removed() -> None:
    assert text_of(message(":alice!u@h PRIVMSG #general :a\u200bnn: hi")) == "ann: hi"


EVENTS: dict[str, Event] = {
    ":alice!u@h JOIN #general": MemberJoined(
        **BASE, actor=ALICE, person=Person(id=ALICE, name="alice")
    ),
    ":alice!u@h PART #general :bye": MemberLeft(**BASE, actor=ALICE),
    ":alice!u@h QUIT :Quit: bye": MemberLeft(**BASE, actor=ALICE),
    ":op!u@h KICK #general alice :out": MemberLeft(**BASE, actor=ALICE),
    ":alice!u@h NICK alicia": Ignored(**BASE, reason="somebody has another nick"),
    ":op!u@h MODE #general +o alice": Ignored(**BASE, reason="a mode of the channel"),
    ":op!u@h TOPIC #general :\x02new\x02 topic": TopicChanged(**BASE, topic="new topic"),
    ":alice!u@h REDACT #general m1 :oops": MessageDeleted(**BASE, actor=ALICE, target="m1"),
    "@+draft/react=👍;+reply=m1 :alice!u@h TAGMSG #general": ReactionAdded(
        **BASE, actor=ALICE, target="m1", emoji="👍"
    ),
    "@+draft/unreact=👍;+draft/reply=m1 :alice!u@h TAGMSG #general": ReactionRemoved(
        **BASE, actor=ALICE, target="m1", emoji="👍"
    ),
    "@+typing=active :alice!u@h TAGMSG #general": TypingStarted(**BASE, actor=ALICE),
    "@+typing=done :alice!u@h TAGMSG #general": Ignored(**BASE, reason="tags that are not shown"),
    ":alice!u@h FUTURE #general": Unknown(**BASE, kind="FUTURE"),
}


@pytest.mark.parametrize("text", EVENTS)
def test_a_line_is_an_event(text: str) -> None:
    assert event(text) == EVENTS[text]


def test_a_kick_of_the_bot_closes_the_channel() -> None:
    assert event(":op!u@h KICK #general bridge :out", own=True) == ChannelClosed(
        **BASE, reason="op kicked our bot: out"
    )


def test_a_netsplit_is_one_event_with_the_number_of_people() -> None:
    gone = event("QUIT :hub.example leaf.example", kind=NETSPLIT, nicks=["a", "b", "c"])
    back = event("QUIT :hub.example leaf.example", kind=NETJOIN, nicks=["a"])

    assert isinstance(gone, MemberLeft)
    assert isinstance(back, MemberJoined)
    assert gone.actor == "irc:net:*netsplit 3 hub.example leaf.example"
    assert back.person is not None
    assert back.person.name == "1 person (netsplit of hub.example leaf.example)"


def test_an_answer_to_a_card_is_a_press() -> None:
    press = {"token": "t", "target": "m1", "values": {"t": "yes"}}

    assert event(":alice!u@h PRIVMSG #general :!1 yes", kind=PRESS, press=press) == ActionPressed(
        **BASE, actor=ALICE, target="m1", token="t", native="!1 yes", values={"t": "yes"}
    )


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"line": {}, "at": 1e20}', b'{"line": 5}'])
def test_a_payload_of_another_program_is_undecodable(payload: bytes) -> None:
    raw = Raw(
        account=AccountId("irc"), kind="PRIVMSG", dedupe_key="d", order_key="o", channel=CHANNEL,
        payload=payload,
    )  # fmt: skip

    with pytest.raises(UndecodableEvent):
        decode(raw)


# --- ids ------------------------------------------------------------------------------------


def test_without_a_msgid_the_id_is_the_same_live_and_read_back() -> None:
    line = line_of("@time=2026-09-21T14:13:20.250Z :alice!u@h PRIVMSG #general :ok")
    live, again = Order(), Order()

    def raw(order: Order) -> Raw:
        return RAWS.message(line, CHANNEL, order, now=NOW)

    first, second = raw(live), raw(live)
    assert first.dedupe_key != second.dedupe_key
    assert [raw(again).dedupe_key, raw(again).dedupe_key] == [first.dedupe_key, second.dedupe_key]
    assert first.order_key < second.order_key


def test_an_order_key_contains_its_time_and_message() -> None:
    key = ids.order_key(1_790_000_000_250, 3, "ab:c")

    assert (ids.time_in(key), ids.message_in(key)) == (1_790_000_000_250, "ab:c")
    assert ids.server_time(ids.time_in(key)) == "2026-09-21T14:13:20.250Z"
    assert ids.milliseconds_of("2026-09-21T14:13:20.250Z") == 1_790_000_000_250
    assert ids.milliseconds_of("yesterday") is None


def test_a_made_id_contains_its_time() -> None:
    made = ids.made_id(123, "Alice", "hi")

    assert (ids.is_made(made), ids.made_at(made), ids.made_at("m1")) == (True, 123, None)


def test_a_card_has_a_code_of_three_letters() -> None:
    assert all(
        len(code) == 3 and code.isalpha() and code.islower()
        for code in (ids.card_code(f"agent:a:{n}") for n in range(200))
    )


def test_only_nicks_that_a_text_addresses_are_found() -> None:
    members = {"bob": "Bob", "al": "al"}

    assert nicks_in("Bob: ask @al! not bob", members, str.lower) == ["Bob", "al"]


# --- batches --------------------------------------------------------------------------------


def collected(*lines: str) -> list[Line | Batch]:
    batches = Batches()
    found = [batches.feed(line_of(line)) for line in lines]
    return [item for item in found if item is not None]


def test_lines_of_one_message_are_joined() -> None:
    (batch,) = collected(
        "@msgid=m1 :a!u@h BATCH +1 draft/multiline #x",
        "@batch=1 :a!u@h PRIVMSG #x :one",
        "@batch=1 :a!u@h PRIVMSG #x :two",
        "@batch=1;draft/multiline-concat :a!u@h PRIVMSG #x : and a half",
        "BATCH -1",
    )

    assert isinstance(batch, Batch)
    merged = batch.merged()
    assert merged is not None
    assert (merged.last, merged.tags["msgid"]) == ("one\ntwo and a half", "m1")


def test_a_nested_batch_is_an_item_of_the_outer_one() -> None:
    alone, outer = collected(
        ":s BATCH +1 chathistory #x",
        "@batch=1 :a!u@h PRIVMSG #x :first",
        "@batch=1;msgid=m2 :a!u@h BATCH +2 draft/multiline #x",
        "@batch=2 :a!u@h PRIVMSG #x :second",
        ":b!u@h PRIVMSG #y :meanwhile",
        "@batch=2 :a!u@h PRIVMSG #x :line",
        "BATCH -2",
        "BATCH -1",
    )

    assert isinstance(alone, Line)
    assert isinstance(outer, Batch)
    assert [line.last for line in outer.lines()] == ["first", "second\nline"]
