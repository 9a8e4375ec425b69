"""What people put on a message is on it wherever it is shown, in whatever order it came."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import FormRefused, RateLimited, Refused, Unavailable, Unsettled
from bridge.model import AddReaction, Call, MessageId, Rate, message_id_of
from bridge.model.reaction_records import Reacted
from bridge.router import RoomOptions
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector, Post


@pytest.fixture
def trio(clock: FakeClock) -> tuple[House, PaperConnector, PaperConnector]:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "c", "both"))
    return house, slate, board


Trio = tuple[House, PaperConnector, PaperConnector]


async def hello(house: House, slate: PaperConnector) -> str:
    said = await slate.say("s", "hello")
    await house.clock.let_work()
    return said


def only(connector: PaperConnector, channel: str) -> Post:
    return connector.channels[channel][0]


async def in_the_archive(
    house: House, slate: PaperConnector, native_id: str
) -> dict[str, list[str]]:
    stored = await house.store.message(message_id_of(slate.channel("s"), native_id))
    assert stored
    additions, warnings = read_bridge_metadata(stored.message)
    assert warnings == []
    return {one.emoji: [who.split(":")[-1] for who in one.actors] for one in additions.reactions}


async def test_a_reaction_is_on_every_copy_and_in_the_archive(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await slate.react("s", said, "👍", author="bob")
        await house.clock.let_work()

    assert only(board, "b").emoji() == only(board, "c").emoji() == {"👍"}
    assert only(slate, "s").emoji() == set()
    assert board.marked == [("add_reaction", "👍")] * 2
    assert await in_the_archive(house, slate, said) == {"👍": ["ann", "bob"]}


async def test_it_goes_with_the_last_of_those_who_gave_it(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        said = await hello(house, slate)
        copy = only(board, "b").id
        await slate.react("s", said, "👍")
        await board.react("b", copy, "👍", author="bob")
        await house.clock.advance(1)
        assert only(slate, "s").emoji() == only(board, "b").emoji() == {"👍"}
        await slate.react("s", said, "👍", taken_back=True)
        await house.clock.advance(1)
        assert only(slate, "s").emoji() == only(board, "c").emoji() == {"👍"}
        assert only(board, "b").emoji() == set()
        await board.react("b", copy, "👍", author="bob", taken_back=True)
        await house.clock.advance(1)

    assert only(slate, "s").emoji() == only(board, "c").emoji() == set()
    assert await in_the_archive(house, slate, said) == {}


async def test_doubled_and_older_events_change_nothing(trio: Trio) -> None:
    house, slate, board = trio
    now = house.clock.time()
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "🎉", at=now + 20)
        await slate.react("s", said, "🎉", at=now + 20)
        await slate.react("s", said, "🎉", taken_back=True, at=now + 10)
        await slate.react("s", said, "🐛", taken_back=True, at=now + 40)  # before its addition
        await slate.react("s", said, "🐛", at=now + 30)
        await house.clock.let_work()

    assert only(board, "b").emoji() == {"🎉"}
    assert board.marked == [("add_reaction", "🎉")] * 2


async def test_one_emoji_in_two_forms_is_one(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "\u2764")
        await board.react("b", only(board, "b").id, "\u2764\ufe0f", author="bob")
        await house.clock.let_work()

    assert await in_the_archive(house, slate, said) == {"\u2764\ufe0f": ["ann", "bob"]}


async def test_clearing_takes_all_of_one_place_and_what_is_told_of_late(trio: Trio) -> None:
    house, slate, board = trio
    now = house.clock.time()
    async with house.run():
        said = await hello(house, slate)
        copy = only(board, "b").id
        await slate.react("s", said, "👍", at=now + 1)
        await slate.react("s", said, "🎉", author="bob", at=now + 2)
        await board.react("b", copy, "🎉", author="cy", at=now + 3)
        await house.clock.advance(5)
        await slate.react("s", said, "", cleared=True, at=now + 10)
        await slate.react("s", said, "🐛", at=now + 5)
        await house.clock.advance(5)
        assert only(board, "c").emoji() == {"🎉"}  # cy's
        assert only(slate, "s").emoji() == only(board, "b").emoji() == set()
        await board.react("b", copy, "🎉", cleared=True, at=now + 20)
        await house.clock.advance(5)

    assert only(board, "c").emoji() == only(slate, "s").emoji() == set()
    assert await in_the_archive(house, slate, said) == {}


async def test_our_own_reaction_coming_back_goes_nowhere(trio: Trio) -> None:
    house, slate, board = trio
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await house.clock.let_work()
        await board.react("b", only(board, "b").id, "👍", author="us", own=True)
        await house.clock.let_work()

    assert only(slate, "s").emoji() == set()
    assert await in_the_archive(house, slate, said) == {"👍": ["ann"]}


async def test_what_is_taken_back_before_it_went_out_is_never_done(clock: FakeClock) -> None:
    slate = PaperConnector("slate", clock)
    board = PaperConnector("board", clock, budgets={"marks": (Rate(count=1, seconds=30),)})
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await clock.let_work()
        await slate.react("s", said, "🎉")
        await clock.let_work()
        await slate.react("s", said, "🎉", taken_back=True)
        await slate.react("s", said, "👍", taken_back=True)
        await clock.advance(120)

    assert board.marked == [("add_reaction", "👍"), ("remove_reaction", "👍")]
    assert only(board, "b").emoji() == set()


async def test_posts_never_wait_for_reactions(clock: FakeClock) -> None:
    slate = PaperConnector("slate", clock)
    board = PaperConnector("board", clock, budgets={"marks": (Rate(count=1, seconds=60),)})
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run():
        said = await hello(house, slate)
        for emoji in "👍🎉🐛":
            await slate.react("s", said, emoji)
        await clock.let_work()
        await slate.say("s", "meanwhile")
        await clock.let_work()
        assert board.texts("b") == ["hello", "meanwhile"]
        assert len(board.marked) == 1
        await clock.advance(200)

    assert only(board, "b").emoji() == {"👍", "🎉", "🐛"}


async def test_a_reaction_waits_for_the_post_that_it_belongs_to(trio: Trio) -> None:
    house, slate, board = trio
    until = house.clock.time() + 10

    def busy(call: Call) -> None:
        if call.kind == "post" and house.clock.time() < until:
            raise RateLimited("slow down", retry_after=until - house.clock.time())

    board.before_send = busy
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await house.clock.let_work()
        assert board.marked == []
        await house.clock.advance(60)

    assert only(board, "b").emoji() == only(board, "c").emoji() == {"👍"}


async def test_deleting_a_message_cancels_what_waits_for_it(trio: Trio) -> None:
    house, slate, board = trio
    broken = [Unavailable("gone")] * 2

    def harm(call: Call) -> None:
        if call.kind == "other" and broken:
            raise broken.pop()

    board.before_send = harm
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await house.clock.let_work()
        await slate.delete("s", said)
        await slate.react("s", said, "🎉") if slate.channels["s"] else None
        await house.clock.advance(60)

    assert board.marked == []
    assert board.texts("b") == []
    assert await house.store.dead_letters() == []
    assert (await house.store.status()).lanes == []


async def test_pending_reactions_survive_a_restart(trio: Trio) -> None:
    house, slate, board = trio

    def lost(call: Call) -> None:
        if call.kind == "other":
            raise Unsettled("the answer was lost")

    board.before_send = lost
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await house.clock.let_work()
    assert board.marked == []

    board.before_send = None
    async with house.run():
        await house.clock.advance(60)

    assert only(board, "b").emoji() == only(board, "c").emoji() == {"👍"}


async def test_a_refused_reaction_is_a_dead_letter_and_the_next_goes_on(trio: Trio) -> None:
    house, slate, board = trio

    def refuse(call: Call) -> None:
        if call.body.get("emoji") == "🐛":
            raise Refused("not here")

    board.before_send = refuse
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "🐛")
        await slate.react("s", said, "👍")
        await house.clock.let_work()

    assert only(board, "b").emoji() == {"👍"}
    dead = [letter.operation for letter in await house.store.dead_letters()]
    assert {type(one) for one in dead} == {AddReaction}


# --- notes --------------------------------------------------------------------------------------


def noting(house: House, channel: str, mode: str = "note") -> None:
    (room,) = house.rooms
    members = tuple(
        replace(m, options=replace(m.options, reactions=mode))
        if m.channel.channel == channel
        else m
        for m in room.members
    )
    house.rooms[0] = replace(room, members=members)


async def test_a_note_says_who_reacts_and_goes_with_the_last(trio: Trio) -> None:
    house, slate, board = trio
    noting(house, "b")
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await house.clock.let_work()
        await slate.react("s", said, "👍", author="bob")
        await slate.react("s", said, "❤️", author="cy")
        await house.clock.advance(1)
        assert board.texts("b") == ["hello", "👍 Ann of slate, bob · ❤️ cy"]
        assert board.texts("c") == ["hello"]
        assert only(board, "b").emoji() == set()
        assert only(board, "c").emoji() == {"👍", "❤️"}
        for emoji, author in (("👍", "ann"), ("👍", "bob"), ("❤️", "cy")):
            await slate.react("s", said, emoji, author=author, taken_back=True)
        await house.clock.advance(1)
        assert board.texts("b") == ["hello"]
        await slate.react("s", said, "👍")
        await house.clock.advance(1)

    assert board.texts("b") == ["hello", "👍 Ann of slate"]


@pytest.mark.parametrize("change", ["reaction", "pin"])
async def test_a_note_goes_with_the_message_that_it_is_about(trio: Trio, change: str) -> None:
    house, slate, board = trio
    noting(house, "b")
    board.pins = False
    async with house.run():
        said = await hello(house, slate)
        if change == "reaction":
            await slate.react("s", said, "👍")
        else:
            await slate.pin("s", said)
        await house.clock.advance(1)
        assert len(board.texts("b")) == 2
        await slate.delete("s", said)
        await house.clock.advance(1)

    assert board.texts("b") == board.texts("c") == []


async def test_who_reacts_while_the_note_is_written_is_in_it(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, slate, board = trio
    noting(house, "b")
    read = house.store.reactions

    async def read_and_be_overtaken(message: MessageId) -> Sequence[Reacted]:
        found = await read(message)
        if len(found) == 1 and only(slate, "s").emoji("bob") == set():
            await slate.react("s", only(slate, "s").id, "👍", author="bob")
            for _ in range(200):
                await asyncio.sleep(0)
        return found

    async with house.run():
        said = await hello(house, slate)
        monkeypatch.setattr(house.store, "reactions", read_and_be_overtaken)
        await slate.react("s", said, "👍")
        await house.clock.advance(2)

    assert board.texts("b") == ["hello", "👍 Ann of slate, bob"]


async def test_off_shows_nothing(trio: Trio) -> None:
    house, slate, board = trio
    noting(house, "b", "off")
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, "👍")
        await house.clock.let_work()

    assert board.texts("b") == ["hello"]
    assert only(board, "b").emoji() == set()
    assert only(board, "c").emoji() == {"👍"}


async def test_what_a_platform_has_no_sign_for_is_noted(trio: Trio) -> None:
    house, slate, board = trio
    board.unknown_emoji = frozenset({":party:"})
    async with house.run():
        said = await hello(house, slate)
        await slate.react("s", said, ":party:")
        await slate.react("s", said, "👍")
        await house.clock.advance(1)

    assert board.texts("b") == ["hello", "\\:party: Ann of slate"]
    assert only(board, "b").emoji() == {"👍"}


async def test_what_a_platform_refuses_for_now_is_noted_with_a_loss(trio: Trio) -> None:
    house, slate, board = trio

    def full(call: Call) -> None:
        if call.channel.channel == "b" and call.body.get("emoji") == "🐛":
            raise FormRefused("too many different emoji")

    board.before_send = full
    async with house.run():
        said = await hello(house, slate)
        for emoji in ("👍", "🐛"):
            await slate.react("s", said, emoji)
        await house.clock.let_work()
        await slate.react("s", said, "🐛", author="bob")
        await house.clock.advance(1)

    assert board.texts("b") == ["hello", "🐛 Ann of slate, bob"]
    assert only(board, "b").emoji() == {"👍"}
    assert only(board, "c").emoji() == {"👍", "🐛"}
    assert await house.store.dead_letters() == []


# --- pins ---------------------------------------------------------------------------------------


async def test_a_pin_is_on_every_copy_until_it_is_taken_away_where_it_may_be(trio: Trio) -> None:
    house, slate, board = trio
    house.rooms = [replace(house.rooms[0], options=RoomOptions(moderation="room"))]
    async with house.run():
        said = await hello(house, slate)
        await slate.pin("s", said)
        await house.clock.advance(1)
        assert only(board, "b").pinned
        assert only(board, "c").pinned
        await board.pin("b", only(board, "b").id, own=True)
        await board.pin("c", only(board, "c").id, pinned=False, author="bob")
        await house.clock.advance(1)

    assert not only(slate, "s").pinned
    assert not only(board, "b").pinned
    assert board.marked == [("pin_message", "")] * 2 + [("unpin_message", "")]
    assert slate.marked == [("unpin_message", "")]


async def test_an_older_pin_never_wins(trio: Trio) -> None:
    house, slate, board = trio
    now = house.clock.time()
    async with house.run():
        said = await hello(house, slate)
        await slate.pin("s", said, pinned=False, at=now + 20)
        await slate.pin("s", said, at=now + 10)
        await house.clock.let_work()

    assert board.marked == []


async def test_where_nothing_can_be_pinned_the_bridge_says_who_did(trio: Trio) -> None:
    house, slate, board = trio
    board.pins = False
    async with house.run():
        said = await hello(house, slate)
        await slate.pin("s", said)
        await house.clock.advance(1)
        assert board.texts("b") == ["hello", "📌 Ann of slate pinned this message"]
        await slate.pin("s", said, pinned=False)
        await house.clock.advance(1)

    assert board.texts("b") == ["hello"]
