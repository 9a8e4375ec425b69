"""Activities of a bot that many tenants install -> installations, removals, and who is heard."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bridge.model.tenants import Installation
from bridge.ports.installs import Tenancy
from connectors.teams.activity import (
    Json,
    is_installation,
    is_removal,
    object_of,
    string,
    tenant_of,
)
from connectors.teams.references import References, reference_of


class TenantGate:
    """Admits the activities of active tenants; learns of tenants that come and go.

    The app is installed in one team, chat or person's chat after the other: a tenant begins with
    the first, and ends with the last. `learn` stores the reference in an activity.
    """

    def __init__(
        self,
        tenancy: Tenancy,
        references: References,
        learn: Callable[[Json], Awaitable[None]],
    ) -> None:
        self._tenancy = tenancy
        self._references = references
        self._learn = learn

    async def admits(self, activity: Json) -> bool:
        """Whether the activity is to be kept. Raises StoreError."""
        tenant = tenant_of(activity).lower()
        if not tenant:
            return False
        if is_installation(activity):
            await self._added(tenant, activity)
        elif is_removal(activity):
            await self._removed(tenant, activity)
        return await self._tenancy.admits(tenant)

    async def _added(self, tenant: str, activity: Json) -> None:
        # First: once the tenant is saved, the rooms look for its channels, which are asked for at
        # this address.
        await self._learn(activity)
        known = await self._tenancy.tenant(tenant)
        if known is not None and known.state != "ended":
            return
        by = object_of(activity, "from")
        person = string(by, "aadObjectId") or string(by, "id")
        if await self._tenancy.installed(Installation(tenant, installed_by=person)) is None:
            refused = reference_of(activity, None)
            if refused is not None:
                await self._references.forget(refused.conversation)

    async def _removed(self, tenant: str, activity: Json) -> None:
        """Forget the conversations of the team or chat; end the tenant with the last one."""
        gone = reference_of(activity, None)
        if gone is None:
            return
        left = 0
        for reference in await self._references.all():
            if reference.tenant.lower() != tenant:
                continue
            same_team = bool(gone.team) and reference.team == gone.team
            if reference.conversation == gone.conversation or same_team:
                await self._references.forget(reference.conversation)
            else:
                left += 1
        if not left:
            await self._tenancy.ended(tenant, "the app was removed from its last conversation")
