"""A turn of several requests: what an agent said so far, as its message of the room. Pure."""

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
    said: Sequence[AgentEvent], agent: str, when: datetime, number: int
) -> Message | None:
    """None where nothing was said."""
    actor = Actor(id=agent_id(agent), role="assistant", name=agent)
    envelope = MessageEnvelope(
        message_id=f"answer:{number}", timestamp=to_timestamp(when), actor=actor
    )
    whole = Accumulator()
    begun = False
    for delta in deltas_of([*said, TurnDone()], envelope):
        begun = True
        whole.add(delta)
    return whole.message if begun and whole.message.content else None


def unanswered_calls(said: Sequence[AgentEvent]) -> list[ToolCallPart]:
    """Calls whose results were not said, too."""
    answered = {
        agent_event.part.tool_call_id
        for agent_event in said
        if isinstance(agent_event, ToolAnswered)
    }
    calls = [agent_event.part for agent_event in said if isinstance(agent_event, ToolCalled)]
    return [call for call in calls if call.id not in answered]


def with_answer(
    conversation: Conversation, own: Message | None, more: Sequence[Message]
) -> Conversation:
    messages = (*conversation.messages, *([own] if own else []), *more)
    return conversation.model_copy(update={"messages": messages})
