"""The inbox that connectors call: it stores a payload, handles it at once, or ignores it. The
payloads of each channel are stored in the order of their arrival."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from bridge.errors import InvalidData, StoreError
from bridge.model import (
    AccountId,
    ActionPressed,
    ChannelCreated,
    ChannelRef,
    ChannelRenamed,
    CommandGiven,
    Echo,
    Raw,
)  # fmt: skip
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.fast_path import FastPath
from bridge.router.inbound.orphans import Orphans
from bridge.router.inbound.queues import InboundQueues
from bridge.router.outbound.lanes import Lanes
from bridge.router.outbound.typing import Typing
from bridge.router.recovery.catch_up import CatchUp
from bridge.router.recovery.channel_reader import ChannelReader
from bridge.router.recovery.other_bridges import OtherBridges
from bridge.router.recovery.watchdog import ConnectionWatchdog
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.responsibility import Responsibility
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.background import Background
from bridge.router.runtime.decoding import readable_events
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import DirectMessageCame, Signals
from bridge.uacs import Message

log = structlog.get_logger()

_MOST = 10_000  # payloads that are held at a time
_MOST_BYTES = 64 * 1024 * 1024
_REMEMBERED = 10_000
_LONGEST_PAUSE = 2.0  # seconds between two attempts

_Key = tuple[AccountId, str]


class RouterInbox:
    """Takes what connectors receive."""

    def __init__(
        self,
        inbound_channels: InboundChannels,
        watchdog: ConnectionWatchdog,
        echoes: OwnEchoes,
        typing: Typing,
        intake: Intake,
        reader: ChannelReader,
        store: MessageStore,
        background: Background,
    ) -> None:
        self._inbound_channels = inbound_channels
        self._watchdog = watchdog
        self._echoes = echoes
        self._typing = typing
        self._intake = intake
        self._reader = reader
        self._store = store
        self._background = background

    async def accept(self, raw: Raw) -> bool:
        """Keep a payload; when this returns it is durable and will be worked on. Returns False for
        a repeat, and for a payload of a channel that is in no room, which is not kept. Raises
        StoreError."""
        if raw.channel is not None and not await self._inbound_channels.include(raw, raw.channel):
            metrics.OUTCOMES.labels("no_room").inc()
            return False
        self._watchdog.note_received(raw)
        if raw.echo is not None:
            await self._echoes.handle(raw, raw.echo)
            return True
        if raw.volatile:
            self._background.spawn(self._handle_volatile(raw), f"typing {raw.account}")
            return True
        self._reader.live_event_comes(raw)
        return await self._intake.take(raw)

    def session_began(
        self, account: AccountId, channel: ChannelRef | None = None, *, alone: bool = True
    ) -> None:
        """Events may have been missed in the channel, or (None) in all channels of the account. A
        channel that the bot came into just now may fit a room's pattern. `alone`: whether all
        further events come here."""
        self._reader.session_began(account, channel, alone=alone)
        if channel is not None and self._inbound_channels.might_join(account, channel):
            appeared = self._inbound_channels.signals.channel_appeared
            self._background.spawn(appeared.emit(account), f"channel of {account}")

    async def message_of(self, channel: ChannelRef, native_id: str) -> Message | None:
        """Returns the canonical message that a native message shows, or None. Raises StoreError."""
        message_id = await self._store.resolve(channel, native_id)
        stored = await self._store.message(message_id) if message_id else None
        return stored.message if stored else None

    async def until_kept(self, account: AccountId) -> None:
        """Wait until what came through an account is kept, or its sender told that it is not."""
        await self._intake.until_kept(account)

    async def close(self) -> None:
        """Keep no more."""
        await self._intake.close()

    async def _handle_volatile(self, raw: Raw) -> None:
        try:
            await self._typing.handle(raw)
        except InvalidData as error:
            log.warning("volatile_event_unreadable", account=raw.account, error=str(error))


@dataclass(frozen=True)
class InboundChannels:
    """The channels whose payloads are kept: those of rooms and of direct messages."""

    connectors: Mapping[AccountId, Connector]
    rooms: Rooms
    directs: DirectMessages
    signals: Signals

    async def include(self, raw: Raw, channel: ChannelRef) -> bool:
        """Whether a payload of this channel is to be kept. The channel may become one of a room by
        the payload: a direct message to our bot opens one; a new channel, or a new name, may fit a
        room's pattern."""
        if (
            self.rooms.concern(raw.account, channel)
            or await self._opens_direct(raw, channel)
            or self.directs.end_at(raw.account, channel) is not None
        ):
            return True
        await self._report_new_channel(raw)
        return False

    def might_join(self, account: AccountId, channel: ChannelRef) -> bool:
        """Whether somebody wants to know of a channel that is in no room."""
        return self.signals.channel_appeared.has_listeners and not self.rooms.concern(
            account, channel
        )

    async def _opens_direct(self, raw: Raw, channel: ChannelRef) -> bool:
        """Whether a person writes to our bot alone, and a room was made for that."""
        came = self.signals.direct_message_came
        if not came.has_listeners or raw.volatile or raw.echo is not None:
            return False
        direct_messages = self.connectors[raw.account].abilities.direct_messages
        if direct_messages is None or not direct_messages.is_direct(channel):
            return False
        await came.emit(DirectMessageCame(raw.account, channel))
        return self.rooms.concern(raw.account, channel)

    async def _report_new_channel(self, raw: Raw) -> None:
        appeared = self.signals.channel_appeared
        if appeared.has_listeners and any(
            isinstance(event, ChannelCreated | ChannelRenamed)
            for event in readable_events(self.connectors[raw.account], raw)
        ):
            await appeared.emit(raw.account)


@dataclass(frozen=True)
class OwnEchoes:
    """Our own posts that come back."""

    lanes: Lanes
    other_bridges: OtherBridges
    catch_up: CatchUp

    async def handle(self, raw: Raw, echo: Echo) -> None:
        if raw.channel is not None and echo.operation and echo.receipt:
            self.lanes.echo_received(raw.channel.lane, echo.operation, echo.receipt)
        elif raw.channel is not None:
            self.lanes.unknown_echo_received(raw.channel.lane)
        metrics.OUTCOMES.labels("own_echo").inc()
        await self.other_bridges.echo_received(raw, echo)
        await self.catch_up.echo_received(raw)


@dataclass(frozen=True)
class Keeper:
    """Writes payloads into the inbox table, and moves the cursors of channels that are current."""

    store: InboxStore
    catch_up: CatchUp
    orphans: Orphans
    queues: InboundQueues
    fast_path: FastPath
    responsibility: Responsibility

    async def keep(self, raw: Raw) -> bool:
        """Store a payload. Returns False for a repeat. Raises StoreError."""
        if self.responsibility.comes_anywhere(raw):
            return await self._keep_for_owner(raw)
        current = raw.channel is not None and self.catch_up.is_current(raw.account, raw.channel)
        if self.catch_up.may_begin_with(raw):
            await self.catch_up.begin_with(raw)
        late = self.catch_up.has_passed(raw)
        if (fresh := await self.fast_path.take(raw, late=late, advance=current)) is not None:
            (metrics.KEPT if fresh else metrics.REPEATED).labels(raw.account).inc()
            if fresh:
                self.catch_up.live_event_received(raw)
            return fresh
        with self.queues.expecting(raw):
            row = await self.store.accept(raw, advance=current)
            if row is None:
                metrics.REPEATED.labels(raw.account).inc()
                return False
            metrics.KEPT.labels(raw.account).inc()
            self.catch_up.live_event_received(raw)
            if self.catch_up.has_passed(raw):  # perhaps since
                self.orphans.doubt(row)
            self.queues.put(row)
            self.catch_up.live_event_kept(raw)
        return True

    async def _keep_for_owner(self, raw: Raw) -> bool:
        """Any process takes what platforms send over HTTP. One works for the account, which hears
        of all rows in their order, also of those that it takes itself."""
        kept = await self.responsibility.cluster.hand_on(raw)
        (metrics.REPEATED if kept is None else metrics.KEPT).labels(raw.account).inc()
        return kept is not None


@dataclass
class _Waiting:
    """The payloads of a channel that the store did not take, in order. `lost`: more of them came
    than can be held. `since` is when the `first` was refused."""

    first: Raw
    since: float
    raws: OrderedDict[str, tuple[Raw, asyncio.Future[bool]]] = field(
        default_factory=OrderedDict[str, tuple[Raw, asyncio.Future[bool]]]
    )
    task: asyncio.Task[None] | None = None
    lost: bool = False


class Intake:
    """Keeps payloads; those that the store does not take are held in memory and kept later, in
    order.

    After `Timeouts.keep_timeout` the sender learns that its payload is not stored and does not
    acknowledge it; the platform sends it again, and by then it is a repeat. So a payload that
    arrived while the store failed keeps its place before later ones, and none is lost if the
    process ends. A channel some of whose payloads could not be held is read again. Payloads whose
    sender is told at once that they failed, and will send anew, are not held: presses and commands.
    """

    def __init__(
        self,
        keeper: Keeper,
        reader: ChannelReader,
        connectors: Mapping[AccountId, Connector],
        background: Background,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._keeper = keeper
        self._reader = reader
        self._connectors = connectors
        self._background = background
        self._clock = clock
        self._timeouts = timeouts
        self._waiting: dict[_Key, _Waiting] = {}
        self._refused: OrderedDict[_Key, bool] = OrderedDict()  # kept after it was refused, or not
        self._keeping: dict[AccountId, set[asyncio.Future[bool]]] = {}
        self._count = 0
        self._bytes = 0

    async def until_kept(self, account: AccountId) -> None:
        """Wait until what came through an account is kept, or its sender told that it is not."""
        if keeping := self._keeping.get(account):
            await asyncio.wait(set(keeping))

    async def take(self, raw: Raw) -> bool:
        """Keep a payload. Returns False for a repeat. Raises StoreError.

        A caller that is cancelled does not cancel this: the payload may be kept all the same, and
        would be a repeat when the platform sends it again.
        """
        keeping = asyncio.ensure_future(self._take(raw))
        of_account = self._keeping.setdefault(raw.account, set())
        of_account.add(keeping)
        keeping.add_done_callback(of_account.discard)
        try:
            return await asyncio.shield(keeping)
        except asyncio.CancelledError:  # the socket that brought it broke
            self._background.spawn(_finish(keeping), f"keep {raw.account}")
            raise

    async def _take(self, raw: Raw) -> bool:
        own = (raw.account, raw.dedupe_key)
        if self._refused.pop(own, False):
            return True  # it was kept since its sender was refused
        waiting = self._waiting.get(_key(raw))
        if waiting is None:
            try:
                return await self._keeper.keep(raw)
            except StoreError:
                if self._waits_for_answer(raw):
                    raise
        elif self._waits_for_answer(raw):
            return await self._keeper.keep(raw)
        return await self._wait(raw, self._hold(raw))

    async def close(self) -> None:
        """Stop; platforms send again what was not acknowledged."""
        tasks = [
            waiting_channel.task
            for waiting_channel in self._waiting.values()
            if waiting_channel.task is not None
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _hold(self, raw: Raw) -> _Waiting:
        key = _key(raw)
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(raw, self._clock.monotonic())
            waiting.task = asyncio.create_task(self._keep_all(key, waiting), name=f"arrivals {key}")
        if raw.dedupe_key in waiting.raws:
            return waiting
        if waiting.lost or self._count >= _MOST or self._bytes >= _MOST_BYTES:
            waiting.lost = True
            raise StoreError("The store takes nothing, and too much waits for it already")
        self._count += 1
        self._bytes += len(raw.payload)
        waiting.raws[raw.dedupe_key] = (raw, asyncio.get_running_loop().create_future())
        return waiting

    async def _wait(self, raw: Raw, waiting: _Waiting) -> bool:
        """Wait for a moment until the payload is kept: its sender must know then. Raises
        StoreError."""
        _, kept_future = waiting.raws[raw.dedupe_key]
        left = waiting.since + self._timeouts.keep_timeout - self._clock.monotonic()
        if left > 0:
            sleeping = asyncio.ensure_future(self._clock.sleep(left))
            try:
                await asyncio.wait({sleeping, kept_future}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeping.cancel()
        if kept_future.done():
            return kept_future.result()
        self._refused[raw.account, raw.dedupe_key] = False
        if len(self._refused) > _REMEMBERED:
            self._refused.popitem(last=False)
        raise StoreError("The store takes nothing just now; the payload is kept when it does")

    async def _keep_all(self, key: _Key, waiting: _Waiting) -> None:
        pause = 0.1
        while waiting.raws:
            raw, kept_future = next(iter(waiting.raws.values()))
            own = (raw.account, raw.dedupe_key)
            try:
                fresh = await self._keeper.keep(raw)
            except StoreError as error:
                log.warning("payload_write_delayed", waiting=len(waiting.raws), error=str(error))
                await self._clock.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            except Exception as error:  # of this payload alone: those behind it go on
                log.exception("payload_write_crashed", account=raw.account, key=raw.dedupe_key)
                kept_future.set_exception(error)
                kept_future.exception()  # its sender may have been refused before
            else:
                kept_future.set_result(fresh)
                if own in self._refused:
                    self._refused[own] = fresh
            del waiting.raws[raw.dedupe_key]
            self._count -= 1
            self._bytes -= len(raw.payload)
        del self._waiting[key]
        if waiting.lost:
            self._reader.session_began(waiting.first.account, waiting.first.channel)

    def _waits_for_answer(self, raw: Raw) -> bool:
        try:
            events = self._connectors[raw.account].decode(raw)
        except InvalidData:
            return False
        return any(isinstance(event, ActionPressed | CommandGiven) for event in events)


def _key(raw: Raw) -> _Key:
    return (raw.account, raw.channel.key if raw.channel else "")


async def _finish(keeping: asyncio.Future[bool]) -> None:
    try:
        await keeping
    except StoreError as error:  # the platform sends it again
        log.warning("payload_write_failed", error=str(error))
