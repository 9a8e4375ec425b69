"""Which rooms an event comes into: by their options, and by bans, pauses and floods. A message that
was deleted before it came is shown in none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from bridge.model import (
    ActionPressed,
    AnswerStopped,
    Event,
    FeedbackGiven,
    FilesAwaited,
    MessageDeleted,
    MessageEdited,
    MessagePinned,
    MessagePosted,
    MessagesBulkDeleted,
    MessageUnpinned,
    Person,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    ThreadDeleted,
    Unknown,
    split_key,
)
from bridge.model.refs import BRIDGE
from bridge.ports.clock import Clock
from bridge.router.inbound.channel_events import CHANNEL_EVENTS
from bridge.router.inbound.context import Admitted, Planned, Received, ended
from bridge.router.inbound.flood_guard import PAUSE, FloodGuard
from bridge.router.inbound.orphans import Orphans
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.filters import admitting, is_private
from bridge.router.rooms.options import MessageFilter
from bridge.router.rooms.people import People
from bridge.router.rooms.rooms import Room, Rooms

log = structlog.get_logger()

_CARRIED = (
    MessagePosted,
    MessageEdited,
    FilesAwaited,
    MessageDeleted,
    MessagesBulkDeleted,
    ThreadDeleted,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    MessagePinned,
    MessageUnpinned,
    ActionPressed,
    FeedbackGiven,
    AnswerStopped,
    *CHANNEL_EVENTS,
)


@dataclass(frozen=True)
class Admit:
    """Lets an event into the rooms of its channel, as far as their options admit it. Every kind of
    event passes here."""

    rooms: Rooms
    people: People
    refusals: Refusals

    async def __call__(self, received: Received) -> Admitted | Planned:
        event, rooms, refusal = received.event, received.rooms, ""
        if not rooms:
            receiving = self.rooms.receiving_from(event.account, event.place.channel)
            event = taken_back(event, receiving)
            rooms, refusal = await self._admitting(event, receiving)
        if not rooms:
            return ended(f"not admitted: {refusal}" if refusal else "no_room")
        if isinstance(event, Unknown):
            return ended(f"kept: unknown, {event.kind}")
        if not isinstance(event, _CARRIED):
            return ended(f"kept: {event.type}")
        return Admitted(
            row=received.row, event=event, rooms=rooms, direct=received.direct,
            kept_files=received.kept_files, buried=False, press=None,
        )  # fmt: skip

    async def _admitting(
        self, event: Event, receiving: Sequence[Room]
    ) -> tuple[tuple[Room, ...], str]:
        """The rooms that let the event in, and the reason of one that does not."""
        if not receiving:
            return (), ""
        message_filters = [room.options.message_filter for room in receiving]
        here = (room.member(event.place.channel) for room in receiving)
        message_filters += [member.options.message_filter for member in here if member]
        author = await named_author(event, message_filters, self.people)
        rooms, refusal = admitting(receiving, event, author)
        admitted: list[Room] = []
        for room in rooms:
            if room_refusal := await self.refusals.of(event, room):
                refusal = room_refusal
            else:
                admitted.append(room)
        return tuple(admitted), refusal


@dataclass(frozen=True)
class Refusals:
    """Refuses events by what changes while the bridge runs: bans, pauses and floods."""

    bans: BansAndPauses
    flood_guard: FloodGuard
    notices: Notices
    clock: Clock

    async def of(self, event: Event, room: Room) -> str:
        """Return why the room does not let the event in; empty where it does. A flood of bots
        pauses the room. Raises StoreError."""
        if refusal := self.bans.refuses(event, room.id):
            return refusal
        if not isinstance(event, MessagePosted):
            return ""
        verdict = self.flood_guard.judge(event, room)
        if verdict is None:
            return ""
        if verdict.flood:
            await self._pause(room, verdict.reason)
        return verdict.reason

    async def _pause(self, room: Room, reason: str) -> None:
        """Pause the room for some minutes, or until somebody resumes it, and notify it."""
        log.error("room_paused", room=room.id, reason=reason)
        await self.bans.pause(room.id, reason, BRIDGE, PAUSE)
        self.flood_guard.forget(room.id)
        minutes = round(PAUSE / 60)
        await self.notices.post(
            notice_id("paused", room.id, repr(self.clock.time())),
            plain_markdown(
                f"⏸ This room is paused for {minutes} minutes: {reason}. Nothing is carried until "
                "then, or until it is resumed."
            ),
            room.id,
            room.listeners(),
        )  # fmt: skip


@dataclass(frozen=True)
class BuryDeleted:
    """Marks a message that comes after its own deletion: it is archived as deleted, and no channel
    shows it."""

    orphans: Orphans

    async def __call__(self, admitted: Admitted) -> Admitted:
        event = admitted.event
        if not isinstance(event, MessagePosted):
            return admitted
        channel, native_id = event.place.channel, event.native_id
        buried = self.orphans.is_gone(channel, native_id) or (
            self.orphans.is_doubted(admitted.row)
            and await self.orphans.went_before(admitted.row, event.place, native_id)
        )
        return replace(admitted, buried=True) if buried else admitted


async def named_author(
    event: Event, message_filters: Sequence[MessageFilter], people: People
) -> Person | None:
    """Return the actor of the event, under the name that people know where a filter asks for it.
    Raises StoreError."""
    author = _author_of(event)
    if author is None or not any(message_filter.asks_author for message_filter in message_filters):
        return author
    name = await people.name_of(event.account, author)
    return author.model_copy(update={"name": name})


def _author_of(event: Event) -> Person | None:
    """The actor, as far as the event itself names one."""
    if isinstance(event, MessagePosted):
        return event.author
    if isinstance(event, MessageEdited | FilesAwaited):
        actor = event.message.actor
        return Person(id=event.actor, name=actor.name or "", bot=actor.role == "assistant")
    actor = getattr(event, "actor", None)
    return None if actor is None else Person(id=actor, name=split_key(actor)[-1])


def taken_back(event: Event, rooms: Sequence[Room]) -> Event:
    """Return the event, or a deletion in its place: an edit by which the author keeps a message to
    its channel deletes the copies."""
    if not isinstance(event, MessageEdited):
        return event
    if not any(is_private(event, room) for room in rooms):
        return event
    return MessageDeleted(
        account=event.account, place=event.place, time=event.time, audience=event.audience,
        actor=event.actor, target=event.target,
    )  # fmt: skip
