"""What a peer says -> messages of the room, and asides to its agents."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

import structlog

from bridge.app.agent_directory.home import Home
from bridge.app.api.addressing import calling
from bridge.app.api.gateway import Gateway
from bridge.app.api.messages import with_stored_files
from bridge.app.openfloor.asides import Asides, below
from bridge.app.openfloor.speakers import author_of
from bridge.app.openfloor.visit_floor import VisitFloor
from bridge.app.openfloor.visits import Aside
from bridge.model import ActorId, MessageId, MessagePosted, Person, Place, message_id_of
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline
from bridge.model.floor import FloorWish
from bridge.model.times import datetime_of
from bridge.openfloor.dialog import message_of
from bridge.openfloor.envelope import (
    DECLINE_INVITE,
    GET_MANIFESTS,
    REVOKE_FLOOR,
    UNINVITE,
    UTTERANCE,
    YIELD_FLOOR,
    Address,
    DialogEvent,
    Event,
)
from bridge.openfloor.reasons import REFUSED
from bridge.router.rooms.programs import ACCOUNT, aside_of, outside_channel
from bridge.uacs import Actor, Message, to_timestamp

log = structlog.get_logger()

_LONGEST_ID = 100  # characters


@dataclass(frozen=True)
class _Aside:
    """What the envelope says to one agent alone."""

    agent: str
    author: Person
    message: Message
    speaker: str


class Hearing:
    """Posts what peers say, as far as they have the floor."""

    def __init__(self, gateway: Gateway, home: Home, asides: Asides) -> None:
        self._gateway = gateway
        self._home = home
        self._asides = asides

    async def hear(self, floor: VisitFloor, event: Event, said: DialogEvent) -> None:
        """Post what somebody said, in all channels; or, where it is private, let the agent that it
        is for answer it alone. Raises StoreError, and Problem for a message that cannot be
        posted."""
        if event.is_private:
            await self._hear_aside(floor, event, said)
            return
        if await self._is_ours(floor, said):
            log.info("openfloor_echo_ignored", peer=floor.caller.name, room=floor.room.id)
            return
        author = author_of(floor.caller, floor.envelope, said.speaker_uri)
        wish = FloorWish(floor.caller.actor, author.name, said.text)
        if refusal := await self._gateway.visitors.refuses(floor.room.id, wish):
            self._refuse(floor, refusal)
            return
        addressed = self._addressed(event, floor)
        own_id = _own_id(floor, said)
        message_id = message_id_of(outside_channel(floor.room.id), own_id)
        contexts = await self._keep_contexts(floor, message_id, addressed)
        if await self._post(floor, said, own_id, addressed):
            floor.posted.append(message_id)
            await self._begin_unheard(floor, message_id, contexts)
        else:
            floor.events.append(Event(DECLINE_INVITE, reason=f"{REFUSED} the room admits nobody"))

    async def _is_ours(self, floor: VisitFloor, said: DialogEvent) -> bool:
        """Whether the room itself said this, so that it comes back: two bridges may be agents of
        one another's rooms."""
        if not said.id:
            return False
        return await self._gateway.store.message(MessageId(said.id)) is not None

    def _refuse(self, floor: VisitFloor, refusal: str) -> None:
        """Tell a peer without the floor that nobody heard it."""
        to = Address(speaker_uri=floor.envelope.sender.speaker_uri)
        away = self._gateway.visitors.is_sent_away(floor.room.id, floor.caller.actor)
        if away:
            floor.visit = floor.visit.after("uninvite")
        floor.events.append(Event(UNINVITE if away else REVOKE_FLOOR, to=to, reason=refusal))

    def _addressed(self, event: Event, floor: VisitFloor) -> str:
        """The agent of the room that is meant; "" for none."""
        to = event.to.speaker_uri if event.to is not None else None
        agents = floor.room.agents
        return next((name for name in agents if to == self._home.uri_of_agent(name)), "")

    async def _post(
        self, floor: VisitFloor, said: DialogEvent, own_id: str, addressed: str
    ) -> bool:
        """Post it, once for each id that the peer gives. Returns whether the room takes it."""
        caller, room = floor.caller, floor.room
        author, message = self._message(floor, said, own_id)
        content = calling(message.content, addressed)
        message = message.model_copy(update={"content": content})
        message = await with_stored_files(self._gateway, message)
        reply_to = _own_id(floor, replace(said, id=said.previous_id)) if said.previous_id else None
        posted = MessagePosted(
            account=ACCOUNT,
            place=Place(channel=outside_channel(room.id)),
            time=datetime_of(self._gateway.clock.time()),
            native_id=own_id,
            message=self._gateway.complete(message),
            author=author,
            reply_to=reply_to,
        )
        outcome = await self._gateway.process_event(posted, f"openfloor {room.id} {own_id}")
        if outcome is None or outcome in ("routed", "repeat"):
            return True
        log.info("openfloor_refused", peer=caller.name, room=room.id, outcome=outcome)
        return False

    def _message(self, floor: VisitFloor, said: DialogEvent, own_id: str) -> tuple[Person, Message]:
        author = author_of(floor.caller, floor.envelope, said.speaker_uri)
        role = "assistant" if author.bot else floor.caller.token.role
        actor = Actor(id=author.id, role=role, name=author.name)
        now = datetime_of(self._gateway.clock.time())
        message_id = message_id_of(outside_channel(floor.room.id), own_id)
        message = message_of(said, actor, message_id, now)
        return author, message.model_copy(update={"timestamp": to_timestamp(now)})

    # --- what is said to one agent alone ----------------------------------------------------------

    async def _hear_aside(self, floor: VisitFloor, event: Event, said: DialogEvent) -> None:
        agent = self._listener(floor, event)
        if not agent:
            if not _has_task(floor):
                log.info("openfloor_private_ignored", peer=floor.caller.name, room=floor.room.id)
            return
        if self._context_of(floor, agent) is said:
            return  # it goes with what is said to all
        author, message = self._message(floor, said, _own_id(floor, said))
        await self._begin(floor, _Aside(agent, author, message, said.speaker_uri))

    def _listener(self, floor: VisitFloor, event: Event) -> str:
        """The agent that a private utterance is for; "" for none. Before version 1.0 it names
        nobody, and is for the agent that holds the conversation."""
        if agent := self._addressed(event, floor):
            return agent
        named = event.to is not None and bool(event.to.speaker_uri or event.to.service_url)
        if _has_task(floor) or (named and floor.envelope.root == "openFloor"):
            return ""
        return self._gateway.visitors.focal_agent(floor.room.id)

    def _context_of(self, floor: VisitFloor, agent: str) -> DialogEvent | None:
        """What the envelope says to an agent alone, if it also says something to it, or to nobody
        in particular, that all may hear."""
        events = floor.envelope.events
        public = [e for e in events if e.type == UTTERANCE and not e.is_private and e.dialog_event]
        if not any(self._addressed(e, floor) in ("", agent) for e in public):
            return None
        private = (e for e in events if e.is_private and self._listener(floor, e) == agent)
        return next((e.dialog_event for e in private if e.dialog_event), None)

    async def _keep_contexts(
        self, floor: VisitFloor, message_id: MessageId, addressed: str
    ) -> Sequence[_Aside]:
        """Keep what the envelope says to agents alone, so that they read it with this message."""
        found: list[_Aside] = []
        for agent in [addressed] if addressed else floor.room.agents:
            said = self._context_of(floor, agent)
            if said is None:
                continue
            if refusal := await self._asides.refusal(floor.caller, floor.room, agent):
                self._refuse_aside(floor, agent, said.speaker_uri, refusal)
                continue
            author, message = self._message(floor, said, _own_id(floor, said))
            message = message.model_copy(update={"message_id": aside_of(message_id, agent)})
            found.append(_Aside(agent, author, message, said.speaker_uri))
            await self._archive(floor, found[-1])
        return found

    async def _archive(self, floor: VisitFloor, aside: _Aside) -> None:
        room, author = floor.room, below(aside.author)
        new = NewMessage(
            message=aside.message,
            author=author,
            time=self._gateway.clock.time(),
            audience=(author.id, ActorId(f"agent:{aside.agent}")),
        )
        timeline = Timeline(room.conversation, "room", str(room.id))
        admission = Admission(outcome="aside", message=new, timelines=(timeline,))
        await self._gateway.store.admit(admission)

    async def _begin_unheard(
        self,
        floor: VisitFloor,
        message_id: MessageId,
        contexts: Sequence[_Aside],
    ) -> None:
        """Let agents that do not answer the message answer what was said to them alone."""
        if not contexts:
            return
        turns = await self._gateway.store.turns_about(message_id)
        answering = {turn.agent for turn in turns}
        for aside in contexts:
            if aside.agent not in answering:
                await self._begin(floor, aside)

    def _refuse_aside(self, floor: VisitFloor, agent: str, speaker: str, refusal: str) -> None:
        log.info("openfloor_aside_refused", peer=floor.caller.name, agent=agent, why=refusal)
        to = Address(speaker_uri=speaker or None)
        floor.events.append(Event(YIELD_FLOOR, to=to, reason=f"{REFUSED} {refusal}"))

    async def _begin(self, floor: VisitFloor, said: _Aside) -> None:
        caller, room = floor.caller, floor.room
        if refusal := await self._asides.refusal(caller, room, said.agent, count=True):
            self._refuse_aside(floor, said.agent, said.speaker, refusal)
            return
        aside = Aside(said.message.message_id, said.agent, said.speaker)
        if aside not in floor.visit.asides:
            floor.visit = replace(floor.visit, asides=(*floor.visit.asides, aside))
        await self._asides.begin(room, aside, said.author, said.message)


def _has_task(floor: VisitFloor) -> bool:
    """Whether what is said privately is the task for which the peer looks for agents."""
    return any(event.type == GET_MANIFESTS for event in floor.envelope.events)


def _own_id(floor: VisitFloor, said: DialogEvent) -> str:
    """The native id of what a peer says: its own id in its conversation, where it gives one."""
    talk = hashlib.sha256(floor.envelope.talk.id.encode("utf-8", "replace")).hexdigest()[:16]
    return f"{floor.caller.name}/{talk}/{_short(said.id) if said.id else uuid4().hex}"


def _short(own_id: str) -> str:
    """The peer's id of a dialog event, or its digest where it would be no good part of ours."""
    if len(own_id) <= _LONGEST_ID and own_id.isprintable():
        return own_id
    return hashlib.sha256(own_id.encode("utf-8", "replace")).hexdigest()
