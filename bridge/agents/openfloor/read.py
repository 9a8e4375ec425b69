"""The envelope with which an Open Floor agent answers -> agent events. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import orjson
from pydantic import JsonValue

from bridge.content.messages.agent_parts import (
    BACK,
    HAND_OVER,
    ProposedAgent,
    floor_part,
    proposal,
)
from bridge.content.messages.parts import plain_to_markdown
from bridge.errors import AgentError
from bridge.model import ActorId, split_key
from bridge.model.floor import FloorAct, FloorChange
from bridge.model.turns import AgentEvent, PartGiven, TextDelta, TurnFailed, Whispered
from bridge.openfloor.dialog import message_of
from bridge.openfloor.envelope import (
    BYE,
    DECLINE_INVITE,
    GRANT_FLOOR,
    INVITE,
    PUBLISH_MANIFESTS,
    REVOKE_FLOOR,
    UNINVITE,
    UTTERANCE,
    YIELD_FLOOR,
    DialogEvent,
    Envelope,
    Event,
)
from bridge.openfloor.identity import FOREIGN, actor_of
from bridge.openfloor.reasons import COMPLETE, tokens_of, words_of
from bridge.uacs import Actor, TextPart, write

_ACTS: Mapping[str, FloorAct] = {
    GRANT_FLOOR: "grant", REVOKE_FLOOR: "revoke", UNINVITE: "uninvite", YIELD_FLOOR: "yield",
}  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """What an agent answered.

    - `events`: for the room, in order.
    - `failure`: why there is no answer.
    - `has_left`: it said good-bye, and has to be invited again; `has_declined`: it did not come.
    - `private`: how many utterances were for somebody alone whom the bridge cannot tell.
    - `heard`: digests of what it said, by which an utterance that comes again is recognised.
    """

    events: tuple[AgentEvent, ...] = ()
    failure: TurnFailed | None = None
    has_left: bool = False
    has_declined: bool = False
    private: int = 0
    heard: tuple[str, ...] = ()


def read_answer(
    envelope: Envelope,
    conversation: str,
    now: datetime,
    heard: Collection[str] = (),
    authority: str = "",
    *,
    private: bool = False,
) -> Answer:
    """Return what the agent says and does. Words stand before a good-bye, in whatever order they
    came. Events of other kinds change nothing.

    Args:
        envelope: the agent's answer.
        conversation: the id of the conversation in which it was asked.
        now: the time of utterances that have none.
        heard: digests of what it said before: the same dialog event is not said again.
        authority: the host in the URIs of the bridge's people and agents.
        private: the asker alone reads the answer, so that private utterances belong to it.

    Raises:
        AgentError: it answers in another conversation.
    """
    if envelope.talk.id != conversation:
        raise AgentError("it answered in another conversation than it was asked in")
    said = [event for event in envelope.events if event.type == UTTERANCE]
    heard_by_all = [event for event in said if private or not event.is_private]
    public = [event.dialog_event for event in heard_by_all if event.dialog_event]
    new: list[DialogEvent] = []
    known = set(heard)
    for event in public:
        digest = _digest(event)
        if digest not in known:
            new.append(event)
            known |= {digest} if event.id else set()
    answer = _answer(envelope, tuple(_spoken(new, now)))
    changes = [PartGiven(part=floor_part(change)) for change in decisions(envelope, authority)]
    answer = replace(answer, events=(*answer.events, *changes))
    whispers = [] if private else list(_whispers(said, authority, now))
    answer = replace(answer, events=(*whispers, *answer.events))
    withheld = len(said) - len(heard_by_all) - len(whispers)
    return replace(answer, private=withheld, heard=tuple(sorted(known - set(heard))))


def decisions(envelope: Envelope, authority: str) -> tuple[FloorChange, ...]:
    """Return what an envelope decides about who may speak, in its order. Members that the bridge
    knows by URIs of its own are actors; `yieldFloor` is about whoever sends the envelope.

    Args:
        envelope: an answer of an agent.
        authority: the host in the URIs of the bridge's people and agents.
    """
    found: list[FloorChange] = []
    for event in envelope.events:
        act = _ACTS.get(event.type)
        to = event.to.speaker_uri or event.to.service_url if event.to is not None else None
        if act is None or (act != "yield" and not to):
            continue
        actor = actor_of(to or "", authority)
        own = to if split_key(actor)[0] == FOREIGN else actor
        token = next(iter(tokens_of(event.reason)), "")
        found.append(FloorChange(act, own or "", words_of(event.reason), token))
    return tuple(found)


def _answer(envelope: Envelope, events: tuple[AgentEvent, ...]) -> Answer:
    ending = next((event for event in envelope.events if event.type in (BYE, DECLINE_INVITE)), None)
    if ending is not None and ending.type == DECLINE_INVITE:
        return Answer(events, _declined(ending), has_declined=True)
    failure = None if events or ending is not None else _yielded(envelope.events)
    if ending is not None:
        handed: tuple[AgentEvent, ...] = (_back(ending),)
    else:
        handed = tuple(_invited(envelope.events))[:1]
    proposed = tuple(_proposed(envelope.events))
    failure = None if handed or proposed else failure
    return Answer((*events, *handed, *proposed), failure, ending is not None)


def _digest(event: DialogEvent) -> str:
    """What tells a dialog event from others: its id, its time and what it says, since some agents
    give several events the same id."""
    said = f"{event.id}\0{event.span.start_time}\0{event.text}"
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


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


def _whispers(said: Sequence[Event], authority: str, now: datetime) -> Iterator[Whispered]:
    """What is for one person of the bridge alone."""
    for event in said:
        to = event.to.speaker_uri if event.to is not None else None
        actor = actor_of(to, authority) if to else ActorId("")
        kind = split_key(actor)[0] if actor else ""
        if event.is_private and event.dialog_event and kind not in ("", FOREIGN, "agent", "bridge"):
            own = Actor(id="agent", role="assistant")
            message = message_of(event.dialog_event, own, event.dialog_event.id or "", now)
            parts = tuple(orjson.loads(write(part)) for part in message.content)
            if parts:
                yield Whispered(to=actor, parts=parts)


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
