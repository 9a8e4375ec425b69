"""Port: a store that many processes share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from bridge.model import Raw
from bridge.model.assignments import Assignment, ClusterState, ProcessId, SentSignal
from bridge.model.inbox_records import InboxRow


@runtime_checkable
class HasClusterState(Protocol):
    """A store that many processes may share."""

    async def cluster_state(self) -> ClusterState:
        """Return the processes that share the store, and what each works for. Raises StoreError."""
        ...


class ClusterStore(Protocol):
    """Processes that are alive, what each works for, and what they tell one another.

    Each transaction of a process fails with a StoreError from the moment at which another one held
    it for dead; what it worked for is free then.
    """

    @property
    def process(self) -> ProcessId:
        """The id of this process."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether no other process can hold this one for dead at this moment. Costs no I/O."""
        ...

    @property
    def is_lost(self) -> bool:
        """Whether the others held this process for dead: it must begin anew."""
        ...

    async def newest_signal(self) -> int:
        """Return the number of the last signal. Raises StoreError."""
        ...

    async def look(self, after: int) -> ClusterState:
        """Free what dead processes worked for. Returns the state, with the signals of others behind
        this number. Raises StoreError."""
        ...

    async def signals(self, after: int) -> Sequence[SentSignal]:
        """Return the signals of others behind this number. Raises StoreError."""
        ...

    async def take(self, assignments: Collection[Assignment]) -> Collection[Assignment]:
        """Work for those of these assignments that are free. Returns them. Raises StoreError."""
        ...

    async def give_up(self, assignments: Collection[Assignment]) -> None:
        """Work for these no more. Raises StoreError."""
        ...

    async def note_loads(self, loads: Mapping[Assignment, float]) -> None:
        """Note how much there is to do for each assignment. Raises StoreError."""
        ...

    async def note_started(self) -> None:
        """Tell the others that this process takes work from now on. Raises StoreError."""
        ...

    async def note_stopping(self) -> None:
        """Tell the others that this process stops. Raises StoreError."""
        ...

    async def hand_on(self, raw: Raw) -> InboxRow | None:
        """Keep a payload, and send the signal `row` with its number. Returns None for a repeat.
        Raises StoreError."""
        ...

    async def waiting_row(self, row: int) -> InboxRow | None:
        """Return a row that waits; None for any other. Raises StoreError."""
        ...

    async def outcome_of(self, row: int) -> str | None:
        """Return the outcome of a row; None while it waits. Raises StoreError."""
        ...

    async def send(self, kind: str, body: str) -> None:
        """Tell the other processes something; those that start later do not hear of it. Raises
        StoreError."""
        ...
