"""The store in a PostgreSQL database that many processes share."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence

from bridge.model import Raw
from bridge.model.assignments import Assignment, ClusterState, ProcessId, SentSignal
from bridge.model.inbox_records import InboxRow
from bridge.ports.clock import Clock
from bridge.store.postgresql import sharing
from bridge.store.postgresql.address import Address
from bridge.store.postgresql.membership import Membership
from bridge.store.postgresql.store import PostgresStore, opened
from bridge.store.postgresql.writer import PostgresWriter
from bridge.store.seal import Seal


async def open_shared(address: Address, *, clock: Clock, key: bytes | None) -> SharedStore:
    """Open the store as one of many processes; an empty database becomes one.

    `key` (32 bytes) seals secrets, and is the same in all processes.

    Raises:
        SchemaTooNew: the store is of a newer version of the bridge.
        StoreError: the server cannot be reached or refuses, the database is another program's, or
            a process has the store for itself alone.
        ConfigError: the address cannot be parsed.
    """
    seal = Seal(key)
    membership, db = await asyncio.to_thread(opened, address, seal, Membership)
    return SharedStore(address, clock, seal, PostgresWriter(address, db, membership), membership)


class SharedStore(PostgresStore):
    """Made by `open_shared`. One process among many: see `ClusterStore`."""

    def __init__(
        self,
        address: Address,
        clock: Clock,
        seal: Seal,
        writer: PostgresWriter,
        membership: Membership,
    ) -> None:
        super().__init__(address, clock, seal, writer, membership)
        self._membership = membership

    @property
    def process(self) -> ProcessId:
        return self._membership.process

    @property
    def is_alive(self) -> bool:
        return self._membership.is_alive

    @property
    def is_lost(self) -> bool:
        return self._membership.is_lost

    async def newest_signal(self) -> int:
        return await self._read(sharing.newest_signal)

    async def hand_on(self, raw: Raw) -> InboxRow | None:
        now = self._clock.time()
        return await self._write(sharing.hand_on, raw, self._seal, now)

    async def waiting_row(self, row: int) -> InboxRow | None:
        return await self._read(sharing.waiting_row, row)

    async def outcome_of(self, row: int) -> str | None:
        return await self._look(sharing.outcome_of, row)

    async def look(self, after: int) -> ClusterState:
        state = await self._look(sharing.state, after, self.process)
        # After an outage of the server, the others get the time to renew their rows, too.
        if state.any_expired and self._membership.is_steady:
            await self._write(sharing.bury)
            state = await self._look(sharing.state, after, self.process)
        return state

    async def signals(self, after: int) -> Sequence[SentSignal]:
        return await self._look(sharing.signals, after, self.process)

    async def take(self, assignments: Collection[Assignment]) -> Collection[Assignment]:
        return await self._write(sharing.take, self.process, assignments)

    async def give_up(self, assignments: Collection[Assignment]) -> None:
        await self._write(sharing.give_up, self.process, assignments)

    async def note_loads(self, loads: Mapping[Assignment, float]) -> None:
        await self._write(sharing.note_loads, self.process, loads)

    async def note_started(self) -> None:
        await self._write(sharing.note_started, self.process)

    async def note_stopping(self) -> None:
        await self._write(sharing.note_stopping, self.process)

    async def send(self, kind: str, body: str) -> None:
        await self._write(sharing.send, self.process, kind, body)
