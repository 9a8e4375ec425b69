"""One envelope of a peer -> what the room does, and the envelope that answers."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit

import structlog

from bridge.agents.settings import address_of
from bridge.app.agent_directory.directory import Directory
from bridge.app.agent_directory.home import Home
from bridge.app.api.api_keys import Caller, has_expired
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.speakers import is_of
from bridge.app.api.view import outside_view
from bridge.app.openfloor.asides import Asides
from bridge.app.openfloor.failing import OnFailure, failures, in_place_of
from bridge.app.openfloor.hearing import Hearing
from bridge.app.openfloor.manifests import manifest_of_agent, manifest_of_room
from bridge.app.openfloor.pushes import Late, Pushes, PushTarget
from bridge.app.openfloor.speakers import author_of
from bridge.app.openfloor.visit_floor import VisitFloor
from bridge.app.openfloor.visits import Visit, Visits
from bridge.content.text.globs import matches
from bridge.model import MessageId
from bridge.model.archive_records import Position, StoredMessage
from bridge.model.floor import FloorWish
from bridge.model.times import datetime_of
from bridge.openfloor.dialog import Speaking, dialog_event_of
from bridge.openfloor.envelope import (
    ACCEPT_INVITE,
    BYE,
    DECLINE_INVITE,
    GET_MANIFESTS,
    GRANT_FLOOR,
    INVITE,
    PUBLISH_MANIFESTS,
    REQUEST_FLOOR,
    REVOKE_FLOOR,
    UNINVITE,
    UTTERANCE,
    YIELD_FLOOR,
    Address,
    Envelope,
    Event,
    Manifest,
    Sender,
    Talk,
)
from bridge.openfloor.machines import ServingHappening
from bridge.openfloor.reasons import REFUSED
from bridge.openfloor.write import envelope_json
from bridge.uacs import Actor, Message, TextPart, to_timestamp

log = structlog.get_logger()

_PAGE = 50  # messages that one answer has
_LOOK = 1.0  # seconds between two looks at what agents do
_MOST = 10  # agents that a peer is told of
_WAIT = "One moment please."


@dataclass(frozen=True)
class ServingOptions:
    """How rooms serve peers.

    - `answer_within`: seconds that an envelope waits for agents.
    - `idle_seconds`: of silence after which a peer has left; None: never.
    - `require_invite`: whether an utterance of a peer that has not invited the room is ignored.
    - `on_failure`: what a peer gets when an agent cannot answer it.
    - `discovery`: whether peers that look for agents are told of all that the bridge knows.
    - `push`: globs of the hosts to which late answers are sent.
    """

    answer_within: float
    idle_seconds: float | None = None
    require_invite: bool = False
    on_failure: OnFailure = "yield"
    discovery: bool = False
    push: tuple[str, ...] = ()


class Serving:
    """Answers envelopes of peers that visit rooms."""

    def __init__(
        self,
        gateway: Gateway,
        home: Home,
        directory: Directory,
        asides: Asides,
        pushes: Pushes,
        options: ServingOptions,
    ) -> None:
        self._gateway = gateway
        self._home = home
        self._directory = directory
        self._asides = asides
        self._pushes = pushes
        self._options = options
        self._hearing = Hearing(gateway, home, asides)

    def manifest(self, room: RoomView) -> Manifest:
        """Return the manifest of a room."""
        return manifest_of_room(self._home, room, discovery=self._options.discovery)

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
        await self._pushes.drop(caller.name, room.id, envelope.talk.id)
        visits = Visits(self._gateway.store, caller.name)
        known = await visits.get(room.id, envelope.talk.id) or Visit(Position())
        now = self._gateway.clock.time()
        visit = known.hearing(body, now, self._options.idle_seconds)
        floor = VisitFloor(caller, room, envelope, visit, push=self._push_address(envelope))
        for event in envelope.events:
            if self._is_for_us(event, room):
                await self._take(floor, event)
        if floor.posted or floor.visit.asides:
            await self._agents_have_answered(floor)
        if floor.visit.joined:
            caller.require_scope("read")
            await self._tell_all(floor)
        await visits.put(room.id, envelope.talk.id, floor.visit)
        if floor.push and floor.visit.joined and (floor.visit.asides or await self._works(floor)):
            await self._pushes.put(_target(floor))
        return envelope_json(self._envelope(floor))

    async def late(self, target: PushTarget) -> Late | None:
        """Wait until agents have answered what a peer said, and return the envelope with that; None
        where the peer may not have it any more, or has it. Raises StoreError."""
        store = self._gateway.store
        token = await store.token(target.program)
        room = next((room for room in self._gateway.rooms() if room.id == target.room), None)
        if token is None or room is None:
            return None
        caller, visits = Caller(token), Visits(store, target.program)
        now = self._gateway.clock.time()
        if "read" not in token.scopes or not caller.sees(room.id) or has_expired(token, now):
            return None
        asked = Envelope(
            talk=Talk(target.talk), sender=Sender(target.speaker or None),
            root="ovon" if target.root == "ovon" else "openFloor", version=target.version,
        )  # fmt: skip
        questions = [MessageId(question) for question in target.questions.split("\n") if question]
        floor = VisitFloor(
            caller, room, asked, await visits.get(room.id, target.talk) or Visit(Position()),
            posted=questions, push=target.url,
        )  # fmt: skip
        await self._agents_have_answered(floor, seconds=math.inf)
        if not floor.visit.joined:
            return None
        await self._tell_all(floor)
        deliver = partial(visits.put, room.id, target.talk, floor.visit)
        return Late(envelope_json(self._envelope(floor)), deliver) if floor.events else None

    async def _tell_all(self, floor: VisitFloor) -> None:
        floor.visit = await self._tell(floor)
        await self._tell_asides(floor)
        await self._tell_failures(floor)
        floor.visit = floor.visit.after("sent")

    def _push_address(self, envelope: Envelope) -> str:
        """The address of a peer to which late answers go; "" where none is allowed."""
        url = envelope.sender.reply_to or envelope.sender.service_url or ""
        try:
            host = urlsplit(address_of(url, query=True)).hostname or ""
        except ValueError:
            return ""
        return url if any(matches(glob, host) for glob in self._options.push) else ""

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

    async def _take(self, floor: VisitFloor, event: Event) -> None:
        match event.type:
            case type_ if type_ == UTTERANCE and event.dialog_event is not None:
                if floor.visit.state == "idle" and self._options.require_invite:
                    log.info("openfloor_not_invited", peer=floor.caller.name, room=floor.room.id)
                    return
                await self._join(floor, "utterance")
                await self._hearing.hear(floor, event, event.dialog_event)
            case type_ if type_ == INVITE:
                await self._invited(floor)
            case type_ if type_ in (BYE, UNINVITE):
                floor.visit = floor.visit.after("bye" if type_ == BYE else "uninvite")
            case type_ if type_ == REQUEST_FLOOR:
                await self._floor_wanted(floor)
            case type_ if type_ == YIELD_FLOOR:
                await self._gateway.visitors.yields(floor.room.id, floor.caller.actor)
            case type_ if type_ == GET_MANIFESTS:
                await self._publish(floor, event)
            case _:
                log.debug("openfloor_event_ignored", peer=floor.caller.name, type=event.type)

    async def _join(self, floor: VisitFloor, happening: ServingHappening) -> None:
        """The peer takes part; what was said before it came is not for it."""
        visit = floor.visit
        if visit.state == "idle":
            position = await self._gateway.store.position(floor.room.conversation)
            visit = replace(visit, position=position, began=position)
        floor.visit = visit.after(happening)

    async def _invited(self, floor: VisitFloor) -> None:
        if self._gateway.visitors.is_sent_away(floor.room.id, floor.caller.actor):
            reason = f"{REFUSED} the convener of this room has sent you away"
            floor.events.append(Event(DECLINE_INVITE, reason=reason))
            return
        await self._join(floor, "invite")
        floor.events.append(Event(ACCEPT_INVITE))

    async def _floor_wanted(self, floor: VisitFloor) -> None:
        """Everybody in a room has the floor, unless its convener decides otherwise."""
        to = Address(speaker_uri=floor.envelope.sender.speaker_uri)
        name = author_of(floor.caller, floor.envelope, to.speaker_uri or "").name
        wish = FloorWish(floor.caller.actor, name)
        refusal = await self._gateway.visitors.refuses(floor.room.id, wish)
        kind = REVOKE_FLOOR if refusal else GRANT_FLOOR
        floor.events.append(Event(kind, to=to, reason=refusal or None))

    async def _publish(self, floor: VisitFloor, event: Event) -> None:
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
        if event.scope in ("external", "all") and self._options.discovery:
            task = _task_in(floor.envelope)
            ranked = await self._directory.find(task, _MOST) if task else ()
            known = {manifest.identification.speaker_uri for manifest in found}
            found += [m for m in ranked if m.identification.speaker_uri not in known]
        if found or event.scope != "external" or self._options.discovery:
            floor.events.append(Event(PUBLISH_MANIFESTS, servicing=tuple(found)))

    async def _agents_have_answered(self, floor: VisitFloor, seconds: float | None = None) -> None:
        """Wait until the turns that the messages caused are over, and what agents answer alone; or
        the time is."""
        clock = self._gateway.clock
        within = self._options.answer_within if seconds is None else seconds
        until = clock.monotonic() + within
        await self._asides.answers(floor.room, floor.visit.asides)  # begins what a stop cut off
        await self._asides.wait(floor.visit.asides, within)
        with self._gateway.reading() as news:
            while await self._works(floor) and clock.monotonic() < until:
                news.clear()
                try:
                    async with asyncio.timeout(min(_LOOK, until - clock.monotonic())):
                        await news.wait()
                except TimeoutError:
                    pass

    async def _works(self, floor: VisitFloor) -> bool:
        causes = set(floor.posted)
        turns = await self._gateway.store.open_turns()
        return any(turn.trigger in causes or turn.origin in causes for turn in turns)

    async def _tell(self, floor: VisitFloor) -> Visit:
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
        if floor.posted and not floor.events and not floor.push and await self._works(floor):
            floor.events.append(self._moment(floor, floor.posted[-1]))
        return visit

    async def _tell_asides(self, floor: VisitFloor) -> None:
        """Add what agents answer the peer alone; what is not answered yet comes later."""
        over = await self._asides.answers(floor.room, floor.visit.asides)
        for answered in over:
            aside, stored = answered.aside, answered.answer
            to = Address(speaker_uri=aside.speaker or None, private=True)
            if stored is None:
                floor.events.append(Event(YIELD_FLOOR, to=to, reason=answered.refusal))
                continue
            said = self._said(floor, stored)
            floor.events.append(replace(said, to=to))
        done = [answered.aside for answered in over]
        left = tuple(aside for aside in floor.visit.asides if aside not in done)
        floor.visit = replace(floor.visit, asides=left)
        if left and not floor.events and not floor.push:
            floor.events.append(self._moment(floor, left[0].question))

    async def _tell_failures(self, floor: VisitFloor) -> None:
        """Add what a peer gets in place of answers that failed."""
        store, on_failure = self._gateway.store, self._options.on_failure
        failed = await failures(store, floor)
        events = await in_place_of(failed, on_failure, floor, self._directory, store)
        floor.events += events
        floor.visit = floor.visit.after("not_found" if failed else "found")
        if any(event.type == BYE for event in events):
            floor.visit = floor.visit.after("bye")

    def _said(self, floor: VisitFloor, stored: StoredMessage) -> Event:
        message = outside_view(stored.message, floor.room.tools)
        speaking = Speaking(self._home.uri(stored.author.id))
        return Event(UTTERANCE, dialog_event=dialog_event_of(message, speaking))

    def _moment(self, floor: VisitFloor, about: str) -> Event:
        room = self._home.uri_of_room(floor.room.id)
        now = datetime_of(self._gateway.clock.time())
        message = Message(
            message_id=f"wait:{about}",
            timestamp=to_timestamp(now),
            actor=Actor(id="bridge", role="system"),
            content=(TextPart(text=_WAIT, format="plain"),),
        )
        return Event(UTTERANCE, dialog_event=dialog_event_of(message, Speaking(room)))

    def _envelope(self, floor: VisitFloor) -> Envelope:
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


def _target(floor: VisitFloor) -> PushTarget:
    envelope = floor.envelope
    return PushTarget(
        program=floor.caller.name,
        room=str(floor.room.id),
        talk=envelope.talk.id,
        questions="\n".join(floor.posted),
        url=floor.push,
        root=envelope.root,
        version=envelope.version,
        speaker=envelope.sender.speaker_uri or "",
    )


def _task_in(envelope: Envelope) -> str:
    """The task for which a peer looks for agents: what it says privately in the same envelope."""
    said = (e.dialog_event.text for e in envelope.events if e.is_private and e.dialog_event)
    return " ".join(said)
