"""What people are called where they are carried to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import AccountId, Person, RoomId, actor_id_of
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.rooms.rooms import AgentMembership
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock


def names(house: House, account: str, channel: str) -> list[str]:
    posts = house.connectors[AccountId(account)].channels[channel]
    return [post.author for post in posts if post.operation]


async def said(house: House, *words: tuple[str, str, str, str]) -> None:
    """(account, channel, author, nickname), one after the other."""
    async with house.run():
        for account, channel, author, nick in words:
            connector = house.connectors[AccountId(account)]
            await connector.say(channel, "hello", author=author, name=nick)
            await house.clock.let_work()
        await house.clock.advance(5)


async def test_two_people_with_the_same_nickname_are_told_apart(house: House) -> None:
    await said(house, ("slate", "s", "u1", "Ann"), ("board", "b", "u2", "Ann"),
               ("slate", "s", "u1", "Ann"), ("board", "b", "u2", "Ann"))  # fmt: skip

    assert names(house, "wall", "w") == ["Ann", "Ann (board)", "Ann (slate)", "Ann (board)"]
    assert names(house, "board", "b") == ["Ann", "Ann (slate)"]


async def test_two_of_one_workspace_are_told_apart_by_a_number(house: House) -> None:
    await said(house, ("slate", "s", "u1", "Ann"), ("slate", "s", "u2", "ann"),
               ("slate", "s", "u1", "Ann"))  # fmt: skip

    assert names(house, "wall", "w") == ["Ann", "ann (Paper 2)", "Ann"]


async def test_names_are_kept_over_a_restart_and_whoever_comes_and_goes(house: House) -> None:
    first = (("slate", "s", "u1", "Ann"), ("board", "b", "u2", "Ann"))
    await said(house, *first)
    await said(house, ("board", "b", "u2", "Anna"), *first[:1], ("wall", "w", "u3", "Ann"), *first)

    assert names(house, "wall", "w")[2:] == ["Anna", "Ann (slate)", "Ann (slate)", "Ann (board)"]


@pytest.mark.parametrize("nick", ["\u0410nn", "A\u200bnn", "ANN", "\uff21nn ", "A\u0301nn"])
async def test_a_name_that_only_looks_the_same_is_the_same(house: House, nick: str) -> None:
    await said(house, ("slate", "s", "u1", "Ann"), ("board", "b", "u2", nick))

    assert names(house, "wall", "w")[1].endswith(" (board)")


@pytest.mark.parametrize("nick", ["Echo", "\u0415cho", "Bridge", "UACS-Bridge", "Ann (Paper)"])
async def test_nobody_takes_the_name_of_an_agent_or_the_bridge_or_a_mark(
    house: House, nick: str
) -> None:
    house.rooms = [replace(house.rooms[0], agents=(AgentMembership("echo"),))]

    await said(house, ("slate", "s", "u1", nick))

    assert names(house, "wall", "w")[0].endswith(" (Paper)")


@pytest.mark.parametrize("nick", ["relay-bot", "R\u0435lay Bot \u2714", "relay\u2800bot"])
async def test_nobody_takes_the_name_that_our_bot_has_on_another_platform(
    house: House, nick: str
) -> None:
    house.connectors[AccountId("wall")].own_name = "Relay Bot"

    await said(house, ("slate", "s", "u1", nick))

    assert names(house, "wall", "w") == [f"{nick} (Paper)"]


async def test_nobody_takes_the_name_of_somebody_known_in_the_destination(house: House) -> None:
    boss = Person(id=actor_id_of("paper", "wall", "boss"), name="The Boss")
    await house.store.save_person(boss)

    await said(house, ("slate", "s", "u1", "The B\u043ess"), ("wall", "w", "boss", "The Boss"))

    assert names(house, "board", "b")[0] == "The B\u043ess (Paper)"


async def test_nobody_takes_the_name_of_an_admin_even_in_their_own_workspace(
    house: House,
) -> None:
    boss = Person(id=actor_id_of("paper", "slate", "boss"), name="The Boss")
    await house.store.save_person(boss)

    async with house.run() as router:
        router.reconfigure.change_admins([boss.id])
        slate = house.connectors[AccountId("slate")]
        await slate.say("s", "hello", author="u1", name="The Boss")
        await house.clock.let_work()

    assert names(house, "wall", "w") == ["The Boss (Paper)"]


async def test_linked_accounts_bear_one_name(house: House) -> None:
    one, other = (actor_id_of("paper", w, u) for w, u in (("slate", "u1"), ("board", "u2")))
    await house.store.link_people(one, other, "command")

    await said(house, ("slate", "s", "u1", "Ann"), ("board", "b", "u2", "Ann"))

    assert names(house, "wall", "w") == ["Ann", "Ann"]


async def test_a_channel_may_want_names_in_a_form_of_its_own(house: House) -> None:
    form = "{name} [{account}]"
    members = [
        replace(m, options=replace(m.options, names=form)) if m.account == "wall" else m
        for m in house.rooms[0].members
    ]
    house.rooms = [replace(house.rooms[0], members=tuple(members))]

    await said(house, ("slate", "s", "u1", "Ann"), ("board", "b", "u2", "Ann"))

    assert names(house, "wall", "w") == ["Ann [slate]", "Ann [board]"]
    assert names(house, "slate", "s") == ["Ann (board)"]


async def test_a_known_name_costs_no_look_into_the_store(
    clock: FakeClock, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = DisplayNames(SqliteStore.in_memory(clock))
    ann = Person(id=actor_id_of("paper", "slate", "u1"), name="A")
    assert await known.shown(house.rooms[0], ann) == "A"

    monkeypatch.setattr(known, "_store", None)

    assert await known.shown(house.rooms[0], ann) == "A"
    assert house.rooms[0].id == RoomId("all")
