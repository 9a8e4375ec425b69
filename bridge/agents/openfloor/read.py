"""The envelope with which an Open Floor agent answers -> agent events. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from pydantic import JsonValue

from bridge.content.messages.agent_parts import BACK, HAND_OVER, ProposedAgent, proposal
from bridge.content.messages.parts import plain_to_markdown
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, PartGiven, TextDelta, TurnFailed
from bridge.openfloor.dialog import message_of
from bridge.openfloor.envelope import (
    BYE,
    DECLINE_INVITE,
    INVITE,
    PUBLISH_MANIFESTS,
    UTTERANCE,
    YIELD_FLOOR,
    DialogEvent,
    Envelope,
    Event,
)
from bridge.openfloor.reasons import COMPLETE, tokens_of, words_of
from bridge.uacs import Actor, TextPart, write


@dataclass(frozen=True)
class Answer:
    """What an agent answered.

    - `events`: for the room, in order.
    - `failure`: why there is no answer.
    - `has_left`: it said good-bye or declined, and has to be invited again.
    - `private`: how many utterances were for somebody alone; nobody is shown them.
    """

    events: tuple[AgentEvent, ...] = ()
    failure: TurnFailed | None = None
    has_left: bool = False
    private: int = 0


def read_answer(envelope: Envelope, conversation: str, now: datetime) -> Answer:
    """Return what the agent says and does. Words stand before a good-bye, in whatever order they
    came. Events of other kinds change nothing.

    Raises:
        AgentError: it answers in another conversation.
    """
    if envelope.talk.id != conversation:
        raise AgentError("it answered in another conversation than it was asked in")
    said = [event for event in envelope.events if event.type == UTTERANCE]
    public = [event.dialog_event for event in said if not event.is_private and event.dialog_event]
    events = tuple(_spoken(public, now))
    private = sum(event.is_private for event in said)
    ending = next((event for event in envelope.events if event.type in (BYE, DECLINE_INVITE)), None)
    if ending is not None and ending.type == DECLINE_INVITE:
        return Answer(events, _declined(ending), has_left=True, private=private)
    failure = None if events or ending is not None else _yielded(envelope.events)
    if ending is not None:
        handed: tuple[AgentEvent, ...] = (_back(ending),)
    else:
        handed = tuple(_invited(envelope.events))[:1]
    proposed = tuple(_proposed(envelope.events))
    failure = None if handed or proposed else failure
    return Answer((*events, *handed, *proposed), failure, ending is not None, private)


def _spoken(said: Sequence[DialogEvent], now: datetime) -> Iterator[AgentEvent]:
    for number, event in enumerate(said):
        message = message_of(event, Actor(id="agent", role="assistant"), event.id or "", now)
        for part in message.content:
            if isinstance(part, TextPart):
                if part.text.strip():
                    gap = "\n\n" if number else ""
                    yield TextDelta(text=gap + plain_to_markdown(part.text))
            else:
                yield PartGiven(part=orjson.loads(write(part)))


def _invited(events: Sequence[Event]) -> Iterator[PartGiven]:
    """The agents that it invites: the conversation goes on with the first of them."""
    for event in events:
        if event.type == INVITE and event.to is not None:
            to = event.to.speaker_uri or event.to.service_url
            if to:
                yield _hand_over(to, event.reason)


def _proposed(events: Sequence[Event]) -> Iterator[PartGiven]:
    """The agents that it publishes unasked: it cannot do this itself, and knows who can."""
    agents = [
        ProposedAgent(who.service_url, who.conversational_name, who.service_url, who.synopsis)
        for event in events
        if event.type == PUBLISH_MANIFESTS
        for manifest in event.servicing
        if (who := manifest.identification).service_url
    ]
    if agents:
        yield PartGiven(part=proposal(agents))


def _back(ending: Event) -> PartGiven:
    return _hand_over(BACK, ending.reason)


def _hand_over(to: str, reason: str | None) -> PartGiven:
    why = words_of(reason)
    data: dict[str, JsonValue] = {"to": to, **({"why": why} if why else {})}
    part: JsonValue = {"type": "structured_data", "schema_id": HAND_OVER, "data": data}
    return PartGiven(part=part)


def _declined(event: Event) -> TurnFailed:
    why = words_of(event.reason)
    return TurnFailed(reason=f"it declined the invitation{f': {why}' if why else ''}", retry=False)


def _yielded(events: Sequence[Event]) -> TurnFailed | None:
    """An agent that gives up the floor without a word says why in the reason."""
    for event in events:
        if event.type == YIELD_FLOOR and COMPLETE not in tokens_of(event.reason):
            why = words_of(event.reason) or "it gave the floor back without an answer"
            return TurnFailed(reason=why, retry=False)
    return None
