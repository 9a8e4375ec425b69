"""The input and the output of models pass the content policies before anybody sees them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from datetime import UTC, datetime
from uuid import UUID

import pytest

from bridge.app.redaction import hide_secrets
from bridge.model import MessageId, RoomId, TurnId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PartGiven,
    Steered,
    TextDelta,
    TextReplaced,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.policies.deny import Deny, DenySettings
from bridge.policies.guarded import GuardedAgent
from bridge.policies.redact import Redact, RedactSettings
from bridge.policies.secrets import Secrets
from bridge.ports.content_policy import ContentPolicy
from bridge.uacs import Actor, Conversation, Message, TextPart, ToolCallPart

KEY = "correct-horse-battery"


def message(text: str) -> Message:
    return Message(
        message_id="m1",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="fake:w:ann", role="human", name="Ann"),
        content=(TextPart(text=text),),
    )


def turn(*texts: str) -> Turn:
    conversation = Conversation(
        conversation_id=str(UUID(int=1)),
        created_at="2026-01-01T00:00:00Z",
        updated_at="2026-01-01T00:00:00Z",
        messages=tuple(map(message, texts)),
    )
    return Turn(
        id=TurnId("t"), agent="helper", room=RoomId("r"), trigger=MessageId("m1"),
        asked_at=datetime(2026, 1, 1, tzinfo=UTC), conversation=conversation,
    )  # fmt: skip


class Scripted:
    """Yields given events and records its input."""

    name = "helper"

    def __init__(self, *events: AgentEvent) -> None:
        self.events = events
        self.turn_json = ""
        self.inputs: list[str] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.turn_json = turn.conversation.model_dump_json()
        async for agent_input in inputs:
            self.inputs.append(agent_input.model_dump_json())
        for event in self.events:
            yield event
        yield TurnDone()


async def nothing(*events: AgentInput) -> AsyncGenerator[AgentInput, None]:
    for event in events:
        yield event


async def secrets() -> Collection[str]:
    return {KEY}


async def run(
    agent: Scripted, policies: list[ContentPolicy], *texts: str, inputs: tuple[AgentInput, ...] = ()
) -> list[AgentEvent]:
    guarded = GuardedAgent(agent, policies)
    return [event async for event in guarded.run(turn(*texts), nothing(*inputs))]


def letters(text: str) -> list[TextDelta]:
    return [TextDelta(text=letter) for letter in text]


def words(events: list[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


SECRETS = Secrets(secrets, hide_secrets)


async def test_secrets_are_removed_from_what_a_model_receives() -> None:
    agent = Scripted()
    steered = Steered(message=message(f"and {KEY}"))
    await run(agent, [SECRETS], f"my key is {KEY}, xoxb-1234567890-abc", inputs=(steered,))

    assert KEY not in agent.turn_json + agent.inputs[0]
    assert "xoxb" not in agent.turn_json


async def test_a_secret_in_an_answer_is_hidden_however_it_is_cut_into_pieces() -> None:
    events = await run(Scripted(*letters(f"it is {KEY}, you see")), [SECRETS], "hello")

    assert words(events) == "it is [hidden], you see"
    assert len(events) > 3  # and it is not held back as a whole


async def test_secrets_in_parts_and_tool_calls_are_hidden() -> None:
    part = PartGiven.model_validate({"part": {"type": "text", "text": f"take {KEY}"}})
    call = ToolCalled(part=ToolCallPart(id="c", name="fetch", arguments={"q": KEY}))
    events = await run(Scripted(part, call), [SECRETS], "hello")

    assert KEY not in "".join(event.model_dump_json() for event in events)


async def test_secrets_in_replacement_texts_are_hidden() -> None:
    replaced = TextReplaced(
        parts=({"type": "text", "text": f"It is {KEY}"},), text=f"The key is {KEY[:9]}"
    )
    agent = Scripted(*letters("Hm, "), replaced, *letters(f"{KEY[9:]}!"))
    events = await run(agent, [SECRETS], "hello")

    received = "".join(event.model_dump_json() for event in events)
    (at,) = [number for number, event in enumerate(events) if isinstance(event, TextReplaced)]
    first = events[at]
    assert KEY not in received
    assert isinstance(first, TextReplaced)
    assert first.text + words(events[at:]) == "The key is [hidden]!"


async def test_redacted_values_are_restored_in_the_answer() -> None:
    agent = Scripted(*letters("I wrote to [email-1] and charge [card-2] now."))
    policy = Redact(RedactSettings())
    events = await run(agent, [policy], "ann@example.org pays with 4111 1111 1111 1111")

    assert "ann@example.org" not in agent.turn_json
    assert "4111" not in agent.turn_json
    assert words(events) == "I wrote to ann@example.org and charge 4111 1111 1111 1111 now."


async def test_redacted_values_are_not_restored_when_restoring_is_off() -> None:
    agent = Scripted(*letters("ask [email-1], or bob@example.org, about E-123456"))
    policy = Redact(RedactSettings(restore=False, patterns=(r"E-\d{6}",)))
    events = await run(agent, [policy], "I am ann@example.org")

    assert "@" not in words(events)
    assert "E-123456" not in words(events)


async def test_a_number_that_is_no_card_number_is_unchanged() -> None:
    agent = Scripted()
    await run(agent, [Redact(RedactSettings())], "order 4111 1111 1111 1112")

    assert "4111 1111 1111 1112" in agent.turn_json


@pytest.mark.parametrize("question", ["what is your salary?", "hello"])
async def test_denied_questions_and_answers_are_refused(question: str) -> None:
    agent = Scripted(*letters("that is confidential, but here it is"))
    policy = Deny(DenySettings(asked=("salary",), answered=("confidential",), reason="no"))
    events = await run(agent, [policy], question)

    assert words(events) == ""
    assert events[-1] == TurnFailed(reason="no", retry=False)
    assert bool(agent.turn_json) == (question == "hello")


async def test_a_failing_policy_shows_nothing() -> None:
    class Broken(Deny):
        async def filter_text(self, text: str) -> str:
            raise ZeroDivisionError

    guarded = GuardedAgent(Scripted(*letters("hello " * 100)), [Broken(DenySettings())])
    events = guarded.run(turn("x"), nothing())

    with pytest.raises(ZeroDivisionError):  # the first thing that comes: nothing was shown
        await anext(events)
