"""A turn -> the envelope that asks an Open Floor agent. Pure.

Lost: instructions, tools and answer formats, which Open Floor does not have, and messages between
two turns of the agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from bridge.agents.codec.speakers import agent_id
from bridge.content.messages.agent_parts import BACK, hand_over_of, is_hidden
from bridge.model.floor import FloorChange, FloorView, FloorWish
from bridge.openfloor.dialog import Speaking, dialog_event_of
from bridge.openfloor.envelope import (
    BYE,
    INVITE,
    REQUEST_FLOOR,
    REVOKE_FLOOR,
    UNINVITE,
    UTTERANCE,
    Address,
    Conversant,
    DialogEvent,
    Envelope,
    Event,
    Feature,
    Identification,
    Root,
    Sender,
    Talk,
    Token,
)
from bridge.openfloor.identity import speaker_uri
from bridge.uacs import Actor, Conversation, Message

_MAX_CONVERSANTS = 50  # newest speakers of a room that are named


@dataclass(frozen=True)
class Peer:
    """The agent that is asked, and who asks.

    - `authority`: the host in the URIs of the bridge's people and agents.
    - `service_url`: where answers could be sent; "" for a bridge without a public address.
    """

    agent: str
    url: str
    speaker_uri: str
    version: str
    authority: str
    service_url: str = ""

    @property
    def root(self) -> Root:
        """The key of envelopes of its version."""
        return "ovon" if self.version < "0.9.4" else "openFloor"

    @property
    def address(self) -> Address:
        """How events name the agent."""
        return Address(speaker_uri=self.speaker_uri or None, service_url=self.url)


def asking(
    peer: Peer,
    conversation: Conversation,
    *,
    invited: bool,
    history_events: int,
    overheard: bool = False,
    floor: FloorView | None = None,
) -> Envelope:
    """Return the envelope of a turn: an invitation with what was said before, unless the agent is
    `invited` already, and the last message as an utterance for it. Where another agent handed over
    to it, the invitation stands alone, and the agent begins. Where an agent gave the conversation
    back, that agent's good-bye follows its last words. What it `overheard` is addressed to nobody;
    `floor` says who may speak."""
    *before, last = conversation.messages
    to = next((found[0] for found in map(hand_over_of, last.content) if found is not None), None)
    begins = to not in (None, BACK)
    events: list[Event] = []
    if not invited:
        said = [*before, last] if begins else before
        spoken = [message for message in said if _is_said(message)]
        history = spoken[len(spoken) - min(history_events, len(spoken)) :]
        past = tuple(dialog_event_of(_shown(m), _speaking(m, peer)) for m in history)
        events.append(Event(INVITE, to=peer.address, history=past))
    if (invited or not begins) and _is_said(last):
        utterance = dialog_event_of(_shown(last), _speaking(last, peer))
        whom = peer.address if peer.root == "openFloor" and not overheard else None
        events.append(Event(UTTERANCE, to=whom, dialog_event=utterance))
    if to == BACK:
        events.append(Event(BYE, reason=f"{last.actor.name or last.actor.id} left"))
    found = floor_envelope(peer, conversation.conversation_id, events)
    if peer.root != "openFloor":
        return found
    return replace(found, talk=_talk(peer, conversation, floor))


def floor_envelope(peer: Peer, conversation: str, events: Sequence[Event]) -> Envelope:
    """Return an envelope of the bridge to the agent."""
    return Envelope(
        talk=Talk(conversation),
        sender=Sender(
            speaker_uri=speaker_uri("bridge", peer.authority),
            service_url=peer.service_url or None,
        ),
        events=tuple(events),
        root=peer.root,
        version=peer.version,
    )


def changing(peer: Peer, change: FloorChange) -> Event | None:
    """Return the event by which the agent learns that it may not speak any more, or has to leave;
    None for what it is not told. Before version 0.9.4 there is a good-bye alone."""
    if change.act not in ("revoke", "uninvite"):
        return None
    reason = " ".join(filter(None, (change.token, change.reason))) or None
    if peer.root == "openFloor":
        kind = REVOKE_FLOOR if change.act == "revoke" else UNINVITE
        return Event(kind, to=peer.address, reason=reason)
    return Event(BYE, reason=reason) if change.act == "uninvite" else None


def wishing(peer: Peer, conversation: str, wish: FloorWish) -> Envelope:
    """Return the envelope that asks the agent, as the convener, about a wish: it comes from the
    member that wants to speak, with its words where they are known."""
    uri = speaker_uri(wish.actor, peer.authority)
    event = Event(REQUEST_FLOOR)
    if wish.text:
        feature = Feature("text/plain", (Token(wish.text),))
        event = Event(UTTERANCE, dialog_event=DialogEvent(uri, {"text": feature}))
    member = Identification(uri, peer.service_url, conversational_name=wish.name)
    talk = Talk(conversation, (Conversant(member), Conversant(_own(peer))), _roles(peer, None))
    asked = floor_envelope(peer, conversation, [event])
    return replace(asked, talk=talk, sender=Sender(uri, peer.service_url or None))


def _talk(peer: Peer, conversation: Conversation, floor: FloorView | None) -> Talk:
    """Who takes part, and where an agent decides that: who may speak."""
    conversants = _conversants(peer, conversation, floor)
    if floor is None:
        return Talk(conversation.conversation_id, conversants)
    silent = {_uri_of(peer, agent.actor) for agent in floor.agents if not agent.speaks}
    uris = (conversant.identification.speaker_uri for conversant in conversants)
    granted = tuple(uri for uri in uris if uri not in silent)
    roles = _roles(peer, floor.convener)
    return Talk(conversation.conversation_id, conversants, roles, granted)


def _roles(peer: Peer, convener: str | None) -> Mapping[str, tuple[str, ...]]:
    """Who convenes; None: the agent that is written to."""
    return {"convener": (_uri_of(peer, convener or agent_id(peer.agent)),)}


def _uri_of(peer: Peer, actor: str) -> str:
    if actor == agent_id(peer.agent):
        return peer.speaker_uri or peer.url
    return speaker_uri(actor, peer.authority)


def _own(peer: Peer) -> Identification:
    return Identification(
        peer.speaker_uri or peer.url,
        peer.url,
        organization=urlsplit(peer.url).hostname or "",
        conversational_name=peer.agent,
    )


def _conversants(
    peer: Peer, conversation: Conversation, floor: FloorView | None
) -> tuple[Conversant, ...]:
    """The people and agents that spoke of late, on a floor with a convener all agents, and the
    agent itself."""
    speakers = {m.actor.id: m.actor for m in conversation.messages if _is_said(m)}
    for agent in floor.agents if floor else ():
        actor = Actor(id=agent.actor, role="assistant", name=agent.name)
        speakers.setdefault(agent.actor, actor)
    speakers.pop(agent_id(peer.agent), None)
    named = [
        Conversant(
            Identification(
                speaker_uri(actor.id, peer.authority),
                service_url=peer.service_url,
                conversational_name=actor.name or "",
                role="user" if actor.role == "human" else "assistant",
            )
        )
        for actor in list(speakers.values())[-_MAX_CONVERSANTS:]
    ]
    return (*named, Conversant(_own(peer)))


def _is_said(message: Message) -> bool:
    """Whether people could read it: no notice of the bridge, no hidden part alone."""
    return message.actor.role != "system" and not all(map(is_hidden, message.content))


def _shown(message: Message) -> Message:
    """The message without parts that people do not see."""
    if not any(map(is_hidden, message.content)):
        return message
    content = tuple(part for part in message.content if not is_hidden(part))
    return message.model_copy(update={"content": content or message.content[:1]})


def _speaking(message: Message, peer: Peer) -> Speaking:
    return Speaking(_uri_of(peer, message.actor.id))
