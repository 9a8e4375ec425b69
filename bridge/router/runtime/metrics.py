"""What the router counts, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

from prometheus_client import Counter, Gauge, Histogram

M = TypeVar("M", Counter, Gauge, Histogram)


class Family(Generic[M]):
    """A metric by its labels; each child is looked up once."""

    def __init__(self, metric: M) -> None:
        find: Callable[..., M] = metric.labels
        self.labels = lru_cache(maxsize=4096)(find)


KEPT = Family(Counter("bridge_events_kept", "Payloads kept in the inbox", ["account"]))
REPEATED = Family(
    Counter("bridge_events_repeated", "Deliveries that were kept before", ["account"])
)
OUTCOMES = Family(Counter("bridge_events_routed", "How events ended", ["outcome"]))
FAILED = Family(
    Counter("bridge_events_failed", "Events that no decoder or stage could take", ["account"])
)
SETTLED = Family(Counter("bridge_operations_settled", "How operations ended", ["account", "state"]))
RETRIED = Family(
    Counter("bridge_operations_retried", "Attempts that must be made again", ["account", "why"])
)
LOST = Family(
    Counter("bridge_losses", "Things that a destination could not show", ["account", "kind"])
)
LATENCY = Family(
    Histogram(
        "bridge_operation_seconds", "From the outbox row to the platform's answer", ["account"]
    )
)
TURNS = Family(Counter("bridge_turns", "How agents' turns ended", ["agent", "state"]))
TOOL_CALLS = Family(Counter("bridge_tool_calls", "How calls of tools ended", ["server", "how"]))
LOOK_BACK_ENDED = Family(
    Counter(
        "bridge_look_back_ended", "Looks back that ended at their budget of requests", ["account"]
    )
)
DEAF = Family(
    Counter(
        "bridge_connector_deaf",
        "Connections that stood and heard nothing of what was said",
        ["account"],
    )
)
SENDING_STOPPED = Family(
    Gauge(
        "bridge_sending_stopped",
        "1 while nothing is sent through the account because another bridge uses its tokens",
        ["account"],
    )
)
ALIVE = Family(
    Gauge("bridge_connector_up", "1 while the account's connection is alive", ["account"])
)
NOT_ADMITTED = Family(Counter("bridge_agent_refusals", "People whom it does not admit", ["agent"]))
BUDGET_SPENT = Family(
    Counter("bridge_agent_budget_spent", "Turns refused by a budget", ["agent", "whose"])
)
AGENT_TOKENS = Family(Counter("bridge_agent_tokens", "Tokens of agents' models", ["agent", "kind"]))
AGENT_MONEY = Family(Counter("bridge_agent_money", "What agents cost, by their prices", ["agent"]))
