"""A turn -> the envelope that asks an Open Floor agent. Pure.

Lost: instructions, tools and answer formats, which Open Floor does not have, and messages between
two turns of the agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from bridge.agents.codec.speakers import agent_id
from bridge.content.messages.agent_parts import BACK, hand_over_of, is_hidden
from bridge.openfloor.dialog import Speaking, dialog_event_of
from bridge.openfloor.envelope import (
    BYE,
    INVITE,
    UTTERANCE,
    Address,
    Conversant,
    Envelope,
    Event,
    Identification,
    Root,
    Sender,
    Talk,
)
from bridge.openfloor.identity import speaker_uri
from bridge.uacs import Conversation, Message

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
    peer: Peer, conversation: Conversation, *, invited: bool, history_events: int
) -> Envelope:
    """Return the envelope of a turn: an invitation with what was said before, unless the agent is
    `invited` already, and the last message as an utterance for it. Where another agent handed over
    to it, the invitation stands alone, and the agent begins. Where an agent gave the conversation
    back, that agent's good-bye follows its last words."""
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
        whom = peer.address if peer.root == "openFloor" else None
        events.append(Event(UTTERANCE, to=whom, dialog_event=utterance))
    if to == BACK:
        events.append(Event(BYE, reason=f"{last.actor.name or last.actor.id} left"))
    return envelope(peer, conversation, events)


def envelope(peer: Peer, conversation: Conversation, events: Sequence[Event]) -> Envelope:
    """Return an envelope of the bridge to the agent."""
    conversants = _conversants(peer, conversation) if peer.root == "openFloor" else ()
    return Envelope(
        talk=Talk(conversation.conversation_id, conversants=conversants),
        sender=Sender(
            speaker_uri=speaker_uri("bridge", peer.authority),
            service_url=peer.service_url or None,
        ),
        events=tuple(events),
        root=peer.root,
        version=peer.version,
    )


def _conversants(peer: Peer, conversation: Conversation) -> tuple[Conversant, ...]:
    """The people and agents that spoke of late, and the agent itself."""
    speakers = {m.actor.id: m.actor for m in conversation.messages if _is_said(m)}
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
    own = Identification(
        peer.speaker_uri or peer.url,
        peer.url,
        organization=urlsplit(peer.url).hostname or "",
        conversational_name=peer.agent,
    )
    return (*named, Conversant(own))


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
    own = message.actor.id == agent_id(peer.agent)
    uri = peer.speaker_uri or peer.url if own else speaker_uri(message.actor.id, peer.authority)
    return Speaking(uri)
