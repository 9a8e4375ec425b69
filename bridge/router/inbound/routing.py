"""The last stages of a message: they name its author, place it in its conversations, and plan a
post for each channel that shows it and a turn for each agent that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bridge.content.messages.metadata import with_person
from bridge.model import (
    AccountId,
    Byline,
    Level,
    MessagePosted,
    OperationId,
    PostMessage,
    TurnId,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, channel_timeline, thread_timeline
from bridge.model.outbox_records import Settlement
from bridge.model.turn_records import NewTurn
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.context import Admitted, Authored, Placed, Planned
from bridge.router.inbound.presses import turns_for
from bridge.router.inbound.threads import canonical_id, canonical_root
from bridge.router.rooms.bylines import AuthorBylines
from bridge.router.rooms.direct_messages import direct_timeline
from bridge.router.rooms.features import has_threads
from bridge.router.rooms.filters import lets_out
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.people import People
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Member, Room
from bridge.router.turns.selection import AgentSelection, wants_stop
from bridge.router.turns.sessions import session_of


@dataclass(frozen=True)
class NameAuthor:
    """Gives the author, and the people whom the message mentions, the names by which people know
    them."""

    people: People
    linking: Linking
    reference_names: ReferenceNames

    async def __call__(self, admitted: Admitted) -> Authored:
        event = admitted.event
        if not isinstance(event, MessagePosted):
            raise TypeError(f"no stage took {event.type}")
        author, is_new = await self.people.complete(event.account, event.author)
        if is_new:
            self.linking.person_seen(event.account, author)
        message = await self.reference_names.named(event.account, event.message)
        if message.actor.name != author.name:
            actor = message.actor.model_copy(update={"name": author.name})
            message = message.model_copy(update={"actor": actor})
        new = NewMessage(
            message=with_person(message, await self.linking.person_of(author.id)),
            author=author,
            time=event.time.timestamp(),
            place=event.place,
            native_id=event.native_id,
            audience=event.audience,
            state="deleted" if admitted.buried else "edited" if event.edited_at else "complete",
            changed=event.edited_at.timestamp() if event.edited_at else 0.0,
        )
        return Authored(
            row=admitted.row, event=event, rooms=admitted.rooms, direct=admitted.direct,
            kept_files=admitted.kept_files, buried=admitted.buried, press=admitted.press,
            message=new, people=(author,) if is_new else (),
        )  # fmt: skip


@dataclass(frozen=True)
class PlaceInTimelines:
    """Places the message in its channel's conversation, its thread's, and each room's. The root of
    the thread and the answered message get their canonical ids."""

    store: MessageStore

    async def __call__(self, authored: Authored) -> Placed:
        event, channel = authored.event, authored.event.place.channel
        root = reply_to = None
        if event.place.thread:
            root = await canonical_root(self.store, event.place)
        if event.reply_to:
            reply_to = await canonical_id(self.store, channel, event.reply_to)
        timelines = [channel_timeline(channel)]
        if event.place.thread and root:
            timelines.append(thread_timeline(event.place, root))
        if authored.direct:
            timelines.append(direct_timeline(authored.direct))
        elif not authored.is_whisper:
            timelines += [room.timeline for room in authored.rooms]
        return Placed(
            row=authored.row, event=event, rooms=authored.rooms, direct=authored.direct,
            kept_files=authored.kept_files, buried=authored.buried, press=authored.press,
            message=replace(authored.message, root=root, reply_to=reply_to),
            people=authored.people, timelines=tuple(timelines),
        )  # fmt: skip


@dataclass(frozen=True)
class Route:
    """Plans one post for each channel that shows the message, and one turn for each agent that
    answers it."""

    agents: AgentSelection
    bylines: AuthorBylines
    connectors: Mapping[AccountId, Connector]
    clock: Clock
    new_id: Callable[[], str]

    async def __call__(self, placed: Placed) -> Planned:
        posts: tuple[PostMessage, ...] = ()
        settles: tuple[Settlement, ...] = ()
        turns: tuple[NewTurn, ...] = ()
        stops: tuple[str, ...] = ()
        if placed.press and not placed.buried:
            turns = turns_for(placed.press, placed.rooms, placed.message, self.new_id)
        elif not placed.buried:
            posts, settles = await self._posts(placed)
            turns, stops = await self._turns(placed)
        return Planned(
            admission=Admission(
                "routed",
                message=placed.message,
                people=placed.people,
                timelines=placed.timelines,
                operations=posts,
                settles=settles,
                turns=turns,
            ),
            stops=tuple((session, placed.message.author.id) for session in stops),
        )

    async def _posts(
        self, placed: Placed
    ) -> tuple[tuple[PostMessage, ...], tuple[Settlement, ...]]:
        """The posts, and the ends of those that are too late from the start."""
        event, new = placed.event, placed.message
        posts: list[PostMessage] = []
        settles: list[Settlement] = []
        reached = {event.place.channel.key}
        for room in () if placed.is_whisper else placed.rooms:
            for member in room.listeners(besides=event.place.channel):
                if member.channel.key not in reached and lets_out(member, new):
                    reached.add(member.channel.key)
                    byline = await self.bylines.for_member(
                        new.author, room, member, event.place.channel.platform, event.account
                    )
                    post = self._post(new, room, member, byline, broadcast=event.broadcast)
                    posts.append(post)
                    if error := member.options.lateness_error(self.clock.time() - new.time):
                        settles.append(Settlement(post.id, "dead", error=error))
        return tuple(posts), tuple(settles)

    def _post(
        self, new: NewMessage, room: Room, member: Member, byline: Byline, *, broadcast: bool
    ) -> PostMessage:
        """A message to a thread and its channel is shown in the channel where it cannot be shown in
        both."""
        both = broadcast and self._can_broadcast(member)
        flat = (
            member.options.threads == "flat"
            or (broadcast and not both)
            or not has_threads(self.connectors, member.account)
        )
        return PostMessage(
            id=OperationId(self.new_id()),
            account=member.account,
            channel=member.channel,
            room=room.id,
            message=new.id,
            byline=byline,
            root=None if flat else new.root,
            reply_to=new.reply_to or (new.root if flat else None),
            broadcast=both and not flat,
        )

    def _can_broadcast(self, member: Member) -> bool:
        connector = self.connectors.get(member.account)
        features = connector.capabilities.features if connector else {}
        return features.get("broadcast") == Level.FULL

    async def _turns(self, placed: Placed) -> tuple[tuple[NewTurn, ...], tuple[str, ...]]:
        """The turns, and the sessions that the message stops in place of a turn. No agent answers a
        whisper: everybody in the room would read the answer."""
        if placed.is_whisper:
            return (), ()
        event, new = placed.event, placed.message
        turns: list[NewTurn] = []
        stops: list[str] = []
        called_by = "bot" if event.author.bot else "person"
        for room in placed.rooms:
            for chosen in await self.agents.of(room, event, new) if room.agents else ():
                membership = chosen.membership
                session = session_of(membership, room.id, new)
                if not chosen.hears and wants_stop(membership, event):
                    stops.append(session)
                    continue
                turns.append(
                    NewTurn(
                        TurnId(self.new_id()), membership.agent, room.id, new.id, session,
                        called_by="floor" if chosen.hears else called_by, reason=chosen.reason,
                    )
                )  # fmt: skip
        return tuple(turns), tuple(stops)
