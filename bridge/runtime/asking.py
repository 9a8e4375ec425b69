"""Asks an agent one question, outside of any room."""

from __future__ import annotations

from contextlib import aclosing
from uuid import uuid4

from bridge.errors import AgentError
from bridge.model import MessageId, RoomId, TurnId
from bridge.model.times import datetime_of
from bridge.model.turns import PartGiven, TextDelta, TextReplaced, Turn, TurnDone, TurnFailed
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.runtime.never import never
from bridge.uacs import Actor, Conversation, Message, TextPart, to_timestamp


async def answer_of(agent: Agent, question: str, about: str, clock: Clock) -> str:
    """Return the text that an agent answers to a plain text; what else it does is left aside.

    Args:
        agent: who is asked.
        question: everything that it is told.
        about: what the question is for, as the name of its room.
        clock: the time of the question.

    Raises:
        AgentError: the agent gave no answer.
    """
    pieces: list[str] = []
    turn = _turn(agent.name, question, about, clock)
    async with aclosing(agent.run(turn, never())) as events:
        async for event in events:
            match event:
                case TextDelta(text=text):
                    pieces.append(text)
                case TextReplaced(text=text):
                    pieces = [text]
                case PartGiven(part={"type": "text", "text": str(text)}):
                    pieces.append(text)
                case TurnFailed(reason=reason):
                    raise AgentError(reason)
                case TurnDone():
                    break
                case _:
                    pass
    return "".join(pieces).strip()


def _turn(agent: str, question: str, about: str, clock: Clock) -> Turn:
    now = datetime_of(clock.time())
    own_id = MessageId(f"{about}:{uuid4().hex}")
    asked = Message(
        message_id=own_id,
        timestamp=to_timestamp(now),
        actor=Actor(id="bridge", role="human", name="Bridge"),
        content=(TextPart(text=question, format="plain"),),
    )
    conversation = Conversation(
        conversation_id=str(uuid4()), created_at=to_timestamp(now), updated_at=to_timestamp(now),
        messages=(asked,),
    )  # fmt: skip
    return Turn(
        id=TurnId(uuid4().hex), agent=agent, room=RoomId(about), trigger=own_id, asked_at=now,
        conversation=conversation,
    )  # fmt: skip
