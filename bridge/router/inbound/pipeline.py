"""The way of one event, stage by stage: reading `Pipeline` is reading the router.

A stage returns what the next one takes, or `Planned`, with which the way of the event ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args, get_type_hints

from bridge.content.cards.reader import Cards
from bridge.model import AccountId, LaneId, MessagePosted
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.router.commands.registry import CommandSet
from bridge.router.inbound.admission import Admit, Refusals
from bridge.router.inbound.attachments import AttachmentFetcher, KeepFiles, WaitForFiles
from bridge.router.inbound.changes import AddFiles, ApplyDeletion, ApplyEdit, CopyEdits
from bridge.router.inbound.channel_events import DescribeChannelEvent
from bridge.router.inbound.context import Planned, Received
from bridge.router.inbound.direct_messages import AnswerDirectCommand, CarryDirectMessage
from bridge.router.inbound.echoes import DropRepeats, SettleOwnEcho
from bridge.router.inbound.feedback import TakeFeedback, WantsFeedback
from bridge.router.inbound.flood_guard import FloodGuard
from bridge.router.inbound.given_commands import (
    AnswerCommand,
    AnswerSlashCommand,
    TakePairingCode,
)
from bridge.router.inbound.moderation import CopyDeletions
from bridge.router.inbound.orphans import BuryDeleted, Orphans
from bridge.router.inbound.presses import AskAgain, HearPress, OwnButtons, StopAnswers
from bridge.router.inbound.reactions import ApplyPin, ApplyReaction, ShownPlaces
from bridge.router.inbound.routing import NameAuthor, PlaceInTimelines, Route
from bridge.router.outbound.notices import Notices
from bridge.router.outbound.press_answers import PressAnswers
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.bylines import AuthorBylines
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.people import People
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Rooms
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.selection import AgentSelection


@dataclass(frozen=True)
class Pipeline:
    """All stages, in the order in which an event passes them."""

    before_admission: tuple[
        DropRepeats,
        WaitForFiles,
        SettleOwnEcho,
        AnswerDirectCommand,
        CarryDirectMessage,
        AnswerSlashCommand,
        AnswerCommand,
        TakePairingCode,
    ]
    admit: Admit
    after_admission: tuple[
        BuryDeleted,
        ApplyEdit,
        AddFiles,
        ApplyDeletion,
        ApplyReaction,
        ApplyPin,
        TakeFeedback,
        StopAnswers,
        HearPress,
        DescribeChannelEvent,
    ]
    name_author: NameAuthor
    keep_files: KeepFiles
    place_in_timelines: PlaceInTimelines
    route: Route

    async def plan(self, received: Received) -> Planned:
        """What the event changes. Raises whatever a stage raises: the event fails."""
        for stage in self.before_admission:
            passed = await stage(received)
            if isinstance(passed, Planned):
                return passed
            received = passed
        admitted = await self.admit(received)
        if isinstance(admitted, Planned):
            return admitted
        for stage in self.after_admission:
            passed = await stage(admitted)
            if isinstance(passed, Planned):
                return passed
            admitted = passed
        authored = await self.keep_files(await self.name_author(admitted))
        return await self.route(await self.place_in_timelines(authored))


def stage_names() -> Iterator[str]:
    """The names of the stages, in order."""
    for stages in get_type_hints(Pipeline).values():
        for stage in get_args(stages) or (stages,):
            yield stage.__name__


def build_pipeline(
    *,
    store: Store,
    rooms: Rooms,
    connectors: Mapping[AccountId, Connector],
    clock: Clock,
    new_id: Callable[[], str],
    wake_lane: Callable[[LaneId], None],
    unknown_post: Callable[[MessagePosted, str], None],
    notices: Notices,
    people: People,
    reference_names: ReferenceNames,
    linking: Linking,
    bylines: AuthorBylines,
    bans: BansAndPauses,
    flood_guard: FloodGuard,
    directs: DirectMessages,
    commands: CommandSet,
    access: AgentAccess,
    agents: AgentSelection,
    orphans: Orphans,
    fetcher: AttachmentFetcher,
    feedback: WantsFeedback,
    cards: Cards,
    own_buttons: OwnButtons,
    press_answers: PressAnswers,
) -> Pipeline:
    """The stages over their parts. `unknown_post`: see `SettleOwnEcho`."""
    copies = CopyEdits(store, new_id)
    copy_deletions = CopyDeletions(store, rooms, connectors, notices, new_id)
    places = ShownPlaces(store, rooms, people)
    ask_again = AskAgain(store, cards, access, new_id)
    return Pipeline(
        before_admission=(
            DropRepeats(store),
            WaitForFiles(fetcher),
            SettleOwnEcho(store, wake_lane, unknown_post),
            AnswerDirectCommand(directs, commands.direct, notices),
            CarryDirectMessage(store, directs, rooms, bans, notices),
            AnswerSlashCommand(commands.channel),
            AnswerCommand(commands.channel),
            TakePairingCode(access),
        ),
        admit=Admit(rooms, people, Refusals(bans, flood_guard, notices, clock)),
        after_admission=(
            BuryDeleted(orphans),
            ApplyEdit(copies, linking, reference_names, fetcher),
            AddFiles(copies),
            ApplyDeletion(store, new_id, copy_deletions),
            ApplyReaction(store, places, people, connectors, new_id),
            ApplyPin(places, rooms, people, new_id),
            TakeFeedback(store, people, feedback),
            StopAnswers(store),
            HearPress(store, cards, own_buttons, ask_again, press_answers),
            DescribeChannelEvent(store, connectors, people, reference_names),
        ),
        name_author=NameAuthor(people, linking, reference_names),
        keep_files=KeepFiles(fetcher),
        place_in_timelines=PlaceInTimelines(store),
        route=Route(agents, bylines, connectors, clock, new_id),
    )
