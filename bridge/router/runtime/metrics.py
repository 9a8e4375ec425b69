"""What the router counts, as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

from prometheus_client import Counter, Gauge, Histogram

M = TypeVar("M", Counter, Gauge, Histogram)

_AGENT_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600)


class Family(Generic[M]):
    """A metric by its labels; each child is looked up once."""

    def __init__(self, metric: M) -> None:
        self.metric = metric
        find: Callable[..., M] = metric.labels
        self.labels = lru_cache(maxsize=4096)(find)


class _Children:
    """The counters of both names, for one set of label values."""

    def __init__(self, *children: Counter) -> None:
        self._children = children

    def inc(self, amount: float = 1) -> None:
        """Add `amount` under both names."""
        for child in self._children:
            child.inc(amount)


class RenamedCounter:
    """A counter that is exported under its name and, for one version, under its old name.

    The HELP text of the old name says which name replaces it. `old_labels` are the names that the
    labels have there, if they differ.
    """

    def __init__(
        self,
        name: str,
        text: str,
        labels: list[str],
        *,
        renamed_from: str,
        old_labels: list[str] | None = None,
    ) -> None:
        families = (
            Family(Counter(name, text, labels)),
            Family(Counter(renamed_from, replaced_by(f"{name}_total"), old_labels or labels)),
        )
        self.metric = families[0].metric

        @lru_cache(maxsize=4096)
        def children_of(*values: str) -> _Children:
            return _Children(*(family.labels(*values) for family in families))

        self.labels = children_of


def replaced_by(name: str) -> str:
    """The HELP text of a metric under its old name."""
    return f"Deprecated and removed in the next version: {name} replaces it"


KEPT = Family(Counter("bridge_events_kept", "Payloads stored in the inbox", ["account"]))
REPEATED = Family(
    Counter("bridge_events_repeated", "Deliveries of payloads that were stored before", ["account"])
)
OUTCOMES = Family(Counter("bridge_events_routed", "How events ended", ["outcome"]))
FAILED = Family(
    Counter("bridge_events_failed", "Events that failed in a decoder or stage", ["account"])
)
REFUSED = Family(
    Counter("bridge_events_refused", "Events that no room admitted", ["account", "reason"])
)
SETTLED = Family(Counter("bridge_operations_settled", "How operations ended", ["account", "state"]))
RETRIED = RenamedCounter(
    "bridge_operation_retries",
    "Attempts of operations that are repeated",
    ["account", "reason"],
    renamed_from="bridge_operations_retried",
    old_labels=["account", "why"],
)
LOST = Family(
    Counter(
        "bridge_losses",
        "Losses: parts of messages that a destination could not show",
        ["account", "kind"],
    )
)
LATENCY = Family(
    Histogram(
        "bridge_operation_seconds", "From the outbox row to the platform's answer", ["account"]
    )
)
FIRST_OUTPUT = Family(
    Histogram(
        "bridge_agent_first_output_seconds",
        "From the start of a turn to the first words that can be shown",
        ["agent"],
        buckets=_AGENT_SECONDS,
    )
)
TURN_SECONDS = Family(
    Histogram(
        "bridge_agent_turn_seconds",
        "From the start of a turn to the end of its answer",
        ["agent"],
        buckets=_AGENT_SECONDS,
    )
)
TURNS = Family(Counter("bridge_turns", "How agents' turns ended", ["agent", "state"]))
TOOL_CALLS = RenamedCounter(
    "bridge_agent_tool_calls",
    "How agents' tool calls ended",
    ["server", "outcome"],
    renamed_from="bridge_tool_calls",
    old_labels=["server", "how"],
)
RECONCILE_LIMITED = RenamedCounter(
    "bridge_reconcile_limited",
    "Comparisons with a platform that ended at their limit of requests",
    ["account"],
    renamed_from="bridge_look_back_ended",
)
STALLED = RenamedCounter(
    "bridge_connector_stalled",
    "Connections that were open and did not deliver new events",
    ["account"],
    renamed_from="bridge_connector_deaf",
)
SENDING_STOPPED = Family(
    Gauge(
        "bridge_sending_stopped",
        "1 while the account sends nothing because another bridge uses its tokens",
        ["account"],
    )
)
ALIVE = Family(
    Gauge("bridge_connector_up", "1 while the account's connection is alive", ["account"])
)
NOT_ADMITTED = Family(
    Counter("bridge_agent_refusals", "Questions of people whom the agent does not admit", ["agent"])
)
QUOTA_REFUSALS = RenamedCounter(
    "bridge_agent_quota_refusals",
    "Turns that a used-up quota refused",
    ["agent", "owner"],
    renamed_from="bridge_agent_budget_spent",
    old_labels=["agent", "whose"],
)
AGENT_TOKENS = Family(
    Counter("bridge_agent_tokens", "Tokens that agents' models read and wrote", ["agent", "kind"])
)
AGENT_MONEY = Family(Counter("bridge_agent_money", "Cost of agents by their prices", ["agent"]))
