"""Renews the tokens of tenants before they end, until cancelled."""

from __future__ import annotations

import structlog

from bridge.app.installs.desk import Installs
from bridge.errors import BridgeError, PlatformError, Refused
from bridge.model.tenants import Tenant, TenantId

log = structlog.get_logger()

_REFUSED_AGAIN = 3600.0  # seconds: an operator may have corrected the app's own secret
_LOOK = 60.0  # seconds between two looks at all tenants
_RENEW_AGAIN = "install the app again: its tokens end and the platform does not renew them"


async def renew_regularly(installs: Installs) -> None:
    """Renew what is due now, then every minute."""
    refused: dict[TenantId, float] = {}
    while True:
        try:
            await renew_due(installs, refused)
        except BridgeError as error:
            log.warning("tenants_unreadable", error=str(error))
        await installs.clock.sleep(_LOOK)


async def renew_due(installs: Installs, refused: dict[TenantId, float]) -> None:
    """Renew the tokens of every tenant that are due. A refusal is noted at the tenant, whose tokens
    are used until they end; `refused` has when each was refused last. Raises StoreError."""
    now = installs.clock.time()
    for tenant in await installs.store.tenants():
        app = installs.apps.get(tenant.platform)
        if app is None or tenant.state == "ended" or not app.renewal_due(tenant, now):
            continue
        if now - refused.get(tenant.id, 0.0) >= _REFUSED_AGAIN:
            await _renew(installs, tenant, refused)


async def _renew(installs: Installs, tenant: Tenant, refused: dict[TenantId, float]) -> None:
    try:
        await installs.renew(tenant)
    except Refused as error:
        refused[tenant.id] = installs.clock.time()
        if not tenant.trouble:
            log.error("tenant_renewal_refused", tenant=tenant.id, error=str(error))  # noqa: TRY400
        await installs.store.set_tenant_trouble(tenant.id, f"{error}; {_RENEW_AGAIN}")
    except PlatformError as error:
        log.warning("tenant_renewal_failed", tenant=tenant.id, error=str(error))
