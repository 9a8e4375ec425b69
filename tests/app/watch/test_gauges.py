"""The gauges of one moment, as Prometheus reads them."""

from __future__ import annotations

from prometheus_client import generate_latest

from bridge.app.watch.gauges import gauges_of
from bridge.model import AccountId
from bridge.model.assignments import account_assignment
from bridge.ports.abilities.health import Health


def test_a_renamed_gauge_has_its_value_under_both_names() -> None:
    health = Health("connected", last_event_at=1700000000.0)

    text = generate_latest(gauges_of(None, {AccountId("acme"): health}, 1700000060.0)).decode()

    new_name = "bridge_account_last_received_timestamp_seconds"
    old_name = "bridge_account_heard_timestamp_seconds"
    for name in (new_name, old_name):
        assert f'\n{name}{{account="acme"}} 1.7e+09\n' in text
    assert (
        f"# HELP {old_name} Deprecated and removed in the next version: {new_name} replaces it\n"
        in text
    )


def test_what_this_process_works_for_has_its_epoch() -> None:
    alone = generate_latest(gauges_of(None, {}, 0.0)).decode()
    shared = generate_latest(
        gauges_of(None, {}, 0.0, epochs={account_assignment(AccountId("slack")): 3})
    ).decode()

    assert "bridge_assignment_epoch" not in alone
    assert 'bridge_assignment_epoch{assignment="account slack"} 3.0' in shared
