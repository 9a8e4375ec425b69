"""Agents answer when they are asked, in every channel, and their failures stay their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from uuid import UUID

import pytest
from pydantic import JsonValue

from bridge.agents.echo import EchoAgent, EchoSettings
from bridge.errors import AgentError
from bridge.model import AccountId, MessageId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    MessageChanged,
    TextDelta,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.router import AgentMembership
from bridge.router.rooms.rooms import Listen
from bridge.store import SqliteStore
from bridge.uacs import ToolCallPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

Script = Callable[[Turn], AsyncGenerator[AgentEvent, None]]


class Scripted:
    """An agent that does what a test wrote for it."""

    def __init__(self, name: str, script: Script) -> None:
        self.name = name
        self.turns: list[Turn] = []
        self.script = script

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.turns.append(turn)
        return self.script(turn)


def rig_with(
    clock: FakeClock, script: Script, listen: Listen = "mentions"
) -> tuple[RouterRig, FakeConnector, FakeConnector, Scripted]:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    agent = Scripted("helper", script)
    rig.agents = {"helper": agent}
    rig.memberships = (AgentMembership("helper", listen),)
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, sales, billing, agent


async def at_once(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="It is done.")
    yield TurnDone()


def slowly(clock: FakeClock) -> Script:
    async def script(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        for word in ("one ", "two ", "three ", "four ", "five ", "six"):
            yield TextDelta(text=word)
            await clock.sleep(1.0)
        yield TurnDone()

    return script


async def test_a_mention_is_answered_in_every_channel_once(clock: FakeClock) -> None:
    rig, sales, billing, agent = rig_with(clock, at_once)

    async with rig.run():
        await sales.say("s", "hello everybody")
        await sales.say("s", "@helper are you there?")
        await clock.advance(2)

    assert len(agent.turns) == 1
    assert billing.texts("b") == ["hello everybody", "@helper are you there?", "It is done."]
    assert sales.texts("s")[-1] == "It is done."
    assert sales.channels["s"][-1].author == "helper"


async def test_the_agent_knows_what_was_said_before_up_to_the_question(clock: FakeClock) -> None:
    rig, sales, billing, agent = rig_with(clock, at_once)

    async with rig.run():
        await sales.say("s", "first")
        await clock.let_work()
        await billing.say("b", "second")
        await clock.let_work()
        await sales.say("s", "@helper?")
        await sales.say("s", "too late")
        await clock.advance(2)

    (turn,) = agent.turns
    texts = [part.text for m in turn.conversation.messages for part in m.content]  # type: ignore[union-attr]
    assert texts == ["first", "second", "@helper?"]
    assert turn.platforms == ("fake",)


async def test_an_answer_is_shown_as_it_grows_and_ends_exact(clock: FakeClock) -> None:
    rig, sales, billing, _ = rig_with(clock, slowly(clock))

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(1.1)
        early = billing.texts("b")[-1]
        await clock.advance(3)
        later = billing.texts("b")[-1]
        await clock.advance(10)

    assert early in ("one", "one two")
    assert len(early) < len(later) < len("one two three four five six")
    assert billing.texts("b")[-1] == sales.texts("s")[-1] == "one two three four five six"
    assert len(billing.texts("b")) == 2


@pytest.mark.parametrize(("listen", "expected"), [("mentions", 1), ("threads", 2), ("always", 4)])
async def test_agents_listen_as_the_room_wants(
    clock: FakeClock, listen: Listen, expected: int
) -> None:
    rig, sales, _, agent = rig_with(clock, at_once, listen)

    async with rig.run():
        await sales.say("s", "unrelated")
        root = await sales.say("s", "@helper look at this")
        await clock.advance(2)
        await sales.say("s", "and at this", thread=root)
        await sales.say("s", "something else")
        await clock.advance(2)

    assert len(agent.turns) == expected


async def test_bots_do_not_call_agents(clock: FakeClock) -> None:
    rig, sales, _, agent = rig_with(clock, at_once, "always")

    async with rig.run():
        await sales.say("s", "@helper says a bot", bot=True)
        await clock.advance(2)

    assert agent.turns == []


async def raises(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="I will")
    raise ValueError("at https://api.example?key=abc")


async def raises_ours(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="I will")
    raise AgentError("the model is not there")


async def hangs(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="I will")
    await asyncio.Event().wait()


async def gives_up(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TurnFailed(reason="the model is overloaded")


async def just_ends(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="I will")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (raises, "ValueError; see the log"),
        (raises_ours, "the model is not there"),
        (gives_up, "the model is overloaded"),
        (just_ends, "without TurnDone"),
    ],
)
async def test_a_failing_agent_says_so_and_the_next_turn_is_answered(
    clock: FakeClock, script: Script, reason: str
) -> None:
    rig, sales, billing, agent = rig_with(clock, script)

    async with rig.run():
        await sales.say("s", "@helper?")
        await clock.advance(5)
        agent.script = at_once
        await sales.say("s", "@helper again?")
        await clock.advance(5)

    failed = billing.texts("b")[1]
    assert "⚠️ helper could not finish this answer" in failed
    assert reason in failed
    assert "api.example" not in failed
    assert billing.texts("b")[-1] == "It is done."


async def test_a_turn_that_was_cut_off_by_a_crash_is_answered_once(clock: FakeClock) -> None:
    rig, sales, billing, agent = rig_with(clock, slowly(clock))

    async with rig.run():
        await sales.say("s", "@helper count")
        await clock.advance(2.5)
    agent.script = slowly(clock)
    async with rig.run():
        await clock.advance(20)

    answers = [text for text in billing.texts("b") if text.startswith("one")]
    assert answers == ["one two three four five six"]


async def test_a_turn_whose_tool_was_called_is_never_run_again(clock: FakeClock) -> None:
    async def calls_a_tool(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        yield ToolCalled(part=ToolCallPart(id="1", name="launch", arguments={}))
        await asyncio.Event().wait()

    rig, sales, billing, agent = rig_with(clock, calls_a_tool)

    async with rig.run():
        await sales.say("s", "@helper launch it")
        await clock.advance(1)
    async with rig.run():
        await clock.advance(20)

    assert len(agent.turns) == 1
    assert "interrupted by a restart" in billing.texts("b")[-1]
    assert await rig.store.open_turns() == []


async def test_echo_says_what_it_received_and_remembers(clock: FakeClock) -> None:
    rig, sales, billing, _ = rig_with(clock, at_once)
    rig.agents = {"helper": EchoAgent("helper", EchoSettings(pace=0), clock)}

    async with rig.run():
        await sales.say("s", "the sky is blue")
        await billing.say("b", "@helper what do you know?", author="bob")
        await clock.advance(5)

    conversation = await rig.store.conversation(UUID(int=1))
    answer = conversation.messages[-1]
    text = "".join(part.text for part in answer.content)  # type: ignore[union-attr]
    assert "Hello Bob of billing!" in text
    assert "> @helper what do you know?" in text
    assert "1 message said in this room before that, by Ann of sales" in text
    assert (answer.actor.role, answer.actor.name) == ("assistant", "helper")
    assert AccountId("billing") in rig.connectors


async def test_an_agent_changes_in_every_channel_what_it_said_before(clock: FakeClock) -> None:
    async def script(turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        before = [m for m in turn.conversation.messages if m.actor.role == "assistant"]
        if before:
            part: JsonValue = {"type": "text", "text": "done: shipped"}
            yield MessageChanged(message=MessageId(before[0].message_id), parts=(part,))
        else:
            yield TextDelta(text="shipping ...")
        yield TurnDone()

    rig, sales, billing, _ = rig_with(clock, script, "always")
    async with rig.run():
        await sales.say("s", "ship it")
        await clock.advance(5)
        await sales.say("s", "and?")
        await clock.advance(5)

    assert sales.texts("s") == ["ship it", "done: shipped", "and?"]
    assert billing.texts("b") == ["ship it", "done: shipped", "and?"]


@pytest.mark.parametrize("whose", ["agent:other:1", "nobody's", "a person's"])
async def test_an_agent_changes_nothing_that_it_did_not_say(clock: FakeClock, whose: str) -> None:
    async def script(turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        first = turn.conversation.messages[0].message_id
        target = first if whose == "a person's" else whose
        part: JsonValue = {"type": "text", "text": "forged"}
        yield MessageChanged(message=MessageId(target), parts=(part,))
        yield TurnDone()

    rig, sales, billing, _ = rig_with(clock, script, "always")
    async with rig.run():
        await sales.say("s", "mine")
        await clock.advance(5)

    assert billing.texts("b")[0] == "mine"
    assert "which it did not say in this room" in "".join(billing.texts("b")[1:])
    assert sales.texts("s")[0] == "mine"


async def test_an_invalid_change_of_an_answer_fails_the_turn_and_changes_nothing(
    clock: FakeClock,
) -> None:
    async def script(turn: Turn) -> AsyncGenerator[AgentEvent, None]:
        before = [m for m in turn.conversation.messages if m.actor.role == "assistant"]
        if before:
            yield MessageChanged(message=MessageId(before[0].message_id), parts=())
        yield TextDelta(text="hello")
        yield TurnDone()

    rig, sales, billing, _ = rig_with(clock, script, "always")
    async with rig.run():
        for _ in range(2):
            await sales.say("s", "hi")
            await clock.advance(5)

    assert billing.texts("b")[1] == "hello"
    assert "could not finish" in billing.texts("b")[3]
