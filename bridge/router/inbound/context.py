"""One event on its way through the stages: what is known of it so far, and what it will change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bridge.content.cards.interactions import Interaction
from bridge.content.messages.metadata import KeptFile
from bridge.errors import InvalidData
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    DeleteMessage,
    Event,
    LaneId,
    MessageId,
    Operation,
    Person,
    RoomId,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import Change, Gone, NewMessage, Orphan, Timeline
from bridge.model.inbox_records import InboxRow
from bridge.model.outbox_records import Settlement
from bridge.model.reaction_records import PinChange, ReactionChange
from bridge.model.turn_records import GivenFeedback, NewTurn
from bridge.ports.cards import Cards
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, Files
from bridge.ports.store.whole import Store
from bridge.router.inbound.attachments import AttachmentFetcher, Kept
from bridge.router.inbound.flood_guard import FloodGuard
from bridge.router.inbound.orphans import Orphans
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.outbound.notices import Notices
from bridge.router.outbound.press_answers import PressAnswers
from bridge.router.recovery.other_bridges import OtherBridges
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.bylines import Bylines
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.people import People
from bridge.router.rooms.programs import is_outside
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Member, Room, Rooms
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.approvals import Approvals
from bridge.router.turns.handovers import HandOvers


class Linker(Protocol):
    """Changes which channels are in a room, for good; the answers are words for people."""

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str: ...

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str: ...


class HearsFeedback(Protocol):
    """Knows which agents want to hear what people think of their answers."""

    def is_wanted_by(self, agent: str) -> bool: ...


class NoLinker:
    """Where rooms are what they are."""

    async def link(self, room: RoomId, account: str, channel: str, by: ActorId) -> str:
        raise InvalidData(f"{account} {channel} cannot be linked here")

    async def unlink(self, room: RoomId, member: Member, by: ActorId) -> str:
        raise InvalidData("This channel cannot be unlinked here")


@dataclass(frozen=True)
class Surroundings:
    """What the stages may use: the store, the rooms, the connectors, and names for new things."""

    store: Store
    rooms: Rooms
    connectors: Mapping[AccountId, Connector]
    people: People
    reference_names: ReferenceNames
    bylines: Bylines
    names: DisplayNames
    linking: Linking
    linker: Callable[[], Linker]
    admins: Sequence[str]
    cards: Cards
    files: Files | None
    clock: Clock
    new_id: Callable[[], str]
    wake_lane: Callable[[LaneId], None]
    notices: Notices
    told: DeliveryFailures
    decided: BansAndPauses
    directs: DirectMessages
    loops: FloodGuard
    orphans: Orphans
    keeping: AttachmentFetcher
    holdings: HandOvers
    approvals: Approvals
    press_answers: PressAnswers
    doors: AgentAccess
    other_bridges: OtherBridges
    feedback: HearsFeedback

    async def resolve(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        """The canonical message that this native id shows there. Programs outside name messages
        by their canonical ids."""
        known = await self.store.resolve(channel, native_id)
        if known is None and is_outside(channel):
            return MessageId(native_id)
        return known

    async def takes_part(self, agent: str, root: MessageId) -> bool:
        """Whether the agent was called in this thread before."""
        return await self.store.was_called(agent, root)


@dataclass(frozen=True)
class Press:
    """What somebody did with a card, and the agent whose card it is; None: a program's."""

    interaction: Interaction
    agent: str | None


@dataclass
class Passage:
    """Each stage reads and adds; at the end it becomes one Admission.

    - `direct`: the room of two people whose alone it is.
    - `waits_for`: the native id of the message that this happened to, and that nobody knows yet.
    - `buried`: it was deleted before it came: it is kept, and shown to nobody.
    - `misses_files`: not all of its files could be had now; `kept`: what was had later.
    - `put_aside`: its row is kept elsewhere, and comes again.
    """

    row: InboxRow
    event: Event
    rooms: list[Room] = field(default_factory=list[Room])
    direct: Room | None = None
    press: Press | None = None
    message: NewMessage | None = None
    people: list[Person] = field(default_factory=list[Person])
    timelines: list[Timeline] = field(default_factory=list[Timeline])
    operations: list[Operation] = field(default_factory=list[Operation])
    settles: list[Settlement] = field(default_factory=list[Settlement])
    turns: list[NewTurn] = field(default_factory=list[NewTurn])
    stops: list[tuple[str, ActorId]] = field(default_factory=list[tuple[str, ActorId]])
    stopped_answers: list[tuple[MessageId, ActorId]] = field(
        default_factory=list[tuple[MessageId, ActorId]]
    )
    stopped_threads: list[tuple[MessageId, ActorId]] = field(
        default_factory=list[tuple[MessageId, ActorId]]
    )
    changes: list[Change] = field(default_factory=list[Change])
    reactions: list[ReactionChange] = field(default_factory=list[ReactionChange])
    pins: list[PinChange] = field(default_factory=list[PinChange])
    feedback: list[GivenFeedback] = field(default_factory=list[GivenFeedback])
    gone: list[Gone] = field(default_factory=list[Gone])
    removals: list[DeleteMessage] = field(default_factory=list[DeleteMessage])
    orphans: list[Orphan] = field(default_factory=list[Orphan])
    waits_for: str | None = None
    buried: bool = False
    misses_files: bool = False
    kept: Kept = field(default_factory=dict[str, KeptFile])
    put_aside: bool = False

    def admission(self, outcome: str, *, row: int | None) -> Admission:
        """What one transaction changes; an event that ended early adds no message."""
        if outcome != "routed":
            return Admission(
                outcome=outcome,
                row=row,
                people=tuple(self.people),
                reactions=tuple(self.reactions),
                pins=tuple(self.pins),
                feedback=tuple(self.feedback),
                turns=tuple(self.turns),
                changes=tuple(self.changes),
                gone=tuple(self.gone),
                removals=tuple(self.removals),
                orphans=tuple(self.orphans),
            )
        return Admission(
            outcome=outcome,
            row=row,
            message=self.message,
            people=tuple(self.people),
            timelines=tuple(self.timelines),
            operations=tuple(self.operations),
            settles=tuple(self.settles),
            turns=tuple(self.turns),
        )
