"""The inbox that connectors call: it stores a payload, handles it at once, or ignores it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from bridge.errors import InvalidData, StoreError, UndecodableEvent
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
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.intake import Intake
from bridge.router.inbound.orphans import Orphans
from bridge.router.inbound.queues import InboundQueues
from bridge.router.outbound.lanes import Lanes
from bridge.router.outbound.typing import Typing
from bridge.router.recovery.catch_up import CatchUp
from bridge.router.recovery.channel_reader import ChannelReader
from bridge.router.recovery.other_bridges import OtherBridges
from bridge.router.recovery.watchdog import ConnectionWatchdog
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.background import Background
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import DirectMessageCame, Signals
from bridge.uacs import Message

log = structlog.get_logger()


@dataclass(frozen=True)
class Keeper:
    """Writes payloads into the inbox table, and moves the cursors of channels that are current."""

    store: InboxStore
    catch_up: CatchUp
    orphans: Orphans
    queues: InboundQueues

    async def keep(self, raw: Raw) -> bool:
        """Store a payload. Returns False for a repeat. Raises StoreError."""
        current = raw.channel is not None and self.catch_up.is_current(raw.account, raw.channel)
        row = await self.store.accept(raw, advance=current)
        if row is None:
            metrics.REPEATED.labels(raw.account).inc()
            return False
        metrics.KEPT.labels(raw.account).inc()
        self.catch_up.told(raw)
        if self.catch_up.has_passed(raw):
            self.orphans.doubt(row)
        self.queues.put(row)
        self.catch_up.live_event_kept(raw)
        return True


@dataclass(frozen=True)
class OwnEchoes:
    """Our own posts that come back."""

    lanes: Lanes
    other_bridges: OtherBridges
    catch_up: CatchUp

    async def hear(self, raw: Raw, echo: Echo) -> None:
        if raw.channel is not None and echo.operation and echo.receipt:
            self.lanes.heard(raw.channel.lane, echo.operation, echo.receipt)
        elif raw.channel is not None:
            self.lanes.heard_ours(raw.channel.lane)
        metrics.OUTCOMES.labels("own_echo").inc()
        await self.other_bridges.heard(raw, echo)
        await self.catch_up.heard_echo(raw)


class RouterInbox:
    """The `Inbox` of all connectors."""

    def __init__(
        self,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        directs: DirectMessages,
        watchdog: ConnectionWatchdog,
        echoes: OwnEchoes,
        typing: Typing,
        keeper: Keeper,
        reader: ChannelReader,
        background: Background,
        signals: Signals,
        store: MessageStore,
        clock: Clock,
        policy: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._directs = directs
        self._watchdog = watchdog
        self._echoes = echoes
        self._typing = typing
        self._reader = reader
        self._background = background
        self._signals = signals
        self._intake = Intake(keeper.keep, self._read_back, self._waits_for_answer, clock, policy)

    async def accept(self, raw: Raw) -> bool:
        """Keep a payload; when this returns it is durable and will be worked on.

        What happens in channels of no room is nobody's business here, and is not kept.
        """
        if raw.channel is not None and not await self._concerns(raw, raw.channel):
            metrics.OUTCOMES.labels("no_room").inc()
            await self._look_for_channels(raw)
            return False
        self._watchdog.heard(raw)
        if raw.echo is not None:
            await self._echoes.hear(raw, raw.echo)
            return True
        if raw.volatile:
            self._background.spawn(self._hear_volatile(raw), f"typing {raw.account}")
            return True
        keeping = asyncio.ensure_future(self._intake.take(raw))
        try:
            return await asyncio.shield(keeping)
        except asyncio.CancelledError:
            # The socket that brought it broke. It may be kept all the same, and would be a repeat
            # when it is told again: nobody else would ever work on it.
            self._background.spawn(_finish(keeping), f"keep {raw.account}")
            raise

    def session_began(self, account: AccountId, channel: ChannelRef | None = None) -> None:
        """Something may have been missed there, or (None) in all channels of the account."""
        self._reader.session_began(account, channel)

    async def shown(self, channel: ChannelRef, native_id: str) -> Message | None:
        """The canonical message that this native one shows."""
        known = await self._store.resolve(channel, native_id)
        stored = await self._store.message(known) if known else None
        return stored.message if stored else None

    async def close(self) -> None:
        """Keep no more."""
        await self._intake.close()

    async def _concerns(self, raw: Raw, channel: ChannelRef) -> bool:
        return (
            self._rooms.concern(raw.account, channel)
            or await self._opens_direct(raw, channel)
            or self._directs.end_at(raw.account, channel) is not None
        )

    async def _opens_direct(self, raw: Raw, channel: ChannelRef) -> bool:
        """Whether somebody writes to our bot alone, and has a room for that now."""
        came = self._signals.direct_message_came
        if not came.has_listeners or raw.volatile or raw.echo is not None:
            return False
        direct_messages = self._connectors[raw.account].abilities.direct_messages
        if direct_messages is None or not direct_messages.is_direct(channel):
            return False
        await came.emit(DirectMessageCame(raw.account, channel))
        return self._rooms.concern(raw.account, channel)

    async def _look_for_channels(self, raw: Raw) -> None:
        """A channel that appears, or has a new name, may belong to a room by that."""
        appeared = self._signals.channel_appeared
        if appeared.has_listeners and any(
            isinstance(event, ChannelCreated | ChannelRenamed) for event in self._decoded(raw)
        ):
            await appeared.emit(raw.account)

    def _decoded(self, raw: Raw) -> list[Event]:
        try:
            return list(self._connectors[raw.account].decode(raw))
        except UndecodableEvent:
            return []

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

    async def _hear_volatile(self, raw: Raw) -> None:
        try:
            await self._typing.hear(raw)
        except InvalidData as error:
            log.warning("volatile_event_unreadable", account=raw.account, error=str(error))


async def _finish(keeping: asyncio.Future[bool]) -> None:
    try:
        await keeping
    except StoreError as error:
        log.warning(
            "payload_write_failed", error=str(error)
        )  # nobody was told that it was: it comes again
