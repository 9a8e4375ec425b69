"""What one stranger can do to the others: little."""

from __future__ import annotations

import asyncio

import pytest

from bridge.content.cards.reader import NO_CARDS
from bridge.content.text.tree import Mention
from bridge.errors import Unauthorized, Unavailable
from bridge.model import AccountId, ActorId, Person
from bridge.router.rooms import reference_names
from bridge.router.rooms.people import People
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Rooms
from bridge.store import SqliteStore
from connectors.teams.validate import SigningKeys, TokenValidator
from tests.connectors.teams.test_validate import KEY, SETTINGS, Publisher, StillClock, token
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.waiting import LONGEST_WAIT

# --- keys of tokens -----------------------------------------------------------------------------


class SlowPublisher(Publisher):
    """Answers after its gate is opened."""

    def __init__(self) -> None:
        super().__init__(k1=KEY)
        self.open = asyncio.Event()
        self.open.set()

    async def fetch(self, url: str) -> bytes:
        await self.open.wait()
        return await super().fetch(url)


async def test_a_known_key_does_not_wait_for_the_fetch_of_an_unknown_one() -> None:
    clock, published = StillClock(), SlowPublisher()
    validator = TokenValidator(
        SETTINGS, SigningKeys(SETTINGS.openid_url, published.fetch, clock), clock
    )
    await validator.claims(f"Bearer {token()}")
    clock.now += 11
    published.open.clear()
    stranger = asyncio.create_task(validator.claims(f"Bearer {token(kid='nobody')}"))
    await asyncio.sleep(0)

    async with asyncio.timeout(LONGEST_WAIT):
        await validator.claims(f"Bearer {token()}")

    published.open.set()
    with pytest.raises(Unauthorized):
        await stranger


async def test_a_flood_of_unknown_keys_asks_a_broken_publisher_once_in_a_while() -> None:
    clock, published = StillClock(), Publisher()
    published.broken = Unavailable("nobody there")
    keys = SigningKeys(SETTINGS.openid_url, published.fetch, clock)

    for number in range(100):
        with pytest.raises(Unavailable):
            await keys.key(f"k{number}")
    clock.now += 3
    with pytest.raises(Unavailable):
        await keys.key("k1")

    assert published.fetched == 2


async def test_the_name_of_a_key_does_not_fill_the_log() -> None:
    clock = StillClock()
    keys = SigningKeys(SETTINGS.openid_url, Publisher(k1=KEY).fetch, clock)
    validator = TokenValidator(SETTINGS, keys, clock)

    with pytest.raises(Unauthorized) as refused:
        await validator.claims(f"Bearer {token(kid='k' * 50_000)}")

    assert len(str(refused.value)) < 300


# --- mentions -----------------------------------------------------------------------------------


class Directory(FakeConnector):
    """Knows everybody, or is silent."""

    silent = False
    asked = 0

    async def person(self, actor: ActorId) -> Person | None:
        self.asked += 1
        if self.silent:
            await asyncio.Event().wait()
        return Person(id=actor, name="Ann")


def names_of(directory: Directory, clock: FakeClock) -> ReferenceNames:
    connectors = {AccountId("sales"): directory}
    people = People(SqliteStore.in_memory(clock), connectors, clock)
    return ReferenceNames(people, connectors, Rooms(()), NO_CARDS, clock)


def mentions(count: int) -> list[Mention]:
    actors = [ActorId(f"fake:sales:U{number}") for number in range(count)]
    return [Mention(actor, actor) for actor in actors]


async def test_ten_thousand_mentions_are_not_ten_thousand_questions(clock: FakeClock) -> None:
    directory = Directory("sales", clock)

    names = await names_of(directory, clock).names(AccountId("sales"), mentions(10_000))

    assert len(names) == directory.asked == 100


async def test_a_silent_directory_holds_a_message_for_one_deadline(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference_names, "_DEADLINE", 0.05)
    directory = Directory("sales", clock)
    directory.silent = True
    names = names_of(directory, clock)

    async with asyncio.timeout(LONGEST_WAIT):
        assert await names.names(AccountId("sales"), mentions(100)) == {}
        assert await names.names(AccountId("sales"), mentions(1)) == {}
    assert directory.asked == 1


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
