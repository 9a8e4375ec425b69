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
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector


class Judged:
    """Answers, and hears what people think, unless something is wrong."""

    name = "judged"
    takes_feedback = True

    def __init__(self) -> None:
        self.heard: list[Feedback] = []
        self.faults: list[BridgeError] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        yield TextDelta(text="Blue.")
        yield TurnDone()

    async def take_feedback(self, feedback: Feedback) -> None:
        if self.faults:
            raise self.faults.pop(0)
        self.heard.append(feedback)


@pytest.fixture
def house(clock: FakeClock) -> House:
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.agents = {"judged": GuardedAgent(Judged(), [])}
    house.memberships = (AgentMembership("judged", "always"),)
    house.room("plaza", (slate, "s", "both"), (board, "b", "both"))
    asks(house, RoomOptions(feedback="on"))
    return house


def asks(house: House, options: RoomOptions) -> None:
    house.rooms = [replace(room, options=options) for room in house.rooms]


def agent(house: House) -> Judged:
    guarded = house.agents["judged"]
    assert isinstance(guarded, GuardedAgent)
    assert isinstance(guarded._agent, Judged)  # pyright: ignore[reportPrivateUsage]
    return guarded._agent  # pyright: ignore[reportPrivateUsage]


async def answered(house: House) -> tuple[str, MessageId]:
    """The answer's copy on the board, and its canonical message."""
    slate, board = house.connectors.values()
    assert isinstance(slate, PaperConnector)
    assert isinstance(board, PaperConnector)
    await slate.say("s", "Which colour?")
    await house.clock.advance(5)
    copy = board.channels["b"][-1].id
    message = await house.store.resolve(board.channel("b"), copy)
    assert message
    return copy, message


async def judge(house: House, copy: str, sense: str, author: str = "ann") -> None:
    board = list(house.connectors.values())[1]
    assert isinstance(board, PaperConnector)
    await board.happen(FeedbackGiven, "b", by=author, target=copy, sense=sense, comment="so")
    await house.clock.advance(5)


async def kept(house: House, message: MessageId) -> list[str]:
    stored = await house.store.message(message)
    assert stored
    return [one.sense for one in read_bridge_metadata(stored.message)[0].feedback]


async def test_an_agent_hears_each_word_of_a_person_and_the_answer_keeps_the_latest(
    house: House,
) -> None:
    async with house.run():
        copy, message = await answered(house)
        await judge(house, copy, "good")
        await judge(house, copy, "bad")
        await judge(house, copy, "good", "bob")

        assert await kept(house, message) == ["bad", "good"]
    heard = [(one.sense, one.actor.rpartition(":")[2], one.comment) for one in agent(house).heard]
    assert heard == [("good", "ann", "so"), ("bad", "ann", "so"), ("good", "bob", "so")]
    assert {(one.message, one.room) for one in agent(house).heard} == {(message, "plaza")}


async def test_what_an_agent_cannot_take_now_comes_again_over_a_restart_too(house: House) -> None:
    agent(house).faults = [Unavailable("it sleeps")] * 40
    async with house.run():
        copy, _ = await answered(house)
        await judge(house, copy, "bad")
    assert agent(house).heard == []

    agent(house).faults = [Unavailable("it sleeps")]
    async with house.run():
        await house.clock.advance(5)

    assert [one.sense for one in agent(house).heard] == ["bad"]
    assert await house.store.untold_feedback() == []


async def test_what_an_agent_refuses_is_kept_and_not_told_again(house: House) -> None:
    agent(house).faults = [Refused("no such address")]
    async with house.run():
        copy, message = await answered(house)
        await judge(house, copy, "bad")

        assert await kept(house, message) == ["bad"]
    assert agent(house).heard == []
    assert await house.store.untold_feedback() == []


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
async def test_feedback_that_the_room_does_not_want_counts_for_nothing(
    house: House, options: RoomOptions
) -> None:
    asks(house, options)
    async with house.run():
        copy, message = await answered(house)
        await judge(house, copy, "bad")

        assert await kept(house, message) == []
    assert agent(house).heard == []


async def test_feedback_on_what_a_person_said_counts_for_nothing(house: House) -> None:
    async with house.run():
        await answered(house)
        board = list(house.connectors.values())[1]
        assert isinstance(board, PaperConnector)
        copy = board.channels["b"][0].id
        message = await house.store.resolve(board.channel("b"), copy)
        assert message
        await judge(house, copy, "bad")

        assert await kept(house, message) == []
