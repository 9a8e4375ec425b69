"""Changes of the configuration of a running router, for reloads, patterns and commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from bridge.model import AccountId, ChannelRef
from bridge.model.assignments import UPKEEP, account_assignment
from bridge.ports.connector import Connector
from bridge.ports.inbox import Inbox
from bridge.router.commands.channels import Linker
from bridge.router.outbound.greeting import greet
from bridge.router.rooms.rooms import Room
from bridge.router.wiring import Configuration, Dependencies, Parts


class Reconfigure:
    """Applies configurations. A method that awaits nothing is atomic: no task sees half of it."""

    def __init__(self, shared: Dependencies, parts: Parts, inbox: Inbox) -> None:
        self._shared = shared
        self._parts = parts
        self._inbox = inbox

    def apply(self, new: Configuration) -> None:
        """Replace the configuration in one step, without waiting."""
        self.change_admins(new.admins)
        self._parts.outbound.references.change_groups(new.groups)
        self._parts.rooms.linking.change_email_key(new.email_key)
        self._parts.turns.quotas.change(new.quotas)
        self._parts.inbound.pace.change(new.paces)
        self.change_rooms(new.rooms)

    def change_admins(self, admins: Sequence[str]) -> None:
        """Replace the admins; `admins` are actor ids or globs of them."""
        self._shared.admins[:] = admins

    def change_rooms(self, rooms: Iterable[Room]) -> None:
        """Replace the rooms. Channels that were in no room before are read from now on; those of
        accounts that connect anew are read when they connect."""
        before = self._inbound_channels(self._shared.connectors)
        self._shared.rooms.change(rooms)
        self._read_new(before)

    def add_rooms(self, rooms: Iterable[Room]) -> None:
        """Add rooms, and read their channels from now on."""
        new = tuple(rooms)
        before = self._inbound_channels({member.account for room in new for member in room.members})
        self._shared.rooms.add(new)
        self._read_new(before)

    def use_linker(self, linker: Linker) -> None:
        """Let commands link channels by this linker."""
        self._parts.commands.linker.use(linker)

    def announce_rooms(self) -> None:
        """Greet the channels that joined, begin the backfills that the rooms ask for, and note the
        agents' tools, in the background: platforms are asked who reads in these channels."""
        self._parts.turns.catalogue.changed(None)
        if not self._shared.cluster.owns(UPKEEP):
            return
        shared, now = self._shared, self._shared.clock.time()
        greeting = greet(shared.rooms, shared.connectors, self._parts.outbound.notices, now)
        shared.background.spawn(greeting, "greet")
        shared.background.spawn(self._parts.turns.greetings.post(), "greetings of agents")
        shared.background.spawn(self._begin_backfills(), "begin backfills")

    async def _begin_backfills(self) -> None:
        """Of channels of rooms that want their past, once each."""
        now = self._shared.clock.time()
        for room in self._shared.rooms.all:
            if (span := room.options.backfill) is not None:
                channels = [(member.account, member.channel) for member in room.members]
                await self._parts.recovery.backfill.begin_once(channels, max(now - span, 0.0))

    # --- accounts -------------------------------------------------------------------------------

    def start_account(self, account: AccountId, connector: Connector) -> None:
        """Receive through this connector until the account is stopped, where this process works
        for the account."""
        self._parts.outbound.references.learn_connectors()
        self._parts.outbound.rate_limits.set_rules(account, connector.capabilities.rate_limits)
        if self._shared.cluster.owns(account_assignment(account)):
            self._parts.inbound.receivers.start(account, connector, self._inbox)

    async def stop_account(self, account: AccountId) -> None:
        """Stop receiving through the account; operations that wait to be sent stay in the
        outbox."""
        await self._parts.inbound.receivers.stop(account)

    async def let_go(self, connector: Connector) -> None:
        """Wait until the connector's calls have their answers, `Timeouts.drain` seconds at most: it
        must not be closed before."""
        await self._parts.outbound.in_flight.until_answered(connector, self._shared.timeouts.drain)

    def _inbound_channels(self, accounts: Iterable[AccountId]) -> dict[AccountId, Set[ChannelRef]]:
        return {account: self._shared.rooms.inbound_set(account) for account in accounts}

    def _read_new(self, before: Mapping[AccountId, Set[ChannelRef]]) -> None:
        self.announce_rooms()
        self._parts.recovery.reader.read_new(before, self._parts.inbound.receivers.accounts)
