"""Port: hand-overs, spending, tools and pairings of agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from pydantic import JsonValue

from bridge.model import ActorId, RoomId
from bridge.model.turn_records import HandOver, Pairing, PairingCode, PairingUse, Spending


class AgentStore(Protocol):
    """Durable state of agents other than their turns."""

    async def hold(self, holding: HandOver) -> None:
        """Give a spot of a room to a holder; replaces the former holder."""
        ...

    async def release(self, room: RoomId, spot: str) -> bool:
        """Free a spot. Returns False when nobody held it."""
        ...

    async def holdings(self) -> Sequence[HandOver]:
        """Return all current hand-overs."""
        ...

    async def called_by_others(self, room: RoomId, since: float) -> int:
        """Count the turns of a room that agents and bots triggered.

        Args:
            room: the room to count in.
            since: only turns from this time on, and after the last turn that a person triggered.
        """
        ...

    async def spend(self, quotas: Collection[str], spent: Spending) -> None:
        """Add an expense to each of these quotas.

        Args:
            quotas: names such as `room:lobby`, `agent:echo` or `person:ID`.
            spent: the expense; `spent.at` is rounded down to a multiple of BUCKET seconds.
        """
        ...

    async def spent(self, quota: str, since: float) -> Sequence[Spending]:
        """Return what a quota has spent since a time: one sum per BUCKET seconds, oldest first."""
        ...

    async def spending(self, since: float) -> Sequence[tuple[str, Spending]]:
        """Return each quota with spending since a time, and the sum of that spending."""
        ...

    async def forget_spending(self, quota: str) -> None:
        """Delete all spending of a quota."""
        ...

    async def put_tools(
        self, conversation: UUID, agent: str, tools: Sequence[Mapping[str, JsonValue]]
    ) -> None:
        """Set the tools of an agent that the room's Conversation describes in `metadata.tools`."""
        ...

    async def keep_tools(self, agents: Mapping[UUID, Collection[str]]) -> None:
        """Remove from each Conversation the tools of all agents but its own."""
        ...

    async def put_pairing_code(self, code: PairingCode) -> None:
        """Save a code, and delete the expired ones."""
        ...

    async def pairing_codes(self) -> Sequence[PairingCode]:
        """Return the codes that have not expired."""
        ...

    async def use_pairing_code(self, digest: str, actor: ActorId) -> PairingUse:
        """Pair an account with the agent that issued the code; a code works once.

        Args:
            digest: hash of the code that the account entered.
            actor: the account.

        Returns:
            `too_many` after PAIRING_TRIES wrong codes within PAIRING_WINDOW seconds; the store then
            compares no code.
        """
        ...

    async def pairings(self) -> Sequence[Pairing]:
        """Return all pairings."""
        ...

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        """End the pairing of an account with an agent, or with all agents.

        Args:
            actor: the account.
            agent: name of the agent; None for all.

        Returns:
            False when there was no such pairing.
        """
        ...
