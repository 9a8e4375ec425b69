"""What agents may cost, by room, person and agent, in an hour and in a day; and what they did.

What a turn that has begun costs is known at its end: it is not cut off, and the next one waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bridge.model import ActorId, RoomId
from bridge.model.refs import join_key
from bridge.model.turn_records import BUCKET, Spent
from bridge.ports.clock import Clock
from bridge.ports.store.agents import AgentStore
from bridge.router.runtime import metrics

HOUR, DAY = 3600.0, 86_400.0
_MICROS = 1_000_000


@dataclass(frozen=True)
class Limit:
    """The most of each; None: no limit. `money` is in the currency of the prices."""

    messages: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True)
class Budget:
    """Sliding windows: what was spent an hour ago counts no more."""

    hour: Limit = Limit()
    day: Limit = Limit()


@dataclass(frozen=True)
class Prices:
    """For a million tokens; `cached` are those of the input that the vendor had read before."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None


@dataclass(frozen=True)
class QuotaSettings:
    """Budgets by room and agent, the one that each person has, and what models cost."""

    rooms: Mapping[RoomId, Budget] = field(default_factory=dict[RoomId, Budget])
    agents: Mapping[str, Budget] = field(default_factory=dict[str, Budget])
    person: Budget = Budget()
    prices: Mapping[str, Prices] = field(default_factory=dict[str, Prices])


class Quotas:
    """Durable sums, and the limits as they are configured now."""

    def __init__(self, store: AgentStore, clock: Clock, settings: QuotaSettings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings

    def change(self, settings: QuotaSettings) -> None:
        """From now on these are the limits and prices."""
        self._settings = settings

    async def refuses(self, room: RoomId, agent: str, person: str) -> str:
        """Which quota is empty, and when it opens again; empty while all have something left."""
        now = self._clock.time()
        for quota, name, budget in self._quotas(room, agent, person):
            for limit, window, words in ((budget.hour, HOUR, "hour"), (budget.day, DAY, "day")):
                if limit == Limit():
                    continue
                spent = await self._store.spent(quota, now - window)
                if found := _exceeded(spent, limit, now, window):
                    what, opens = found
                    metrics.QUOTA_REFUSALS.labels(agent, quota.partition(":")[0]).inc()
                    at = datetime.fromtimestamp(opens, UTC)
                    return (
                        f"the {what} of this {words} for {name} are used up; they open again at "
                        f"{at:%H:%M} UTC{_on(opens, now)}"
                    )
        return ""

    async def asked(self, room: RoomId, agent: str, person: str) -> None:
        """One more turn has begun."""
        await self._spend(room, agent, person, Spent(self._clock.time(), messages=1))

    async def used(
        self, room: RoomId, agent: str, person: str, usage: Mapping[str, object]
    ) -> None:
        """What a turn cost, by what the vendor told (`metadata.usage`)."""
        input_tokens, output = _number(usage, "input_tokens"), _number(usage, "output_tokens")
        tokens = input_tokens + output
        if not tokens:
            return
        prices = self._settings.prices.get(agent, Prices())
        micros = cost_of(prices, input_tokens, output, _number(usage, "cached_tokens"))
        metrics.AGENT_TOKENS.labels(agent, "input").inc(input_tokens)
        metrics.AGENT_TOKENS.labels(agent, "output").inc(output)
        metrics.AGENT_MONEY.labels(agent).inc(micros / _MICROS)
        spent = Spent(self._clock.time(), tokens=tokens, micros=micros)
        await self._spend(room, agent, person, spent)

    async def forget(self, quota: str) -> None:
        """As if nothing had been spent of it."""
        await self._store.forget_spending(quota)

    async def _spend(self, room: RoomId, agent: str, person: str, spent: Spent) -> None:
        names = [room_purse(room), agent_purse(agent), person_purse(person)]
        await self._store.spend(names, spent)

    def _quotas(self, room: RoomId, agent: str, person: str) -> list[tuple[str, str, Budget]]:
        known = self._settings
        found = [
            (room_purse(room), "this room", known.rooms.get(room, Budget())),
            (agent_purse(agent), agent, known.agents.get(agent, Budget())),
            (person_purse(person), "you", known.person),
        ]
        return [one for one in found if one[2] != Budget()]


def room_purse(room: RoomId) -> str:
    return join_key("room", room)


def agent_purse(agent: str) -> str:
    return join_key("agent", agent)


def person_purse(person: str | ActorId) -> str:
    """`person` is the id of the person, or of an account that is nobody else's."""
    return f"person:{person}"


def cost_of(prices: Prices, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> int:
    """In millionths of the currency, so in prices times tokens."""
    cached = min(cached_tokens, input_tokens)
    cached_price = prices.input if prices.cached is None else prices.cached
    whole = (input_tokens - cached) * prices.input + cached * cached_price
    return round(whole + output_tokens * prices.output)


def _exceeded(
    spent: Sequence[Spent], limit: Limit, now: float, window: float
) -> tuple[str, float] | None:
    """What is used up, and when so much of it is long enough ago."""
    money = None if limit.money is None else round(limit.money * _MICROS)
    found: list[tuple[float, str]] = []
    for what, most, sums in (
        ("messages", limit.messages, [one.messages for one in spent]),
        ("tokens", limit.tokens, [one.tokens for one in spent]),
        ("means", money, [one.micros for one in spent]),
    ):
        if most is not None and sum(sums) >= most:
            found.append((_opens(spent, sums, most, now, window), what))
    if not found:
        return None
    opens, what = max(found)
    return what, opens


def _opens(
    spent: Sequence[Spent], sums: Sequence[int], most: int, now: float, window: float
) -> float:
    left = sum(sums)
    for one, amount in zip(spent, sums, strict=True):
        left -= amount
        if left < most:
            return one.at + BUCKET + window
    return now + window  # a limit of nothing never opens by itself


def _on(opens: float, now: float) -> str:
    day, today = (datetime.fromtimestamp(one, UTC).date() for one in (opens, now))
    return "" if day == today else f" on {day.isoformat()}"


def _number(usage: Mapping[str, object], key: str) -> int:
    found = usage.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 0
