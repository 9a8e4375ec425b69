"""What the router counts, as Prometheus metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

KEPT = Counter("bridge_events_kept", "Payloads kept in the inbox", ["account"])
REPEATED = Counter("bridge_events_repeated", "Deliveries that were kept before", ["account"])
OUTCOMES = Counter("bridge_events_routed", "How events ended", ["outcome"])
FAILED = Counter("bridge_events_failed", "Events that no decoder or stage could take", ["account"])
SETTLED = Counter("bridge_operations_settled", "How operations ended", ["account", "state"])
RETRIED = Counter(
    "bridge_operations_retried", "Attempts that must be made again", ["account", "why"]
)
LOST = Counter("bridge_losses", "Things that a destination could not show", ["account", "kind"])
LATENCY = Histogram(
    "bridge_operation_seconds", "From the outbox row to the platform's answer", ["account"]
)
TURNS = Counter("bridge_turns", "How agents' turns ended", ["agent", "state"])
LOOK_BACK_ENDED = Counter(
    "bridge_look_back_ended", "Looks back that ended at their budget of requests", ["account"]
)
DEAF = Counter(
    "bridge_connector_deaf",
    "Connections that stood and heard nothing of what was said",
    ["account"],
)
ALIVE = Gauge("bridge_connector_up", "1 while the account's connection is alive", ["account"])
