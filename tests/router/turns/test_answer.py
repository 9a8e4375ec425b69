"""What stands in the archive beside what an agent said: how long it took, what judged it, and what
it keeps for itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

import pytest

from bridge.content.cards.reader import NO_CARDS, is_rich
from bridge.content.messages.parts import message_text
from bridge.model import MessageId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    ModerationReported,
    PlanStep,
    StateKept,
    TextDelta,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.ports.store.whole import Store
from bridge.router import AgentMembership
from bridge.router.turns.answer import Answer
from bridge.store import SqliteStore
from bridge.uacs import Message, TextPart, ToolCallPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


class Scripted:
    """Says what the script has for the turn; a number is seconds that it takes."""

    def __init__(
        self, name: str, clock: FakeClock, script: Callable[[int], list[AgentEvent | float]]
    ) -> None:
        self.name = name
        self.clock = clock
        self.script = script
        self.turns: list[Turn] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del inputs
        self.turns.append(turn)
        for one in self.script(len(self.turns)):
            if isinstance(one, TurnFailed):
                yield one
                return
            if isinstance(one, float | int):
                await self.clock.sleep(one)
            else:
                yield one
        yield TurnDone()


def plaza(
    clock: FakeClock, *agents: Scripted, **membership: Any
) -> tuple[RouterRig, FakeConnector]:
    sales = FakeConnector("sales", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales,))
    rig.agents = {agent.name: agent for agent in agents}
    rig.memberships = tuple(AgentMembership(agent.name, **membership) for agent in agents)
    rig.room("plaza", (sales, "s", "both"))
    return rig, sales


async def answers(store: Store, rig: RouterRig, agent: str) -> list[Message]:
    conversation = await store.conversation(rig.rooms[0].conversation)
    return [message for message in conversation.messages if message.actor.id == f"agent:{agent}"]


async def test_an_answer_tells_how_long_it_took_and_what_judged_it(clock: FakeClock) -> None:
    script: list[AgentEvent | float] = [
        AnswerRecorded(record={"api": "x"}), 2.0, TextDelta(text="Yes."), 3.0,
        UsageReported(usage={"input_tokens": 7}), ModerationReported(moderation={"refused": False}),
    ]  # fmt: skip
    rig, sales = plaza(clock, Scripted("bot", clock, lambda _: script))
    async with rig.run():
        await sales.say("s", "@bot?", addresses_us=True)
        await clock.advance(10)

    (answer,) = await answers(rig.store, rig, "bot")
    metadata: Any = answer.metadata
    assert metadata["latency"] == {"first_ms": 2000, "total_ms": 5000}
    assert metadata["usage"] == {"input_tokens": 7}
    assert metadata["moderation"] == {"refused": False}
    assert metadata["record"] == {"api": "x"}


def agent_state(turn: Turn, agent: str) -> Any:
    metadata: Any = turn.conversation.metadata
    return metadata.get("agents", {}).get(agent)


async def test_what_an_agent_keeps_is_shown_to_it_alone_in_all_later_turns(
    clock: FakeClock,
) -> None:
    def counts(number: int) -> list[AgentEvent | float]:
        state: Any = {"turns": number, "first": "yes"} if number == 1 else {"turns": number}
        return [TextDelta(text="Yes."), StateKept(state=state)]

    bot = Scripted("bot", clock, counts)
    other = Scripted("other", clock, lambda _: [TextDelta(text="No.")])
    rig, sales = plaza(clock, bot, other, history_tokens=500, listen="always", beside=True)
    async with rig.run():
        await sales.say("s", "one")
        await clock.advance(5)
        await sales.say("s", "two " + "x" * 3000)
        await clock.advance(5)
        await sales.say("s", "three")
        await clock.advance(5)

    assert agent_state(bot.turns[0], "bot") is None
    assert agent_state(bot.turns[1], "bot") == {"turns": 1, "first": "yes"}
    assert agent_state(bot.turns[2], "bot") == {"turns": 2, "first": "yes"}
    assert all(agent_state(turn, "bot") is None for turn in other.turns)
    seen = [m.metadata for turn in other.turns for m in turn.conversation.messages]
    assert any(m.actor.id == "agent:bot" for m in other.turns[2].conversation.messages)
    assert "turns" not in str(seen)


async def test_an_answer_that_is_deleted_takes_along_what_was_kept_with_it(
    clock: FakeClock,
) -> None:
    bot = Scripted("bot", clock, lambda n: [TextDelta(text=f"{n}"), StateKept(state={"n": n})])
    rig, sales = plaza(clock, bot, listen="always")
    async with rig.run():
        await sales.say("s", "one")
        await clock.advance(5)
        question = await sales.say("s", "two")
        await clock.advance(5)
        (_, second) = await answers(rig.store, rig, "bot")
        await rig.store.change_message(second, "deleted")
        await sales.delete("s", question)
        await sales.say("s", "three")
        await clock.advance(5)

    assert agent_state(bot.turns[2], "bot") == {"n": 1}


async def test_a_key_is_taken_away_by_null_and_another_session_has_its_own_state(
    clock: FakeClock,
) -> None:
    def script(number: int) -> list[AgentEvent | float]:
        state: Any = {"a": 1, "b": 2} if number == 1 else {"a": None}
        return [TextDelta(text="Yes."), StateKept(state=state)]

    bot = Scripted("bot", clock, script)
    rig, sales = plaza(clock, bot, listen="always", session="person")
    async with rig.run():
        for who in ("ann", "ann", "bob", "ann"):
            await sales.say("s", "Hi", author=who)
            await clock.advance(5)

    assert [agent_state(turn, "bot") for turn in bot.turns] == [
        None,
        {"a": 1, "b": 2},
        None,
        {"b": 2},
    ]


async def test_an_agent_cannot_keep_more_than_its_share(clock: FakeClock) -> None:
    grows: list[AgentEvent | float] = [
        TextDelta(text="So."), *(StateKept(state={f"{n}": "x" * 9000}) for n in range(2))
    ]  # fmt: skip
    rig, sales = plaza(clock, Scripted("bot", clock, lambda _: grows), listen="always")
    async with rig.run():
        await sales.say("s", "Hi")
        await clock.advance(5)

    (answer,) = await answers(rig.store, rig, "bot")
    assert "more than 16000 bytes" in str(answer.content)


@pytest.mark.parametrize("retry", [True, False])
async def test_notifications_say_that_an_answer_failed_and_not_what_it_had_begun_to_say(
    clock: FakeClock, retry: bool
) -> None:
    reason = "because " * 500
    script: list[AgentEvent | float] = [
        TextDelta(text="The secret plan is"), TurnFailed(reason=reason, retry=retry)
    ]  # fmt: skip
    rig, sales = plaza(clock, Scripted("bot", clock, lambda _: script), listen="always")
    async with rig.run():
        await sales.say("s", "Hi")
        await clock.advance(5)

    (answer,) = await answers(rig.store, rig, "bot")
    card, _ = NO_CARDS.read(answer)
    said, notice, *_ = answer.content
    assert card.summary == "⚠️ bot could not finish this answer"
    assert is_rich(answer)
    assert said == TextPart(text="The secret plan is")
    assert isinstance(notice, TextPart)
    assert notice.text.startswith("⚠️ bot could not finish this answer: because")
    assert len(notice.text) < 600


async def test_what_is_kept_outlives_a_turn_that_was_cut_off(clock: FakeClock) -> None:
    def script(number: int) -> list[AgentEvent | float]:
        if number == 2:
            call = ToolCallPart(id="c1", name="own_tool", arguments={})
            return [TextDelta(text="Let me see."), ToolCalled(part=call), 100.0]
        return [TextDelta(text="Yes."), *([StateKept(state={"n": 1})] if number == 1 else [])]

    bot = Scripted("bot", clock, script)
    rig, sales = plaza(clock, bot, listen="always")
    async with rig.run():
        for text in ("one", "two"):
            await sales.say("s", text)
            await clock.advance(5)
    async with rig.run():
        await clock.advance(5)
        await sales.say("s", "three")
        await clock.advance(5)

    said = [m.content for m in await answers(rig.store, rig, "bot")]
    assert "interrupted by a restart" in str(said[1])
    assert agent_state(bot.turns[-1], "bot") == {"n": 1}


async def test_a_waiting_question_includes_the_answers_given_meanwhile(clock: FakeClock) -> None:
    bot = Scripted("bot", clock, lambda n: [1.0, TextDelta(text=f"Answer {n}.")])
    rig, sales = plaza(clock, bot, listen="always")
    async with rig.run():
        for text in ("one", "two", "three"):
            await sales.say("s", text)
        await clock.advance(10)

    knew = [message_text(m)[0] for m in bot.turns[2].conversation.messages]
    assert knew == ["one", "two", "Answer 1.", "Answer 2.", "three"]


def test_a_transient_step_is_what_the_agent_does_and_no_part_of_its_plan() -> None:
    answer = Answer(MessageId("agent:bot:1"), "bot", 0.0)
    step = PlanStep(id="progress", title="Looking at\nthe sky", status="in_progress")
    answer.take(step.model_copy(update={"transient": True}))

    assert answer.doing == "is working on: Looking at the sky"
    assert answer.steps == ()
    assert not answer.has_content
