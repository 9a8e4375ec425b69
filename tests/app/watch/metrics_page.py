"""Writes docs/metrics.md: every metric of /metrics with its labels.

Run `python -m tests.app.watch.metrics_page` after a change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from prometheus_client import Counter, Gauge, Histogram

from bridge.app.watch import event_loop
from bridge.app.watch.counts import Sizes
from bridge.app.watch.gauges import gauges_of
from bridge.model import AccountId
from bridge.model.store_status import StoreStatus
from bridge.ports.abilities.health import Health
from bridge.ports.blobs import BlobTotal
from bridge.router.runtime import metrics
from bridge.store import metrics as of_store
from bridge.store.sizes import DatabaseSize

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
_OLD = "Deprecated and removed in the next version: "

_INTRO = """# Metrics

`/metrics` serves these to Prometheus ([operations](operations.md#watch-it)). Labels are names of the configuration and fixed words: no text, no person and no channel is in them. What the bridge counts while it works costs 0.5 to 2.5 µs each; what is counted in the store is read when Prometheus asks, at most every 10 s, the files at most every 60 s. A metric that is renamed keeps its old name for one version.

Beside them are Python's own metrics of the process: `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_open_fds`, `python_gc_collections_total`.

`python -m tests.app.watch.metrics_page` writes this page.

"""  # noqa: E501


@dataclass(frozen=True)
class Described:
    """One metric: its name, as it is queried, and what it is."""

    name: str
    type: str
    labels: tuple[str, ...]
    text: str

    @property
    def series(self) -> tuple[str, ...]:
        """The names that queries use."""
        if self.type != "histogram":
            return (self.name,)
        return tuple(f"{self.name}_{suffix}" for suffix in ("bucket", "sum", "count"))


def described() -> list[Described]:
    """All metrics of the bridge, without those under an old name."""
    counted = [found for module in (metrics, of_store, event_loop) for found in _of(module)]
    return sorted([*counted, *_of_gauges()], key=lambda metric: metric.name)


def _of(module: ModuleType) -> Iterator[Described]:
    for value in vars(module).values():
        metric = getattr(value, "metric", value)
        if not isinstance(metric, Counter | Gauge | Histogram):
            continue
        (family,) = metric.describe()
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels: tuple[str, ...] = vars(metric)["_labelnames"]
        yield Described(name, family.type, labels, family.documentation)


def _of_gauges() -> Iterator[Described]:
    sizes = Sizes(DatabaseSize(1, 1, 1, 1), BlobTotal(1, 1))
    health = Health("connected", last_event_at=1.0)
    registry = gauges_of(StoreStatus({}, {}, {}, 0, []), {AccountId("a"): health}, 1.0, sizes=sizes)
    for family in registry.collect():
        if not family.documentation.startswith(_OLD):
            labels = tuple(family.samples[0].labels)
            yield Described(family.name, family.type, labels, family.documentation)


def page() -> str:
    """The text of the page."""
    lines = ["| metric | type | labels | what it says |", "|---|---|---|---|"]
    for metric in described():
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        lines.append(f"| `{metric.name}` | {metric.type} | {labels} | {metric.text} |")
    return _INTRO + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
