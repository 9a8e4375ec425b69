"""A renamed metric is exported under both names, and the old one's HELP names the new one."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from prometheus_client import REGISTRY, generate_latest

from bridge.router.runtime import metrics

RENAMED: dict[str, tuple[str, metrics.RenamedCounter, tuple[str, ...]]] = {
    "bridge_connector_deaf": ("bridge_connector_stalled", metrics.STALLED, ("acme",)),
    "bridge_look_back_ended": ("bridge_reconcile_limited", metrics.RECONCILE_LIMITED, ("acme",)),
    "bridge_agent_budget_spent": (
        "bridge_agent_quota_refusals", metrics.QUOTA_REFUSALS, ("bot", "room"),
    ),
    "bridge_operations_retried": (
        "bridge_operation_retries", metrics.RETRIED, ("acme", "unsettled"),
    ),
    "bridge_tool_calls": ("bridge_agent_tool_calls", metrics.TOOL_CALLS, ("files", "done")),
}  # fmt: skip
OLD_LABELS = {
    "bridge_agent_budget_spent": ("whose", "owner"),
    "bridge_operations_retried": ("why", "reason"),
    "bridge_tool_calls": ("how", "outcome"),
}


@pytest.mark.parametrize("old_name", RENAMED)
def test_a_renamed_counter_counts_under_both_names(old_name: str) -> None:
    new_name, counter, (first, *others) = RENAMED[old_name]
    labels = (f"{first}-{uuid4().hex}", *others)

    counter.labels(*labels).inc()
    counter.labels(*labels).inc(2)

    text = generate_latest(REGISTRY).decode()
    for name in (new_name, old_name):
        assert re.search(rf'^{name}_total{{.*"{labels[0]}".*}} 3\.0$', text, re.MULTILINE), name
    assert f"# HELP {old_name}_total Deprecated and removed in the next version: {new_name}" in text
    assert f"# HELP {new_name}_total Deprecated" not in text


@pytest.mark.parametrize("old_name", OLD_LABELS)
def test_a_renamed_label_has_its_old_name_under_the_old_metric(old_name: str) -> None:
    new_name, counter, labels = RENAMED[old_name]
    old_label, new_label = OLD_LABELS[old_name]

    counter.labels(*labels).inc()

    text = generate_latest(REGISTRY).decode()
    for name, label in ((old_name, old_label), (new_name, new_label)):
        assert re.search(rf'^{name}_total{{.*\b{label}="{labels[1]}"', text, re.MULTILINE), name
