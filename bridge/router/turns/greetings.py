"""What agents say by themselves when they come into a room, once in each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import structlog

from bridge.errors import StoreError
from bridge.model import ActorId, LaneId, MessageId, OperationId, Person, PostMessage
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage
from bridge.model.times import datetime_of
from bridge.ports.clock import Clock
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.messages import MessageStore
from bridge.router.rooms.bylines import Bylines
from bridge.router.rooms.rooms import AgentMembership, Room, Rooms
from bridge.uacs import Actor, Message, TextPart, to_timestamp

log = structlog.get_logger()


class _GreetingsStore(AdmissionStore, MessageStore, Protocol):
    """What `AgentGreetings` needs of the store."""


class AgentGreetings:
    """Posts the greetings of the agents in all rooms; one that was posted is not posted again."""

    def __init__(
        self,
        store: _GreetingsStore,
        rooms: Rooms,
        bylines: Bylines,
        clock: Clock,
        new_id: Callable[[], str],
        wake_lane: Callable[[LaneId], None],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._bylines = bylines
        self._clock = clock
        self._new_id = new_id
        self._wake_lane = wake_lane

    async def post(self) -> None:
        """Post what is missing; what the store does not take is posted at the next start."""
        try:
            for room in self._rooms.all:
                for membership in room.agents:
                    if membership.greeting:
                        await self._greet(room, membership)
        except StoreError as error:
            log.warning("greeting_failed", error=str(error))

    async def _greet(self, room: Room, membership: AgentMembership) -> None:
        agent = membership.agent
        own_id = MessageId(f"agent:{agent}:greeting/{room.id}")
        if await self._store.message(own_id) is not None:
            return
        now = self._clock.time()
        message = Message(
            message_id=own_id,
            timestamp=to_timestamp(datetime_of(now)),
            actor=Actor(id=f"agent:{agent}", role="assistant", name=agent),
            content=(TextPart(text=membership.greeting),),
        )
        posts = tuple(
            PostMessage(
                id=OperationId(self._new_id()),
                account=member.account,
                channel=member.channel,
                room=room.id,
                message=own_id,
                byline=self._bylines.of_agent(agent),
            )
            for member in room.listeners()
        )
        author = Person(id=ActorId(message.actor.id), name=agent, bot=True)
        new = NewMessage(message=message, author=author, time=now)
        admission = Admission(
            outcome="greeting", message=new, timelines=(room.timeline,), operations=posts
        )
        await self._store.admit(admission)
        for post in posts:
            self._wake_lane(post.channel.lane)
