"""The whole router: inbox in, stages, lanes, turns and catch-up side by side, and a clean stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import structlog

from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.content.cards.rendering import public_url
from bridge.errors import CodecError, InvalidData, StoreError, UndecodableEvent
from bridge.model import (
    AccountId,
    ActionPressed,
    ChannelCreated,
    ChannelRef,
    ChannelRenamed,
    CommandGiven,
    Echo,
    Event,
    Raw,
)  # fmt: skip
from bridge.ports.abilities.direct_messages import KnowsDirect
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.files import Files
from bridge.ports.pictures import Pictures
from bridge.ports.store.whole import Store
from bridge.ports.tools import TellsChanges, Toolbox
from bridge.router.commands.channels import Linker, NoLinker
from bridge.router.commands.direct_messages import DirectCommand, DirectWriter
from bridge.router.commands.hand_over import HandOverCommands
from bridge.router.commands.registry import build_commands
from bridge.router.inbound.attachments import AttachmentFetcher
from bridge.router.inbound.feedback import FeedbackDelivery
from bridge.router.inbound.flood_guard import FloodGuard
from bridge.router.inbound.history_start import HistoryStarts
from bridge.router.inbound.intake import Intake
from bridge.router.inbound.orphans import Orphans
from bridge.router.inbound.pipeline import build_pipeline
from bridge.router.inbound.presses import OwnButtons
from bridge.router.inbound.processor import Committer, EventProcessor
from bridge.router.inbound.queues import InboundQueues
from bridge.router.inbound.reactions import shows_natively
from bridge.router.inbound.receivers import Receivers
from bridge.router.outbound.delays import DelayNotifier
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.outbound.greeting import greet
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
from bridge.router.recovery.gaps import Gaps
from bridge.router.recovery.other_bridges import OtherBridges, SendingStopped
from bridge.router.recovery.read_order import Progress
from bridge.router.recovery.watchdog import ConnectionWatchdog
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.bylines import AuthorBylines, Bylines
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.people import People
from bridge.router.rooms.programs import raw_of
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Policy
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
from bridge.uacs import ContentPart, Message

log = structlog.get_logger()


class Router:
    """Joins what connectors hear with what they shall say. It is the connectors' `Inbox`."""

    def __init__(
        self,
        *,
        store: Store,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        agents: Mapping[str, Agent],
        clock: Clock,
        cards: Cards = NO_CARDS,
        files: Files | None = None,
        policy: Policy | None = None,
        groups: Groups | None = None,
        email_key: bytes | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
        admins: Sequence[str] = (),
        tools: Toolbox | None = None,
        allowances: QuotaSettings | None = None,
        pictures: Pictures | None = None,
    ) -> None:
        policy = policy or Policy()
        self.allowances = allowances or QuotaSettings()
        self.admins: list[str] = list(admins)
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._cards = cards
        self._clock = clock
        self._policy = policy
        rules = {account: c.capabilities.budgets for account, c in connectors.items()}
        self._budgets = RateLimits(clock, rules)
        self.receivers = Receivers(self, clock, policy)
        self._sources = InboundQueues(lambda row: self._rows.take(row))
        url_of = files.url_of if files else public_url
        self.references = References(store, connectors, rooms, groups or {})
        self._under_way = InFlightCalls(connectors)
        encoding = Encoding(store, connectors, rooms, self._budgets, clock, url_of, self.references)
        signals = Signals()
        stopped: dict[AccountId, SendingStopped] = {}
        self.lanes = Lanes(
            store, connectors, self._budgets, clock, policy, rooms, encoding, self._under_way,
            signals, stopped,
        )  # fmt: skip
        self.notices = Notices(store, clock, new_id, self.lanes.wake)
        people = People(store, connectors, clock)
        reference_names = ReferenceNames(people, connectors, rooms, cards, clock)
        ReactionNotes(
            store, rooms, self.notices, partial(shows_natively, connectors),
            reference_names.name_of, signals.mark_not_shown,
        )  # fmt: skip
        bylines = Bylines(pictures)
        self._typing = Typing(rooms, connectors, self._budgets, clock, store, bylines)
        self.feed = Feed()
        press_answers = PressAnswers(connectors, people, self.notices)
        self.approvals = Approvals(
            store, rooms, people, self.notices, press_answers, clock, new_id, self.admins
        )
        running = Tools(tools or NoTools(), self.approvals, store)
        self._described = ToolCatalogue(store, rooms, running)
        if isinstance(tools, TellsChanges):
            tools.on_change = self._tools_changed
        voice = AnswerPublisher(
            store, connectors, self.lanes, clock, new_id, cards, files, reference_names, bylines
        )
        showing = StreamRenderer(
            store, connectors, self._budgets, clock, encoding.edits, encoding.growing_calls,
            encoding.grown, voice.roll_over, self._under_way,
        )  # fmt: skip
        self.holdings = HandOvers(store, self.notices, clock)
        calling = FollowUps(store, rooms, self.holdings, self.notices, clock)
        answering = TurnRunner(
            store, connectors, rooms, agents, TurnRequests(store, policy), voice, showing, clock,
            policy, self._typing, self.feed, running, calling, self._described, cards,
        )  # fmt: skip
        self.decided = BansAndPauses(store, clock)
        names = DisplayNames(store, self.admins, connectors)
        self.linking = Linking(store, connectors, names, clock, email_key)
        self.linking.on_change = self.decided.load
        self.doors = AgentAccess(store, connectors, rooms, self.decided, self.notices, clock)
        self.purses = Quotas(store, clock, lambda: self.allowances)
        reception = TurnAdmission(
            store, rooms, self.holdings, self.doors, self.purses, self.notices,
            self.linking.person_of,
        )  # fmt: skip
        self.feedback = FeedbackDelivery(store, agents, clock, policy)
        self.turns = TurnQueue(store, rooms, answering, voice, clock, policy, new_id, reception)
        self.holdings.on_taken = self.turns.taken_over
        self._lateness = DelayNotifier(store, rooms, self.notices, clock, policy)
        self.directs = DirectMessages(store, connectors, clock)
        self.directs.on_open = self._read_from_now
        rooms.platform_name = partial(platform_name, connectors)
        rooms.find_direct = self.directs.find
        rooms.wants_direct = self.directs.wants
        self.told = DeliveryFailures(
            store, rooms, connectors, self.notices, clock, self.lanes.wake, new_id,
            self.directs.home, self.directs.end_of, signals.operation_ended,
        )  # fmt: skip
        beginnings = HistoryStarts(store)
        self._hearing = ConnectionWatchdog(
            store, connectors, rooms, clock, policy, self.receivers.reconnect,
            signals.operation_ended,
        )  # fmt: skip
        self.other_bridges = OtherBridges(
            store, connectors, rooms, self.notices, clock, policy, self.receivers.reconnect, stopped
        )
        self.other_bridges.on_resume = self.lanes.wake_all
        gaps = Gaps(rooms, connectors, self.notices)
        self._catch_up = CatchUp(
            store, connectors, self._sources, beginnings, gaps, self._hearing, clock, policy
        )
        self._orphans = Orphans(store, connectors, beginnings, clock, policy, self._sources.put)
        self._fetcher = AttachmentFetcher(
            store, connectors, files, cards, clock, policy, self._sources.put
        )
        flood_guard = FloodGuard()
        author_bylines = AuthorBylines(names, bylines)
        hand_over_commands = HandOverCommands(store, self.holdings, reference_names, self.admins)
        writer = DirectWriter(store, self.directs, author_bylines, clock, new_id, self.lanes.wake)
        commands = build_commands(
            store=store,
            rooms=rooms,
            connectors=connectors,
            notices=self.notices,
            admins=self.admins,
            bans=self.decided,
            forget_floods=flood_guard.forget,
            linking=self.linking,
            handovers=hand_over_commands,
            failures=self.told,
            direct=DirectCommand(self.directs, self.decided, people, writer),
            linker=lambda: self.linker,
        )
        pipeline = build_pipeline(
            store=store,
            rooms=rooms,
            connectors=connectors,
            clock=clock,
            new_id=new_id,
            wake_lane=self.lanes.wake,
            unknown_post=self.other_bridges.unknown_post,
            notices=self.notices,
            people=people,
            reference_names=reference_names,
            linking=self.linking,
            bylines=author_bylines,
            bans=self.decided,
            flood_guard=flood_guard,
            directs=self.directs,
            commands=commands,
            access=self.doors,
            agents=AgentSelection(store, self.holdings, self.doors, clock),
            orphans=self._orphans,
            fetcher=self._fetcher,
            feedback=self.feedback,
            cards=cards,
            own_buttons=OwnButtons(self.approvals, hand_over_commands, self.told),
            press_answers=press_answers,
        )
        committer = Committer(
            store, self.lanes, self.turns, self._orphans, self.feedback, self.feed
        )
        self._rows = EventProcessor(
            pipeline, committer, store, connectors, self._orphans, self._fetcher,
            self._catch_up.compare_again, clock, policy,
        )  # fmt: skip
        self._arrivals = Intake(self._keep, self._read_back, self._waits_for_answer, clock, policy)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._watches: list[asyncio.Task[None]] = []
        self._untold = set(connectors)  # whose silence before this start was not looked at yet
        self.linker: Linker = NoLinker()
        self.on_direct: Callable[[AccountId, ChannelRef], Awaitable[bool]] | None = None
        self.on_new_channel: Callable[[], None] | None = None

    # --- Inbox: what connectors call ---------------------------------------------------------

    async def accept(self, raw: Raw) -> bool:
        """Keep a payload; when this returns it is durable and will be worked on.

        What happens in channels of no room is nobody's business here, and is not kept.
        """
        if (
            raw.channel is not None
            and not self._rooms.concern(raw.account, raw.channel)
            and not await self._opens_direct(raw, raw.channel)
            and self.directs.end_at(raw.account, raw.channel) is None
        ):
            metrics.OUTCOMES.labels("no_room").inc()
            if self.on_new_channel is not None:
                self._look_for_channels(raw, self.on_new_channel)
            return False
        self._hearing.heard(raw)
        if raw.echo is not None:
            await self._hear_echo(raw, raw.echo)
            return True
        if raw.volatile:
            self._spawn(self._hear_volatile(raw), f"typing {raw.account}")
            return True
        keeping = asyncio.ensure_future(self._arrivals.take(raw))
        try:
            return await asyncio.shield(keeping)
        except asyncio.CancelledError:
            # The socket that brought it broke. It may be kept all the same, and would be a repeat
            # when it is told again: nobody else would ever work on it.
            self._spawn(self._finish(keeping), f"keep {raw.account}")
            raise

    def _heard_channels(self, account: AccountId) -> list[ChannelRef]:
        return [*self._rooms.heard_channels(account), *self.directs.channels(account)]

    def _read_from_now(self, account: AccountId, channel: ChannelRef) -> None:
        """Somebody may be written to there from now on."""
        if unread := self._catch_up.lose_sight_of(account, [channel]):
            self._spawn(self._catch_up.read_all(account, unread), f"catch up {account}")

    async def _opens_direct(self, raw: Raw, channel: ChannelRef) -> bool:
        """Whether somebody writes to our bot alone, and has a room for that now."""
        connector = self._connectors[raw.account]
        if self.on_direct is None or raw.volatile or raw.echo is not None:
            return False
        if not isinstance(connector, KnowsDirect) or not connector.is_direct(channel):
            return False
        return await self.on_direct(raw.account, channel)

    async def _finish(self, keeping: asyncio.Task[bool]) -> None:
        try:
            await keeping
        except StoreError as error:
            log.warning("not_kept", error=str(error))  # nobody was told that it was: it comes again

    async def _keep(self, raw: Raw) -> bool:
        advance = raw.channel is not None and self._catch_up.is_current(raw.account, raw.channel)
        row = await self._store.accept(raw, advance=advance)
        if row is None:
            metrics.REPEATED.labels(raw.account).inc()
            return False
        metrics.KEPT.labels(raw.account).inc()
        self._catch_up.told(raw)
        if self._catch_up.has_passed(raw):
            self._orphans.doubt(row)
        self._sources.put(row)
        self._catch_up.live_event_kept(raw)
        return True

    def _read_back(self, raw: Raw) -> None:
        """More was told in this channel than could be held while the store failed."""
        self.session_began(raw.account, raw.channel)

    def _waits_for_answer(self, raw: Raw) -> bool:
        """Whether somebody is told at once that it failed, and will do it again: a press, a
        command."""
        try:
            events = self._connectors[raw.account].decode(raw)
        except InvalidData:
            return False
        return any(isinstance(event, ActionPressed | CommandGiven) for event in events)

    def _look_for_channels(self, raw: Raw, on_new_channel: Callable[[], None]) -> None:
        """A channel that appears, or has a new name, may belong to a room by that."""
        try:
            events = self._connectors[raw.account].decode(raw)
        except UndecodableEvent:
            return
        if any(isinstance(event, ChannelCreated | ChannelRenamed) for event in events):
            on_new_channel()

    async def _hear_volatile(self, raw: Raw) -> None:
        try:
            await self._typing.hear(raw)
        except InvalidData as error:
            log.warning("volatile_event_not_read", account=raw.account, error=str(error))

    async def _hear_echo(self, raw: Raw, echo: Echo) -> None:
        """Our own post came back."""
        if raw.channel is not None and echo.operation and echo.receipt:
            self.lanes.heard(raw.channel.lane, echo.operation, echo.receipt)
        elif raw.channel is not None:
            self.lanes.heard_ours(raw.channel.lane)
        metrics.OUTCOMES.labels("own_echo").inc()
        await self.other_bridges.heard(raw, echo)
        await self._catch_up.heard_echo(raw)

    def session_began(self, account: AccountId, channel: ChannelRef | None = None) -> None:
        """Something may have been missed: read every channel that this account listens to, or the
        given one if it is among them."""
        channels = [one for one in self._heard_channels(account) if channel in (None, one)]
        if account in self._untold:
            self._untold.discard(account)
            self._spawn(self._catch_up.tell_unheard(account), f"gap of {account}")
        if unread := self._catch_up.lose_sight_of(account, channels):
            self._spawn(self._catch_up.read_all(account, unread), f"catch up {account}")

    async def hear(self, event: Event, key: str) -> str | None:
        """What a program outside says or does: it is durable when this is cancelled. Its outcome;
        None: the same key was heard before."""
        hearing = asyncio.create_task(self._hear_outside(raw_of(event, key)), name="outside")
        self._tasks.add(hearing)
        hearing.add_done_callback(self._tasks.discard)
        return await asyncio.shield(hearing)

    def complete(self, message: Message) -> Message:
        """With the parts that say the same as its cards, which its author need not write."""
        return self._cards.with_fallbacks(message)

    def card_faults(self, parts: Sequence[ContentPart]) -> list[CodecError]:
        """The mistakes of cards that cannot be shown, each with its place in the message."""
        return list(self._cards.faults(parts))

    async def _hear_outside(self, raw: Raw) -> str | None:
        row = await self._store.accept(raw, advance=False)
        if row is None:
            return None
        with self._rows.outcome_of(row) as outcome:
            self._sources.put(row)
            return await outcome

    async def shown(self, channel: ChannelRef, native_id: str) -> Message | None:
        """The canonical message that this native one shows."""
        known = await self._store.resolve(channel, native_id)
        stored = await self._store.message(known) if known else None
        return stored.message if stored else None

    # --- Life --------------------------------------------------------------------------------

    async def run(self, ready: Callable[[], None] | None = None) -> None:
        """Work until cancelled; then finish what has begun, within `policy.drain` seconds."""
        await self._resume()
        for account, connector in self._connectors.items():
            self.start_account(account, connector)
        if ready:
            ready()
        try:
            await asyncio.Event().wait()
        finally:
            await self._stop()

    def start_account(self, account: AccountId, connector: Connector) -> None:
        """Receive through it, until the account is stopped."""
        self.references.learn_connectors()
        self._budgets.set_rules(account, connector.capabilities.budgets)
        self.receivers.start(account, connector)

    async def let_go(self, connector: Connector) -> None:
        """Wait until what it sends now has its answer: before that it must not be closed."""
        await self._under_way.until_answered(connector, self._policy.drain)

    def change_rooms(self, rooms: Iterable[Room]) -> None:
        """From now on these are the rooms. Channels that were not heard before are read from here
        on, those of accounts that connect anew when they do."""
        before = {account: set(self._rooms.heard_channels(account)) for account in self._connectors}
        self._rooms.change(rooms)
        self._read_new(before)

    def add_rooms(self, rooms: Iterable[Room]) -> None:
        """From now on these are rooms, too."""
        new = tuple(rooms)
        before = {
            member.account: set(self._rooms.heard_channels(member.account))
            for room in new for member in room.members
        }  # fmt: skip
        self._rooms.add(new)
        self._read_new(before)

    def _read_new(self, before: Mapping[AccountId, Collection[ChannelRef]]) -> None:
        self._greet()
        self._tools_changed(None)
        for account in self.receivers.accounts:
            if account not in before:
                continue
            known = before[account]
            new = [one for one in self._rooms.heard_channels(account) if one not in known]
            if unread := self._catch_up.lose_sight_of(account, new):
                self._spawn(self._catch_up.read_all(account, unread), f"catch up {account}")

    def _tools_changed(self, server: str | None) -> None:
        self._spawn(self._described.look_again(server), "tools described")

    def _greet(self) -> None:
        """Beside all else: platforms are asked who reads there."""
        now = self._clock.time()
        self._spawn(greet(self._rooms, self._connectors, self.notices, now), "greet")

    async def _resume(self) -> None:
        """What was kept, queued and asked before the last stop goes on first."""
        await self.decided.load()
        await self.holdings.load()
        await self.doors.load()
        await self.directs.load()
        await self._catch_up.start()
        await self.other_bridges.start()
        heard = {account: self._heard_channels(account) for account in self._connectors}
        self._catch_up.await_sessions(heard)
        await self._orphans.start()
        await self._hearing.start()
        self._watches = [
            asyncio.create_task(self._catch_up.stop_awaiting(), name="first sessions"),
            asyncio.create_task(self._hearing.run(), name="hearing"),
            asyncio.create_task(self.other_bridges.run(), name="other bridges"),
            asyncio.create_task(self._lateness.watch(), name="lateness"),
        ]
        for row in await self._store.waiting_rows():
            self._sources.put(row)
        await self.told.start()
        self._greet()
        self._tools_changed(None)
        await self.lanes.start()
        await self.turns.start()
        await self.feedback.start()

    def hearing(self, account: AccountId) -> str:
        """What is wrong with an account that is connected; empty when nothing is."""
        return self._hearing.note(account)

    async def _stop(self) -> None:
        self._catch_up.receivers_stop()
        tasks = [*self._tasks, *self._watches]
        for task in tasks:
            task.cancel()
        await asyncio.gather(self.receivers.close(), *tasks, return_exceptions=True)
        await asyncio.gather(*self._tasks, return_exceptions=True)  # what is being kept just now
        await self.turns.close()
        await self.feedback.close()
        await self._arrivals.close()
        await self._sources.close()
        await self._orphans.close()
        await self._fetcher.close()
        await self.linking.close()
        await self.lanes.close(self._policy.drain)
        await self.other_bridges.close()
        await self._catch_up.close()
        await self._hearing.close()
        await self._budgets.close()

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def catching_up(self) -> int:
        """How many channels are being read for what was missed."""
        return self._catch_up.behind

    def progress(self, account: AccountId) -> Progress | None:
        """How far the account is with what happened while nobody listened; None: done."""
        return self._catch_up.progress(account)

    @property
    def looking_back(self) -> int:
        """How many channels are compared, or wait for it."""
        return self._catch_up.look_back.behind

    @property
    def files_awaited(self) -> int:
        """How many messages wait for files that could not be had at once."""
        return self._fetcher.awaited

    async def settled(self, *, poll: float = 0.01) -> None:
        """Wait until nothing is left to do; for scripts and tests."""
        while not (self._sources.idle and self.lanes.idle and self.turns.idle and not self._tasks):
            await self._clock.sleep(poll)
