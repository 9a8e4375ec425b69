"""What agents may cost, by room, person and agent, in an hour and in a day; and what they did.

What a turn that has begun costs is known at its end: it is not cut off, and the next one waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bridge.model import ActorId, RoomId
from bridge.model.refs import join_key, split_key
from bridge.model.turn_records import BUCKET, Spending
from bridge.ports.clock import Clock
from bridge.ports.store.agents import AgentStore
from bridge.router.runtime import metrics

HOUR, DAY = 3600.0, 86_400.0
_MICROS = 1_000_000


@dataclass(frozen=True)
class Limit:
    """The most that may be used; None: no limit. `money` is in the currency of the prices."""

    messages: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True)
class Quota:
    """The limits of an hour and of a day, each a sliding window."""

    hour: Limit = Limit()
    day: Limit = Limit()


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens. `cached` is for input tokens that the vendor had read before;
    None: the price of other input."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None


@dataclass(frozen=True)
class QuotaSettings:
    """The quotas of rooms, agents and tenants (by platform and workspace), the quota of each
    person, and the prices of models."""

    rooms: Mapping[RoomId, Quota] = field(default_factory=dict[RoomId, Quota])
    agents: Mapping[str, Quota] = field(default_factory=dict[str, Quota])
    person: Quota = Quota()
    tenants: Mapping[tuple[str, str], Quota] = field(default_factory=dict[tuple[str, str], Quota])
    prices: Mapping[str, Prices] = field(default_factory=dict[str, Prices])


class Quotas:
    """Counts what turns use, durably, and compares it with the quotas."""

    def __init__(self, store: AgentStore, clock: Clock, settings: QuotaSettings) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings

    def change(self, settings: QuotaSettings) -> None:
        """Replace the quotas and prices."""
        self._settings = settings

    async def refuses(self, room: RoomId, agent: str, person: str, actor: ActorId) -> str:
        """Return which quota is used up, and when it opens again; empty while none is. `person` is
        who pays, `actor` the account with which they asked. Raises StoreError."""
        now = self._clock.time()
        for account_key, name, quota in self._limited(room, agent, person, actor):
            for limit, window, words in ((quota.hour, HOUR, "hour"), (quota.day, DAY, "day")):
                if limit == Limit():
                    continue
                buckets = await self._store.spent(account_key, now - window)
                if exceeded := _exceeded(buckets, limit, now, window):
                    unit, opens = exceeded
                    metrics.QUOTA_REFUSALS.labels(agent, account_key.partition(":")[0]).inc()
                    at = datetime.fromtimestamp(opens, UTC)
                    return (
                        f"the {unit} of this {words} for {name} are used up; they open again at "
                        f"{at:%H:%M} UTC{_on(opens, now)}"
                    )
        return ""

    async def count_turn(self, room: RoomId, agent: str, person: str, actor: ActorId) -> None:
        """Count one turn that has begun. Raises StoreError."""
        await self._spend(room, agent, person, actor, Spending(self._clock.time(), messages=1))

    async def count_usage(
        self, room: RoomId, agent: str, person: str, actor: ActorId, usage: Mapping[str, object]
    ) -> None:
        """Count the tokens and the money that a turn used, by the vendor's report
        (`metadata.usage`). Raises StoreError."""
        input_tokens, output = _number(usage, "input_tokens"), _number(usage, "output_tokens")
        tokens = input_tokens + output
        if not tokens:
            return
        prices = self._settings.prices.get(agent, Prices())
        micros = cost_of(prices, input_tokens, output, _number(usage, "cached_tokens"))
        metrics.AGENT_TOKENS.labels(agent, "input").inc(input_tokens)
        metrics.AGENT_TOKENS.labels(agent, "output").inc(output)
        metrics.AGENT_MONEY.labels(agent).inc(micros / _MICROS)
        spending = Spending(self._clock.time(), tokens=tokens, micros=micros)
        await self._spend(room, agent, person, actor, spending)

    async def forget(self, account_key: str) -> None:
        """Forget what was spent under this key. Raises StoreError."""
        await self._store.forget_spending(account_key)

    async def _spend(
        self, room: RoomId, agent: str, person: str, actor: ActorId, spending: Spending
    ) -> None:
        names = [room_quota_key(room), agent_quota_key(agent), person_quota_key(person)]
        if (tenant := _workspace_of(actor)) in self._settings.tenants:
            names.append(tenant_quota_key(tenant))
        await self._store.spend(names, spending)

    def _limited(
        self, room: RoomId, agent: str, person: str, actor: ActorId
    ) -> list[tuple[str, str, Quota]]:
        settings, tenant = self._settings, _workspace_of(actor)
        keys = [
            (room_quota_key(room), "this room", settings.rooms.get(room, Quota())),
            (agent_quota_key(agent), agent, settings.agents.get(agent, Quota())),
            (person_quota_key(person), "you", settings.person),
            (
                tenant_quota_key(tenant),
                "your workspace",
                settings.tenants.get(tenant, Quota()),
            ),
        ]
        return [entry for entry in keys if entry[2] != Quota()]


def room_quota_key(room: RoomId) -> str:
    return join_key("room", room)


def agent_quota_key(agent: str) -> str:
    return join_key("agent", agent)


def person_quota_key(person: str | ActorId) -> str:
    """Return the key of a person's quota; `person` is the id of the person, or of an account that
    is not linked."""
    return f"person:{person}"


def tenant_quota_key(tenant: tuple[str, str]) -> str:
    """Return the key of a tenant's quota, by its platform and workspace."""
    return f"tenant:{join_key(*tenant)}"


def _workspace_of(actor: ActorId) -> tuple[str, str]:
    """The platform and the workspace of an account; empty for what is no account."""
    segments = split_key(actor)
    return (segments[0], segments[1]) if len(segments) == 3 else ("", "")


def cost_of(prices: Prices, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> int:
    """Return the price of these tokens, in millionths of the currency."""
    cached = min(cached_tokens, input_tokens)
    cached_price = prices.input if prices.cached is None else prices.cached
    whole = (input_tokens - cached) * prices.input + cached * cached_price
    return round(whole + output_tokens * prices.output)


def _exceeded(
    buckets: Sequence[Spending], limit: Limit, now: float, window: float
) -> tuple[str, float] | None:
    """The unit that is used up, and when enough of it has left the window."""
    money = None if limit.money is None else round(limit.money * _MICROS)
    reached: list[tuple[float, str]] = []
    for unit, most, sums in (
        ("messages", limit.messages, [bucket.messages for bucket in buckets]),
        ("tokens", limit.tokens, [bucket.tokens for bucket in buckets]),
        ("means", money, [bucket.micros for bucket in buckets]),
    ):
        if most is not None and sum(sums) >= most:
            reached.append((_opens(buckets, sums, most, now, window), unit))
    if not reached:
        return None
    opens, unit = max(reached)
    return unit, opens


def _opens(
    buckets: Sequence[Spending], sums: Sequence[int], most: int, now: float, window: float
) -> float:
    left = sum(sums)
    for bucket, amount in zip(buckets, sums, strict=True):
        left -= amount
        if left < most:
            return bucket.at + BUCKET + window
    return now + window  # a limit of nothing never opens by itself


def _on(opens: float, now: float) -> str:
    day, today = (datetime.fromtimestamp(moment, UTC).date() for moment in (opens, now))
    return "" if day == today else f" on {day.isoformat()}"


def _number(usage: Mapping[str, object], key: str) -> int:
    count = usage.get(key)
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0
