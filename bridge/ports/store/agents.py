"""Where hand-overs, spending and pairings of agents are kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from pydantic import JsonValue

from bridge.model import ActorId, RoomId
from bridge.model.turn_records import HandOver, Pairing, PairingCode, PairingUse, Spent


class AgentStore(Protocol):
    """Beside the turns."""

    async def hold(self, holding: HandOver) -> None:
        """In place of who held the spot before."""
        ...

    async def release(self, room: RoomId, spot: str) -> bool:
        """Whether anybody held it."""
        ...

    async def holdings(self) -> Sequence[HandOver]: ...

    async def called_by_others(self, room: RoomId, since: float) -> int:
        """Turns in the room that agents and bots called since then (seconds since 1970), and after
        the last that a person called."""
        ...

    async def spend(self, quotas: Collection[str], spent: Spent) -> None:
        """Add it to each of them, durably."""
        ...

    async def spent(self, quota: str, since: float) -> Sequence[Spent]:
        """What was spent of it since then, oldest first, a sum for each BUCKET."""
        ...

    async def spending(self, since: float) -> Sequence[tuple[str, Spent]]:
        """All quotas of which anything was spent since then, each with the whole sum."""
        ...

    async def forget_spending(self, quota: str) -> None:
        """As if nothing had been spent of it."""
        ...

    async def put_tools(
        self, conversation: UUID, agent: str, tools: Sequence[Mapping[str, JsonValue]]
    ) -> None:
        """From now on the room's Conversation describes these as the agent's (`metadata.tools`)."""
        ...

    async def keep_tools(self, conversation: UUID, agents: Collection[str]) -> None:
        """Only these agents have tools there."""
        ...

    async def put_pairing_code(self, code: PairingCode) -> None: ...

    async def pairing_codes(self) -> Sequence[PairingCode]:
        """Those that may still be given."""
        ...

    async def use_pairing_code(self, digest: str, actor: ActorId) -> PairingUse:
        """Pair the account with the agent that the code was made for; a code is good once. After
        PAIRING_TRIES wrong ones within PAIRING_WINDOW seconds no code is looked at."""
        ...

    async def pairings(self) -> Sequence[Pairing]: ...

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        """From one agent, or (None) from all; whether they were paired so."""
        ...
