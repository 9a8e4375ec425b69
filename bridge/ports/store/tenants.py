"""Port: tenants and their sealed secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bridge.model.tenants import Installation, Tenant, TenantId, TenantLimits, TenantState


class TenantStore(Protocol):
    """Workspaces that installed an app of ours. The secrets of each are sealed with a key of its
    own, which the store's key seals."""

    async def tenants(self) -> Sequence[Tenant]:
        """Return all tenants, oldest installation first."""
        ...

    async def tenant(self, tenant: TenantId) -> Tenant | None:
        """Return a tenant; None if there is none with this id."""
        ...

    async def put_tenant(self, tenant: Tenant, secrets: Mapping[str, str]) -> None:
        """Save a tenant with all its secrets, under a new key; replaces an earlier installation of
        it. One transaction. Raises StoreError without the store's key."""
        ...

    async def set_tenant_state(self, tenant: TenantId, state: TenantState) -> bool:
        """Change the state; a tenant that has `ended` loses its secrets with it. Returns False if
        there is no such tenant."""
        ...

    async def set_tenant_limits(self, tenant: TenantId, limits: TenantLimits) -> bool:
        """Change the limits. Returns False if there is no such tenant."""
        ...

    async def set_tenant_trouble(self, tenant: TenantId, trouble: str) -> None:
        """Note why the tokens of a tenant cannot be renewed."""
        ...

    async def renew_tenant(self, tenant: Tenant, renewed: Installation) -> bool:
        """Save renewed secrets and their end in one transaction; other secrets stay. Returns False
        if the tenant has ended meanwhile, or was installed again since `tenant` was read."""
        ...

    async def tenant_secrets(self, tenant: TenantId) -> Mapping[str, str]:
        """Return the secrets of a tenant by name. Raises StoreError if they do not open."""
        ...

    async def tenant_secret(self, tenant: TenantId, name: str) -> str | None:
        """Return one secret of a tenant; None if there is none of this name."""
        ...

    async def rotate_tenant_key(self, tenant: TenantId) -> int:
        """Seal the secrets of a tenant with a new key, in one transaction: readers see either the
        old or the new form. Returns the number of secrets. Raises StoreError for no such tenant."""
        ...

    async def remove_tenant(self, tenant: TenantId) -> bool:
        """Delete a tenant with its key and its secrets. Returns False if there is none."""
        ...

    async def use_install_state(self, digest: bytes, expires: float) -> bool:
        """Note that a state of an installation was used. Returns False if it was used before;
        digests are remembered until they expire (seconds since 1970)."""
        ...
