"""The state of queues and connections as Prometheus gauges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bridge.app.watch.counts import Sizes
from bridge.model import AccountId
from bridge.model.assignments import Assignment
from bridge.model.store_status import StoreStatus
from bridge.ports.abilities.health import Health
from bridge.router.runtime.metrics import replaced_by

INBOX_STATES = ("waiting", "failed", "done")
OUTBOX_STATES = ("waiting", "sending", "done", "dead", "unproved", "cancelled")
TURN_STATES = ("queued", "running", "waiting", "done", "failed", "interrupted")
_NOTHING = StoreStatus({}, {}, {}, 0, [])
_UP = ("connected", "listening")
_RECEIVED = "bridge_account_last_received_timestamp_seconds"


def gauges_of(
    status: StoreStatus | None,
    healths: Mapping[AccountId, Health],
    now: float,
    *,
    sizes: Sizes | None = None,
    writable: bool = True,
    epochs: Mapping[Assignment, int] | None = None,
) -> CollectorRegistry:
    """A registry with the gauges of this moment only, so that a removed account leaves none behind.

    `status` and `sizes` are None while the store cannot be read; `now` is in seconds since 1970.
    `epochs`: of what this process works for; None if it has the store for itself.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(
        _Moment(status or _NOTHING, sizes, healths, now, writable=writable, epochs=epochs)
    )
    return registry


class _Moment(Collector):
    def __init__(
        self, status: StoreStatus, sizes: Sizes | None, healths: Mapping[AccountId, Health],
        now: float, *, writable: bool, epochs: Mapping[Assignment, int] | None,
    ) -> None:  # fmt: skip
        self._sizes = sizes
        self._epochs = epochs
        self._writable = writable
        self._status = status
        self._healths = healths
        self._now = now

    def collect(self) -> Iterator[GaugeMetricFamily]:
        status = self._status
        yield GaugeMetricFamily(
            "bridge_store_writable", "1 while the store accepts writes",
            value=float(self._writable),
        )  # fmt: skip
        yield from _of_sizes(self._sizes)
        if self._epochs is not None:
            yield self._assignments(self._epochs)
        if status is _NOTHING:
            yield from self._accounts()
            return
        yield _by_state("bridge_inbox_rows", "Payloads in the inbox", status.inbox, INBOX_STATES)
        yield _by_state(
            "bridge_outbox_rows", "Operations in the outbox", status.outbox, OUTBOX_STATES
        )
        yield _by_state("bridge_turn_rows", "Agents' turns", status.turns, TURN_STATES)
        yield GaugeMetricFamily("bridge_messages", "Messages in the archive", value=status.messages)
        yield self._waiting()
        yield from self._backlog()
        yield self._oldest()
        yield from self._accounts()

    def _assignments(self, epochs: Mapping[Assignment, int]) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "bridge_assignment_epoch",
            "What this process works for; the value rises at each change of hands",
            labels=["assignment"],
        )
        for name, epoch in epochs.items():
            family.add_metric([name], epoch)
        return family

    def _waiting(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "bridge_lanes_waiting", "Lanes with waiting operations", labels=["account"]
        )
        for account in self._healths:
            lanes = [lane for lane in self._status.lanes if lane.account == account]
            family.add_metric([account], len(lanes))
        return family

    def _backlog(self) -> Iterator[GaugeMetricFamily]:
        events, operations = (
            GaugeMetricFamily(name, text, labels=["account"])
            for name, text in (
                ("bridge_account_waiting_events", "Payloads in the inbox that wait to be routed"),
                ("bridge_account_waiting_operations", "Operations that wait to be sent"),
            )
        )
        for account in self._healths:
            lanes = [lane for lane in self._status.lanes if lane.account == account]
            events.add_metric([account], self._status.waiting.get(account, 0))
            operations.add_metric([account], sum(lane.waiting for lane in lanes))
        yield events
        yield operations

    def _oldest(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "bridge_lane_oldest_seconds",
            "How long the oldest waiting operation has waited",
            labels=["account"],
        )
        for account in self._healths:
            times = [lane.oldest for lane in self._status.lanes if lane.account == account]
            family.add_metric([account], max(0.0, self._now - min(times)) if times else 0.0)
        return family

    def _accounts(self) -> Iterator[GaugeMetricFamily]:
        up = GaugeMetricFamily(
            "bridge_account_up", "1 while the account can receive", labels=["account"]
        )
        received, old_gauge = (
            GaugeMetricFamily(name, text, labels=["account"])
            for name, text in (
                (_RECEIVED, "When the account last received something from its platform"),
                ("bridge_account_heard_timestamp_seconds", replaced_by(_RECEIVED)),
            )
        )
        for account, health in self._healths.items():
            up.add_metric([account], float(health.state in _UP))
            if health.last_event_at is not None:
                received.add_metric([account], health.last_event_at)
                old_gauge.add_metric([account], health.last_event_at)
        yield up
        yield received
        yield old_gauge


def _of_sizes(sizes: Sizes | None) -> Iterator[GaugeMetricFamily]:
    if sizes is None:
        return
    own, files = sizes.database, sizes.files
    values: list[tuple[str, str, float]] = [
        ("bridge_store_database_bytes", "Size of the store's database", own.database),
        ("bridge_store_free_bytes", "Free pages within the database", own.free),
        ("bridge_store_log_bytes", "Size of the store's write-ahead log", own.log),
        ("bridge_store_disk_available_bytes", "What is left on the store's disk", own.disk_left),
    ]
    if files is not None:
        values += [
            ("bridge_files_bytes", "Size of the stored files", files.size),
            ("bridge_files", "Stored files", files.files),
        ]
    for name, text, value in values:
        yield GaugeMetricFamily(name, text, value=value)


def _by_state(
    name: str, text: str, counts: Mapping[str, int], states: tuple[str, ...]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=["state"])
    for state in states:
        family.add_metric([state], counts.get(state, 0))
    return family
