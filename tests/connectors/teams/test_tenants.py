"""The bot that many tenants install: whose activities are kept, and what is known by then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.model.tenants import Installation, Tenant, TenantId, TenantState
from bridge.ports.abilities.http import AsgiApp
from connectors.teams.references import References
from tests.connectors.teams.payloads import CHANNEL, TENANT, activity
from tests.connectors.teams.test_receive import MANY_TENANTS, Endpoint

INSTALLED = activity("installationUpdate", action="add")
REMOVED = activity("installationUpdate", action="remove")


@dataclass
class Tenants:
    """Implements `Tenancy`. `becomes` is the state of who installs; None: nobody may. `known_then`
    has the conversations that were known at each installation."""

    becomes: TenantState | None = "active"
    references: References | None = None
    known_then: list[list[str]] = field(default_factory=list[list[str]])
    one: Tenant | None = None

    async def admits(self, native_id: str) -> bool:
        return self.one is not None and self.one.state == "active"

    async def tenants(self) -> Sequence[Tenant]:
        return [self.one] if self.one else []

    async def tenant(self, native_id: str) -> Tenant | None:
        return self.one

    async def secrets(self, native_id: str) -> Mapping[str, str]:
        return {}

    async def installed(self, installation: Installation) -> Tenant | None:
        assert self.references
        known = await self.references.all()
        self.known_then.append([reference.conversation for reference in known])
        if self.becomes is not None:
            own_id = TenantId(f"teams:{installation.native_id}")
            self.one = Tenant(own_id, "teams", installation.native_id, "", "", 0.0, self.becomes)
        return self.one

    async def ended(self, native_id: str, reason: str) -> None:
        self.one = None

    def account_app(self, native_id: str) -> AsgiApp | None:
        return None


def endpoint_of(tenants: Tenants) -> Endpoint:
    endpoint = Endpoint(MANY_TENANTS, tenants)
    tenants.references = endpoint.references
    return endpoint


async def test_a_tenant_begins_when_its_conversation_is_known() -> None:
    """The rooms look for its channels at once, and they are asked for at that address."""
    tenants = Tenants()
    endpoint = endpoint_of(tenants)

    for _ in range(2):
        assert (await endpoint.post(INSTALLED)).status_code == 201

    assert tenants.known_then == [[CHANNEL]]
    assert len(await endpoint.references.all()) == 1


async def test_nothing_is_kept_of_a_tenant_that_may_not_install() -> None:
    endpoint = endpoint_of(Tenants(becomes=None))

    assert (await endpoint.post(INSTALLED)).status_code == 201
    assert (await endpoint.post(activity(text="hello"))).status_code == 201

    assert await endpoint.references.all() == []
    assert endpoint.inbox.raws == []


async def test_the_conversation_of_a_tenant_that_waits_for_approval_is_known() -> None:
    endpoint = endpoint_of(Tenants(becomes="waiting"))

    await endpoint.post(INSTALLED)
    await endpoint.post(activity(text="hello"))

    assert [reference.tenant for reference in await endpoint.references.all()] == [TENANT]
    assert endpoint.inbox.raws == []


async def test_a_tenant_ends_with_its_last_conversation() -> None:
    tenants = Tenants()
    endpoint = endpoint_of(tenants)

    await endpoint.post(INSTALLED)
    await endpoint.post(REMOVED)

    assert tenants.one is None
    assert await endpoint.references.all() == []
