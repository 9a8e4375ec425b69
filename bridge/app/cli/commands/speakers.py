"""A room's newest messages -> a Mermaid sequence diagram of who spoke to whom: people, agents, and
the invitations and good-byes between agents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bridge.app.cli.commands.sequence import room_named, safe
from bridge.content.messages.agent_parts import BACK, PERSON, hand_over_of
from bridge.content.text.split import cut_text
from bridge.model import ActorId, MessageId
from bridge.model.archive_records import View
from bridge.model.refs import BRIDGE
from bridge.ports.store.whole import Store
from bridge.router.turns.reasons import turn_of_answer
from bridge.store.conversations import excerpt_of
from bridge.uacs import Actor, Message

_EXCERPT = 60


async def speakers_of(
    store: Store,
    room: str,
    newest: int,
    addresses: Mapping[str, str],
    readers: Sequence[ActorId] = (),
) -> str:
    """A Mermaid diagram of the newest messages of a room, with those to `readers` alone.

    `addresses` are those of agents, with their names. Raises StoreError if the room has no
    messages.
    """
    timeline = await room_named(store, room)
    view = View(readers=tuple(readers))
    conversation = await store.conversation(timeline, newest=newest, view=view)
    public = await store.conversation(timeline, newest=newest)
    everybody = {message.message_id for message in public.messages}
    private = [m for m in conversation.messages if m.message_id not in everybody]
    diagram = _Diagram(addresses, _partners(private))
    for message in _as_they_ended(conversation.messages, everybody):
        if message.actor.id != BRIDGE:
            await diagram.add(store, message)
    return "\n".join(diagram.lines())


def _as_they_ended(messages: Sequence[Message], everybody: Collection[str]) -> Sequence[Message]:
    """The messages in order, an answer after what its agent asked others meanwhile: it begins to be
    shown before it is whole."""
    ordered: list[Message] = []
    for message in messages:
        place = len(ordered)
        while (
            message.message_id not in everybody and place and _goes_on(ordered[place - 1], message)
        ):
            place -= 1
        ordered.insert(place, message)
    return ordered


def _goes_on(answer: Message, message: Message) -> bool:
    """Whether an answer was not whole when a message was said."""
    latency = (answer.metadata or {}).get("latency")
    total = latency.get("total_ms") if isinstance(latency, dict) else None
    if not isinstance(total, int | float):
        return False
    said, began = (datetime.fromisoformat(one.timestamp) for one in (message, answer))
    return (said - began).total_seconds() * 1000 < total


def _partners(private: Sequence[Message]) -> Mapping[str, Actor]:
    """Whom each message to one alone is for: a question is followed by its answer."""
    partners: dict[str, Actor] = {}
    pairs = zip(private[::2], private[1::2], strict=False)
    for question, answer in pairs:
        partners[question.message_id] = answer.actor
        partners[answer.message_id] = question.actor
    return partners


@dataclass
class _Diagram:
    """Builds the diagram; speakers get short names in the order of their appearance."""

    addresses: Mapping[str, str]
    partners: Mapping[str, Actor]
    names: dict[str, str] = field(default_factory=dict[str, str])
    titles: dict[str, str] = field(default_factory=dict[str, str])
    arrows: list[str] = field(default_factory=list[str])
    callers: dict[str, str] = field(default_factory=dict[str, str])  # agent -> who invited it

    def lines(self) -> list[str]:
        participants = [
            f"    participant {short} as {safe(self.titles[actor])}"
            for actor, short in self.names.items()
        ]
        return ["sequenceDiagram", *participants, *self.arrows]

    async def add(self, store: Store, message: Message) -> None:
        own = self._name(message.actor)
        partner = self.partners.get(message.message_id)
        text = safe(cut_text(excerpt_of(message), _EXCERPT))
        hearers = [partner] if partner else await self._hearers(store, message)
        for hearer in hearers if text else ():
            arrow = "-->>" if partner else "->>"
            self.arrows.append(f"    {own}{arrow}{self._name(hearer)}: {text}")
        for other, event in self._handed_over(message):
            self.arrows.append(f"    {own}->>{other}: {event}")

    async def _hearers(self, store: Store, message: Message) -> Sequence[Actor]:
        own_id = MessageId(message.message_id)
        turn_id = turn_of_answer(own_id)
        turn = None if turn_id is None else await store.turn(turn_id)
        if turn is not None:
            asked = await store.message(turn.origin or turn.trigger)
            return [] if asked is None else [asked.message.actor]
        turns = [one for one in await store.turns_about(own_id) if one.trigger == own_id]
        agents = dict.fromkeys(one.agent for one in turns)
        return [_agent(agent) for agent in agents] or [Actor(id="room", role="system", name="room")]

    def _handed_over(self, message: Message) -> Iterator[tuple[str, str]]:
        """Invitations of other agents, and good-byes to the one who had invited."""
        own = message.actor.id
        for part in message.content:
            found = hand_over_of(part)
            if found is None:
                continue
            if found[0] == BACK:
                caller = self.callers.get(own)
                if caller is not None:
                    yield self.names[caller], "bye"
            elif found[0] != PERSON:
                agent = self.addresses.get(found[0], found[0])
                self.callers[f"agent:{agent}"] = own
                yield self._name(_agent(agent)), "invite"

    def _name(self, actor: Actor) -> str:
        self.titles.setdefault(actor.id, actor.name or actor.id)
        return self.names.setdefault(actor.id, f"S{len(self.names) + 1}")


def _agent(name: str) -> Actor:
    return Actor(id=f"agent:{name}", role="assistant", name=name)
