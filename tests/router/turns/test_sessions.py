"""What belongs to one question, what waits for which, and how people stop an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from bridge.agents.codec.speakers import header
from bridge.content.cards.interactions import action_token
from bridge.content.cards.reader import Cards
from bridge.model import MessageId
from bridge.model.archive_records import StoredMessage
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    Steered,
    TextDelta,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.router import AgentMembership
from bridge.router.rooms.rooms import Busy, Scope
from bridge.store import SqliteStore
from bridge.uacs import Message, TextPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, PressedFake


class Slow:
    """Needs three seconds for an answer; `listens`: looks at what it is told meanwhile."""

    name = "helper"

    def __init__(self, clock: FakeClock, *, listens: bool = False) -> None:
        self.clock = clock
        self.listens = listens
        self.questions: list[list[str]] = []  # what each turn knew
        self.steered: list[str] = []
        self.failing = ""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.questions.append([words(message) for message in turn.conversation.messages])
        yield TextDelta(text="let me ")
        await self.clock.sleep(1)
        if self.failing:
            yield TurnFailed(reason=self.failing)
            return
        yield TextDelta(text="think")
        if self.listens:
            steered_input = await anext(inputs)
            assert isinstance(steered_input, Steered)
            self.steered.append(words(steered_input.message))
        await self.clock.sleep(2)
        yield TurnDone()


def words(message: Message) -> str:
    return "".join(part.text for part in message.content if isinstance(part, TextPart))


class Plaza:
    """Two channels, and an agent that sits there in some way."""

    def __init__(
        self, clock: FakeClock, *, session: Scope = "room", busy: Busy = "queue",
        gather: float = 0.0, listens: bool = False,
    ) -> None:  # fmt: skip
        self.clock = clock
        self.sales, self.billing = PressedFake("sales", clock), PressedFake("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.cards = Cards({}, KEY)
        self.agent = Slow(clock, listens=listens)
        self.rig.agents = {"helper": self.agent}
        self.rig.memberships = (AgentMembership("helper", "always", session, busy, gather),)
        self.rig.room("plaza", (self.sales, "s", "both"), (self.billing, "b", "both"))

    @property
    def last_words(self) -> list[str]:
        """The last thing that each turn was asked."""
        return [expected[-1] for expected in self.agent.questions]


async def test_questions_wait_for_one_another(clock: FakeClock) -> None:
    plaza = Plaza(clock)
    async with plaza.rig.run():
        for text in ("one", "two", "three"):
            await plaza.sales.say("s", text)
        await clock.advance(20)

    assert plaza.last_words == ["one", "two", "three"]
    assert plaza.billing.texts("b").count("let me think") == 3


async def test_merged_questions_get_one_answer(clock: FakeClock) -> None:
    plaza = Plaza(clock, busy="merge")
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        await plaza.sales.say("s", "two")
        await plaza.sales.say("s", "three")
        await clock.advance(20)

    assert plaza.last_words == ["one", "three"]
    assert "two" in plaza.agent.questions[1]
    assert await plaza.rig.store.open_turns() == []


async def test_rapid_messages_are_one_question(clock: FakeClock) -> None:
    plaza = Plaza(clock, gather=2.0)
    async with plaza.rig.run():
        for text in ("my question is", "a little long:", "why?"):
            await plaza.sales.say("s", text)
            await clock.advance(1.5)
        await clock.advance(20)

    assert plaza.last_words == ["why?"]
    assert plaza.agent.questions[0] == ["my question is", "a little long:", "why?"]


async def test_a_new_question_interrupts_the_answer(clock: FakeClock) -> None:
    plaza = Plaza(clock, busy="interrupt")
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        await plaza.sales.say("s", "no, two")
        await clock.advance(20)

    assert plaza.last_words == ["one", "no, two"]
    assert any("⏹️ stopped" in text for text in plaza.billing.texts("b"))
    assert plaza.billing.texts("b")[-1] == "let me think"


async def test_a_steered_agent_gets_messages_while_it_works(clock: FakeClock) -> None:
    plaza = Plaza(clock, busy="steer", listens=True)
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        await plaza.sales.say("s", "but shorter")
        await clock.advance(20)

    assert plaza.agent.steered == ["but shorter"]
    assert len(plaza.agent.questions) == 1
    assert await plaza.rig.store.open_turns() == []


async def test_a_steered_question_that_the_agent_did_not_read_is_asked_afterwards(
    clock: FakeClock,
) -> None:
    plaza = Plaza(clock, busy="steer")
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        await plaza.sales.say("s", "two")
        await clock.advance(20)

    assert plaza.last_words == ["one", "two"]


class Listener:
    """Answers when it is told `enough`; `told` are the headers of what it is told before."""

    name = "helper"

    def __init__(self) -> None:
        self.steered: list[str] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del turn
        self.steered = []
        async for value in inputs:
            if isinstance(value, Steered) and words(value.message) == "enough":
                break
            if isinstance(value, Steered):
                self.steered.append(header(value.message))
        yield TurnDone()


async def steered(clock: FakeClock, *said: tuple[str, str, str]) -> list[str]:
    """An agent is asked in the thread "Deploy?", and told these meanwhile, each in a thread and in
    reply to a message: the headers that it sees."""
    plaza = Plaza(clock, busy="steer")
    listener = Listener()
    plaza.rig.agents = {"helper": listener}
    ids: dict[str, str] = {}
    async with plaza.rig.run():
        for text in ("Deploy?", "Lunch?"):
            ids[text] = await plaza.sales.say("s", text)
            await clock.advance(1)
        await plaza.sales.say("s", "enough")
        await clock.advance(1)
        ids["Monday"] = await plaza.sales.say("s", "Monday", thread=ids["Deploy?"])
        await clock.advance(1)
        for text, thread, reply in said:
            more = {"reply_to": ids[reply]} if reply else {}
            ids[text] = await plaza.sales.say("s", text, thread=ids.get(thread), **more)
            await clock.advance(1)
        return listener.steered


async def test_a_steered_message_names_its_thread_and_the_message_it_answers(
    clock: FakeClock,
) -> None:
    steered_input = await steered(
        clock, ("Pizza", "Lunch?", ""), ("Really?", "Deploy?", "Monday"), ("Hi all", "", "")
    )

    assert steered_input == [
        '[from "Ann of sales", in thread "Lunch?"]',
        '[from "Ann of sales", in thread "Deploy?", to "Ann of sales": "Monday"]',
        '[from "Ann of sales"]',
    ]


async def test_a_steered_message_of_the_agents_own_thread_has_no_thread_context(
    clock: FakeClock,
) -> None:
    steered_input = await steered(clock, ("Why?", "Deploy?", ""), ("Really?", "Deploy?", "Monday"))

    assert steered_input == [
        '[from "Ann of sales"]',
        '[from "Ann of sales", to "Ann of sales": "Monday"]',
    ]


class SlowStore(SqliteStore):
    """Reading the message that says `slow` ends when `read` is set."""

    slow = ""
    read: asyncio.Event

    async def message(self, message: MessageId) -> StoredMessage | None:
        stored = await super().message(message)
        if stored is not None and words(stored.message) == self.slow:
            await self.read.wait()
        return stored


async def test_what_is_read_from_the_store_when_the_answer_has_ended_is_asked_afterwards(
    clock: FakeClock,
) -> None:
    plaza = Plaza(clock, busy="steer")
    store = plaza.rig.store = SlowStore.in_memory(clock)
    store.read = asyncio.Event()
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        store.slow = "two"
        await plaza.sales.say("s", "two")
        await clock.advance(5)
        store.read.set()
        await clock.advance(5)

    assert plaza.last_words == ["one", "two"]


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ("room", ["root", "elsewhere", "below", "bob's"]),
        ("channel", ["root", "below", "bob's"]),
        ("person", ["bob's"]),
    ],
)
async def test_an_agent_knows_what_belongs_to_its_session(
    clock: FakeClock, session: Scope, expected: list[str]
) -> None:
    plaza = Plaza(clock, session=session)
    async with plaza.rig.run():
        root = await plaza.sales.say("s", "root")
        await clock.advance(5)
        await plaza.billing.say("b", "elsewhere")
        await clock.advance(5)
        await plaza.sales.say("s", "below", thread=root)
        await clock.advance(5)
        await plaza.sales.say("s", "bob's", author="bob")
        await clock.advance(5)

    said = [text for text in plaza.agent.questions[-1] if text != "let me think"]
    assert said == expected
    answers = len(plaza.agent.questions[-1]) - len(said)
    assert answers == len(expected) - 1  # and the answers to what it knows of


async def test_a_thread_is_a_session_of_its_own(clock: FakeClock) -> None:
    plaza = Plaza(clock, session="thread")
    async with plaza.rig.run():
        root = await plaza.sales.say("s", "root")
        await plaza.sales.say("s", "another")  # answered beside it, not after it
        await clock.advance(1.5)
        assert len(plaza.agent.questions) == 2
        await clock.advance(5)
        await plaza.sales.say("s", "below", thread=root)
        await clock.advance(5)

    assert plaza.agent.questions[-1] == ["root", "let me think", "below"]


@pytest.mark.parametrize("wish", ["@helper stop", "Stop!", "cancel"])
async def test_the_stop_word_stops_the_answer(clock: FakeClock, wish: str) -> None:
    plaza = Plaza(clock)
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        await plaza.billing.say("b", wish)
        await clock.advance(20)

    assert len(plaza.agent.questions) == 1
    assert plaza.sales.texts("s")[1].endswith("⏹️ stopped")
    assert await plaza.rig.store.open_turns() == []


async def test_an_edited_question_is_asked_anew_and_the_old_answer_goes(clock: FakeClock) -> None:
    plaza = Plaza(clock)
    async with plaza.rig.run():
        question = await plaza.sales.say("s", "1 + 1?")
        await clock.advance(0.5)
        await plaza.sales.edit("s", question, "1 + 2?")
        await clock.advance(20)

    assert plaza.last_words == ["1 + 1?", "1 + 2?"]
    assert plaza.billing.texts("b") == ["1 + 2?", "let me think"]


async def test_a_deleted_question_is_not_answered(clock: FakeClock) -> None:
    plaza = Plaza(clock)
    async with plaza.rig.run():
        first = await plaza.sales.say("s", "one")
        second = await plaza.sales.say("s", "two")
        await clock.advance(0.5)
        await plaza.sales.delete("s", second)
        await plaza.sales.delete("s", first)
        await clock.advance(20)

    assert plaza.last_words == ["one"]
    assert plaza.billing.texts("b") == plaza.sales.texts("s") == []


async def test_a_failed_answer_has_a_button_that_asks_again_once(clock: FakeClock) -> None:
    plaza = Plaza(clock)
    plaza.agent.failing = "the model is overloaded"
    async with plaza.rig.run():
        await plaza.sales.say("s", "why?")
        await clock.advance(5)
        failed = plaza.billing.channels["b"][-1]
        assert "the model is overloaded" in failed.text
        answer = await plaza.rig.store.resolve(plaza.billing.channel("b"), failed.id)
        assert answer
        plaza.agent.failing = ""
        for _ in range(2):
            await plaza.billing.press("b", failed.id, await button(plaza, answer))
            await clock.advance(5)

    assert plaza.last_words[0] == "why?"
    assert len(plaza.agent.questions) == 2
    assert plaza.sales.texts("s")[-1] == "let me think"
    assert "Try again" not in "".join(plaza.sales.texts("s"))


async def button(plaza: Plaza, answer: MessageId) -> str:
    """The token of the only button; it follows from the place where it stood first."""
    return action_token(KEY, answer, "/content/2/data/nodes/0")


@pytest.mark.parametrize("sign", ["🛑", "⏹️"])
async def test_a_reaction_on_the_answer_stops_it(clock: FakeClock, sign: str) -> None:
    plaza = Plaza(clock)
    async with plaza.rig.run():
        await plaza.sales.say("s", "one")
        await clock.advance(0.5)
        copy = plaza.billing.channels["b"][-1]
        assert copy.text.startswith("let me")
        await plaza.billing.react("b", copy.id, sign)
        await clock.advance(20)

    assert plaza.sales.texts("s")[1].endswith("⏹️ stopped")
