"""Who reaches an agent, whatever they do; and codes in direct messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace

import pytest

from bridge.errors import Unavailable
from bridge.model import ActorId, ChannelRef
from bridge.model.turn_records import PAIRING_TRIES
from bridge.model.turns import AgentEvent, AgentInput, Turn
from bridge.ports.abilities import Abilities
from bridge.router import AgentMembership
from bridge.router.turns.access import begin_pairing
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_presses import PressedFake
from tests.router.turns.test_selection import Club, Says

ANN, BOB = ActorId("fake:sales:ann"), ActorId("fake:sales:bob")


@pytest.mark.parametrize(
    ("membership", "answered"),
    [
        (AgentMembership("front", "always"), 2),
        (AgentMembership("front", "always", allow=(ANN,)), 1),
        (AgentMembership("front", "always", allow=("fake:sales:*",)), 2),
        (AgentMembership("front", "always", allow=("Ann*",)), 0),  # a name is nobody's
        (AgentMembership("front", "always", deny=(BOB,)), 1),
        (AgentMembership("front", "always", allow=("fake:*",), deny=("fake:sales:*",)), 0),
    ],
)
async def test_lists_say_who_reaches_an_agent(
    clock: FakeClock, membership: AgentMembership, answered: int
) -> None:
    club = Club(clock, membership)
    async with club.rig.run():
        await club.say("hello")
        await club.say("hello too", author="bob")

    assert club.answered() == {"front": answered}


async def test_lists_hold_for_all_accounts_of_a_person(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always", allow=(ANN,), deny=("fake:billing:eve",)))
    async with club.rig.run() as router:
        await router.parts.rooms.linking.link(ANN, ActorId("fake:billing:annie"))
        await club.billing.say("b", "hello", author="annie")
        await clock.advance(5)
        assert club.answered() == {"front": 1}
        await router.parts.rooms.linking.link(ANN, ActorId("fake:billing:eve"))
        await club.say("hello")

    assert club.answered() == {"front": 1}


async def test_a_person_whom_an_agent_does_not_admit_gets_one_refusal(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", allow=(ANN,)))
    async with club.rig.run():
        await club.say("@front hello", author="bob")
        await club.say("@front hello?", author="bob")
        await club.say("something else", author="bob")

    notices = [text for text in club.sales.texts("s") if "does not answer everybody" in text]
    assert len(notices) == 1
    assert club.answered() == {"front": 0}


async def test_a_person_whom_an_agent_does_not_admit_cannot_stop_it(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always", allow=(ANN,)))

    async def slow_stop(stopper: str) -> bool:
        await club.sales.say("s", "hello")
        await clock.advance(0.5)
        answer = club.sales.channels["s"][-1]
        await club.sales.react("s", answer.id, "🛑", author=stopper)
        await club.sales.say("s", "stop", author=stopper)
        await clock.advance(20)
        return any("⏹️" in text for text in club.sales.texts("s"))

    class Slow(Says):
        async def run(
            self, turn: Turn, inputs: AsyncIterator[AgentInput]
        ) -> AsyncGenerator[AgentEvent, None]:
            async for event in super().run(turn, inputs):
                yield event
                await clock.sleep(3)

    club.rig.agents = {"front": Slow("front")}
    async with club.rig.run():
        assert not await slow_stop("bob")
        assert await slow_stop("ann")


async def test_a_waiting_question_of_a_person_who_was_banned_meanwhile_is_not_answered(
    clock: FakeClock,
) -> None:
    club = Club(clock, AgentMembership("front", "always", gather=5.0))
    async with club.rig.run() as router:
        await club.sales.say("s", "hello")
        await clock.advance(1)
        await router.parts.rooms.bans.ban(ANN, "banned", "test", None)
        await clock.advance(20)

    assert club.answered() == {"front": 0}


# --- guests and groups ------------------------------------------------------------------------

HELPERS = "group:fake:sales:helpers"


class Grouped(PressedFake):
    """Knows groups, and how often it was asked for them."""

    def __init__(self, name: str, clock: FakeClock) -> None:
        super().__init__(name, clock)
        self.groups: dict[ActorId, frozenset[str]] = {}
        self.lookups: list[tuple[str, tuple[str, ...]]] = []
        self.silent = False

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), groups=self)

    async def of_actor(self, actor: ActorId, globs: Sequence[str]) -> frozenset[str]:
        self.lookups.append((actor, tuple(globs)))
        if self.silent:
            raise Unavailable("the platform is away")
        return self.groups.get(actor, frozenset())


class GroupedClub(Club):
    def __init__(self, clock: FakeClock, *memberships: AgentMembership) -> None:
        super().__init__(clock, *memberships)
        self.sales = self.people = Grouped("sales", clock)
        self.rig.connectors[self.sales.account] = self.sales
        self.rig.rooms.clear()
        self.rig.room("club", (self.sales, "s", "both"), (self.billing, "b", "both"))


@pytest.mark.parametrize(
    ("membership", "answered"),
    [
        (AgentMembership("front", "always", allow=(HELPERS,)), ["ann"]),
        (AgentMembership("front", "always", allow=("group:*",)), ["ann"]),
        (AgentMembership("front", "always", deny=("guest:*",)), ["ann", "carl"]),
        (
            AgentMembership("front", "always", allow=(BOB, HELPERS), deny=("guest:fake:*",)),
            ["ann"],
        ),
        (AgentMembership("front", "always", deny=("guest:other:*",)), ["ann", "bob", "carl"]),
    ],
)
async def test_lists_name_guests_and_groups(
    clock: FakeClock, membership: AgentMembership, answered: list[str]
) -> None:
    club = GroupedClub(clock, membership)
    club.people.groups = {ANN: frozenset([HELPERS]), BOB: frozenset(["guest:fake:sales"])}
    async with club.rig.run():
        for one in ("ann", "bob", "carl"):
            await club.say(f"I am {one}", author=one)

    assert club.agents["front"].questions == [f"I am {one}" for one in answered]


async def test_groups_are_asked_for_where_a_list_names_them_and_once_a_minute(
    clock: FakeClock,
) -> None:
    club = GroupedClub(clock, AgentMembership("front", "always", allow=(ANN, HELPERS)))
    async with club.rig.run():
        await club.say("hello")  # by her id
        assert club.people.lookups == []
        await club.say("hello", author="bob")
        await club.say("hello", author="bob")
        assert set(club.people.lookups) == {(BOB, (HELPERS,))}
        first = len(club.people.lookups)
        club.people.groups = {BOB: frozenset([HELPERS])}
        await clock.advance(61)
        await club.say("hello", author="bob")

    assert (first, club.answered()) == (1, {"front": 2})


@pytest.mark.parametrize("membership", [
    AgentMembership("front", "always", allow=(HELPERS,)),
    AgentMembership("front", "always", deny=("guest:*",)),
])  # fmt: skip
async def test_people_whose_groups_cannot_be_looked_up_are_not_admitted(
    clock: FakeClock, membership: AgentMembership
) -> None:
    club = GroupedClub(clock, membership)
    club.people.groups, club.people.silent = {ANN: frozenset([HELPERS])}, True
    async with club.rig.run():
        await club.say("hello")
        club.people.silent = False
        await club.say("hello again")

    assert club.agents["front"].questions == ["hello again"]


async def test_the_groups_of_all_accounts_of_a_person_count(clock: FakeClock) -> None:
    club = GroupedClub(clock, AgentMembership("front", "always", allow=(HELPERS,)))
    club.people.groups = {ANN: frozenset([HELPERS])}
    async with club.rig.run() as router:
        await router.parts.rooms.linking.link(ANN, ActorId("fake:billing:annie"))
        await club.billing.say("b", "hello", author="annie")
        await clock.advance(5)

    assert club.answered() == {"front": 1}


# --- direct messages --------------------------------------------------------------------------


class Direct(FakeConnector):
    """Every channel is between one person and the bot."""

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), direct_messages=self)

    def is_direct(self, channel: ChannelRef) -> bool:
        return True

    async def open(self, actor: ActorId) -> ChannelRef:
        return self.channel("d")


class Desk:
    """An agent that people write to directly."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.fake = Direct("sales", clock)
        self.store = SqliteStore.in_memory(clock)
        self.rig = RouterRig(clock, self.store, (self.fake,))
        self.agent = Says("front")
        self.rig.agents = {"front": self.agent}
        self.rig.memberships = (AgentMembership("front", "always"),)
        self.rig.room("desk", (self.fake, "d", "both"))

    async def say(self, text: str, author: str = "ann") -> None:
        await self.fake.say("d", text, author=author, addresses_us=True)
        await self.clock.advance(5)

    async def code(self, agent: str = "front") -> str:
        return await begin_pairing(self.store, self.clock, agent, "test", 10)


async def test_nobody_reaches_an_agent_directly_without_a_code(clock: FakeClock) -> None:
    desk = Desk(clock)
    async with desk.rig.run():
        await desk.say("hello")
        assert any("pair new" in text for text in desk.fake.texts("d"))
        await desk.say((await desk.code()).lower())
        await desk.say("hello again")
    async with desk.rig.run():  # after a restart, too
        await desk.say("and now?")

    assert desk.agent.questions == ["hello again", "and now?"]


async def test_a_pairing_code_is_not_archived_and_works_once(clock: FakeClock) -> None:
    desk = Desk(clock)
    code = await desk.code("*")
    async with desk.rig.run():
        await desk.say(f"pair {code}")
        await desk.say(code, author="bob")
        await desk.say("hello", author="bob")

    assert desk.agent.questions == []
    conversation = await desk.store.conversation(desk.rig.rooms[0].conversation)
    assert code not in str(conversation.messages)


async def test_a_pairing_code_admits_to_its_own_agent_only(clock: FakeClock) -> None:
    desk = Desk(clock)
    async with desk.rig.run():
        await desk.say(await desk.code("another"))
        await desk.say("hello")

    assert desk.agent.questions == []


async def test_codes_are_not_guessed(clock: FakeClock) -> None:
    desk = Desk(clock)
    async with desk.rig.run():
        for number in range(PAIRING_TRIES):
            await desk.say(f"ZZZZ-000{number}")
        await desk.say(await desk.code())
        assert any("Too many codes" in text for text in desk.fake.texts("d"))
        await clock.advance(3700)
        await desk.say(await desk.code())
        await desk.say("hello")

    assert desk.agent.questions == ["hello"]


async def test_an_unpaired_person_is_not_answered_any_more(clock: FakeClock) -> None:
    desk = Desk(clock)
    async with desk.rig.run() as router:
        await desk.say(await desk.code())
        await desk.say("hello")
        assert await router.parts.turns.access.unpair(ANN, None)
        await desk.say("hello?")

    assert desk.agent.questions == ["hello"]


async def test_an_allowed_person_needs_no_code(clock: FakeClock) -> None:
    desk = Desk(clock)
    desk.rig.rooms.clear()
    desk.rig.memberships = (AgentMembership("front", "always", allow=(ANN,)),)
    desk.rig.room("desk", (desk.fake, "d", "both"))
    async with desk.rig.run():
        await desk.say("hello")

    assert desk.agent.questions == ["hello"]
