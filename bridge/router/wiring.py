"""How the parts of the router are joined: one function for each folder, from the lowest to the
highest. Each returns what the folders above it need; what goes the other way is a signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from bridge.content.cards.reader import Cards
from bridge.content.cards.rendering import public_url
from bridge.model import AccountId
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.files import Files
from bridge.ports.pictures import Pictures
from bridge.ports.store.whole import Store
from bridge.ports.tools import TellsChanges, Toolbox
from bridge.router.commands.bans import ban_commands
from bridge.router.commands.channels import CurrentLinker, channel_commands
from bridge.router.commands.direct_messages import DirectCommand, DirectWriter, direct_commands
from bridge.router.commands.failures import failure_commands
from bridge.router.commands.hand_over import HandOverCommands
from bridge.router.commands.parser import Commands
from bridge.router.commands.pausing import pausing_commands
from bridge.router.commands.people import people_commands
from bridge.router.commands.status import status_commands
from bridge.router.inbound.admission import Admit, Refusals
from bridge.router.inbound.attachments import AttachmentFetcher, KeepFiles, WaitForFiles
from bridge.router.inbound.changes import AddFiles, ApplyDeletion, ApplyEdit, CopyEdits
from bridge.router.inbound.channel_events import DescribeChannelEvent
from bridge.router.inbound.direct_messages import AnswerDirectCommand, CarryDirectMessage
from bridge.router.inbound.echoes import DropRepeats, SettleOwnEcho
from bridge.router.inbound.feedback import FeedbackDelivery, TakeFeedback
from bridge.router.inbound.flood_guard import FloodGuard
from bridge.router.inbound.given_commands import (
    AnswerCommand,
    AnswerSlashCommand,
    TakePairingCode,
)
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.inbound.moderation import CopyDeletions
from bridge.router.inbound.orphans import BuryDeleted, Orphans
from bridge.router.inbound.pipeline import Pipeline
from bridge.router.inbound.presses import AskAgain, HearPress, OwnButtons, StopAnswers
from bridge.router.inbound.processor import Committer, EventProcessor
from bridge.router.inbound.queues import InboundQueues
from bridge.router.inbound.reactions import ApplyPin, ApplyReaction, ShownPlaces, shows_natively
from bridge.router.inbound.receivers import Receivers
from bridge.router.inbound.routing import NameAuthor, PlaceInTimelines, Route
from bridge.router.inbox import Keeper, OwnEchoes, RouterInbox
from bridge.router.outbound.delays import DelayNotifier
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.outbound.in_flight import InFlightCalls
from bridge.router.outbound.lanes import Lanes
from bridge.router.outbound.notes import ReactionNotes
from bridge.router.outbound.notices import Notices
from bridge.router.outbound.press_answers import PressAnswers
from bridge.router.outbound.rate_limits import RateLimits
from bridge.router.outbound.references import Groups, References
from bridge.router.outbound.streams import StreamRenderer
from bridge.router.outbound.typing import Typing
from bridge.router.recovery.catch_up import CatchUp
from bridge.router.recovery.channel_reader import ChannelReader
from bridge.router.recovery.gaps import Gaps
from bridge.router.recovery.other_bridges import OtherBridges, SendingStopped
from bridge.router.recovery.watchdog import ConnectionWatchdog
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.bylines import AuthorBylines, Bylines
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.people import People
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime.background import Background
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import Signals
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.admission import TurnAdmission
from bridge.router.turns.approvals import Approvals
from bridge.router.turns.follow_ups import FollowUps
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.publisher import AnswerPublisher
from bridge.router.turns.queue import TurnQueue
from bridge.router.turns.quotas import Quotas, QuotaSettings
from bridge.router.turns.request import TurnRequests
from bridge.router.turns.runner import TurnRunner
from bridge.router.turns.selection import AgentSelection
from bridge.router.turns.tool_catalogue import ToolCatalogue
from bridge.router.turns.tools import NoTools, Tools


@dataclass(frozen=True)
class Given:
    """What the parts are made from. `connectors`, `agents`, `rooms` and `admins` change in place
    when the configuration does."""

    store: Store
    connectors: Mapping[AccountId, Connector]
    rooms: Rooms
    agents: Mapping[str, Agent]
    clock: Clock
    policy: Timeouts
    cards: Cards
    new_id: Callable[[], str]
    admins: list[str]
    files: Files | None = None
    tools: Toolbox | None = None
    pictures: Pictures | None = None
    signals: Signals = field(default_factory=Signals)
    background: Background = field(default_factory=Background)


@dataclass(frozen=True)
class RoomParts:
    people: People
    reference_names: ReferenceNames
    bylines: Bylines
    author_bylines: AuthorBylines
    feed: Feed
    bans: BansAndPauses
    linking: Linking
    directs: DirectMessages


@dataclass(frozen=True)
class OutboundParts:
    rate_limits: RateLimits
    references: References
    in_flight: InFlightCalls
    encoding: Encoding
    stopped: dict[AccountId, SendingStopped]
    lanes: Lanes
    notices: Notices
    typing: Typing
    press_answers: PressAnswers
    delays: DelayNotifier
    failures: DeliveryFailures


@dataclass(frozen=True)
class TurnParts:
    approvals: Approvals
    catalogue: ToolCatalogue
    hand_overs: HandOvers
    access: AgentAccess
    quotas: Quotas
    queue: TurnQueue
    selection: AgentSelection


@dataclass(frozen=True)
class CommandParts:
    hand_overs: HandOverCommands
    linker: CurrentLinker
    direct: DirectCommand
    channel: Commands


@dataclass(frozen=True)
class InboundParts:
    receivers: Receivers
    queues: InboundQueues
    beginnings: HistoryStarts
    orphans: Orphans
    fetcher: AttachmentFetcher
    feedback: FeedbackDelivery
    processor: EventProcessor


@dataclass(frozen=True)
class RecoveryParts:
    watchdog: ConnectionWatchdog
    other_bridges: OtherBridges
    catch_up: CatchUp
    reader: ChannelReader


@dataclass(frozen=True)
class Parts:
    """The parts of all folders."""

    rooms: RoomParts
    outbound: OutboundParts
    turns: TurnParts
    commands: CommandParts
    inbound: InboundParts
    recovery: RecoveryParts


def wire_rooms(given: Given, email_key: bytes | None) -> RoomParts:
    store, connectors, clock, signals = given.store, given.connectors, given.clock, given.signals
    people = People(store, connectors, clock)
    names = DisplayNames(store, given.admins, connectors)
    bylines = Bylines(given.pictures)
    directs = DirectMessages(store, connectors, clock, signals.direct_channel_opened)
    given.rooms.join(directs, partial(platform_name, connectors))
    return RoomParts(
        people=people,
        reference_names=ReferenceNames(people, connectors, given.rooms, given.cards, clock),
        bylines=bylines,
        author_bylines=AuthorBylines(names, bylines),
        feed=Feed(),
        bans=BansAndPauses(store, clock, signals.people_linked),
        linking=Linking(store, connectors, names, clock, signals.people_linked, email_key),
        directs=directs,
    )


def wire_outbound(given: Given, rooms: RoomParts, groups: Groups) -> OutboundParts:
    store, connectors, clock, signals = given.store, given.connectors, given.clock, given.signals
    known, policy = given.rooms, given.policy
    rate_limits = RateLimits(clock, {a: c.capabilities.budgets for a, c in connectors.items()})
    references = References(store, connectors, known, groups)
    in_flight = InFlightCalls(connectors)
    url_of = given.files.url_of if given.files else public_url
    encoding = Encoding(store, connectors, known, rate_limits, clock, url_of, references)
    stopped: dict[AccountId, SendingStopped] = {}
    lanes = Lanes(
        store, connectors, rate_limits, clock, policy, known, encoding, in_flight, signals, stopped
    )
    notices = Notices(store, clock, given.new_id, lanes.wake)
    ReactionNotes(
        store, known, notices, partial(shows_natively, connectors), rooms.reference_names.name_of,
        signals.mark_not_shown,
    )  # fmt: skip
    return OutboundParts(
        rate_limits=rate_limits,
        references=references,
        in_flight=in_flight,
        encoding=encoding,
        stopped=stopped,
        lanes=lanes,
        notices=notices,
        typing=Typing(known, connectors, rate_limits, clock, store, rooms.bylines),
        press_answers=PressAnswers(connectors, rooms.people, notices),
        delays=DelayNotifier(store, known, notices, clock, policy),
        failures=DeliveryFailures(
            store, known, connectors, notices, clock, lanes.wake, given.new_id,
            rooms.directs.home, rooms.directs.end_of, signals.operation_ended,
        ),
    )  # fmt: skip


def wire_turns(
    given: Given, rooms: RoomParts, outbound: OutboundParts, quota_settings: QuotaSettings
) -> TurnParts:
    store, connectors, clock, signals = given.store, given.connectors, given.clock, given.signals
    known, policy, notices, new_id = given.rooms, given.policy, outbound.notices, given.new_id
    approvals = Approvals(
        store, known, rooms.people, notices, outbound.press_answers, clock, new_id, given.admins
    )
    tools = Tools(given.tools or NoTools(), approvals, store)
    catalogue = ToolCatalogue(store, known, tools, given.background)
    if isinstance(given.tools, TellsChanges):
        given.tools.tell_changes(catalogue.changed)
    publisher = AnswerPublisher(
        store, connectors, outbound.lanes, clock, new_id, given.cards, given.files,
        rooms.reference_names, rooms.bylines,
    )  # fmt: skip
    encoding = outbound.encoding
    streams = StreamRenderer(
        store, connectors, outbound.rate_limits, clock, encoding.edits, encoding.growing_calls,
        encoding.grown, publisher.roll_over, outbound.in_flight,
    )  # fmt: skip
    hand_overs = HandOvers(store, notices, clock, signals.hand_over_taken)
    runner = TurnRunner(
        store, connectors, known, given.agents, TurnRequests(store, policy), publisher, streams,
        clock, policy, outbound.typing, rooms.feed, tools,
        FollowUps(store, known, hand_overs, notices, clock), catalogue, given.cards,
    )  # fmt: skip
    access = AgentAccess(store, connectors, known, rooms.bans, notices, clock)
    quotas = Quotas(store, clock, quota_settings)
    admission = TurnAdmission(
        store, known, hand_overs, access, quotas, notices, rooms.linking.person_of
    )
    return TurnParts(
        approvals=approvals,
        catalogue=catalogue,
        hand_overs=hand_overs,
        access=access,
        quotas=quotas,
        queue=TurnQueue(
            store, known, runner, publisher, clock, policy, new_id, admission,
            signals.hand_over_taken,
        ),
        selection=AgentSelection(store, hand_overs, access, clock),
    )  # fmt: skip


def wire_commands(
    given: Given, rooms: RoomParts, outbound: OutboundParts, turns: TurnParts
) -> CommandParts:
    store, known, connectors, admins = given.store, given.rooms, given.connectors, given.admins
    hand_overs = HandOverCommands(store, turns.hand_overs, rooms.reference_names, admins)
    writer = DirectWriter(
        store, rooms.directs, rooms.author_bylines, given.clock, given.new_id, outbound.lanes.wake
    )
    direct = DirectCommand(rooms.directs, rooms.bans, rooms.people, writer)
    linker = CurrentLinker()
    commands = (
        *status_commands(store, known, rooms.bans),
        *pausing_commands(rooms.bans, given.signals.room_resumed),
        *ban_commands(store, rooms.bans),
        *people_commands(rooms.linking),
        *hand_overs.commands(),
        *failure_commands(outbound.failures),
        *direct_commands(direct),
        *channel_commands(connectors, linker),
    )
    channel = Commands(commands, known, connectors, outbound.notices, admins)
    return CommandParts(hand_overs=hand_overs, linker=linker, direct=direct, channel=channel)


def wire_inbound(
    given: Given,
    rooms: RoomParts,
    outbound: OutboundParts,
    turns: TurnParts,
    commands: CommandParts,
) -> InboundParts:
    store, connectors, clock, signals = given.store, given.connectors, given.clock, given.signals
    policy = given.policy
    queues = InboundQueues(signals.row_due)
    beginnings = HistoryStarts(store)
    orphans = Orphans(store, connectors, beginnings, clock, policy, queues.put)
    fetcher = AttachmentFetcher(
        store, connectors, given.files, given.cards, clock, policy, queues.put
    )
    feedback = FeedbackDelivery(store, given.agents, clock, policy)
    pipeline = _pipeline(given, rooms, outbound, turns, commands, orphans, fetcher, feedback)
    committer = Committer(store, outbound.lanes, turns.queue, orphans, feedback, rooms.feed)
    return InboundParts(
        receivers=Receivers(clock, policy),
        queues=queues,
        beginnings=beginnings,
        orphans=orphans,
        fetcher=fetcher,
        feedback=feedback,
        processor=EventProcessor(
            pipeline, committer, store, connectors, orphans, fetcher, signals.row_due,
            signals.reactions_came_late, clock, policy,
        ),
    )  # fmt: skip


def _pipeline(
    given: Given,
    rooms: RoomParts,
    outbound: OutboundParts,
    turns: TurnParts,
    commands: CommandParts,
    orphans: Orphans,
    fetcher: AttachmentFetcher,
    feedback: FeedbackDelivery,
) -> Pipeline:
    """The stages over their parts."""
    store, connectors, clock, signals = given.store, given.connectors, given.clock, given.signals
    known, new_id, notices = given.rooms, given.new_id, outbound.notices
    people, names = rooms.people, rooms.reference_names
    copies = CopyEdits(store, new_id)
    copy_deletions = CopyDeletions(store, known, connectors, notices, new_id)
    places = ShownPlaces(store, known, people)
    own_buttons = OwnButtons(turns.approvals, commands.hand_overs, outbound.failures)
    ask_again = AskAgain(store, given.cards, turns.access, new_id)
    refusals = Refusals(rooms.bans, FloodGuard(signals.room_resumed), notices, clock)
    return Pipeline(
        before_admission=(
            DropRepeats(store),
            WaitForFiles(fetcher),
            SettleOwnEcho(store, outbound.lanes.wake, signals.unknown_post),
            AnswerDirectCommand(rooms.directs, commands.direct, notices),
            CarryDirectMessage(store, rooms.directs, known, rooms.bans, notices),
            AnswerSlashCommand(commands.channel),
            AnswerCommand(commands.channel),
            TakePairingCode(turns.access),
        ),
        admit=Admit(known, people, refusals),
        after_admission=(
            BuryDeleted(orphans),
            ApplyEdit(copies, rooms.linking, names, fetcher),
            AddFiles(copies),
            ApplyDeletion(store, new_id, copy_deletions),
            ApplyReaction(store, places, people, connectors, new_id),
            ApplyPin(places, known, people, new_id),
            TakeFeedback(store, people, feedback),
            StopAnswers(store),
            HearPress(store, given.cards, own_buttons, ask_again, outbound.press_answers),
            DescribeChannelEvent(store, connectors, people, names),
        ),
        name_author=NameAuthor(people, rooms.linking, names),
        keep_files=KeepFiles(fetcher),
        place_in_timelines=PlaceInTimelines(store),
        route=Route(turns.selection, rooms.author_bylines, connectors, clock, new_id),
    )


def wire_recovery(
    given: Given, rooms: RoomParts, outbound: OutboundParts, inbound: InboundParts
) -> RecoveryParts:
    store, connectors, clock, signals = given.store, given.connectors, given.clock, given.signals
    known, policy, notices = given.rooms, given.policy, outbound.notices
    reconnect = inbound.receivers.reconnect
    watchdog = ConnectionWatchdog(
        store, connectors, known, clock, policy, reconnect, signals.operation_ended
    )
    catch_up = CatchUp(
        store, connectors, inbound.queues, inbound.beginnings, Gaps(known, connectors, notices),
        watchdog, clock, policy, signals.reactions_came_late,
    )  # fmt: skip
    return RecoveryParts(
        watchdog=watchdog,
        other_bridges=OtherBridges(
            store, connectors, known, notices, clock, policy, reconnect, outbound.stopped,
            signals.unknown_post, signals.sending_resumed,
        ),
        catch_up=catch_up,
        reader=ChannelReader(
            connectors, known, rooms.directs, catch_up, given.background,
            signals.direct_channel_opened,
        ),
    )  # fmt: skip


def wire(
    given: Given, email_key: bytes | None, groups: Groups, quota_settings: QuotaSettings
) -> Parts:
    """All parts, folder by folder."""
    rooms = wire_rooms(given, email_key)
    outbound = wire_outbound(given, rooms, groups)
    turns = wire_turns(given, rooms, outbound, quota_settings)
    commands = wire_commands(given, rooms, outbound, turns)
    inbound = wire_inbound(given, rooms, outbound, turns, commands)
    recovery = wire_recovery(given, rooms, outbound, inbound)
    return Parts(rooms, outbound, turns, commands, inbound, recovery)


def wire_inbox(given: Given, parts: Parts) -> RouterInbox:
    outbound, inbound, recovery = parts.outbound, parts.inbound, parts.recovery
    return RouterInbox(
        given.connectors, given.rooms, parts.rooms.directs, recovery.watchdog,
        OwnEchoes(outbound.lanes, recovery.other_bridges, recovery.catch_up), outbound.typing,
        Keeper(given.store, recovery.catch_up, inbound.orphans, inbound.queues), recovery.reader,
        given.background, given.signals, given.store, given.clock, given.policy,
    )  # fmt: skip
