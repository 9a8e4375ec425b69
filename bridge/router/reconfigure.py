"""Changes of the configuration of a running router, for reloads, patterns and commands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bridge.model import AccountId, ChannelRef
from bridge.ports.connector import Connector
from bridge.ports.inbox import Inbox
from bridge.router.commands.channels import Linker
from bridge.router.outbound.greeting import greet
from bridge.router.outbound.references import Groups
from bridge.router.rooms.rooms import Room
from bridge.router.turns.quotas import QuotaSettings
from bridge.router.wiring import Given, Parts


@dataclass(frozen=True)
class Configuration:
    """Everything that a reload changes in the router except accounts. `email_key` is None if the
    bridge does not link accounts by e-mail address."""

    rooms: Iterable[Room]
    admins: Sequence[str]
    groups: Groups
    email_key: bytes | None
    quotas: QuotaSettings


class Reconfigure:
    """Applies configurations. A method that awaits nothing is atomic: no task sees half of it."""

    def __init__(self, given: Given, parts: Parts, inbox: Inbox) -> None:
        self._given = given
        self._parts = parts
        self._inbox = inbox

    def apply(self, new: Configuration) -> None:
        """Replace the configuration in one step, without waiting."""
        self.change_admins(new.admins)
        self._parts.outbound.references.change_groups(new.groups)
        self._parts.rooms.linking.change_email_key(new.email_key)
        self._parts.turns.quotas.change(new.quotas)
        self.change_rooms(new.rooms)

    def change_admins(self, admins: Sequence[str]) -> None:
        """Replace the admins; `admins` are actor ids or globs of them."""
        self._given.admins[:] = admins

    def change_rooms(self, rooms: Iterable[Room]) -> None:
        """From now on these are the rooms. Channels that were not heard before are read from here
        on, those of accounts that connect anew when they do."""
        before = self._heard(self._given.connectors)
        self._given.rooms.change(rooms)
        self._read_new(before)

    def add_rooms(self, rooms: Iterable[Room]) -> None:
        """From now on these are rooms, too."""
        new = tuple(rooms)
        before = self._heard({member.account for room in new for member in room.members})
        self._given.rooms.add(new)
        self._read_new(before)

    def use_linker(self, linker: Linker) -> None:
        """From now on commands link channels by this one."""
        self._parts.commands.linker.use(linker)

    def announce_rooms(self) -> None:
        """Greet the channels that joined, and note the agents' tools; beside all else, for
        platforms are asked who reads there."""
        given, now = self._given, self._given.clock.time()
        greeting = greet(given.rooms, given.connectors, self._parts.outbound.notices, now)
        given.background.spawn(greeting, "greet")
        self._parts.turns.catalogue.changed(None)

    # --- accounts -------------------------------------------------------------------------------

    def start_account(self, account: AccountId, connector: Connector) -> None:
        """Receive through it, until the account is stopped."""
        self._parts.outbound.references.learn_connectors()
        self._parts.outbound.rate_limits.set_rules(account, connector.capabilities.budgets)
        self._parts.inbound.receivers.start(account, connector, self._inbox)

    async def stop_account(self, account: AccountId) -> None:
        """Receive no more through it; what waits to be sent is not touched."""
        await self._parts.inbound.receivers.stop(account)

    async def let_go(self, connector: Connector) -> None:
        """Wait until what it sends now has its answer: before that it must not be closed."""
        await self._parts.outbound.in_flight.until_answered(connector, self._given.policy.drain)

    def _heard(self, accounts: Iterable[AccountId]) -> dict[AccountId, set[ChannelRef]]:
        return {account: set(self._given.rooms.heard_channels(account)) for account in accounts}

    def _read_new(self, before: Mapping[AccountId, Collection[ChannelRef]]) -> None:
        self.announce_rooms()
        self._parts.recovery.reader.read_new(before, self._parts.inbound.receivers.accounts)
