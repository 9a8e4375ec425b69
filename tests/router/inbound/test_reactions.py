"""What people put on a message is on it wherever it is shown, in whatever order it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import FormRefused, RateLimited, Refused, Unavailable, Unsettled
from bridge.model import AddReaction, Call, MessageId, Rate, message_id_of
from bridge.model.reaction_records import CurrentReaction
from bridge.router import RoomOptions
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, Post


@pytest.fixture
def trio(clock: FakeClock) -> tuple[RouterRig, FakeConnector, FakeConnector]:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "c", "both"))
    return rig, sales, billing


Trio = tuple[RouterRig, FakeConnector, FakeConnector]


async def hello(rig: RouterRig, sales: FakeConnector) -> str:
    post_id = await sales.say("s", "hello")
    await rig.clock.let_work()
    return post_id


def only(connector: FakeConnector, channel: str) -> Post:
    return connector.channels[channel][0]


async def in_the_archive(
    rig: RouterRig, sales: FakeConnector, native_id: str
) -> dict[str, list[str]]:
    stored = await rig.store.message(message_id_of(sales.channel("s"), native_id))
    assert stored
    additions, warnings = read_bridge_metadata(stored.message)
    assert warnings == []
    return {
        reaction.emoji: [who.split(":")[-1] for who in reaction.actors]
        for reaction in additions.reactions
    }


async def test_a_reaction_is_on_every_copy_and_in_the_archive(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await sales.react("s", post_id, "👍", author="bob")
        await rig.clock.let_work()

    assert only(billing, "b").emoji() == only(billing, "c").emoji() == {"👍"}
    assert only(sales, "s").emoji() == set()
    assert billing.marked == [("add_reaction", "👍")] * 2
    assert await in_the_archive(rig, sales, post_id) == {"👍": ["ann", "bob"]}


async def test_it_goes_with_the_last_of_those_who_gave_it(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        post_id = await hello(rig, sales)
        copy = only(billing, "b").id
        await sales.react("s", post_id, "👍")
        await billing.react("b", copy, "👍", author="bob")
        await rig.clock.advance(1)
        assert only(sales, "s").emoji() == only(billing, "b").emoji() == {"👍"}
        await sales.react("s", post_id, "👍", taken_back=True)
        await rig.clock.advance(1)
        assert only(sales, "s").emoji() == only(billing, "c").emoji() == {"👍"}
        assert only(billing, "b").emoji() == set()
        await billing.react("b", copy, "👍", author="bob", taken_back=True)
        await rig.clock.advance(1)

    assert only(sales, "s").emoji() == only(billing, "c").emoji() == set()
    assert await in_the_archive(rig, sales, post_id) == {}


async def test_doubled_and_older_events_change_nothing(trio: Trio) -> None:
    rig, sales, billing = trio
    now = rig.clock.time()
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "🎉", at=now + 20)
        await sales.react("s", post_id, "🎉", at=now + 20)
        await sales.react("s", post_id, "🎉", taken_back=True, at=now + 10)
        await sales.react("s", post_id, "🐛", taken_back=True, at=now + 40)  # before its addition
        await sales.react("s", post_id, "🐛", at=now + 30)
        await rig.clock.let_work()

    assert only(billing, "b").emoji() == {"🎉"}
    assert billing.marked == [("add_reaction", "🎉")] * 2


async def test_one_emoji_in_two_forms_is_one(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "\u2764")
        await billing.react("b", only(billing, "b").id, "\u2764\ufe0f", author="bob")
        await rig.clock.let_work()

    assert await in_the_archive(rig, sales, post_id) == {"\u2764\ufe0f": ["ann", "bob"]}


async def test_clearing_removes_all_reactions_of_one_place_and_late_ones_too(trio: Trio) -> None:
    rig, sales, billing = trio
    now = rig.clock.time()
    async with rig.run():
        post_id = await hello(rig, sales)
        copy = only(billing, "b").id
        await sales.react("s", post_id, "👍", at=now + 1)
        await sales.react("s", post_id, "🎉", author="bob", at=now + 2)
        await billing.react("b", copy, "🎉", author="cy", at=now + 3)
        await rig.clock.advance(5)
        await sales.react("s", post_id, "", cleared=True, at=now + 10)
        await sales.react("s", post_id, "🐛", at=now + 5)
        await rig.clock.advance(5)
        assert only(billing, "c").emoji() == {"🎉"}  # cy's
        assert only(sales, "s").emoji() == only(billing, "b").emoji() == set()
        await billing.react("b", copy, "🎉", cleared=True, at=now + 20)
        await rig.clock.advance(5)

    assert only(billing, "c").emoji() == only(sales, "s").emoji() == set()
    assert await in_the_archive(rig, sales, post_id) == {}


async def test_our_own_reaction_coming_back_goes_nowhere(trio: Trio) -> None:
    rig, sales, billing = trio
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()
        await billing.react("b", only(billing, "b").id, "👍", author="us", own=True)
        await rig.clock.let_work()

    assert only(sales, "s").emoji() == set()
    assert await in_the_archive(rig, sales, post_id) == {"👍": ["ann"]}


async def test_a_reaction_that_is_removed_before_it_is_sent_is_never_sent(clock: FakeClock) -> None:
    sales = FakeConnector("sales", clock)
    billing = FakeConnector("billing", clock, rate_limits={"marks": (Rate(count=1, seconds=30),)})
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await clock.let_work()
        await sales.react("s", post_id, "🎉")
        await clock.let_work()
        await sales.react("s", post_id, "🎉", taken_back=True)
        await sales.react("s", post_id, "👍", taken_back=True)
        await clock.advance(120)

    assert billing.marked == [("add_reaction", "👍"), ("remove_reaction", "👍")]
    assert only(billing, "b").emoji() == set()


async def test_posts_never_wait_for_reactions(clock: FakeClock) -> None:
    sales = FakeConnector("sales", clock)
    billing = FakeConnector("billing", clock, rate_limits={"marks": (Rate(count=1, seconds=60),)})
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        post_id = await hello(rig, sales)
        for emoji in "👍🎉🐛":
            await sales.react("s", post_id, emoji)
        await clock.let_work()
        await sales.say("s", "meanwhile")
        await clock.let_work()
        assert billing.texts("b") == ["hello", "meanwhile"]
        assert len(billing.marked) == 1
        await clock.advance(200)

    assert only(billing, "b").emoji() == {"👍", "🎉", "🐛"}


async def test_a_reaction_waits_for_the_post_that_it_belongs_to(trio: Trio) -> None:
    rig, sales, billing = trio
    until = rig.clock.time() + 10

    def busy(call: Call) -> None:
        if call.kind == "post" and rig.clock.time() < until:
            raise RateLimited("slow down", retry_after=until - rig.clock.time())

    billing.before_send = busy
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()
        assert billing.marked == []
        await rig.clock.advance(60)

    assert only(billing, "b").emoji() == only(billing, "c").emoji() == {"👍"}


async def test_deleting_a_message_cancels_what_waits_for_it(trio: Trio) -> None:
    rig, sales, billing = trio
    broken = [Unavailable("gone")] * 2

    def harm(call: Call) -> None:
        if call.kind == "other" and broken:
            raise broken.pop()

    billing.before_send = harm
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()
        await sales.delete("s", post_id)
        await sales.react("s", post_id, "🎉") if sales.channels["s"] else None
        await rig.clock.advance(60)

    assert billing.marked == []
    assert billing.texts("b") == []
    assert await rig.store.dead_letters() == []
    assert (await rig.store.status()).lanes == []


async def test_pending_reactions_survive_a_restart(trio: Trio) -> None:
    rig, sales, billing = trio

    def lost(call: Call) -> None:
        if call.kind == "other":
            raise Unsettled("the answer was lost")

    billing.before_send = lost
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()
    assert billing.marked == []

    billing.before_send = None
    async with rig.run():
        await rig.clock.advance(60)

    assert only(billing, "b").emoji() == only(billing, "c").emoji() == {"👍"}


async def test_a_refused_reaction_is_a_dead_letter_and_the_next_goes_on(trio: Trio) -> None:
    rig, sales, billing = trio

    def refuse(call: Call) -> None:
        if call.body.get("emoji") == "🐛":
            raise Refused("not here")

    billing.before_send = refuse
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "🐛")
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()

    assert only(billing, "b").emoji() == {"👍"}
    dead = [letter.operation for letter in await rig.store.dead_letters()]
    assert {type(one) for one in dead} == {AddReaction}


# --- notes --------------------------------------------------------------------------------------


def noting(rig: RouterRig, channel: str, mode: str = "note") -> None:
    (room,) = rig.rooms
    members = tuple(
        replace(m, options=replace(m.options, reactions=mode))
        if m.channel.channel == channel
        else m
        for m in room.members
    )
    rig.rooms[0] = replace(room, members=members)


async def test_a_note_says_who_reacts_and_goes_with_the_last(trio: Trio) -> None:
    rig, sales, billing = trio
    noting(rig, "b")
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()
        await sales.react("s", post_id, "👍", author="bob")
        await sales.react("s", post_id, "❤️", author="cy")
        await rig.clock.advance(1)
        assert billing.texts("b") == ["hello", "👍 Ann of sales, bob · ❤️ cy"]
        assert billing.texts("c") == ["hello"]
        assert only(billing, "b").emoji() == set()
        assert only(billing, "c").emoji() == {"👍", "❤️"}
        for emoji, author in (("👍", "ann"), ("👍", "bob"), ("❤️", "cy")):
            await sales.react("s", post_id, emoji, author=author, taken_back=True)
        await rig.clock.advance(1)
        assert billing.texts("b") == ["hello"]
        await sales.react("s", post_id, "👍")
        await rig.clock.advance(1)

    assert billing.texts("b") == ["hello", "👍 Ann of sales"]


@pytest.mark.parametrize("change", ["reaction", "pin"])
async def test_a_note_goes_with_the_message_that_it_is_about(trio: Trio, change: str) -> None:
    rig, sales, billing = trio
    noting(rig, "b")
    billing.pins = False
    async with rig.run():
        post_id = await hello(rig, sales)
        if change == "reaction":
            await sales.react("s", post_id, "👍")
        else:
            await sales.pin("s", post_id)
        await rig.clock.advance(1)
        assert len(billing.texts("b")) == 2
        await sales.delete("s", post_id)
        await rig.clock.advance(1)

    assert billing.texts("b") == billing.texts("c") == []


async def test_a_reaction_during_the_update_of_a_note_is_in_the_note(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, sales, billing = trio
    noting(rig, "b")
    read = rig.store.reactions

    async def read_and_be_overtaken(message: MessageId) -> Sequence[CurrentReaction]:
        reactions = await read(message)
        if len(reactions) == 1 and only(sales, "s").emoji("bob") == set():
            await sales.react("s", only(sales, "s").id, "👍", author="bob")
            await rig.clock.let_work()
        return reactions

    async with rig.run():
        post_id = await hello(rig, sales)
        monkeypatch.setattr(rig.store, "reactions", read_and_be_overtaken)
        await sales.react("s", post_id, "👍")
        await rig.clock.advance(2)

    assert billing.texts("b") == ["hello", "👍 Ann of sales, bob"]


async def test_off_shows_nothing(trio: Trio) -> None:
    rig, sales, billing = trio
    noting(rig, "b", "off")
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, "👍")
        await rig.clock.let_work()

    assert billing.texts("b") == ["hello"]
    assert only(billing, "b").emoji() == set()
    assert only(billing, "c").emoji() == {"👍"}


async def test_a_reaction_that_a_platform_lacks_is_shown_in_a_note(trio: Trio) -> None:
    rig, sales, billing = trio
    billing.unknown_emoji = frozenset({":party:"})
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.react("s", post_id, ":party:")
        await sales.react("s", post_id, "👍")
        await rig.clock.advance(1)

    assert billing.texts("b") == ["hello", "\\:party: Ann of sales"]
    assert only(billing, "b").emoji() == {"👍"}


async def test_what_a_platform_refuses_for_now_is_noted_with_a_loss(trio: Trio) -> None:
    rig, sales, billing = trio

    def full(call: Call) -> None:
        if call.channel.channel == "b" and call.body.get("emoji") == "🐛":
            raise FormRefused("too many different emoji")

    billing.before_send = full
    async with rig.run():
        post_id = await hello(rig, sales)
        for emoji in ("👍", "🐛"):
            await sales.react("s", post_id, emoji)
        await rig.clock.let_work()
        await sales.react("s", post_id, "🐛", author="bob")
        await rig.clock.advance(1)

    assert billing.texts("b") == ["hello", "🐛 Ann of sales, bob"]
    assert only(billing, "b").emoji() == {"👍"}
    assert only(billing, "c").emoji() == {"👍", "🐛"}
    assert await rig.store.dead_letters() == []


# --- pins ---------------------------------------------------------------------------------------


async def test_a_pin_is_on_every_copy_until_it_is_taken_away_where_it_may_be(trio: Trio) -> None:
    rig, sales, billing = trio
    rig.rooms = [replace(rig.rooms[0], options=RoomOptions(moderation="room"))]
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.pin("s", post_id)
        await rig.clock.advance(1)
        assert only(billing, "b").pinned
        assert only(billing, "c").pinned
        await billing.pin("b", only(billing, "b").id, own=True)
        await billing.pin("c", only(billing, "c").id, pinned=False, author="bob")
        await rig.clock.advance(1)

    assert not only(sales, "s").pinned
    assert not only(billing, "b").pinned
    assert billing.marked == [("pin_message", "")] * 2 + [("unpin_message", "")]
    assert sales.marked == [("unpin_message", "")]


async def test_an_older_pin_never_wins(trio: Trio) -> None:
    rig, sales, billing = trio
    now = rig.clock.time()
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.pin("s", post_id, pinned=False, at=now + 20)
        await sales.pin("s", post_id, at=now + 10)
        await rig.clock.let_work()

    assert billing.marked == []


async def test_where_nothing_can_be_pinned_the_bridge_says_who_did(trio: Trio) -> None:
    rig, sales, billing = trio
    billing.pins = False
    async with rig.run():
        post_id = await hello(rig, sales)
        await sales.pin("s", post_id)
        await rig.clock.advance(1)
        assert billing.texts("b") == ["hello", "📌 Ann of sales pinned this message"]
        await sales.pin("s", post_id, pinned=False)
        await rig.clock.advance(1)

    assert billing.texts("b") == ["hello"]
