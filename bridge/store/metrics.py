"""What the store's writer measures, as Prometheus metrics: twice for each COMMIT, never for each
row."""

from __future__ import annotations

from prometheus_client import Histogram

COMMIT_SECONDS = Histogram(
    "bridge_store_commit_seconds",
    "How long the store's COMMIT took, which waits for the disk; on a server, all of it",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
COMMIT_UNITS = Histogram(
    "bridge_store_commit_units",
    "Units of work that shared one COMMIT",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 500),
)
