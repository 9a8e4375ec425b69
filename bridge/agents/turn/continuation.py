"""A turn of several requests: the agent's answer so far, as its message of the room. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bridge.agents.codec.deltas import deltas_of
from bridge.agents.codec.speakers import agent_id
from bridge.model.turns import AgentEvent, ToolAnswered, ToolCalled, TurnDone
from bridge.uacs import (
    Accumulator,
    Actor,
    Conversation,
    Message,
    MessageEnvelope,
    ToolCallPart,
    to_timestamp,
)


def answer_so_far(
    events: Sequence[AgentEvent], agent: str, asked_at: datetime, number: int
) -> Message | None:
    """Return the events so far as the agent's message; None if they have no content."""
    actor = Actor(id=agent_id(agent), role="assistant", name=agent)
    envelope = MessageEnvelope(
        message_id=f"answer:{number}", timestamp=to_timestamp(asked_at), actor=actor
    )
    answer = Accumulator()
    has_begun = False
    for delta in deltas_of([*events, TurnDone()], envelope):
        has_begun = True
        answer.add(delta)
    return answer.message if has_begun and answer.message.content else None


def unanswered_calls(events: Sequence[AgentEvent]) -> list[ToolCallPart]:
    """Return the calls that have no result among the events."""
    answered = {
        agent_event.part.tool_call_id
        for agent_event in events
        if isinstance(agent_event, ToolAnswered)
    }
    calls = [agent_event.part for agent_event in events if isinstance(agent_event, ToolCalled)]
    return [call for call in calls if call.id not in answered]


def with_answer(
    conversation: Conversation, own: Message | None, more: Sequence[Message]
) -> Conversation:
    """Return the conversation with the agent's answer so far (`own`) and further messages."""
    messages = (*conversation.messages, *([own] if own else []), *more)
    return conversation.model_copy(update={"messages": messages})
