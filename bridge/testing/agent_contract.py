"""Contract suite for agents: inherit `AgentContract` and provide its `rig` fixture.

class TestMyAgent(AgentContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[AgentRig]: ...
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Literal, Protocol

import pytest

from bridge.model import MessageId, RoomId, TurnId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PartGiven,
    StopWanted,
    TextDelta,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.ports.agent import Agent
from bridge.uacs import Actor, Conversation, Message, TextPart

Behaviour = Literal["says", "hangs", "fails", "breaks"]
_WHEN = "2026-11-21T12:00:00Z"
_SOON = 5.0  # seconds: for machines that do much else


class AgentRig(Protocol):
    """An agent and the peer that it calls."""

    name: str
    """The agent's name."""
    secret: str
    """The API key of the agent; empty when it needs none."""

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        """Return the agent with a peer of this behaviour; None when its peers cannot behave so.

        `says`: the peer answers. `hangs`: it sends a word and then nothing. `fails`: it refuses and
        quotes the key. `breaks`: it sends data that nobody can parse.
        """
        ...

    def received(self) -> Sequence[str]:
        """Return the requests that the peers have received so far, headers and bodies."""
        ...


class AgentContract:
    """Tests of the promises that every agent keeps."""

    async def test_a_turn_ends_once_with_done_or_failed(self, rig: AgentRig) -> None:
        for behaviour in ("says", "fails", "breaks"):
            if (agent := await rig.agent(behaviour)) is None:
                continue
            events = await _all(agent, _turn(rig.name))

            ends = [event for event in events if isinstance(event, TurnDone | TurnFailed)]
            assert len(ends) == 1, f"{behaviour}: {events}"
            assert events[-1] is ends[0]
            assert isinstance(ends[0], TurnDone) == (behaviour == "says"), f"{behaviour}: {ends}"

    async def test_an_answer_has_text_or_parts(self, rig: AgentRig) -> None:
        agent = await rig.agent("says")
        assert agent is not None

        events = await _all(agent, _turn(rig.name))

        assert any(isinstance(event, TextDelta | PartGiven) for event in events)

    async def test_an_agent_has_its_configured_name(self, rig: AgentRig) -> None:
        agent = await rig.agent("says")
        assert agent is not None
        assert agent.name == rig.name

    async def test_closing_an_answer_early_leaves_no_task_running(self, rig: AgentRig) -> None:
        agent = await _first(rig, "hangs", "says")
        before = asyncio.all_tasks()

        async with (
            asyncio.timeout(_SOON),
            aclosing(agent.run(_turn(rig.name), _nothing())) as answer,
        ):
            await anext(answer)

        await _until_ended(before)

    async def test_cancelling_an_answer_ends_its_tasks(self, rig: AgentRig) -> None:
        agent = await _first(rig, "hangs", "says")
        before = asyncio.all_tasks()
        begun = asyncio.Event()

        async def listen() -> None:
            async with aclosing(agent.run(_turn(rig.name), _nothing())) as answer:
                async for _ in answer:
                    begun.set()

        listening = asyncio.create_task(listen())
        async with asyncio.timeout(_SOON):
            await begun.wait()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

        await _until_ended(before)

    async def test_a_stop_ends_the_turn_without_a_failure(self, rig: AgentRig) -> None:
        if (agent := await rig.agent("hangs")) is None:
            pytest.skip("this agent never waits for a peer")
        stop = asyncio.Event()

        async def inputs() -> AsyncIterator[AgentInput]:
            await stop.wait()
            yield StopWanted()

        events: list[AgentEvent] = []
        async with asyncio.timeout(_SOON), aclosing(agent.run(_turn(rig.name), inputs())) as answer:
            async for event in answer:
                events.append(event)
                stop.set()

        assert isinstance(events[-1], TurnDone)

    async def test_messages_of_one_room_are_not_sent_with_a_turn_of_another(
        self, rig: AgentRig
    ) -> None:
        agent = await rig.agent("says")
        assert agent is not None
        await _all(agent, _turn(rig.name, "The password is swordfish.", room="one"))
        earlier = len(rig.received())

        events = await _all(agent, _turn(rig.name, "Hello?", room="two"))

        assert "swordfish" not in "".join(rig.received()[earlier:])
        assert "swordfish" not in str(events)

    async def test_a_turn_sends_no_message_that_was_deleted_since_the_last_turn(
        self, rig: AgentRig
    ) -> None:
        agent = await rig.agent("says")
        assert agent is not None
        await _all(agent, _turn(rig.name, "The password is swordfish.", "Hello?"))
        earlier = len(rig.received())

        await _all(agent, _turn(rig.name, "Hello?"))

        assert "swordfish" not in "".join(rig.received()[earlier:])

    @pytest.mark.parametrize("behaviour", ["fails", "breaks"])
    async def test_no_secret_appears_in_the_reason_of_a_failure(
        self, rig: AgentRig, behaviour: Behaviour
    ) -> None:
        if not rig.secret or (agent := await rig.agent(behaviour)) is None:
            pytest.skip("this agent has no secret, or its peer cannot behave so")

        events = await _all(agent, _turn(rig.name))

        assert rig.secret in "".join(rig.received()), "the peer never saw the key"
        assert rig.secret not in str(events)
        assert isinstance(events[-1], TurnFailed)
        assert 0 < len(events[-1].reason) < 400


def _turn(agent: str, *texts: str, room: str = "one") -> Turn:
    messages = tuple(
        Message(
            message_id=f"local:w:{room}:{number}",
            timestamp=_WHEN,
            actor=Actor(id="local:w:u1", role="human", name="Alice Smith"),
            content=(TextPart(text=text),),
        )
        for number, text in enumerate(texts or ("Hello?",))
    )
    conversation = Conversation(
        conversation_id="0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11",
        created_at=_WHEN,
        updated_at=_WHEN,
        messages=messages,
    )
    return Turn(
        id=TurnId(f"turn-{room}"),
        agent=agent,
        room=RoomId(room),
        trigger=MessageId(messages[-1].message_id),
        asked_at=datetime(2026, 11, 21, tzinfo=UTC),
        conversation=conversation,
    )


async def _first(rig: AgentRig, *behaviours: Behaviour) -> Agent:
    for behaviour in behaviours:
        if (agent := await rig.agent(behaviour)) is not None:
            return agent
    raise AssertionError(f"the rig has none of {behaviours}")


async def _all(agent: Agent, turn: Turn) -> list[AgentEvent]:
    async with asyncio.timeout(6 * _SOON), aclosing(agent.run(turn, _nothing())) as answer:
        return [event async for event in answer]


async def _nothing() -> AsyncIterator[AgentInput]:
    await asyncio.Event().wait()
    for event in ():
        yield event


async def _until_ended(before: set[asyncio.Task[object]]) -> None:
    """Wait until the tasks that were started since `before` have ended."""
    async with asyncio.timeout(_SOON):
        while left := asyncio.all_tasks() - before:
            await asyncio.wait(left)
