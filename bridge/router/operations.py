"""Operations on a running router, for the web server, the API and the commands."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager

from bridge.content.cards.reader import Cards
from bridge.errors import CodecError
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    LaneId,
    MessageId,
    OperationId,
    PersonId,
    RoomId,
)
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.replay import ReplayProgress
from bridge.router.recovery.backfill import BackfillProgress
from bridge.router.recovery.read_order import Progress
from bridge.router.turns.visitors import Visitors
from bridge.router.wiring import Parts
from bridge.uacs import ContentPart, Message


class Operations:
    """Each method takes effect at once; its effect is durable when it returns."""

    def __init__(self, store: OutboxStore, cards: Cards, parts: Parts) -> None:
        self._store = store
        self._cards = cards
        self._rooms = parts.rooms
        self._outbound = parts.outbound
        self._turns = parts.turns
        self._inbound = parts.inbound
        self._recovery = parts.recovery

    # --- the outbox -----------------------------------------------------------------------------

    async def replay(self, operation: OperationId) -> LaneId:
        """Queue a dead letter again, at the end of its lane, which is returned. Raises StoreError
        where there is no such dead letter."""
        lane = await self._store.replay(operation)
        self._outbound.lanes.wake(lane)
        return lane

    async def hasten(self, operation: OperationId) -> LaneId:
        """Try a waiting operation now, in its place in its lane, which is returned. Raises
        StoreError where it does not wait."""
        lane = await self._store.hasten(operation)
        self._outbound.lanes.hasten(lane, operation)
        return lane

    async def skip(self, operation: OperationId) -> None:
        """Make a waiting operation a dead letter; its lane goes on. Raises StoreError where it does
        not wait."""
        await self._outbound.lanes.skip(operation)

    async def wake_lanes(self) -> None:
        """Send what another part of the program queued in the store. Raises StoreError."""
        for lane in await self._store.open_lanes():
            self._outbound.lanes.wake(lane)

    async def resume_sending(self, account: AccountId) -> bool:
        """Send again through an account that another bridge sends with, too; False where it was not
        stopped."""
        return await self._recovery.other_bridges.resume(account)

    # --- people and agents ----------------------------------------------------------------------

    async def link_people(self, first: ActorId, second: ActorId) -> PersonId:
        """Make two accounts one person's. Returns the person. Raises InvalidData for one and the
        same account, and StoreError."""
        return await self._rooms.linking.link(first, second)

    async def unlink_person(self, actor: ActorId) -> bool:
        """Take an account away from its person. Returns whether it was linked. Raises
        StoreError."""
        return await self._rooms.linking.unlink(actor)

    async def set_blocked(
        self, actor: ActorId, by: str, room: RoomId | None, *, blocked: bool
    ) -> bool:
        """Block an account in a room or (None) in all rooms, or end that. Returns whether anything
        changed. Raises StoreError."""
        return await self._rooms.bans.set_blocked(actor, by, room, blocked=blocked)

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        """End the pairing of an account with an agent, or (None) with all. Returns whether there
        was one. Raises StoreError."""
        return await self._turns.access.unpair(actor, agent)

    async def reset_quota(self, quota_key: str) -> None:
        """Forget what was spent under this key, so that its whole quota is free. Raises
        StoreError."""
        await self._turns.quotas.forget(quota_key)

    # --- the past -------------------------------------------------------------------------------

    async def begin_backfill(
        self,
        channels: Sequence[tuple[AccountId, ChannelRef]],
        since: float,
        until: float | None = None,
    ) -> None:
        """Read what was said in these channels between two times (seconds since 1970) into the
        archive, one channel after the other. Raises StoreError."""
        await self._recovery.backfill.begin(channels, since, until)

    async def stop_backfill(self) -> int:
        """Stop all backfills; what they read stays. Returns how many there were. Raises
        StoreError."""
        return await self._recovery.backfill.stop()

    @property
    def backfills(self) -> Sequence[BackfillProgress]:
        """The state of all backfills, also of those that ended."""
        return self._recovery.backfill.progress

    async def begin_replay(self, asked: ReplayProgress) -> None:
        """Post archived messages in a channel. Raises StoreError."""
        await self._outbound.replay.begin(asked)

    async def count_replay(self, asked: ReplayProgress) -> int:
        """Return how many messages a replay would post. Raises StoreError."""
        return await self._outbound.replay.count(asked)

    async def stop_replay(self) -> int:
        """Stop all replays; what they posted stays. Returns how many there were. Raises
        StoreError."""
        return await self._outbound.replay.stop()

    @property
    def replays(self) -> Sequence[ReplayProgress]:
        """The state of all replays, also of those that ended."""
        return self._outbound.replay.progress

    async def cancel(self, question: MessageId) -> None:
        """Stop the agents that answer a message, and those that answers to it called. Raises
        StoreError."""
        await self._turns.queue.cancel(question)

    async def decide_approval(
        self, own_id: str, actor: ActorId, channel: ChannelRef, *, allowed: bool
    ) -> bool:
        """Allow or refuse a call that waits for leave, in the name of an actor who may. Returns
        whether the decision counts. Raises StoreError."""
        return await self._turns.approvals.decide(own_id, actor, channel.key, allowed=allowed)

    @property
    def visitors(self) -> Visitors:
        """What programs that visit rooms may do."""
        return self._turns.visitors

    # --- what programs write and read -----------------------------------------------------------

    def complete(self, message: Message) -> Message:
        """Return the message with fallbacks of its cards, which its author need not write."""
        return self._cards.with_fallbacks(message)

    def card_faults(self, parts: Sequence[ContentPart]) -> list[CodecError]:
        """Return the mistakes of the cards that cannot be shown, each with its place in the
        message."""
        return list(self._cards.faults(parts))

    def growing(self, room: RoomId) -> Sequence[Message]:
        """Return the answers that agents are writing in the room now."""
        return self._rooms.feed.growing(room)

    def reading(self) -> AbstractContextManager[asyncio.Event]:
        """Return a context whose event is set whenever there is something new to read."""
        return self._rooms.feed.reading()

    # --- the state ------------------------------------------------------------------------------

    @property
    def instance(self) -> str:
        """The id of the store, with which the bridge marks its posts."""
        return self._recovery.other_bridges.instance

    def receive_fault(self, account: AccountId) -> str:
        """Return why the account does not receive now; empty while it does."""
        return self._inbound.receivers.failed.get(account, "")

    def send_fault(self, account: AccountId) -> str:
        """Return why nothing is sent through the account; empty while messages are sent."""
        return self._recovery.other_bridges.note(account)

    def stall_fault(self, account: AccountId) -> str:
        """Return what is wrong with an account that is connected and receives nothing; empty when
        nothing is wrong."""
        return self._recovery.watchdog.note(account)

    def progress(self, account: AccountId) -> Progress | None:
        """Return how far the account is with the events that it missed; None when it has read them
        all."""
        return self._recovery.catch_up.progress(account)

    @property
    def catching_up(self) -> int:
        """The number of channels that are being read for missed messages."""
        return self._recovery.catch_up.behind

    @property
    def reconciling(self) -> int:
        """The number of channels that are being compared with the archive, or wait for that."""
        return self._recovery.catch_up.reconciler.behind

    @property
    def files_awaited(self) -> int:
        """The number of messages that wait for files that could not be fetched at once."""
        return self._inbound.fetcher.awaited
