"""Accounts that are one person's: by codes and by e-mail, and what is told of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import InvalidData, Unavailable
from bridge.model import AccountId, ActorId, MessageId, Person, actor_id_of
from bridge.ports.abilities import Abilities
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.rooms.linking import CODE_SECONDS, Linking
from bridge.router.signals import Signal
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

ANN = actor_id_of("fake", "sales", "ann")
ALSO_ANN = actor_id_of("fake", "billing", "annie")
BOB = actor_id_of("fake", "web", "bob")


class FakeWithAddresses(FakeConnector):
    """The same platform, which tells some people's addresses."""

    def __init__(self, account: str, clock: FakeClock, addresses: dict[ActorId, str]) -> None:
        super().__init__(account, clock)
        self.addresses = addresses
        self.lookups = 0
        self.down = False

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), emails=self)

    async def email(self, actor: ActorId) -> str | None:
        self.lookups += 1
        if self.down:
            raise Unavailable("down")
        return self.addresses.get(actor)


@pytest.fixture
async def linking(clock: FakeClock) -> AsyncGenerator[Linking]:
    store = SqliteStore.in_memory(clock)
    linking = Linking(store, {}, DisplayNames(store), clock, Signal())
    yield linking
    await linking.close()


async def test_a_link_code_from_another_platform_links_the_two_accounts(linking: Linking) -> None:
    assert await linking.person_of(ANN) is None

    code = await linking.begin_link(ANN)
    await linking.finish_link(ALSO_ANN, f" {code.lower().replace('-', ' ')} ".replace("0", "o"))

    assert await linking.person_of(ANN) == await linking.person_of(ALSO_ANN) is not None


async def test_a_code_is_good_once_for_some_minutes_and_elsewhere(
    linking: Linking, clock: FakeClock
) -> None:
    code = await linking.begin_link(ANN)
    with pytest.raises(InvalidData, match="your own"):
        await linking.finish_link(ANN, code)
    await linking.finish_link(ALSO_ANN, code)
    with pytest.raises(InvalidData, match="not known"):
        await linking.finish_link(BOB, code)

    late = await linking.begin_link(ANN)
    clock.now += CODE_SECONDS
    with pytest.raises(InvalidData, match="ask for a new one"):
        await linking.finish_link(BOB, late)
    assert await linking.person_of(BOB) is None


async def test_guessing_pairing_codes_is_stopped(linking: Linking) -> None:
    for _ in range(5):
        with pytest.raises(InvalidData, match="not known"):
            await linking.finish_link(BOB, "0000-0000")
    code = await linking.begin_link(ANN)

    with pytest.raises(InvalidData, match="Too many"):
        await linking.finish_link(BOB, code)


async def test_nobody_is_linked_to_themselves(linking: Linking) -> None:
    with pytest.raises(InvalidData, match="name two"):
        await linking.link(ANN, ANN)
    assert not await linking.unlink(ANN)


async def test_the_person_stands_beside_the_author_whose_id_never_changes(rig: RouterRig) -> None:
    async with rig.run() as router:
        sales, billing = (rig.connectors[AccountId(one)] for one in ("sales", "billing"))
        await sales.say("s", "before", author="ann")
        await rig.clock.let_work()
        person = await router.parts.rooms.linking.link(ANN, ALSO_ANN)
        first = await sales.say("s", "hello", author="ann")
        await billing.say("b", "hello", author="bob")
        await rig.clock.let_work()
        await sales.edit("s", first, "changed")
        await rig.clock.let_work()

    messages = (await rig.store.conversation(rig.rooms[0].conversation)).messages
    assert [read_bridge_metadata(message)[0].person for message in messages] == [None, person, None]
    assert [message.actor.id for message in messages[:2]] == [ANN, ANN]
    stored = await rig.store.message(MessageId(messages[1].message_id))
    assert stored is not None
    assert stored.state == "edited"


async def by_email(clock: FakeClock, key: bytes | None) -> tuple[Linking, FakeWithAddresses]:
    addresses = {ANN: "Ann@Acme.example", ALSO_ANN: " ann@acme.example", BOB: "bob@acme.example"}
    connector = FakeWithAddresses("sales", clock, addresses)
    store = SqliteStore.in_memory(clock)
    linking = Linking(
        store, {connector.account: connector}, DisplayNames(store), clock, Signal(), key
    )
    return linking, connector


async def see(linking: Linking, clock: FakeClock, *actors: ActorId, bot: bool = False) -> None:
    for actor in actors:
        linking.person_seen(AccountId("sales"), Person(id=actor, name="x", bot=bot))
    await clock.let_work()
    assert linking.idle


async def test_accounts_with_one_address_are_linked_where_that_is_wanted(clock: FakeClock) -> None:
    linking, connector = await by_email(clock, b"key")

    await see(linking, clock, ANN, ALSO_ANN, BOB, ANN)

    assert await linking.person_of(ANN) == await linking.person_of(ALSO_ANN) is not None
    assert await linking.person_of(BOB) is None
    assert connector.lookups == 3


async def test_nobody_is_asked_for_addresses_unless_it_is_wanted(clock: FakeClock) -> None:
    linking, connector = await by_email(clock, None)
    await see(linking, clock, ANN, ALSO_ANN)
    wanted, other = await by_email(clock, b"key")
    await see(wanted, clock, ANN, bot=True)

    assert connector.lookups == other.lookups == 0


async def test_accounts_that_were_unlinked_are_not_linked_again(clock: FakeClock) -> None:
    store = SqliteStore.in_memory(clock)
    addresses = {ANN: "ann@acme.example", ALSO_ANN: "ann@acme.example"}
    connectors = {AccountId("sales"): FakeWithAddresses("sales", clock, addresses)}
    linking = Linking(store, connectors, DisplayNames(store), clock, Signal(), b"key")
    await see(linking, clock, ANN, ALSO_ANN)
    assert await linking.unlink(ALSO_ANN)

    started = Linking(store, connectors, DisplayNames(store), clock, Signal(), b"key")
    await see(started, clock, ANN, ALSO_ANN)

    assert await started.person_of(ANN) is None


async def test_an_address_that_could_not_be_had_is_asked_for_again(clock: FakeClock) -> None:
    linking, connector = await by_email(clock, b"key")
    connector.down = True
    linking.person_seen(AccountId("sales"), Person(id=ANN, name="x"))
    await clock.advance(1)
    connector.down = False
    await clock.advance(30)
    await see(linking, clock, ALSO_ANN)

    assert await linking.person_of(ANN) is not None
