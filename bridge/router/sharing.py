"""What a router does where many processes share its store: it takes work, gives it up, and hears of
what the others do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping

import structlog

from bridge.errors import StoreError
from bridge.model import AccountId, LaneId
from bridge.model.assignments import (
    UPKEEP,
    Assignment,
    account_assignment,
    account_of,
    agent_of,
)
from bridge.model.inbox_records import InboxRow
from bridge.router.inbox import RouterInbox
from bridge.router.reconfigure import Reconfigure
from bridge.router.rooms import programs
from bridge.router.wiring import Dependencies, Parts
from bridge.runtime.newest import Newest

log = structlog.get_logger()

_REMEMBERED = 10_000  # rows that were put in their queues


class Sharing:
    """The caller knows which assignments are this process'; `Cluster.owns` tells the parts."""

    def __init__(
        self, shared: Dependencies, parts: Parts, reconfigure: Reconfigure, inbox: RouterInbox
    ) -> None:
        self._inbox = inbox
        self._shared = shared
        self._parts = parts
        self._reconfigure = reconfigure
        self._loads: Mapping[str, Callable[[], Awaitable[None]]] = {
            "bans": parts.rooms.bans.load,
            "hand_overs": parts.turns.hand_overs.load,
            "floor": parts.turns.floor.load,
            "pairings": parts.turns.access.load,
            "direct_messages": parts.rooms.directs.load,
        }
        self._put = Newest[int](_REMEMBERED)
        self._begun: set[Assignment] = set()  # what the last process left of them is queued
        self._queueing = asyncio.Lock()
        self._upkeep: list[asyncio.Task[None]] = []

    async def load(self) -> None:
        """Read from the store what this process keeps in memory. Raises StoreError."""
        for load in self._loads.values():
            await load()

    # --- work that comes and goes ---------------------------------------------------------------

    async def take(self, assignments: Collection[Assignment]) -> None:
        """Begin with these assignments, which are this process' from now on: go on where the last
        process stopped. Raises StoreError; another call goes on then."""
        async with self._queueing:  # live rows wait behind those that the last process left
            await self._take(assignments)

    async def _take(self, assignments: Collection[Assignment]) -> None:
        parts, connectors = self._parts, self._shared.connectors
        accounts = [
            account
            for one in assignments
            if (account := account_of(one)) is not None
            and account in connectors
            and account not in parts.inbound.receivers.accounts
        ]
        await parts.inbound.orphans.start()
        channels = {
            account: parts.recovery.reader.inbound_channels(account) for account in accounts
        }
        parts.recovery.catch_up.await_sessions(channels)
        awaiting = parts.recovery.catch_up.stop_awaiting(accounts)
        self._shared.background.spawn(awaiting, "first sessions")
        await parts.recovery.other_bridges.load(accounts)
        await asyncio.gather(*map(parts.recovery.last_stop.take, accounts))
        # Those of what was ours before are in their queues.
        for row in await self._shared.store.waiting_rows():
            if parts.rooms.responsibility.of_payload(row.raw) in assignments:
                self._queue(row)
        self._begun |= set(assignments)
        await parts.outbound.lanes.look()
        for account in accounts:
            parts.recovery.watchdog.begins(account)
            self._reconfigure.start_account(account, connectors[account])
        if any(agent_of(one) is not None for one in assignments):
            await parts.turns.queue.look()
            await parts.inbound.feedback.start()
        if UPKEEP in assignments:
            await self._begin_upkeep()

    async def give_up(self, assignments: Collection[Assignment]) -> None:
        """End with these assignments, which are nobody's from now on: what is under way is finished
        or left as after a crash."""
        parts = self._parts
        self._begun -= set(assignments)
        if UPKEEP in assignments:
            await self._end_upkeep()
        accounts = [account for one in assignments if (account := account_of(one)) is not None]
        # The receivers end later: some platforms answer calls over the connection of the events.
        await parts.outbound.lanes.let_go(self._shared.timeouts.drain)
        await asyncio.gather(*(self._reconfigure.stop_account(account) for account in accounts))
        await parts.inbound.queues.let_go()  # what waits for a reading is left unread
        await asyncio.gather(*map(self._stop_reading, accounts))
        is_ours = parts.rooms.responsibility.is_ours
        parts.inbound.orphans.let_go(is_ours)
        await parts.inbound.fetcher.let_go(is_ours)
        await parts.turns.queue.let_go()
        await parts.inbound.feedback.let_go()
        self._put.clear()

    async def _stop_reading(self, account: AccountId) -> None:
        await self._inbox.until_kept(account)
        try:
            await self._parts.recovery.reader.let_go(account)
        except StoreError as error:  # some messages are read once more
            log.warning("cursors_write_failed", account=account, error=str(error))

    async def stop_receiving(self) -> None:
        """Close the connections of all accounts, but give nothing up."""
        receivers, stop = self._parts.inbound.receivers, self._reconfigure.stop_account
        await asyncio.gather(*(stop(account) for account in list(receivers.accounts)))

    def receive_again(self) -> None:
        """Open the connections of those accounts that are still this process'."""
        receivers = self._parts.inbound.receivers
        for account, connector in self._shared.connectors.items():
            if self._has_begun(account) and account not in receivers.accounts:
                self._reconfigure.start_account(account, connector)

    async def _begin_upkeep(self) -> None:
        outbound, recovery = self._parts.outbound, self._parts.recovery
        await outbound.failures.start()
        await recovery.backfill.start()
        await outbound.replay.start()
        self._reconfigure.announce_rooms()
        self._upkeep = [
            asyncio.create_task(outbound.delays.watch(), name="lateness"),
            asyncio.create_task(self._parts.turns.departures.watch(), name="idle agents"),
        ]

    async def _end_upkeep(self) -> None:
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        self._upkeep = []
        await self._parts.recovery.backfill.close()
        await self._parts.outbound.replay.close()

    async def close(self) -> None:
        """Stop without giving anything up."""
        await self._end_upkeep()

    # --- what others do -------------------------------------------------------------------------

    async def look(self) -> None:
        """Find the work that others left in the store for this process, whether or not a call told
        of it. Raises StoreError."""
        await self._parts.outbound.lanes.look()
        await self._parts.turns.queue.look()
        self._parts.rooms.feed.woke()

    def lane_called(self, lane: LaneId) -> None:
        """There is something new in a lane of this process."""
        self._parts.outbound.lanes.wake(lane)

    async def called(self, assignment: Assignment) -> None:
        """There is something new for an assignment of this process. Raises StoreError."""
        if agent_of(assignment) is not None:
            await self._parts.turns.queue.look()
            await self._parts.inbound.feedback.start()

    async def told(self, kind: str, facts: Mapping[str, str]) -> None:
        """Another process told something to all. Raises StoreError."""
        parts = self._parts
        match kind:
            case "row":
                async with self._queueing:
                    await self._row_told(int(facts["row"]), facts.get("account"))
            case "hand_over_taken":
                await parts.turns.hand_overs.load()
                await parts.turns.queue.told(kind, facts)
            case "approval_decided":
                parts.turns.approvals.decided_elsewhere(facts["approval"])
            case "sending_resumed":
                await parts.recovery.other_bridges.resumed_elsewhere(AccountId(facts["account"]))
            case _:
                await parts.turns.queue.told(kind, facts)

    async def revised(self, topic: str) -> None:
        """What this process keeps in memory of a topic has changed in the store. Raises
        StoreError."""
        if (load := self._loads.get(topic)) is not None:
            await load()

    async def _row_told(self, number: int, account: str | None) -> None:
        """A process has kept a row. One that comes before its account is begun is among those that
        were left. `account`: not told by an older version."""
        if account not in (None, programs.ACCOUNT) and not self._has_begun(account):
            return
        row = await self._shared.cluster.waiting_row(number)
        if row is not None and self._parts.rooms.responsibility.of_payload(row.raw) in self._begun:
            await self._queue_live(row)

    def _has_begun(self, account: str) -> bool:
        return account_assignment(AccountId(account)) in self._begun

    async def _queue_live(self, row: InboxRow) -> None:
        """Queue a row that a process has just kept for us, as `Keeper` does with its own."""
        raw, catch_up = row.raw, self._parts.recovery.catch_up
        if raw.channel is not None and catch_up.is_current(raw.account, raw.channel):
            await self._shared.store.set_cursor(raw.account, raw.channel, raw.order_key)
        catch_up.live_event_received(raw)
        if catch_up.has_passed(raw):
            self._parts.inbound.orphans.doubt(row)
        self._queue(row)
        catch_up.live_event_kept(raw)

    def _queue(self, row: InboxRow) -> None:
        if row.id in self._put or not self._parts.rooms.responsibility.is_ours(row.raw):
            return
        self._put.add(row.id)
        self._parts.inbound.queues.put(row)
