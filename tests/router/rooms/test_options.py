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
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_routing import texts_in

Trio = tuple[RouterRig, FakeConnector, FakeConnector]


@pytest.fixture
def trio(clock: FakeClock) -> Trio:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "c", "both"))
    return rig, sales, billing


def with_options(rig: RouterRig, room: dict[str, Any], **members: dict[str, Any]) -> None:
    """Give the first room these options as the configuration would; `members` by channel."""
    old = rig.rooms[0]
    settings = RoomSettings.model_validate(
        {**room, "members": [
            {"account": m.account, "channel": m.channel.channel,
             **members.get(m.channel.channel, {})}
            for m in old.members
        ]}
    )  # fmt: skip
    rig.rooms[0] = Room(
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
        ({"include": [{"authors": ["fake:sales:bob"]}]}, ["secret plan"]),
        ({"include": [{"kinds": ["bots", "threads"]}]}, ["CI: ok", "below"]),
        ({"exclude": [{"kinds": ["bots"], "matching": "never"}]},
         ["hi", "CI: ok", "secret plan", "below"]),
        ({"exclude": [{"kinds": ["posts"]}]}, []),
    ],
)  # fmt: skip
async def test_only_messages_that_the_filter_admits_come_in(
    trio: Trio, room: dict[str, Any], passes: list[str]
) -> None:
    rig, sales, billing = trio
    with_options(rig, room)
    async with rig.run():
        first = await sales.say("s", "hi")
        await sales.say("s", "CI: ok", author="ci", bot=True)
        await sales.say("s", "secret plan", author="bob")
        await sales.say("s", "below", thread=first)
        await rig.clock.let_work()

    assert billing.texts("b") == billing.texts("c") == passes
    if passes:
        assert await texts_in(rig.store, rig.rooms[0].conversation) == passes


class FakeWithoutNames(FakeConnector):
    """Its payloads have ids alone; names are looked up."""

    lookups = 0

    async def person(self, actor: ActorId) -> Person | None:
        self.lookups += 1
        return Person(id=actor, name={"u7": "Ann Lee"}.get(split_key(actor)[-1], "Somebody"))


@pytest.mark.parametrize(("at_room", "passes"), [("include", ["of Ann"]), ("exclude", ["of u8"])])
async def test_authors_are_known_by_their_names_also_where_payloads_have_none(
    clock: FakeClock, at_room: str, passes: list[str]
) -> None:
    sales, billing = FakeWithoutNames("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    with_options(rig, {at_room: [{"authors": ["Ann*"]}]})
    async with rig.run():
        of_ann = await sales.say("s", "from Ann", author="u7", name="u7")
        of_u8 = await sales.say("s", "from u8", author="u8", name="u8")
        await rig.clock.let_work()
        await sales.edit("s", of_ann, "of Ann")
        await sales.edit("s", of_u8, "of u8")
        await rig.clock.let_work()
        assert billing.texts("b") == passes
        assert sales.lookups == 2
        await sales.delete("s", of_ann)
        await sales.delete("s", of_u8)
        await rig.clock.let_work()
        names = [person.name for person in await rig.store.people_named("Ann Lee")]

    assert billing.texts("b") == []
    assert names == (["Ann Lee"] if at_room == "include" else [])


async def test_the_filter_of_a_member_works_in_both_directions(trio: Trio) -> None:
    rig, sales, billing = trio
    with_options(rig, {}, b={"exclude": [{"matching": "lunch"}]})
    async with rig.run():
        await sales.say("s", "lunch at one")
        await sales.say("s", "work")
        await rig.clock.advance(1)
        await billing.say("b", "no lunch for me")
        await billing.say("b", "more work")
        await rig.clock.advance(1)

    assert billing.texts("b") == ["work", "no lunch for me", "more work"]
    assert billing.texts("c") == ["lunch at one", "work", "more work"]


async def test_edits_and_deletions_pass_the_same_filter(trio: Trio) -> None:
    rig, sales, billing = trio
    with_options(rig, {"exclude": [{"kinds": ["deletions"]}, {"matching": "bad word"}]})
    async with rig.run():
        first = await sales.say("s", "hello")
        await rig.clock.let_work()
        await sales.edit("s", first, "a bad word")
        await rig.clock.let_work()
        assert billing.texts("b") == ["hello"]
        await sales.edit("s", first, "a good word")
        await rig.clock.let_work()
        await sales.delete("s", first)
        await rig.clock.let_work()

    assert billing.texts("b") == ["a good word"]


async def test_an_edit_is_shown_only_where_the_channels_filter_admits_its_new_text(
    trio: Trio,
) -> None:
    rig, sales, billing = trio
    with_options(
        rig,
        {},
        b={"exclude": [{"matching": "lunch"}, {"kinds": ["edits"], "authors": ["fake:sales:bob"]}]},
    )
    async with rig.run():
        first = await sales.say("s", "work")
        second = await sales.say("s", "more work", author="bob")
        await rig.clock.let_work()
        await sales.edit("s", first, "lunch")
        await sales.edit("s", second, "no work")
        await rig.clock.let_work()
        assert billing.texts("b") == ["work", "more work"]
        await sales.edit("s", first, "much work")
        await rig.clock.let_work()

    assert billing.texts("b") == ["much work", "more work"]
    assert billing.texts("c") == ["much work", "no work"]


async def test_an_edit_that_one_room_does_not_let_in_is_not_shown_there(trio: Trio) -> None:
    rig, sales, billing = trio
    rig.rooms.append(replace(rig.rooms[0], id=RoomId("other"), conversation=uuid4()))
    one, other = rig.rooms
    rig.rooms[0] = replace(one, members=tuple(m for m in one.members if m.channel.channel != "c"))
    with_options(rig, {"exclude": [{"matching": "lunch"}]})
    rig.rooms[1] = replace(
        other, members=tuple(m for m in other.members if m.channel.channel != "b")
    )
    async with rig.run():
        first = await sales.say("s", "work")
        await rig.clock.let_work()
        await sales.edit("s", first, "lunch")
        await rig.clock.let_work()

    assert (billing.texts("b"), billing.texts("c")) == (["work"], ["lunch"])


@pytest.mark.parametrize("gone", ["channel", "room", "heard only"])
async def test_waiting_posts_for_a_channel_that_left_the_room_are_not_sent(
    trio: Trio, gone: str
) -> None:
    """Nothing of the room's options would hold any more; a deletion is made all the same."""
    rig, sales, billing = trio
    with_options(rig, {"replace": [{"find": "falcon", "put": "project"}]})

    def down(_: object) -> None:
        raise Unavailable("down")

    async with rig.run() as router:
        first = await sales.say("s", "falcon one")
        await rig.clock.advance(1)
        billing.before_send = down
        await sales.edit("s", first, "falcon two")
        await sales.say("s", "falcon three")
        await rig.clock.advance(5)
        room = rig.rooms[0]
        rest = tuple(m for m in room.members if m.channel.channel != "b")
        members = tuple(replace(m, flow="in") for m in room.members)
        members = {"channel": rest, "room": (), "heard only": members}[gone]
        router.reconfigure.change_rooms([replace(room, members=members)] if members else [])
        billing.before_send = None
        await rig.clock.advance(300)
        letters = await rig.store.dead_letters()
        assert billing.texts("b") == ["project one"]
        await sales.edit("s", first, "falcon four")
        await rig.clock.advance(5)
        assert billing.texts("b") == ["project one"]
        await sales.delete("s", first)
        await rig.clock.advance(5)

    lost = [letter.error for letter in letters if letter.operation.channel.channel == "b"]
    assert len(lost) == 2
    assert all("any more" in error for error in lost)
    if gone == "channel":
        assert billing.texts("c") == ["project three"]
        assert billing.texts("b") == []


@pytest.mark.parametrize("edit", ["!private", "!PRIVATE: not for all", "**!private** work"])
async def test_an_edit_that_keeps_a_message_private_takes_it_back_from_the_others(
    trio: Trio, edit: str
) -> None:
    rig, sales, billing = trio
    with_options(rig, {})
    async with rig.run():
        first = await sales.say("s", "work")
        await rig.clock.let_work()
        await sales.edit("s", first, edit)
        await rig.clock.let_work()

    assert billing.texts("b") == billing.texts("c") == []
    assert await texts_in(rig.store, rig.rooms[0].conversation) == []


async def test_a_message_that_its_author_keeps_private_is_neither_carried_nor_kept(
    trio: Trio,
) -> None:
    rig, sales, billing = trio
    with_options(rig, {"private": ["!private", "nobridge"]})
    async with rig.run():
        await sales.say("s", "!Private: among us")
        await sales.say("s", "NoBridge this stays")
        await sales.say("s", "_**\u200b!private**_ this, too")
        await sales.say("s", "for all, not !private")
        await rig.clock.let_work()

    assert billing.texts("b") == ["for all, not !private"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["for all, not !private"]


async def test_words_and_names_are_replaced_where_they_are_shown_and_kept_as_they_were_said(
    trio: Trio,
) -> None:
    rig, sales, billing = trio
    with_options(
        rig,
        {"replace": [{"find": "falcon", "put": "project"}]},
        b={"replace": [{"find": "ject", "put": "[x]"}], "rename": [{"find": " of .*", "put": ""}]},
    )
    async with rig.run():
        first = await sales.say("s", "falcon flies")
        await rig.clock.let_work()
        await sales.edit("s", first, "falcon lands")
        await rig.clock.let_work()

    assert billing.texts("b") == [r"pro\[x\] lands"]
    assert billing.texts("c") == ["project lands"]
    assert [billing.channels[name][0].author for name in "bc"] == ["Ann", "Ann of sales"]
    assert await texts_in(rig.store, rig.rooms[0].conversation) == ["falcon lands"]


async def test_a_flat_channel_shows_threads_as_replies(trio: Trio) -> None:
    rig, sales, billing = trio
    with_options(rig, {}, b={"threads": "flat"})
    async with rig.run():
        first = await sales.say("s", "root")
        await sales.say("s", "below", thread=first)
        await rig.clock.let_work()

    root = billing.channels["c"][0].id
    assert [(post.text, post.thread) for post in billing.channels["b"]] == [
        ("root", None), ("below", None),
    ]  # fmt: skip
    assert [(post.text, post.thread) for post in billing.channels["c"]] == [
        ("root", None), ("below", root),
    ]  # fmt: skip


async def test_a_late_post_is_shown_with_its_time_or_becomes_a_dead_letter(trio: Trio) -> None:
    rig, sales, billing = trio
    with_options(rig, {"max_delay": 60}, c={"late": "refuse"})
    rig.timeouts = replace(rig.timeouts, late_after=1e9)  # no notice of it

    def down(_: object) -> None:
        raise Unavailable("down")

    billing.before_send = down
    async with rig.run() as router:
        await sales.say("s", "old news")
        await rig.clock.advance(100)
        billing.before_send = None
        await rig.clock.advance(300)
        (letter,) = await rig.store.dead_letters()
        assert "max_delay" in letter.error
        (late,) = billing.texts("b")
        assert late.endswith("\n\nold news")
        assert "said" in late
        assert billing.texts("c") == []

        router.parts.outbound.lanes.wake(await rig.store.replay(letter.operation.id))
        await sales.say("s", "on time")
        await rig.clock.advance(1)

    assert [text.rpartition("\n")[2] for text in billing.texts("c")] == ["old news", "on time"]


async def test_a_post_that_was_late_when_it_came_in_is_refused_at_once(trio: Trio) -> None:
    rig, sales, billing = trio
    with_options(rig, {"max_delay": 60, "late": "refuse"})
    async with rig.run() as router:
        raw = sales.raw("s", "of yesterday", at=rig.clock.time() - 86_400)
        await router.inbox.accept(raw)
        await sales.say("s", "of now")
        await rig.clock.let_work()
        letters = await rig.store.dead_letters()

    assert billing.texts("b") == billing.texts("c") == ["of now"]
    assert [letter.excerpt for letter in letters] == ["of yesterday", "of yesterday"]
