"""One envelope of a peer -> what the room does, and the envelope that answers."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit
from uuid import uuid4

import structlog

from bridge.app.agent_directory.directory import Directory
from bridge.app.agent_directory.home import Home
from bridge.app.api.addressing import calling
from bridge.app.api.api_keys import Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.messages import with_stored_files
from bridge.app.api.speakers import is_of
from bridge.app.api.view import outside_view
from bridge.app.openfloor.manifests import manifest_of_agent, manifest_of_room
from bridge.app.openfloor.speakers import author_of
from bridge.app.openfloor.visits import Visit, Visits
from bridge.model import MessageId, MessagePosted, Place, message_id_of
from bridge.model.archive_records import StoredMessage
from bridge.model.times import datetime_of
from bridge.openfloor.dialog import Speaking, dialog_event_of, message_of
from bridge.openfloor.envelope import (
    ACCEPT_INVITE,
    BYE,
    DECLINE_INVITE,
    GET_MANIFESTS,
    GRANT_FLOOR,
    INVITE,
    PUBLISH_MANIFESTS,
    REQUEST_FLOOR,
    UNINVITE,
    UTTERANCE,
    Address,
    DialogEvent,
    Envelope,
    Event,
    Manifest,
    Sender,
    Talk,
)
from bridge.openfloor.reasons import REFUSED
from bridge.openfloor.write import envelope_json
from bridge.router.rooms.programs import ACCOUNT, outside_channel
from bridge.uacs import Actor, Message, TextPart, to_timestamp

log = structlog.get_logger()

_PAGE = 50  # messages that one answer has
_LOOK = 1.0  # seconds between two looks at what agents do
_LONGEST_ID = 100  # characters
_MOST = 10  # agents that a peer is told of
_WAIT = "One moment please."


@dataclass
class _Floor:
    """One envelope while it is answered."""

    caller: Caller
    room: RoomView
    envelope: Envelope
    visit: Visit
    events: list[Event]
    posted: list[MessageId]


class Serving:
    """Answers envelopes of peers that visit rooms."""

    def __init__(
        self,
        gateway: Gateway,
        home: Home,
        answer_within: float,
        directory: Directory | None = None,
    ) -> None:
        self._gateway = gateway
        self._home = home
        self._answer_within = answer_within
        self._directory = directory

    def manifest(self, room: RoomView) -> Manifest:
        """Return the manifest of a room."""
        return manifest_of_room(self._home, room, discovery=self._directory is not None)

    async def answer(
        self, caller: Caller, room: RoomView, envelope: Envelope, body: bytes
    ) -> Mapping[str, object]:
        """Do what an envelope says, wait for the agents that answer it, and return the JSON of the
        envelope with everything that was said in the room since.

        Raises:
            Problem: the token may not post, or a message cannot be posted.
            StoreError: the store cannot be read or written.
        """
        caller.require_scope("post")
        visits = Visits(self._gateway.store, caller.name)
        known = await visits.get(room.id, envelope.talk.id)
        if known is None:  # what was said before is not for a guest
            known = Visit(await self._gateway.store.position(room.conversation))
        floor = _Floor(caller, room, envelope, known.hearing(body), [], [])
        for event in envelope.events:
            if self._is_for_us(event, room):
                await self._take(floor, event)
        if floor.posted:
            await self._agents_have_answered(floor)
        if floor.visit.joined:
            caller.require_scope("read")
            floor.visit = await self._tell(floor)
        await visits.put(room.id, envelope.talk.id, floor.visit)
        return envelope_json(self._envelope(floor))

    def _is_for_us(self, event: Event, room: RoomView) -> bool:
        to = event.to
        if to is None or (to.speaker_uri is None and to.service_url is None):
            return True
        ours = {self._home.uri_of_room(room.id), *map(self._home.uri_of_agent, room.agents)}
        if to.speaker_uri is not None:
            return to.speaker_uri in ours
        # The host may be another one: behind proxies the bridge is known under several.
        try:
            path = urlsplit(to.service_url or "").path.rstrip("/")
        except ValueError:  # no address at all
            return False
        return path.endswith(urlsplit(self._home.service_url(room.id)).path)

    async def _take(self, floor: _Floor, event: Event) -> None:
        match event.type:
            case type_ if type_ == UTTERANCE and event.dialog_event is not None:
                await self._hear(floor, event, event.dialog_event)
            case type_ if type_ == INVITE:
                floor.visit = replace(floor.visit, joined=True)
                floor.events.append(Event(ACCEPT_INVITE))
            case type_ if type_ in (BYE, UNINVITE):
                floor.visit = replace(floor.visit, joined=False)
            case type_ if type_ == REQUEST_FLOOR:  # everybody in a room has the floor
                to = Address(speaker_uri=floor.envelope.sender.speaker_uri)
                floor.events.append(Event(GRANT_FLOOR, to=to))
            case type_ if type_ == GET_MANIFESTS:
                await self._publish(floor, event)
            case _:
                log.debug("openfloor_event_ignored", peer=floor.caller.name, type=event.type)

    async def _publish(self, floor: _Floor, event: Event) -> None:
        """Describe the room and its agents, or the one that was asked; to a peer that looks for
        agents elsewhere all that the bridge knows, where it may tell."""
        room, found = floor.room, list[Manifest]()
        if event.scope != "external":
            wanted = event.to.speaker_uri if event.to is not None else None
            own = [
                self.manifest(room),
                *(manifest_of_agent(self._home, room, agent) for agent in room.agents),
            ]
            found = [m for m in own if wanted in (None, m.identification.speaker_uri)]
        if event.scope in ("external", "all") and self._directory is not None:
            task = _task_in(floor.envelope)
            ranked = await self._directory.find(task, _MOST) if task else ()
            known = {manifest.identification.speaker_uri for manifest in found}
            found += [m for m in ranked if m.identification.speaker_uri not in known]
        if found or event.scope != "external" or self._directory is not None:
            floor.events.append(Event(PUBLISH_MANIFESTS, servicing=tuple(found)))

    async def _hear(self, floor: _Floor, event: Event, said: DialogEvent) -> None:
        """Post what somebody said. What is private is for one of our agents alone, and none of them
        takes such words yet: nobody is shown them."""
        if event.is_private:
            log.info("openfloor_private_ignored", peer=floor.caller.name, room=floor.room.id)
            return
        message_id = await self._post(floor, said, self._addressed(event, floor.room))
        if message_id is None:
            floor.events.append(Event(DECLINE_INVITE, reason=f"{REFUSED} the room admits nobody"))
        else:
            floor.posted.append(message_id)

    def _addressed(self, event: Event, room: RoomView) -> str:
        """The agent of the room that is meant; "" for none."""
        to = event.to.speaker_uri if event.to is not None else None
        return next((name for name in room.agents if to == self._home.uri_of_agent(name)), "")

    async def _post(self, floor: _Floor, said: DialogEvent, addressed: str) -> MessageId | None:
        """Post it, once for each id that the peer gives. Returns its id; None if the room refuses
        it."""
        caller, room = floor.caller, floor.room
        talk = hashlib.sha256(floor.envelope.talk.id.encode("utf-8", "replace")).hexdigest()[:16]
        own_id = f"{caller.name}/{talk}/{_short(said.id) if said.id else uuid4().hex}"
        message_id = message_id_of(outside_channel(room.id), own_id)
        author = author_of(caller, floor.envelope, said.speaker_uri)
        actor = Actor(id=author.id, role=caller.token.role, name=author.name)
        now = datetime_of(self._gateway.clock.time())
        message = message_of(said, actor, message_id, now)
        content = calling(message.content, addressed)
        changes = {"content": content, "timestamp": to_timestamp(now)}
        message = message.model_copy(update=changes)
        message = await with_stored_files(self._gateway, message)
        before = said.previous_id
        reply_to = f"{caller.name}/{talk}/{_short(before)}" if before else None
        posted = MessagePosted(
            account=ACCOUNT,
            place=Place(channel=outside_channel(room.id)),
            time=now,
            native_id=own_id,
            message=self._gateway.complete(message),
            author=author,
            reply_to=reply_to,
        )
        outcome = await self._gateway.process_event(posted, f"openfloor {room.id} {own_id}")
        if outcome is None or outcome in ("routed", "repeat"):
            return message_id
        log.info("openfloor_refused", peer=caller.name, room=room.id, outcome=outcome)
        return None

    async def _agents_have_answered(self, floor: _Floor) -> None:
        """Wait until the turns that the messages caused are over, or the time is."""
        clock = self._gateway.clock
        until = clock.monotonic() + self._answer_within
        with self._gateway.reading() as news:
            while await self._works(floor) and clock.monotonic() < until:
                news.clear()
                try:
                    async with asyncio.timeout(min(_LOOK, until - clock.monotonic())):
                        await news.wait()
                except TimeoutError:
                    pass

    async def _works(self, floor: _Floor) -> bool:
        causes = set(floor.posted)
        turns = await self._gateway.store.open_turns()
        return any(turn.trigger in causes or turn.origin in causes for turn in turns)

    async def _tell(self, floor: _Floor) -> Visit:
        """Add what others have said since; what is still being written comes with the next
        answer. Returns the visit, so far."""
        viewer, visit = floor.caller.actor, floor.visit
        found = await self._gateway.store.events_after(
            floor.room.conversation, visit.position, limit=_PAGE, viewer=viewer
        )
        for event in found:
            if event.what == "said":
                if event.stored.state == "streaming":
                    break
                if event.stored.state != "deleted" and not is_of(
                    floor.caller, event.stored.author.id
                ):
                    floor.events.append(self._said(floor, event.stored))
            visit = replace(visit, position=event.position)
        if floor.posted and not floor.events and await self._works(floor):
            floor.events.append(self._moment(floor))
        return visit

    def _said(self, floor: _Floor, stored: StoredMessage) -> Event:
        message = outside_view(stored.message, floor.room.tools)
        speaking = Speaking(self._home.uri(stored.author.id))
        return Event(UTTERANCE, dialog_event=dialog_event_of(message, speaking))

    def _moment(self, floor: _Floor) -> Event:
        room = self._home.uri_of_room(floor.room.id)
        now = datetime_of(self._gateway.clock.time())
        message = Message(
            message_id=f"wait:{floor.posted[-1]}",
            timestamp=to_timestamp(now),
            actor=Actor(id="bridge", role="system"),
            content=(TextPart(text=_WAIT, format="plain"),),
        )
        return Event(UTTERANCE, dialog_event=dialog_event_of(message, Speaking(room)))

    def _envelope(self, floor: _Floor) -> Envelope:
        asked = floor.envelope
        return Envelope(
            talk=Talk(asked.talk.id),
            sender=Sender(
                speaker_uri=self._home.uri_of_room(floor.room.id),
                service_url=self._home.service_url(floor.room.id),
            ),
            events=tuple(floor.events),
            root=asked.root,
            version=asked.version,
        )


def _task_in(envelope: Envelope) -> str:
    """The task for which a peer looks for agents: what it says privately in the same envelope."""
    said = (e.dialog_event.text for e in envelope.events if e.is_private and e.dialog_event)
    return " ".join(said)


def _short(own_id: str) -> str:
    """The peer's id of a dialog event, or its digest where it would be no good part of ours."""
    if len(own_id) <= _LONGEST_ID and own_id.isprintable():
        return own_id
    return hashlib.sha256(own_id.encode("utf-8", "replace")).hexdigest()
