"""How the parts of the router are joined: one function for each folder, from the lowest to the
highest. Each returns what the folders above it need; what goes the other way is a signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import uuid4

from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.content.cards.rendering import public_url
from bridge.model import AccountId
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.cluster import Cluster
from bridge.ports.connector import Connector
from bridge.ports.files import Files
from bridge.ports.pictures import Pictures
from bridge.ports.store.whole import Store
from bridge.ports.tools import TellsChanges, Toolbox
from bridge.ports.traces import Tracer
from bridge.router.commands.bans import ban_commands
from bridge.router.commands.channels import CurrentLinker, GuestsLeave, channel_commands
from bridge.router.commands.direct_messages import DirectCommand, DirectWriter, direct_commands
from bridge.router.commands.failures import failure_commands
from bridge.router.commands.hand_over import HandOverCommands
from bridge.router.commands.parser import Commands
from bridge.router.commands.pausing import pausing_commands
from bridge.router.commands.people import people_commands
from bridge.router.commands.proposals import Proposals
from bridge.router.commands.status import status_commands
from bridge.router.commands.why import WhyCommand
from bridge.router.inbound.addressed import (
    AnswerCommand,
    AnswerDirectCommand,
    AnswerSlashCommand,
    CarryDirectMessage,
    TakePairingCode,
)
from bridge.router.inbound.admission import Admit, BuryDeleted, Refusals
from bridge.router.inbound.attachments import AttachmentFetcher, KeepFiles, WaitForFiles
from bridge.router.inbound.changes import AddFiles, ApplyDeletion, ApplyEdit, CopyEdits
from bridge.router.inbound.channel_events import DescribeChannelEvent
from bridge.router.inbound.echoes import DropRepeats, SettleOwnEcho
from bridge.router.inbound.fast_path import FastPath
from bridge.router.inbound.feedback import FeedbackDelivery, TakeFeedback
from bridge.router.inbound.flood_guard import FloodGuard
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.inbound.moderation import CopyDeletions
from bridge.router.inbound.orphans import Orphans
from bridge.router.inbound.pipeline import Pipeline
from bridge.router.inbound.presses import AskAgain, ForwardPress, OwnButtons, StopAnswers
from bridge.router.inbound.processor import Committer, EventProcessor, LateReactions
from bridge.router.inbound.queues import InboundQueues
from bridge.router.inbound.reactions import ApplyPin, ApplyReaction, ShownPlaces, shows_natively
from bridge.router.inbound.receivers import Receivers
from bridge.router.inbound.routing import NameAuthor, PlaceInTimelines, Route
from bridge.router.inbound.tenant_pace import TenantPace
from bridge.router.inbox import InboundChannels, Intake, Keeper, OwnEchoes, RouterInbox
from bridge.router.outbound.delays import DelayNotifier
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.failure_marks import FailureMarks
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.outbound.lane import LaneParts, SendingChecks
from bridge.router.outbound.lanes import Lanes
from bridge.router.outbound.notes import ReactionNotes
from bridge.router.outbound.notices import Notices, PressAnswers
from bridge.router.outbound.outcomes import OperationEnds
from bridge.router.outbound.own_posts import OwnPosts
from bridge.router.outbound.rate_limits import RateLimits
from bridge.router.outbound.references import Groups, References
from bridge.router.outbound.replay import Replay
from bridge.router.outbound.send import InFlightCalls, Sender
from bridge.router.outbound.settle import DuplicateRemover, Settler
from bridge.router.outbound.streams import StreamRenderer
from bridge.router.outbound.translations import Translations
from bridge.router.outbound.typing import Typing
from bridge.router.recovery.backfill import Backfill
from bridge.router.recovery.catch_up import CatchUp
from bridge.router.recovery.channel_reader import ChannelReader
from bridge.router.recovery.gaps import Gaps
from bridge.router.recovery.last_stop import LastStop
from bridge.router.recovery.other_bridges import OtherBridges, SendingStopped, StopNotices
from bridge.router.recovery.reconcile import Reconciler
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
from bridge.router.rooms.responsibility import Responsibility
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime.alone import Alone
from bridge.router.runtime.background import Background
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import Signals
from bridge.router.turns.access import AgentAccess
from bridge.router.turns.admission import TurnAdmission
from bridge.router.turns.approvals import Approvals
from bridge.router.turns.departures import Departures
from bridge.router.turns.floor import Floor
from bridge.router.turns.follow_ups import FollowUps
from bridge.router.turns.greetings import AgentGreetings
from bridge.router.turns.handovers import HandOvers
from bridge.router.turns.history import History
from bridge.router.turns.proposals import ProposalCards
from bridge.router.turns.publisher import AnswerCompletion, AnswerPosts, AnswerPublisher
from bridge.router.turns.queue import TurnQueue
from bridge.router.turns.quotas import Quotas, QuotaSettings
from bridge.router.turns.runner import (
    AgentListener,
    AnswerPresenter,
    TurnEnding,
    TurnPreparation,
    TurnRunner,
)
from bridge.router.turns.selection import AgentSelection
from bridge.router.turns.tools import ToolCatalogue, Tools
from bridge.router.turns.visitors import Visitors


@dataclass(frozen=True)
class Configuration:
    """Everything that a reload changes in the router except accounts and agents. `admins` are actor
    ids or globs of them; `email_key` is None if the bridge does not link accounts by e-mail
    address; `paces`: messages in a minute, by platform and workspace of a tenant."""

    rooms: Rooms
    admins: Sequence[str] = ()
    groups: Groups = field(default_factory=dict[str, Mapping[AccountId, str]])
    email_key: bytes | None = None
    quotas: QuotaSettings = field(default_factory=QuotaSettings)
    paces: Mapping[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])


@dataclass(frozen=True)
class ContentServices:
    """What the contents of messages are read and completed with. None: the bridge keeps no files,
    or serves no pictures."""

    cards: Cards = NO_CARDS
    files: Files | None = None
    pictures: Pictures | None = None


def _new_id() -> str:
    return uuid4().hex


@dataclass(frozen=True)
class Dependencies:
    """What the parts are made from. `connectors`, `agents`, `rooms` and `admins` change in place
    when the configuration does."""

    store: Store
    connectors: Mapping[AccountId, Connector]
    agents: Mapping[str, Agent]
    rooms: Rooms
    admins: list[str]
    clock: Clock
    timeouts: Timeouts
    content: ContentServices
    tools: Toolbox
    new_id: Callable[[], str] = _new_id
    signals: Signals = field(default_factory=Signals)
    background: Background = field(default_factory=Background)
    tracer: Tracer | None = None
    cluster: Cluster = field(default_factory=Alone)


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
    responsibility: Responsibility


@dataclass(frozen=True)
class OutboundParts:
    rate_limits: RateLimits
    references: References
    in_flight: InFlightCalls
    own_posts: OwnPosts
    encoding: Encoding
    stopped: dict[AccountId, SendingStopped]
    lanes: Lanes
    notices: Notices
    typing: Typing
    press_answers: PressAnswers
    delays: DelayNotifier
    failures: DeliveryFailures
    replay: Replay


@dataclass(frozen=True)
class TurnParts:
    approvals: Approvals
    catalogue: ToolCatalogue
    hand_overs: HandOvers
    greetings: AgentGreetings
    floor: Floor
    departures: Departures
    access: AgentAccess
    quotas: Quotas
    visitors: Visitors
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
    pace: TenantPace
    history_starts: HistoryStarts
    orphans: Orphans
    fetcher: AttachmentFetcher
    feedback: FeedbackDelivery
    processor: EventProcessor


@dataclass(frozen=True)
class RecoveryParts:
    watchdog: ConnectionWatchdog
    other_bridges: OtherBridges
    catch_up: CatchUp
    last_stop: LastStop
    reader: ChannelReader
    backfill: Backfill


@dataclass(frozen=True)
class Parts:
    """The parts of all folders."""

    rooms: RoomParts
    outbound: OutboundParts
    turns: TurnParts
    commands: CommandParts
    inbound: InboundParts
    recovery: RecoveryParts


def wire_rooms(shared: Dependencies, email_key: bytes | None) -> RoomParts:
    store, connectors, clock, signals = (
        shared.store,
        shared.connectors,
        shared.clock,
        shared.signals,
    )
    people = People(store, connectors, clock)
    names = DisplayNames(store, shared.admins, connectors)
    bylines = Bylines(shared.content.pictures)
    directs = DirectMessages(store, connectors, clock, signals.direct_channel_opened)
    shared.rooms.join(directs, partial(platform_name, connectors))
    return RoomParts(
        people=people,
        reference_names=ReferenceNames(
            people, connectors, shared.rooms, shared.content.cards, clock
        ),
        bylines=bylines,
        author_bylines=AuthorBylines(names, bylines),
        feed=Feed(),
        bans=BansAndPauses(store, clock, signals.people_linked),
        linking=Linking(store, connectors, names, clock, signals.people_linked, email_key),
        directs=directs,
        responsibility=Responsibility(shared.rooms, directs, shared.cluster, connectors),
    )


def wire_outbound(shared: Dependencies, rooms: RoomParts, groups: Groups) -> OutboundParts:
    store, connectors, clock, signals = (
        shared.store,
        shared.connectors,
        shared.clock,
        shared.signals,
    )
    all_rooms, timeouts = shared.rooms, shared.timeouts
    rate_limits = RateLimits(clock, {a: c.capabilities.rate_limits for a, c in connectors.items()})
    references = References(store, connectors, all_rooms, groups)
    own_posts = OwnPosts()
    in_flight = InFlightCalls(connectors, shared.cluster, own_posts)
    url_of = shared.content.files.url_of if shared.content.files else public_url
    encoding = Encoding(
        store, connectors, all_rooms, rate_limits, clock, url_of, references,
        Translations(store, shared.agents, clock),
    )  # fmt: skip
    stopped: dict[AccountId, SendingStopped] = {}
    duplicates = DuplicateRemover(store, connectors, rate_limits, in_flight, clock, timeouts)
    ends = OperationEnds(store, clock, timeouts, signals.operation_ended, shared.tracer)
    lane_parts = LaneParts(
        store, connectors,
        SendingChecks(all_rooms, stopped, clock),
        Sender(store, ends, encoding, rate_limits, in_flight, timeouts, signals.reaction_not_shown),
        Settler(store, encoding, duplicates, clock, timeouts),
        ends, clock, timeouts,
    )  # fmt: skip
    lanes = Lanes(lane_parts, duplicates, signals, rooms.responsibility)
    notices = Notices(store, clock, shared.new_id, lanes.wake)
    ReactionNotes(
        store, all_rooms, notices, partial(shows_natively, connectors),
        rooms.reference_names.name_of, signals.reaction_not_shown,
    )  # fmt: skip
    failures = DeliveryFailures(
        store, all_rooms, connectors, notices,
        FailureMarks(store, connectors, shared.new_id, lanes.wake), rooms.directs, clock,
        lanes.wake,
    )  # fmt: skip
    signals.operation_ended.subscribe(failures.operation_ended)
    replay = Replay(store, all_rooms, clock, timeouts.reconcile_pause / 2, lanes.wake)
    signals.operation_ended.subscribe(replay.operation_ended)
    return OutboundParts(
        rate_limits=rate_limits,
        references=references,
        in_flight=in_flight,
        own_posts=own_posts,
        encoding=encoding,
        stopped=stopped,
        lanes=lanes,
        notices=notices,
        typing=Typing(all_rooms, connectors, rate_limits, clock, store, rooms.bylines),
        press_answers=PressAnswers(connectors, rooms.people, notices),
        delays=DelayNotifier(store, all_rooms, notices, clock, timeouts),
        failures=failures,
        replay=replay,
    )  # fmt: skip


def wire_turns(
    shared: Dependencies,
    rooms: RoomParts,
    outbound: OutboundParts,
    quota_settings: QuotaSettings,
) -> TurnParts:
    store, connectors, clock, signals = (
        shared.store,
        shared.connectors,
        shared.clock,
        shared.signals,
    )
    all_rooms, timeouts, notices, new_id = (
        shared.rooms,
        shared.timeouts,
        outbound.notices,
        shared.new_id,
    )
    approvals = Approvals(
        store,
        all_rooms,
        rooms.people,
        notices,
        outbound.press_answers,
        clock,
        new_id,
        shared.admins,
        shared.cluster,
    )
    tools = Tools(shared.tools, approvals, store)
    catalogue = ToolCatalogue(store, all_rooms, tools, shared.background)
    if isinstance(shared.tools, TellsChanges):
        shared.tools.tell_changes(catalogue.changed)
    publisher = AnswerPublisher(
        store, outbound.lanes, rooms.feed, AnswerPosts(connectors, rooms.author_bylines, new_id),
        AnswerCompletion(
            shared.content.cards, shared.content.files, rooms.reference_names, notices
        ),
        clock,
    )  # fmt: skip
    streams = StreamRenderer(
        store, connectors, outbound.rate_limits, clock, outbound.encoding, publisher.roll_over,
        outbound.in_flight,
    )  # fmt: skip
    hand_overs = HandOvers(store, notices, clock, signals.hand_over_taken)
    floor = Floor(store, shared.agents, notices, shared.background, clock, signals.member_silenced)
    departures = Departures(store, all_rooms, shared.agents, hand_overs, clock)
    history = History(store, timeouts)
    presenter = AnswerPresenter(publisher, streams, outbound.typing, rooms.feed, clock, timeouts)
    proposal_cards = ProposalCards(notices)
    follow_ups = FollowUps(
        store, all_rooms, shared.agents, hand_overs, floor, notices, proposal_cards, clock
    )
    runner = TurnRunner(
        store, all_rooms, shared.agents,
        TurnPreparation(history, tools, catalogue, shared.content.cards, floor, clock, timeouts),
        AgentListener(store, publisher, presenter, clock, timeouts, shared.tracer),
        TurnEnding(store, publisher, history, tools, follow_ups, clock, shared.tracer),
    )  # fmt: skip
    access = AgentAccess(store, connectors, all_rooms, rooms.bans, notices, clock)
    quotas = Quotas(store, clock, quota_settings)
    admission = TurnAdmission(
        store, all_rooms, hand_overs, floor, access, quotas, notices, rooms.linking.person_of
    )
    queue = TurnQueue(
        store,
        all_rooms,
        runner,
        publisher,
        admission,
        rooms.feed,
        new_id,
        clock,
        timeouts,
        shared.cluster,
    )
    signals.hand_over_taken.subscribe(queue.hand_over_taken)
    signals.member_silenced.subscribe(queue.member_silenced)
    signals.member_silenced.subscribe(departures.member_silenced)
    return TurnParts(
        approvals=approvals,
        catalogue=catalogue,
        hand_overs=hand_overs,
        greetings=AgentGreetings(
            store, all_rooms, rooms.bylines, clock, new_id, outbound.lanes.wake
        ),
        floor=floor,
        departures=departures,
        access=access,
        quotas=quotas,
        visitors=Visitors(all_rooms, floor, hand_overs, admission),
        queue=queue,
        selection=AgentSelection(store, hand_overs, access, clock),
    )


def wire_commands(
    shared: Dependencies, rooms: RoomParts, outbound: OutboundParts, turns: TurnParts
) -> CommandParts:
    store, all_rooms, connectors, admins = (
        shared.store,
        shared.rooms,
        shared.connectors,
        shared.admins,
    )
    hand_overs = HandOverCommands(store, turns.hand_overs, rooms.reference_names, admins)
    writer = DirectWriter(
        store,
        rooms.directs,
        rooms.author_bylines,
        shared.clock,
        shared.new_id,
        outbound.lanes.wake,
    )
    direct = DirectCommand(rooms.directs, rooms.bans, rooms.people, writer)
    linker = CurrentLinker()
    shared.signals.member_silenced.subscribe(GuestsLeave(linker).member_silenced)
    commands = (
        *status_commands(store, all_rooms, rooms.bans),
        *pausing_commands(rooms.bans, shared.signals.room_resumed),
        *ban_commands(store, rooms.bans),
        *people_commands(rooms.linking),
        *hand_overs.commands(),
        WhyCommand(store, outbound.failures, rooms.people, shared.clock).command(),
        *failure_commands(outbound.failures),
        *direct_commands(direct),
        *channel_commands(connectors, linker, turns.floor),
    )
    channel = Commands(commands, all_rooms, connectors, outbound.notices, admins)
    return CommandParts(hand_overs=hand_overs, linker=linker, direct=direct, channel=channel)


def wire_inbound(
    shared: Dependencies,
    rooms: RoomParts,
    outbound: OutboundParts,
    turns: TurnParts,
    commands: CommandParts,
) -> InboundParts:
    store, connectors, clock, signals = (
        shared.store,
        shared.connectors,
        shared.clock,
        shared.signals,
    )
    timeouts = shared.timeouts
    queues = InboundQueues(signals.row_due, rooms.responsibility.is_ours)
    pace = TenantPace(queues, shared.rooms, outbound.notices, clock)
    history_starts = HistoryStarts(store)
    orphans = Orphans(store, connectors, history_starts, clock, timeouts, queues.put)
    fetcher = AttachmentFetcher(
        store,
        connectors,
        shared.content.files,
        shared.content.cards,
        clock,
        timeouts,
        queues.put,
    )
    feedback = FeedbackDelivery(store, shared.agents, clock, timeouts, shared.cluster)
    pipeline = _pipeline(shared, rooms, outbound, turns, commands, orphans, fetcher, feedback)
    committer = Committer(
        store, outbound.lanes, turns.queue, orphans, fetcher, feedback, rooms.feed
    )
    late_reactions = LateReactions(orphans, signals.reactions_came_late, clock, timeouts)
    processor = EventProcessor(
        pipeline,
        committer,
        late_reactions,
        orphans,
        store,
        connectors,
        clock,
        timeouts,
        shared.tracer,
    )
    signals.row_due.subscribe(processor.take)
    return InboundParts(
        receivers=Receivers(clock, timeouts),
        queues=queues,
        pace=pace,
        history_starts=history_starts,
        orphans=orphans,
        fetcher=fetcher,
        feedback=feedback,
        processor=processor,
    )


def _pipeline(
    shared: Dependencies,
    rooms: RoomParts,
    outbound: OutboundParts,
    turns: TurnParts,
    commands: CommandParts,
    orphans: Orphans,
    fetcher: AttachmentFetcher,
    feedback: FeedbackDelivery,
) -> Pipeline:
    """The stages over their parts."""
    store, connectors, clock, signals = (
        shared.store,
        shared.connectors,
        shared.clock,
        shared.signals,
    )
    all_rooms, new_id, notices = shared.rooms, shared.new_id, outbound.notices
    people, names = rooms.people, rooms.reference_names
    copies = CopyEdits(store, new_id)
    copy_deletions = CopyDeletions(store, all_rooms, connectors, notices, new_id)
    places = ShownPlaces(store, all_rooms, people)
    proposals = Proposals(
        store, all_rooms, people, notices, outbound.press_answers, commands.linker,
        turns.hand_overs, turns.floor, turns.queue, new_id, shared.admins,
    )  # fmt: skip
    own_buttons = OwnButtons(turns.approvals, commands.hand_overs, outbound.failures, proposals)
    ask_again = AskAgain(store, shared.content.cards, turns.access, new_id)
    refusals = Refusals(rooms.bans, FloodGuard(signals.room_resumed), notices, clock)
    return Pipeline(
        arrivals=(
            DropRepeats(store),
            SettleOwnEcho(store, outbound.lanes.wake, signals.unknown_post),
            AnswerDirectCommand(rooms.directs, commands.direct, notices),
            CarryDirectMessage(store, rooms.directs, all_rooms, rooms.bans, notices),
        ),
        message_commands=(AnswerCommand(commands.channel), TakePairingCode(turns.access)),
        other_arrivals=(WaitForFiles(fetcher), AnswerSlashCommand(commands.channel)),
        admit=Admit(all_rooms, people, refusals),
        bury_deleted=BuryDeleted(orphans),
        changes=(
            ApplyEdit(copies, rooms.linking, names, fetcher),
            AddFiles(copies),
            ApplyDeletion(store, new_id, copy_deletions),
            ApplyReaction(store, places, people, connectors, new_id),
            ApplyPin(places, all_rooms, people, new_id),
            TakeFeedback(store, people, feedback),
            StopAnswers(store),
            ForwardPress(
                store, shared.content.cards, own_buttons, ask_again, outbound.press_answers
            ),
            DescribeChannelEvent(store, connectors, people, names),
        ),
        name_author=NameAuthor(people, rooms.linking, names),
        place_in_timelines=PlaceInTimelines(store),
        route=Route(turns.selection, rooms.author_bylines, connectors, clock, new_id),
        keep_files=KeepFiles(fetcher),
    )


def wire_recovery(
    shared: Dependencies, rooms: RoomParts, outbound: OutboundParts, inbound: InboundParts
) -> RecoveryParts:
    store, connectors, clock, signals = (
        shared.store,
        shared.connectors,
        shared.clock,
        shared.signals,
    )
    all_rooms, timeouts, notices = shared.rooms, shared.timeouts, outbound.notices
    reconnect = inbound.receivers.reconnect
    watchdog = ConnectionWatchdog(
        store, connectors, all_rooms, clock, timeouts, reconnect,
        lambda account: account in inbound.receivers.accounts,
    )  # fmt: skip
    signals.operation_ended.subscribe(watchdog.operation_ended)
    reconciler = Reconciler(
        store, connectors, inbound.queues, inbound.history_starts, clock, timeouts
    )
    last_stop = LastStop(store, clock, timeouts)
    catch_up = CatchUp(
        store, connectors, inbound.queues, reconciler, Gaps(all_rooms, connectors, notices),
        watchdog, last_stop, shared.cluster, clock, timeouts,
    )  # fmt: skip
    signals.reactions_came_late.subscribe(catch_up.reactions_came_late)
    reader = ChannelReader(
        connectors, all_rooms, rooms.directs, catch_up, last_stop, shared.background
    )
    signals.direct_channel_opened.subscribe(reader.direct_channel_opened)
    other_bridges = OtherBridges(
        store, connectors, clock, timeouts, outbound.stopped, outbound.own_posts,
        StopNotices(store, all_rooms, connectors, notices, reconnect, clock, timeouts),
        signals.sending_resumed,
    )  # fmt: skip
    signals.unknown_post.subscribe(other_bridges.unknown_post)
    backfill = Backfill(
        store, connectors, all_rooms, rooms.people, rooms.reference_names, rooms.bans,
        inbound.fetcher, clock, timeouts,
    )  # fmt: skip
    return RecoveryParts(
        watchdog=watchdog, other_bridges=other_bridges, catch_up=catch_up, last_stop=last_stop,
        reader=reader, backfill=backfill,
    )  # fmt: skip


def wire(shared: Dependencies, configuration: Configuration) -> Parts:
    """Make the parts, folder by folder, and return them."""
    rooms = wire_rooms(shared, configuration.email_key)
    outbound = wire_outbound(shared, rooms, configuration.groups)
    turns = wire_turns(shared, rooms, outbound, configuration.quotas)
    commands = wire_commands(shared, rooms, outbound, turns)
    inbound = wire_inbound(shared, rooms, outbound, turns, commands)
    inbound.pace.change(configuration.paces)
    recovery = wire_recovery(shared, rooms, outbound, inbound)
    return Parts(rooms, outbound, turns, commands, inbound, recovery)


def wire_inbox(shared: Dependencies, parts: Parts) -> RouterInbox:
    outbound, inbound, recovery = parts.outbound, parts.inbound, parts.recovery
    keeper = Keeper(
        shared.store, recovery.catch_up, inbound.orphans, inbound.queues,
        FastPath(inbound.processor, inbound.queues, shared.clock),
        parts.rooms.responsibility,
    )  # fmt: skip
    return RouterInbox(
        InboundChannels(shared.connectors, shared.rooms, parts.rooms.directs, shared.signals),
        recovery.watchdog,
        OwnEchoes(outbound.lanes, recovery.other_bridges, recovery.catch_up),
        outbound.typing,
        Intake(
            keeper, recovery.reader, shared.connectors, shared.background, shared.clock,
            shared.timeouts,
        ),
        recovery.reader, shared.store, shared.background,
    )  # fmt: skip
