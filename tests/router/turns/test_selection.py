"""Several agents in one room: who answers, who calls whom, and who takes over."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import action_token
from bridge.content.cards.reader import Cards
from bridge.content.messages.agent_parts import BACK, HAND_OVER
from bridge.content.messages.parts import message_text
from bridge.content.text.patterns import pattern_of
from bridge.model import TurnId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PartGiven,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    Turn,
    TurnDone,
    TurnFailed,
    TurnState,
)
from bridge.router import AgentMembership
from bridge.router.rooms.answer_conditions import Route
from bridge.router.rooms.rooms import Talk
from bridge.router.turns.selection import ambiguities
from bridge.store import SqliteStore
from bridge.uacs import ToolCallPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, PressedFake


class Says:
    """Says its own words, and remembers what it was asked."""

    def __init__(self, name: str, *words: str, part: JsonValue = None) -> None:
        self.name = name
        self.words = list(words) or [f"{name} speaking"]
        self.part: JsonValue = part
        self.questions: list[str] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        last = turn.conversation.messages[-1].content[0]
        self.questions.append(getattr(last, "text", ""))
        yield TextDelta(text=self.words[min(len(self.questions), len(self.words)) - 1])
        if self.part is not None:
            yield PartGiven(part=self.part)
        yield TurnDone()


class Club:
    """Two channels, and agents of some kinds."""

    def __init__(
        self, clock: FakeClock, *memberships: AgentMembership, talk: Talk | None = None
    ) -> None:
        self.clock = clock
        self.sales, self.billing = PressedFake("sales", clock), PressedFake("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.cards = Cards({}, KEY)
        self.agents = {membership.agent: Says(membership.agent) for membership in memberships}
        self.rig.agents = dict(self.agents)
        self.rig.memberships, self.rig.talk = memberships, talk or Talk()
        self.rig.admins = ["fake:sales:ann"]
        self.rig.room("club", (self.sales, "s", "both"), (self.billing, "b", "both"))

    async def say(self, text: str, **more: str | bool | float | None) -> str:
        native = await self.sales.say("s", text, **more)
        await self.clock.advance(8)
        return native

    def answered(self) -> dict[str, int]:
        return {name: len(agent.questions) for name, agent in self.agents.items()}


def handing(data: dict[str, JsonValue]) -> JsonValue:
    return {"type": "structured_data", "schema_id": HAND_OVER, "data": data}


FRONT = AgentMembership("front", "always")
MONEY = AgentMembership("money", "always", routes=(Route(pattern=pattern_of("(?i)invoice")),))


async def test_the_most_specific_route_answers_alone(clock: FakeClock) -> None:
    club = Club(clock, FRONT, MONEY)
    async with club.rig.run():
        await club.say("hello")
        await club.say("where is my Invoice?")

    assert club.agents["front"].questions == ["hello"]
    assert club.agents["money"].questions == ["where is my Invoice?"]


@pytest.mark.parametrize(
    "route",
    [
        Route(channels=("s",)),
        Route(channels=("fake:sales:*",)),
        Route(people=("fake:sales:ann",)),
        Route(people=("Ann*",)),
        Route(threads=False),
    ],
    ids=("channel", "key", "id", "name", "thread"),
)
async def test_a_route_is_by_channel_person_or_thread(clock: FakeClock, route: Route) -> None:
    club = Club(clock, FRONT, AgentMembership("other", "always", routes=(route,)))
    async with club.rig.run():
        await club.say("hello")
        await club.billing.say("b", "hello", author="bob", thread="000001")
        await clock.advance(8)

    assert club.answered() == {"front": 1, "other": 1}


async def test_people_of_a_route_are_known_by_all_their_accounts(clock: FakeClock) -> None:
    route = Route(people=("fake:billing:bob",))
    club = Club(clock, FRONT, AgentMembership("other", "always", routes=(route,)))
    async with club.rig.run() as router:
        await router.parts.rooms.linking.link("fake:billing:bob", "fake:sales:ann")  # type: ignore[arg-type]
        await club.say("hello")

    assert club.answered() == {"front": 0, "other": 1}


async def test_a_named_agent_answers_whatever_the_routes_say(clock: FakeClock) -> None:
    club = Club(clock, FRONT, MONEY)
    async with club.rig.run():
        await club.say("@money hello")
        await club.say("@front @money invoices!")

    assert club.answered() == {"front": 1, "money": 2}


async def test_an_answer_to_an_agents_words_is_for_it(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front"), AgentMembership("money"))
    async with club.rig.run():
        await club.say("@money hello")
        said = next(post for post in club.sales.channels["s"] if post.text == "money speaking")
        await club.say("are you sure?", reply_to=said.id)

    assert club.answered() == {"front": 0, "money": 2}


async def test_an_agent_beside_the_others_answers_too(clock: FakeClock) -> None:
    club = Club(clock, FRONT, MONEY, AgentMembership("scribe", "always", beside=True))
    async with club.rig.run():
        await club.say("hello")
        await club.say("an invoice")

    assert club.answered() == {"front": 1, "money": 1, "scribe": 2}


async def test_a_mention_without_a_name_is_for_the_first_agent(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front"), AgentMembership("money"))
    async with club.rig.run():
        await club.say("hello?", addresses_us=True)

    assert club.answered() == {"front": 1, "money": 0}


@pytest.mark.parametrize(
    ("memberships", "collide"),
    [
        ((FRONT, MONEY), False),
        ((FRONT, AgentMembership("other", "always")), True),
        ((FRONT, AgentMembership("other", "always", beside=True)), False),
        ((FRONT, AgentMembership("other")), False),
        ((FRONT, FRONT), True),
        ((MONEY, AgentMembership("other", routes=(Route(pattern=pattern_of("refund")),))), True),
        (
            (MONEY, AgentMembership("other", routes=(Route(pattern=pattern_of("x"), priority=1),))),
            False,
        ),
        (
            (
                AgentMembership("a", routes=(Route(channels=("#help-*",)),)),
                AgentMembership("b", routes=(Route(channels=("*-de",)),)),
            ),
            True,
        ),
        (
            (
                AgentMembership("a", routes=(Route(channels=("#help-*",)),)),
                AgentMembership("b", routes=(Route(channels=("team-*",)),)),
            ),
            False,
        ),
        (
            (
                AgentMembership("a", routes=(Route(threads=True),)),
                AgentMembership("b", routes=(Route(threads=False),)),
            ),
            False,
        ),
        (
            (
                AgentMembership("a", routes=(Route(people=("Ann",)),)),
                AgentMembership("b", routes=(Route(people=("fake:sales:ann",)),)),
            ),
            True,
        ),
    ],
)
def test_memberships_that_would_both_answer_are_found(
    memberships: tuple[AgentMembership, ...], collide: bool
) -> None:
    assert bool(ambiguities(memberships)) == collide


# --- agents that call one another -------------------------------------------------------------


async def test_agents_call_one_another_where_the_room_lets_them(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"), talk=Talk("mention"))
    club.agents["front"].words = ["@money, please"]
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)

    assert club.agents["money"].questions == ["@money, please"]
    assert "money speaking" in club.billing.texts("b")


async def test_agents_do_not_call_one_another_by_default(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"))
    club.agents["front"].words = ["@money, please"]
    async with club.rig.run():
        await club.say("hello")

    assert club.answered() == {"front": 1, "money": 0}


async def test_agents_do_not_talk_to_each_other_for_ever(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front"), AgentMembership("money"), talk=Talk("mention", 3))
    club.agents["front"].words, club.agents["money"].words = ["@money?"], ["@front!"]
    async with club.rig.run():
        await club.say("@front hello")
        await clock.advance(60)
    async with club.rig.run():  # nor after a restart
        await clock.advance(60)
        first = sum(club.answered().values())
        assert any("3 times" in text for text in club.billing.texts("b"))
        await club.say("@front go on")
        await clock.advance(60)

    assert first == 1 + 3
    assert sum(club.answered().values()) == 2 * first


async def test_bots_call_an_agent_only_where_it_hears_them_and_not_for_ever(
    clock: FakeClock,
) -> None:
    club = Club(
        clock, AgentMembership("deaf"), AgentMembership("open", bots=True), talk=Talk(turns=2)
    )
    async with club.rig.run():
        for number in range(5):
            await club.say(f"@deaf @open alert number {number}", author="pager", bot=True)
        assert club.answered() == {"deaf": 0, "open": 2}
        await club.say("@open what is it?")
        await club.say("@open once more", author="pager", bot=True)

    assert club.answered() == {"deaf": 0, "open": 4}


# --- taking over and handing over -------------------------------------------------------------


async def test_agents_are_silent_where_a_person_took_over(clock: FakeClock) -> None:
    club = Club(clock, FRONT)
    async with club.rig.run():
        await club.say("take-over", addresses_us=True)
        await club.say("hello")
        await club.say("@front hello?")
        assert any("has taken over" in text for text in club.billing.texts("b"))
    async with club.rig.run():  # still, after a restart
        await club.say("hello")
        assert club.answered() == {"front": 0}
        await club.say("give-back", addresses_us=True)
        await club.say("hello again")

    assert club.agents["front"].questions == ["hello again"]


async def test_the_button_gives_back(clock: FakeClock) -> None:
    club = Club(clock, FRONT)
    async with club.rig.run():
        await club.say("take-over", addresses_us=True)
        post = next(
            channel for channel in club.sales.channels["s"] if "has taken over" in channel.text
        )
        message_id = await club.rig.store.resolve(club.sales.channel("s"), post.id)
        assert message_id
        token = action_token(KEY, message_id, "/content/0/data/nodes/1")
        await club.billing.press("b", club.billing.channels["b"][-1].id, token)  # no operator there
        await clock.advance(5)
        await club.say("hello")
        assert club.answered() == {"front": 0}
        await club.sales.press("s", post.id, token)
        await clock.advance(5)
        await club.say("hello")

    assert club.answered() == {"front": 1}


async def test_only_operators_take_over(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always", operators=("fake:sales:bob",)))
    async with club.rig.run():
        await club.say("take-over", addresses_us=True, author="carl")
        await club.say("hello")
        assert club.answered() == {"front": 1}
        await club.say("take-over", addresses_us=True, author="bob")
        await club.say("hello")

    assert club.answered() == {"front": 1}


async def test_a_thread_is_taken_over_by_itself(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always", "thread"))
    async with club.rig.run():
        root = await club.say("root")
        await club.say("take-over", addresses_us=True, thread=root)
        await club.say("below", thread=root)
        await club.say("elsewhere")

    assert club.agents["front"].questions == ["root", "elsewhere"]


async def test_another_agent_answers_where_it_was_handed_over_to(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"))
    async with club.rig.run():
        await club.say("hand-over nobody", addresses_us=True)
        assert any("no agent 'nobody'" in text for text in club.sales.texts("s"))
        await club.say("hand-over money", addresses_us=True)
        await club.say("hello")

    assert club.answered() == {"front": 0, "money": 1}


async def test_an_agent_hands_over_to_another(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"))
    club.agents["front"].part = handing({"to": "money", "why": "it is about money"})
    async with club.rig.run():
        await club.say("where is my refund?")
        await clock.advance(10)
        await club.say("and now?")

    assert club.answered() == {"front": 1, "money": 2}
    assert any("it is about money" in text for text in club.billing.texts("b"))


async def test_an_agent_hands_over_to_a_person(clock: FakeClock) -> None:
    club = Club(clock, FRONT)
    club.agents["front"].part = handing({"to": "person"})
    async with club.rig.run():
        await club.say("I want to talk to somebody")
        await club.say("hello?")

    assert club.answered() == {"front": 1}


async def test_an_answer_ends_when_a_person_takes_over(clock: FakeClock) -> None:
    club = Club(clock, FRONT)

    class Slow(Says):
        async def run(
            self, turn: Turn, inputs: AsyncIterator[AgentInput]
        ) -> AsyncGenerator[AgentEvent, None]:
            yield TextDelta(text="let me think")
            await clock.sleep(1000)
            yield TextDelta(text="forty-two")
            yield TurnDone()

    club.rig.agents = {"front": Slow("front")}
    async with club.rig.run() as router:
        await club.say("hello")
        await club.say("take-over", addresses_us=True)
        assert router.parts.turns.queue.idle

    assert any("⏹️ stopped" in text for text in club.billing.texts("b"))


# --- handing over by a tool -------------------------------------------------------------------


class Hands(Says):
    """Calls `hand_over`, listens to what it is told, and says goodbye."""

    def __init__(self, name: str, *calls: dict[str, JsonValue]) -> None:
        super().__init__(name, "goodbye")
        self.calls = calls
        self.offered: list[JsonValue] = []
        self.told: list[tuple[str, bool]] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.questions.append(turn.trigger)
        self.offered = list((turn.conversation.metadata or {}).get("tools") or [])  # type: ignore[arg-type]
        for number, arguments in enumerate(self.calls if self.offered else ()):
            call = ToolCallPart(id=f"c{number}", name="hand_over", arguments=arguments)
            yield ToolCalled(part=call)
            value = await anext(inputs)
            assert isinstance(value, ToolResultGiven)
            self.told.append((str(value.part.content), value.part.is_error is True))
            yield ToolAnswered(part=value.part)
        yield TextDelta(text="goodbye")
        yield TurnDone()


def handing_club(
    clock: FakeClock,
    *calls: dict[str, JsonValue],
    talk: Talk = Talk(hand_over=True),  # noqa: B008
) -> tuple[Club, Hands]:
    club = Club(clock, FRONT, AgentMembership("money"), talk=talk)
    front = Hands("front", *calls)
    club.rig.agents = {**club.agents, "front": front}
    return club, front


async def test_a_model_hands_over_to_another_agent_by_a_tool(clock: FakeClock) -> None:
    club, front = handing_club(clock, {"to": "money", "why": "it is about money"})
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)
        await club.say("and now?")

    assert front.told == [("money goes on when your answer has ended; end it now.", False)]
    assert (len(front.questions), club.answered()["money"]) == (1, 2)
    texts = club.billing.texts("b")
    assert any("money answers in this room from now on: it is about money" in t for t in texts)
    assert not any("hand_over" in text or "🔧" in text for text in texts)
    (tool,) = front.offered
    assert isinstance(tool, dict)
    assert "'enum': ['money', 'person']" in str(tool["parameters"])


async def test_a_model_hands_over_to_a_person_by_a_tool(clock: FakeClock) -> None:
    club, front = handing_club(clock, {"to": "@person"})
    async with club.rig.run():
        await club.say("I want a human")
        await clock.advance(10)
        await club.say("@money hello?")

    assert (len(front.questions), club.agents["money"].questions) == (1, [])
    assert any("A person (asked by front) has taken over" in t for t in club.sales.texts("s"))


async def test_a_hand_over_to_an_unknown_agent_is_answered_with_the_known_ones(
    clock: FakeClock,
) -> None:
    wrong: list[dict[str, JsonValue]] = [{"to": "front"}, {"to": 7}, {"to": "x"}, {}]
    club, front = handing_club(clock, *wrong, {"to": "money"}, {"to": "person"})
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)

    assert [failed for _, failed in front.told] == [True, True, True, True, False, True]
    assert all("there are: money, person" in text for text, _ in front.told[:4])
    assert club.answered()["money"] == 1


async def test_the_tool_is_offered_only_where_the_room_allows_it(clock: FakeClock) -> None:
    club, front = handing_club(clock, {"to": "money"}, talk=Talk("mention"))
    async with club.rig.run():
        await club.say("hello")

    assert (front.offered, club.answered()["money"]) == ([], 0)


class Leaves(Says):
    """Answers, and gives the conversation back when it is told to."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.questions.append(turn.trigger)
        text, _ = message_text(turn.conversation.messages[-1])
        yield TextDelta(text=f"{self.name} speaks")
        if "thanks" in text:
            yield PartGiven(part=handing({"to": BACK, "why": "it is done"}))
        yield TurnDone()


async def test_an_agent_that_gives_back_calls_the_one_that_handed_over(clock: FakeClock) -> None:
    club, front = handing_club(clock, {"to": "money"})
    money = Leaves("money", "")
    club.rig.agents = {**club.rig.agents, "money": money}
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)
        front.calls = ()
        await club.say("how much?")
        await clock.advance(10)
        asked_before = len(front.questions)
        await club.say("thanks")
        await clock.advance(10)
        called = len(front.questions) - asked_before
        await club.say("next")
        await clock.advance(10)

    assert (asked_before, called, len(front.questions)) == (1, 1, 3)
    assert len(money.questions) == 3
    assert any("↩️ @money is done: it is done." in text for text in club.billing.texts("b"))
    assert await club.rig.store.holdings() == []


class Fails(Says):
    """Cannot answer."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.questions.append(turn.trigger)
        yield TurnFailed(reason="it declined the invitation", retry=False)


async def test_an_agent_that_cannot_answer_loses_the_conversation_to_who_handed_over(
    clock: FakeClock,
) -> None:
    club, front = handing_club(clock, {"to": "money"})
    money = Fails("money", "")
    club.rig.agents = {**club.rig.agents, "money": money}
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)
        front.calls = ()
        asked_before = len(front.questions)
        await club.say("how much?")
        await clock.advance(10)

    assert (len(money.questions), asked_before, len(front.questions)) == (1, 1, 2)
    assert any("@money is done: it could not answer" in text for text in club.billing.texts("b"))
    assert await club.rig.store.holdings() == []


async def test_hand_overs_are_given_back_one_by_one(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"), AgentMembership("law"),
                talk=Talk(hand_over=True))  # fmt: skip
    front = Hands("front", {"to": "money"})
    money, law = Hands("money", {"to": "law"}), Leaves("law", "")
    club.rig.agents = {**club.agents, "front": front, "money": money, "law": law}
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)
        front.calls = money.calls = ()
        (holding,) = await club.rig.store.holdings()
        await club.say("thanks")
        await clock.advance(10)
        (returned,) = await club.rig.store.holdings()

    assert (holding.agent, holding.earlier) == ("law", (("money", "agent:front"),))
    assert (returned.agent, returned.by, returned.earlier) == ("money", "agent:front", ())
    assert any("@money answers in this room again" in text for text in club.billing.texts("b"))
    assert len(money.questions) == 2


async def test_an_agent_that_holds_nothing_gives_nothing_back(clock: FakeClock) -> None:
    club = Club(clock, FRONT, talk=Talk(hand_over=True))
    club.rig.agents = {**club.agents, "front": Leaves("front", "")}
    async with club.rig.run():
        await club.say("thanks")
        await clock.advance(10)

    assert await club.rig.store.holdings() == []
    assert not any("is done" in text for text in club.billing.texts("b"))


class Invites(Says):
    """Invites another agent by an address, as Open Floor agents do."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.questions.append(turn.trigger)
        yield TextDelta(text="one moment")
        yield PartGiven(part=handing({"to": self.words[0]}))
        yield TurnDone()


class Addressed(Says):
    """Has addresses beside its name."""

    addresses = ("https://money.test/of", "tag:money.test,2026:1")


@pytest.mark.parametrize(
    ("address", "holder"),
    [
        ("https://money.test/of/", "money"),
        ("tag:money.test,2026:1", "money"),
        ("https://unknown.test", None),
    ],
)
async def test_an_agent_is_invited_by_its_address(
    clock: FakeClock, address: str, holder: str | None
) -> None:
    club = Club(clock, FRONT, AgentMembership("money"))
    club.rig.agents = {"front": Invites("front", address), "money": Addressed("money")}
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)

    assert [one.agent for one in await club.rig.store.holdings()] == ([holder] if holder else [])
    unknown = any("who is not in this room" in text for text in club.billing.texts("b"))
    assert unknown == (holder is None)


async def test_handing_over_to_the_one_that_handed_over_gives_back(clock: FakeClock) -> None:
    club, front = handing_club(clock, {"to": "money"})
    money = Hands("money")
    club.rig.agents = {**club.rig.agents, "money": money}
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(10)
        front.calls = ()
        money.calls = tuple[dict[str, JsonValue], ...]([{"to": "front"}])
        await club.say("back, please")
        await clock.advance(10)

    assert await club.rig.store.holdings() == []
    assert len(front.questions) == 2


async def test_agents_hand_over_no_more_often_than_they_may_call(clock: FakeClock) -> None:
    club, _ = handing_club(clock, {"to": "money"}, talk=Talk(turns=2, hand_over=True))
    money = Hands("money", {"to": "front"})
    club.rig.agents = {**club.rig.agents, "money": money}
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(60)

    front = club.rig.agents["front"]
    assert isinstance(front, Hands)
    assert len(front.questions) + len(money.questions) == 1 + 2
    assert any("2 times" in text for text in club.billing.texts("b"))


# --- what an answer calls goes out with it ----------------------------------------------------


async def test_a_call_of_another_agent_is_not_lost_in_a_crash(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"), talk=Talk("mention"))
    club.agents["front"].words = ["@money, please"]
    store = club.rig.store
    called: list[tuple[str, ...]] = []
    set_turn = store.set_turn

    async def seen(turn: TurnId, state: TurnState, **more: Any) -> None:
        if state == "done" and not called:  # the answer stands; the process may end here
            called.append(tuple(open_turn.agent for open_turn in await store.open_turns()))
        await set_turn(turn, state, **more)

    store.set_turn = seen  # type: ignore[method-assign]  # where a crash would be
    async with club.rig.run():
        await club.say("hello")

    assert called == [("front", "money")]


async def test_an_answer_that_was_stopped_calls_nobody(clock: FakeClock) -> None:
    club = Club(clock, FRONT, AgentMembership("money"), talk=Talk("mention"))

    class Slow(Says):
        async def run(
            self, turn: Turn, inputs: AsyncIterator[AgentInput]
        ) -> AsyncGenerator[AgentEvent, None]:
            yield TextDelta(text="@money, please")
            await anext(inputs)
            yield TurnDone()

    club.rig.agents = {**club.agents, "front": Slow("front")}
    async with club.rig.run() as router:
        await club.sales.say("s", "hello")
        await clock.advance(3)
        (session,) = router.parts.turns.queue._sessions  # pyright: ignore[reportPrivateUsage]
        await router.parts.turns.queue.stop(session, None)
        await clock.advance(10)

    assert club.answered()["money"] == 0
