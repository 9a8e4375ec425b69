"""The in-memory twin's part on agents in rooms. For tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from bridge.model import ActorId, RoomId
from bridge.ports.agent_store import (
    PAIRING_TRIES,
    PAIRING_WINDOW,
    Holding,
    Pairing,
    PairingCode,
    PairingUse,
    Spent,
)
from bridge.ports.clock import Clock
from bridge.store.agents import bucket_of, same_code
from bridge.store.conversations import Described


class MemoryAgents:
    """What `bridge.store.agents` does, in dicts."""

    _clock: Clock

    def __init__(self) -> None:
        self._holdings: dict[tuple[RoomId, str], Holding] = {}
        self._spending: dict[str, dict[int, Spent]] = {}
        self._pairing_codes: dict[str, PairingCode] = {}
        self._pairing_attempts: dict[ActorId, tuple[int, float]] = {}
        self._pairings: dict[tuple[ActorId, str], Pairing] = {}

        self._tools: dict[UUID, dict[str, Sequence[Described]]] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def put_tools(self, conversation: UUID, agent: str, tools: Sequence[Described]) -> None:
        self._must_be_open()
        self._tools.setdefault(conversation, {}).pop(agent, None)
        if tools:
            self._tools[conversation][agent] = [*tools]

    async def keep_tools(self, conversation: UUID, agents: Collection[str]) -> None:
        self._must_be_open()
        known = self._tools.get(conversation, {})
        self._tools[conversation] = {name: known[name] for name in known if name in agents}

    def _tools_in(self, conversation: UUID) -> Mapping[str, Sequence[Described]]:
        return dict(sorted(self._tools.get(conversation, {}).items()))

    async def hold(self, holding: Holding) -> None:
        self._must_be_open()
        self._holdings[holding.room, holding.spot] = holding

    async def release(self, room: RoomId, spot: str) -> bool:
        self._must_be_open()
        return self._holdings.pop((room, spot), None) is not None

    async def holdings(self) -> Sequence[Holding]:
        return sorted(self._holdings.values(), key=lambda one: (one.at, one.room, one.spot))

    async def spend(self, purses: Collection[str], spent: Spent) -> None:
        self._must_be_open()
        at = bucket_of(spent.at)
        for purse in purses:
            sums = self._spending.setdefault(purse, {})
            sums[at] = _added(sums.get(at, Spent(at)), spent)

    async def spent(self, purse: str, since: float) -> Sequence[Spent]:
        sums = self._spending.get(purse, {})
        return [sums[at] for at in sorted(sums) if at >= bucket_of(since)]

    async def purses(self, since: float) -> Sequence[tuple[str, Spent]]:
        found: list[tuple[str, Spent]] = []
        for purse in sorted(self._spending):
            if sums := await self.spent(purse, since):
                whole = sums[0]
                for one in sums[1:]:
                    whole = _added(whole, one)
                found.append((purse, whole))
        return found

    async def forget_spending(self, purse: str) -> None:
        self._must_be_open()
        self._spending.pop(purse, None)

    async def put_pairing_code(self, code: PairingCode) -> None:
        self._must_be_open()
        self._pairing_codes[code.digest] = code

    async def pairing_codes(self) -> Sequence[PairingCode]:
        now = self._clock.time()
        found = [one for one in self._pairing_codes.values() if one.expires > now]
        return sorted(found, key=lambda one: one.expires)

    async def use_pairing_code(self, digest: str, actor: ActorId) -> PairingUse:
        self._must_be_open()
        now = self._clock.time()
        failures, since = self._pairing_attempts.get(actor, (0, now))
        if now - since >= PAIRING_WINDOW:
            failures, since = 0, now
        if failures >= PAIRING_TRIES:
            return "too_many"
        code = same_code(await self.pairing_codes(), digest)
        if code is None:
            self._pairing_attempts[actor] = (failures + 1, since)
            return "wrong"
        del self._pairing_codes[code.digest]
        self._pairing_attempts.pop(actor, None)
        self._pairings[actor, code.agent] = Pairing(actor, code.agent, code.by, now)
        return "paired"

    async def pairings(self) -> Sequence[Pairing]:
        return sorted(self._pairings.values(), key=lambda one: (one.at, one.actor, one.agent))

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        self._must_be_open()
        found = [key for key in self._pairings if key[0] == actor and agent in (None, key[1])]
        for key in found:
            del self._pairings[key]
        return bool(found)


def _added(one: Spent, other: Spent) -> Spent:
    return Spent(
        one.at,
        one.messages + other.messages,
        one.tokens + other.tokens,
        one.micros + other.micros,
    )
