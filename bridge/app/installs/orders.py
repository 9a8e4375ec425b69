"""What operators order about tenants, with a running bridge or with its store alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bridge.errors import ConfigError
from bridge.model.tenants import Tenant, TenantId, TenantState
from bridge.ports.store.tenants import TenantStore

_ORDERS: Mapping[str, tuple[tuple[TenantState, ...], TenantState]] = {
    "approve": (("waiting",), "active"),
    "suspend": (("waiting", "active"), "suspended"),
    "resume": (("suspended",), "active"),
}


async def find_tenant(store: TenantStore, name: str) -> Tenant:
    """Return the tenant with this id, native id or name. Raises ConfigError for none or several."""
    tenants = await store.tenants()
    exact = [one for one in tenants if name in (one.id, one.native_id)]
    found = exact or [one for one in tenants if one.name.casefold() == name.casefold()]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(one.id for one in found)
        raise ConfigError(f"Several tenants are called {name!r}; choose one by its id: {ids}")
    raise ConfigError(f"There is no tenant {name!r}; see `uacs-bridge tenants list`")


def state_after(order: str, tenant: Tenant) -> TenantState:
    """Return the state of a tenant after an order. Raises ConfigError if it does not fit."""
    before, after = _ORDERS[order]
    if tenant.state not in before:
        raise ConfigError(
            f"The tenant {tenant.id!r} is {tenant.state}; `{order}` is for one that is "
            f"{' or '.join(before)}"
        )
    return after


async def change_tenant(store: TenantStore, order: str, own_id: TenantId) -> TenantState:
    """Carry out an order with the store alone; the bridge sees it when it starts. Returns the new
    state. Raises ConfigError and StoreError."""
    tenant = await find_tenant(store, own_id)
    state = state_after(order, tenant)
    await store.set_tenant_state(tenant.id, state)
    return state


def tenant_json(tenant: Tenant) -> dict[str, Any]:
    """Return a tenant as JSON values; secrets are no part of it."""
    return asdict(tenant)
