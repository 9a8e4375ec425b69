"""What a room and its channels let pass, and how it is shown there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from bridge.app.settings.rooms import RoomSettings, member_options, room_options
from bridge.errors import Unavailable
from bridge.model import ActorId, Person, RoomId, split_key
from bridge.router import Room
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_routing import said
from tests.router.paper import PaperConnector

Trio = tuple[House, PaperConnector, PaperConnector]


@pytest.fixture
def trio(clock: FakeClock) -> Trio:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "c", "both"))
    return house, slate, board


def wanted(house: House, room: dict[str, Any], **members: dict[str, Any]) -> None:
    """Give the first room these options as the configuration would; `members` by channel."""
    old = house.rooms[0]
    settings = RoomSettings.model_validate(
        {**room, "members": [
            {"account": m.account, "channel": m.channel.channel,
             **members.get(m.channel.channel, {})}
            for m in old.members
        ]}
    )  # fmt: skip
    house.rooms[0] = Room(
        old.id,
        old.conversation,
        tuple(
            replace(member, options=member_options(settings, entry))
            for member, entry in zip(old.members, settings.members, strict=True)
        ),
        old.agents,
        options=room_options(settings),
    )


@pytest.mark.parametrize(
    ("room", "passes"),
    [
        ({}, ["hi", "CI: ok", "secret plan", "below"]),
        ({"bots": False}, ["hi", "secret plan", "below"]),
        ({"exclude": [{"matching": "(?i)SECRET"}]}, ["hi", "CI: ok", "below"]),
        ({"include": [{"matching": "^(hi|CI)"}]}, ["hi", "CI: ok"]),
        ({"exclude": [{"authors": ["Bob of *"]}]}, ["hi", "CI: ok", "below"]),
        ({"include": [{"authors": ["paper:slate:bob"]}]}, ["secret plan"]),
        ({"include": [{"kinds": ["bots", "threads"]}]}, ["CI: ok", "below"]),
        ({"exclude": [{"kinds": ["bots"], "matching": "never"}]},
         ["hi", "CI: ok", "secret plan", "below"]),
        ({"exclude": [{"kinds": ["posts"]}]}, []),
    ],
)  # fmt: skip
async def test_only_what_the_sieve_means_comes_in(
    trio: Trio, room: dict[str, Any], passes: list[str]
) -> None:
    house, slate, board = trio
    wanted(house, room)
    async with house.run():
        first = await slate.say("s", "hi")
        await slate.say("s", "CI: ok", author="ci", bot=True)
        await slate.say("s", "secret plan", author="bob")
        await slate.say("s", "below", thread=first)
        await house.clock.let_work()

    assert board.texts("b") == board.texts("c") == passes
    if passes:
        assert await said(house.store, house.rooms[0].conversation) == passes


class PaperWithoutNames(PaperConnector):
    """Its payloads have ids alone; names are looked up."""

    asked = 0

    async def person(self, actor: ActorId) -> Person | None:
        self.asked += 1
        return Person(id=actor, name={"u7": "Ann Lee"}.get(split_key(actor)[-1], "Somebody"))


@pytest.mark.parametrize(("at_room", "passes"), [("include", ["of Ann"]), ("exclude", ["of u8"])])
async def test_authors_are_known_by_their_names_also_where_payloads_have_none(
    clock: FakeClock, at_room: str, passes: list[str]
) -> None:
    slate, board = PaperWithoutNames("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    wanted(house, {at_room: [{"authors": ["Ann*"]}]})
    async with house.run():
        of_ann = await slate.say("s", "from Ann", author="u7", name="u7")
        of_u8 = await slate.say("s", "from u8", author="u8", name="u8")
        await house.clock.let_work()
        await slate.edit("s", of_ann, "of Ann")
        await slate.edit("s", of_u8, "of u8")
        await house.clock.let_work()
        assert board.texts("b") == passes
        assert slate.asked == 2
        await slate.delete("s", of_ann)
        await slate.delete("s", of_u8)
        await house.clock.let_work()
        known = [person.name for person in await house.store.people_named("Ann Lee")]

    assert board.texts("b") == []
    assert known == (["Ann Lee"] if at_room == "include" else [])


async def test_a_members_sieve_holds_in_both_directions(trio: Trio) -> None:
    house, slate, board = trio
    wanted(house, {}, b={"exclude": [{"matching": "lunch"}]})
    async with house.run():
        await slate.say("s", "lunch at one")
        await slate.say("s", "work")
        await house.clock.advance(1)
        await board.say("b", "no lunch for me")
        await board.say("b", "more work")
        await house.clock.advance(1)

    assert board.texts("b") == ["work", "no lunch for me", "more work"]
    assert board.texts("c") == ["lunch at one", "work", "more work"]


async def test_edits_and_deletions_pass_the_same_sieve(trio: Trio) -> None:
    house, slate, board = trio
    wanted(house, {"exclude": [{"kinds": ["deletions"]}, {"matching": "bad word"}]})
    async with house.run():
        first = await slate.say("s", "hello")
        await house.clock.let_work()
        await slate.edit("s", first, "a bad word")
        await house.clock.let_work()
        assert board.texts("b") == ["hello"]
        await slate.edit("s", first, "a good word")
        await house.clock.let_work()
        await slate.delete("s", first)
        await house.clock.let_work()

    assert board.texts("b") == ["a good word"]


async def test_an_edit_is_shown_only_where_the_channel_wants_what_it_says_now(trio: Trio) -> None:
    house, slate, board = trio
    wanted(
        house,
        {},
        b={
            "exclude": [{"matching": "lunch"}, {"kinds": ["edits"], "authors": ["paper:slate:bob"]}]
        },
    )
    async with house.run():
        first = await slate.say("s", "work")
        second = await slate.say("s", "more work", author="bob")
        await house.clock.let_work()
        await slate.edit("s", first, "lunch")
        await slate.edit("s", second, "no work")
        await house.clock.let_work()
        assert board.texts("b") == ["work", "more work"]
        await slate.edit("s", first, "much work")
        await house.clock.let_work()

    assert board.texts("b") == ["much work", "more work"]
    assert board.texts("c") == ["much work", "no work"]


async def test_an_edit_that_one_room_does_not_let_in_is_not_shown_there(trio: Trio) -> None:
    house, slate, board = trio
    house.rooms.append(replace(house.rooms[0], id=RoomId("other"), conversation=uuid4()))
    one, other = house.rooms
    house.rooms[0] = replace(one, members=tuple(m for m in one.members if m.channel.channel != "c"))
    wanted(house, {"exclude": [{"matching": "lunch"}]})
    house.rooms[1] = replace(
        other, members=tuple(m for m in other.members if m.channel.channel != "b")
    )
    async with house.run():
        first = await slate.say("s", "work")
        await house.clock.let_work()
        await slate.edit("s", first, "lunch")
        await house.clock.let_work()

    assert (board.texts("b"), board.texts("c")) == (["work"], ["lunch"])


@pytest.mark.parametrize("gone", ["channel", "room", "heard only"])
async def test_what_waits_for_a_channel_that_left_the_room_is_not_shown_there(
    trio: Trio, gone: str
) -> None:
    """Nothing of the room's options would hold any more; a deletion is made all the same."""
    house, slate, board = trio
    wanted(house, {"replace": [{"find": "falcon", "put": "project"}]})

    def down(_: object) -> None:
        raise Unavailable("down")

    async with house.run() as router:
        first = await slate.say("s", "falcon one")
        await house.clock.advance(1)
        board.before_send = down
        await slate.edit("s", first, "falcon two")
        await slate.say("s", "falcon three")
        await house.clock.advance(5)
        room = house.rooms[0]
        rest = tuple(m for m in room.members if m.channel.channel != "b")
        heard = tuple(replace(m, flow="in") for m in room.members)
        members = {"channel": rest, "room": (), "heard only": heard}[gone]
        router.reconfigure.change_rooms([replace(room, members=members)] if members else [])
        board.before_send = None
        await house.clock.advance(300)
        letters = await house.store.dead_letters()
        assert board.texts("b") == ["project one"]
        await slate.edit("s", first, "falcon four")
        await house.clock.advance(5)
        assert board.texts("b") == ["project one"]
        await slate.delete("s", first)
        await house.clock.advance(5)

    lost = [letter.error for letter in letters if letter.operation.channel.channel == "b"]
    assert len(lost) == 2
    assert all("any more" in error for error in lost)
    if gone == "channel":
        assert board.texts("c") == ["project three"]
        assert board.texts("b") == []


@pytest.mark.parametrize("edit", ["!private", "!PRIVATE: not for all", "**!private** work"])
async def test_an_edit_that_keeps_a_message_private_takes_it_back_from_the_others(
    trio: Trio, edit: str
) -> None:
    house, slate, board = trio
    wanted(house, {})
    async with house.run():
        first = await slate.say("s", "work")
        await house.clock.let_work()
        await slate.edit("s", first, edit)
        await house.clock.let_work()

    assert board.texts("b") == board.texts("c") == []
    assert await said(house.store, house.rooms[0].conversation) == []


async def test_a_message_that_its_author_keeps_private_is_neither_carried_nor_kept(
    trio: Trio,
) -> None:
    house, slate, board = trio
    wanted(house, {"private": ["!private", "nobridge"]})
    async with house.run():
        await slate.say("s", "!Private: among us")
        await slate.say("s", "NoBridge this stays")
        await slate.say("s", "_**\u200b!private**_ this, too")
        await slate.say("s", "for all, not !private")
        await house.clock.let_work()

    assert board.texts("b") == ["for all, not !private"]
    assert await said(house.store, house.rooms[0].conversation) == ["for all, not !private"]


async def test_words_and_names_are_replaced_where_they_are_shown_and_kept_as_they_were_said(
    trio: Trio,
) -> None:
    house, slate, board = trio
    wanted(
        house,
        {"replace": [{"find": "falcon", "put": "project"}]},
        b={"replace": [{"find": "ject", "put": "[x]"}], "rename": [{"find": " of .*", "put": ""}]},
    )
    async with house.run():
        first = await slate.say("s", "falcon flies")
        await house.clock.let_work()
        await slate.edit("s", first, "falcon lands")
        await house.clock.let_work()

    assert board.texts("b") == [r"pro\[x\] lands"]
    assert board.texts("c") == ["project lands"]
    assert [board.channels[name][0].author for name in "bc"] == ["Ann", "Ann of slate"]
    assert await said(house.store, house.rooms[0].conversation) == ["falcon lands"]


async def test_a_flat_channel_shows_threads_as_replies(trio: Trio) -> None:
    house, slate, board = trio
    wanted(house, {}, b={"threads": "flat"})
    async with house.run():
        first = await slate.say("s", "root")
        await slate.say("s", "below", thread=first)
        await house.clock.let_work()

    root = board.channels["c"][0].id
    assert [(post.text, post.thread) for post in board.channels["b"]] == [
        ("root", None), ("below", None),
    ]  # fmt: skip
    assert [(post.text, post.thread) for post in board.channels["c"]] == [
        ("root", None), ("below", root),
    ]  # fmt: skip


async def test_a_late_post_is_shown_with_its_time_or_becomes_a_dead_letter(trio: Trio) -> None:
    house, slate, board = trio
    wanted(house, {"max_delay": 60}, c={"late": "refuse"})
    house.policy = replace(house.policy, late_after=1e9)  # no notice of it

    def down(_: object) -> None:
        raise Unavailable("down")

    board.before_send = down
    async with house.run() as router:
        await slate.say("s", "old news")
        await house.clock.advance(100)
        board.before_send = None
        await house.clock.advance(300)
        (letter,) = await house.store.dead_letters()
        assert "max_delay" in letter.error
        (late,) = board.texts("b")
        assert late.endswith("\n\nold news")
        assert "said" in late
        assert board.texts("c") == []

        router.parts.outbound.lanes.wake(await house.store.replay(letter.operation.id))
        await slate.say("s", "on time")
        await house.clock.advance(1)

    assert [text.rpartition("\n")[2] for text in board.texts("c")] == ["old news", "on time"]


async def test_a_post_that_was_late_when_it_came_in_is_refused_at_once(trio: Trio) -> None:
    house, slate, board = trio
    wanted(house, {"max_delay": 60, "late": "refuse"})
    async with house.run() as router:
        raw = slate.raw("s", "of yesterday", at=house.clock.time() - 86_400)
        await router.inbox.accept(raw)
        await slate.say("s", "of now")
        await house.clock.let_work()
        letters = await house.store.dead_letters()

    assert board.texts("b") == board.texts("c") == ["of now"]
    assert [letter.excerpt for letter in letters] == ["of yesterday", "of yesterday"]
