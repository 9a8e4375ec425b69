"""What people are called where they are carried to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.model import AccountId, Person, RoomId, actor_id_of
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.rooms.rooms import AgentMembership
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock


def names(rig: RouterRig, account: str, channel: str) -> list[str]:
    posts = rig.connectors[AccountId(account)].channels[channel]
    return [post.author for post in posts if post.operation]


async def post_from(rig: RouterRig, *words: tuple[str, str, str, str]) -> None:
    """(account, channel, author, nickname), one after the other."""
    async with rig.run():
        for account, channel, author, nick in words:
            connector = rig.connectors[AccountId(account)]
            await connector.say(channel, "hello", author=author, name=nick)
            await rig.clock.let_work()
        await rig.clock.advance(5)


async def test_two_people_with_the_same_nickname_get_suffixes(rig: RouterRig) -> None:
    await post_from(rig, ("sales", "s", "u1", "Ann"), ("billing", "b", "u2", "Ann"),
               ("sales", "s", "u1", "Ann"), ("billing", "b", "u2", "Ann"))  # fmt: skip

    assert names(rig, "web", "w") == ["Ann", "Ann (billing)", "Ann (sales)", "Ann (billing)"]
    assert names(rig, "billing", "b") == ["Ann", "Ann (sales)"]


async def test_equal_names_in_one_workspace_get_a_number(rig: RouterRig) -> None:
    await post_from(rig, ("sales", "s", "u1", "Ann"), ("sales", "s", "u2", "ann"),
               ("sales", "s", "u1", "Ann"))  # fmt: skip

    assert names(rig, "web", "w") == ["Ann", "ann (Fake 2)", "Ann"]


async def test_names_are_kept_over_a_restart_and_whoever_comes_and_goes(rig: RouterRig) -> None:
    first = (("sales", "s", "u1", "Ann"), ("billing", "b", "u2", "Ann"))
    await post_from(rig, *first)
    await post_from(
        rig, ("billing", "b", "u2", "Anna"), *first[:1], ("web", "w", "u3", "Ann"), *first
    )

    assert names(rig, "web", "w")[2:] == ["Anna", "Ann (sales)", "Ann (sales)", "Ann (billing)"]


@pytest.mark.parametrize("nick", ["\u0410nn", "A\u200bnn", "ANN", "\uff21nn ", "A\u0301nn"])
async def test_a_name_that_only_looks_the_same_is_the_same(rig: RouterRig, nick: str) -> None:
    await post_from(rig, ("sales", "s", "u1", "Ann"), ("billing", "b", "u2", nick))

    assert names(rig, "web", "w")[1].endswith(" (billing)")


@pytest.mark.parametrize("nick", ["Echo", "\u0415cho", "Bridge", "UACS-Bridge", "Ann (Fake)"])
async def test_nobody_takes_the_name_of_an_agent_or_the_bridge_or_a_mark(
    rig: RouterRig, nick: str
) -> None:
    rig.rooms = [replace(rig.rooms[0], agents=(AgentMembership("echo"),))]

    await post_from(rig, ("sales", "s", "u1", nick))

    assert names(rig, "web", "w")[0].endswith(" (Fake)")


@pytest.mark.parametrize("nick", ["relay-bot", "R\u0435lay Bot \u2714", "relay\u2800bot"])
async def test_nobody_takes_the_name_that_our_bot_has_on_another_platform(
    rig: RouterRig, nick: str
) -> None:
    rig.connectors[AccountId("web")].own_name = "Relay Bot"

    await post_from(rig, ("sales", "s", "u1", nick))

    assert names(rig, "web", "w") == [f"{nick} (Fake)"]


async def test_nobody_takes_the_name_of_somebody_known_in_the_destination(rig: RouterRig) -> None:
    boss = Person(id=actor_id_of("fake", "web", "boss"), name="The Boss")
    await rig.store.save_person(boss)

    await post_from(rig, ("sales", "s", "u1", "The B\u043ess"), ("web", "w", "boss", "The Boss"))

    assert names(rig, "billing", "b")[0] == "The B\u043ess (Fake)"


async def test_nobody_takes_the_name_of_an_admin_even_in_their_own_workspace(
    rig: RouterRig,
) -> None:
    boss = Person(id=actor_id_of("fake", "sales", "boss"), name="The Boss")
    await rig.store.save_person(boss)

    async with rig.run() as router:
        router.reconfigure.change_admins([boss.id])
        sales = rig.connectors[AccountId("sales")]
        await sales.say("s", "hello", author="u1", name="The Boss")
        await rig.clock.let_work()

    assert names(rig, "web", "w") == ["The Boss (Fake)"]


async def test_linked_accounts_share_one_name(rig: RouterRig) -> None:
    one, other = (actor_id_of("fake", w, u) for w, u in (("sales", "u1"), ("billing", "u2")))
    await rig.store.link_people(one, other, "command")

    await post_from(rig, ("sales", "s", "u1", "Ann"), ("billing", "b", "u2", "Ann"))

    assert names(rig, "web", "w") == ["Ann", "Ann"]


async def test_a_channel_has_its_own_form_of_names(rig: RouterRig) -> None:
    form = "{name} [{account}]"
    members = [
        replace(m, options=replace(m.options, names=form)) if m.account == "web" else m
        for m in rig.rooms[0].members
    ]
    rig.rooms = [replace(rig.rooms[0], members=tuple(members))]

    await post_from(rig, ("sales", "s", "u1", "Ann"), ("billing", "b", "u2", "Ann"))

    assert names(rig, "web", "w") == ["Ann [sales]", "Ann [billing]"]
    assert names(rig, "sales", "s") == ["Ann (billing)"]


async def test_a_known_name_costs_no_look_into_the_store(
    clock: FakeClock, rig: RouterRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = DisplayNames(SqliteStore.in_memory(clock))
    ann = Person(id=actor_id_of("fake", "sales", "u1"), name="A")
    assert await names.name_in(rig.rooms[0], ann) == "A"

    monkeypatch.setattr(names, "_store", None)

    assert await names.name_in(rig.rooms[0], ann) == "A"
    assert rig.rooms[0].id == RoomId("all")
