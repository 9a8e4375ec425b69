"""`uacs-bridge tenants`, while no bridge runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from bridge.app.build import open_store
from bridge.app.settings.file import read_settings
from bridge.model.tenants import Tenant, TenantLimits, TenantState, tenant_id
from bridge.runtime.clock import SystemClock
from tests.app.running import SMALL, cli, write

TOKEN = "xoxb-very-secret-token"


def tenant(state: TenantState = "active") -> Tenant:
    own_id = tenant_id("slack", "T0ACME")
    return Tenant(own_id, "slack", "T0ACME", "Acme", "U0ACME01", 1_700_000_000.0, state)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write(tmp_path / "bridge.yaml", SMALL)


def keep(config: Path, tenant: Tenant) -> None:
    async def put() -> None:
        store = await open_store(read_settings(config), SystemClock())
        await store.put_tenant(tenant, {"bot_token": TOKEN})
        await store.close()

    asyncio.run(put())


def kept(config: Path) -> tuple[Tenant | None, Mapping[str, str]]:
    async def read() -> tuple[Tenant | None, Mapping[str, str]]:
        store = await open_store(read_settings(config), SystemClock())
        own_id = tenant().id
        found = await store.tenant(own_id), await store.tenant_secrets(own_id)
        await store.close()
        return found

    return asyncio.run(read())


def test_tenants_are_listed_and_shown_without_their_tokens(config: Path) -> None:
    keep(config, tenant())
    outputs = [
        cli("tenants", *command, "-c", str(config)).output
        for command in (
            ("list",),
            ("show", "acme"),
            ("list", "--json"),
            ("show", "T0ACME", "--json"),
        )
    ]

    assert all("slack:T0ACME" in output for output in outputs)
    assert not any(TOKEN in output for output in outputs)
    assert json.loads(outputs[3])["installed_by"] == "U0ACME01"


def test_orders_change_the_state_and_refuse_what_does_not_fit(config: Path) -> None:
    keep(config, tenant("waiting"))
    refused = cli("tenants", "resume", "acme", "-c", str(config))
    states: list[str] = []
    for order in ("approve", "suspend", "resume"):
        assert cli("tenants", order, "acme", "-c", str(config)).exit_code == 0
        found, _ = kept(config)
        states.append(found.state if found else "")

    assert refused.exit_code == 2
    assert "is waiting; `resume` is for one that is suspended" in refused.stderr
    assert states == ["active", "suspended", "active"]


def test_limits_and_keys_of_a_tenant_change(config: Path) -> None:
    keep(config, tenant())
    limited = cli("tenants", "limit", "acme", "--messages-per-minute", "5", "-c", str(config))
    rotated = cli("tenants", "rotate-keys", "-c", str(config))
    found, secrets = kept(config)

    assert limited.output == "slack:T0ACME: messages_per_minute 5\n"
    assert rotated.output == "Sealed 1 tokens of 1 tenants with new keys\n"
    assert found is not None
    assert (found.limits, secrets) == (TenantLimits(messages_per_minute=5), {"bot_token": TOKEN})


def test_a_tenant_is_erased_only_with_yes(config: Path) -> None:
    keep(config, tenant())
    counted = cli("tenants", "erase", "acme", "-c", str(config))
    before, _ = kept(config)
    erased = cli("tenants", "erase", "acme", "--yes", "--reason", "over", "-c", str(config))

    assert "To erase it" in counted.output
    assert before is not None
    assert "1 tokens" in erased.output
    assert kept(config) == (None, {})


def test_an_unknown_tenant_is_an_error(config: Path) -> None:
    keep(config, tenant())
    result = cli("tenants", "show", "nobody", "-c", str(config))

    assert result.exit_code == 2
    assert "There is no tenant 'nobody'" in result.stderr
