"""What people think of an answer: whose counts, and how its agent hears of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import BridgeError, Refused, Unavailable
from bridge.model import FeedbackGiven, MessageId
from bridge.model.turns import AgentEvent, AgentInput, Feedback, TextDelta, Turn, TurnDone
from bridge.policies.guarded import GuardedAgent
from bridge.router import AgentMembership
from bridge.router.rooms.options import Filter, MessageFilter, RoomOptions
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


class Judged:
    """Answers, and hears what people think, unless something is wrong."""

    name = "judged"
    takes_feedback = True

    def __init__(self) -> None:
        self.taken: list[Feedback] = []
        self.faults: list[BridgeError] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        yield TextDelta(text="Blue.")
        yield TurnDone()

    async def take_feedback(self, feedback: Feedback) -> None:
        if self.faults:
            raise self.faults.pop(0)
        self.taken.append(feedback)


@pytest.fixture
def rig(clock: FakeClock) -> RouterRig:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.agents = {"judged": GuardedAgent(Judged(), [])}
    rig.memberships = (AgentMembership("judged", "always"),)
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))
    asks(rig, RoomOptions(feedback="on"))
    return rig


def asks(rig: RouterRig, options: RoomOptions) -> None:
    rig.rooms = [replace(room, options=options) for room in rig.rooms]


def agent(rig: RouterRig) -> Judged:
    guarded = rig.agents["judged"]
    assert isinstance(guarded, GuardedAgent)
    assert isinstance(guarded._agent, Judged)  # pyright: ignore[reportPrivateUsage]
    return guarded._agent  # pyright: ignore[reportPrivateUsage]


async def answered(rig: RouterRig) -> tuple[str, MessageId]:
    """The answer's copy on the billing, and its canonical message."""
    sales, billing = rig.connectors.values()
    assert isinstance(sales, FakeConnector)
    assert isinstance(billing, FakeConnector)
    await sales.say("s", "Which colour?")
    await rig.clock.advance(5)
    copy = billing.channels["b"][-1].id
    message = await rig.store.resolve(billing.channel("b"), copy)
    assert message
    return copy, message


async def judge(rig: RouterRig, copy: str, sense: str, author: str = "ann") -> None:
    billing = list(rig.connectors.values())[1]
    assert isinstance(billing, FakeConnector)
    await billing.happen(FeedbackGiven, "b", by=author, target=copy, sense=sense, comment="so")
    await rig.clock.advance(5)


async def feedback_of(rig: RouterRig, message: MessageId) -> list[str]:
    stored = await rig.store.message(message)
    assert stored
    return [one.sense for one in read_bridge_metadata(stored.message)[0].feedback]


async def test_an_agent_hears_each_word_of_a_person_and_the_answer_keeps_the_latest(
    rig: RouterRig,
) -> None:
    async with rig.run():
        copy, message = await answered(rig)
        await judge(rig, copy, "good")
        await judge(rig, copy, "bad")
        await judge(rig, copy, "good", "bob")

        assert await feedback_of(rig, message) == ["bad", "good"]
    taken = [(one.sense, one.actor.rpartition(":")[2], one.comment) for one in agent(rig).taken]
    assert taken == [("good", "ann", "so"), ("bad", "ann", "so"), ("good", "bob", "so")]
    assert {(one.message, one.room) for one in agent(rig).taken} == {(message, "plaza")}


async def test_feedback_that_an_agent_cannot_take_now_is_delivered_later_also_after_a_restart(
    rig: RouterRig,
) -> None:
    agent(rig).faults = [Unavailable("it sleeps")] * 40
    async with rig.run():
        copy, _ = await answered(rig)
        await judge(rig, copy, "bad")
    assert agent(rig).taken == []

    agent(rig).faults = [Unavailable("it sleeps")]
    async with rig.run():
        await rig.clock.advance(5)

    assert [one.sense for one in agent(rig).taken] == ["bad"]
    assert await rig.store.undelivered_feedback() == []


async def test_feedback_that_an_agent_refuses_is_kept_and_not_delivered_again(
    rig: RouterRig,
) -> None:
    agent(rig).faults = [Refused("no such address")]
    async with rig.run():
        copy, message = await answered(rig)
        await judge(rig, copy, "bad")

        assert await feedback_of(rig, message) == ["bad"]
    assert agent(rig).taken == []
    assert await rig.store.undelivered_feedback() == []


@pytest.mark.parametrize(
    "options",
    [
        RoomOptions(feedback="off"),
        RoomOptions(
            feedback="on",
            message_filter=MessageFilter(exclude=(Filter(kinds=frozenset({"presses"})),)),
        ),
    ],
)
async def test_feedback_in_a_room_without_feedback_is_ignored(
    rig: RouterRig, options: RoomOptions
) -> None:
    asks(rig, options)
    async with rig.run():
        copy, message = await answered(rig)
        await judge(rig, copy, "bad")

        assert await feedback_of(rig, message) == []
    assert agent(rig).taken == []


async def test_feedback_on_a_persons_message_is_ignored(rig: RouterRig) -> None:
    async with rig.run():
        await answered(rig)
        billing = list(rig.connectors.values())[1]
        assert isinstance(billing, FakeConnector)
        copy = billing.channels["b"][0].id
        message = await rig.store.resolve(billing.channel("b"), copy)
        assert message
        await judge(rig, copy, "bad")

        assert await feedback_of(rig, message) == []
