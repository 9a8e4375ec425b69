"""Contract suite for stores, part: tenants and their secrets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.errors import StoreError
from bridge.model.tenants import Installation, Tenant, TenantLimits, tenant_id, tenant_secret
from bridge.ports.store.whole import Store

_ACME = Tenant(tenant_id("tin", "T1"), "tin", "T1", "Acme", "U1", 5.0, "active")
_WIRE = Tenant(tenant_id("wire", "9"), "wire", "9", "Wire", "", 4.0, "waiting", expires_at=9.0)
_SECRETS = {"token": "xoxb-1", "refresh": "xoxe-1"}


class TenantsContract:
    """Inherit it beside `StoreContract`; it needs the fixture `store`."""

    async def test_tenants_are_listed_in_the_order_of_their_installation(
        self, store: Store
    ) -> None:
        await store.put_tenant(_ACME, _SECRETS)
        await store.put_tenant(_WIRE, {})

        assert await store.tenants() == [_WIRE, _ACME]
        assert await store.tenant(_ACME.id) == _ACME
        assert await store.tenant(tenant_id("tin", "T2")) is None

    async def test_a_second_installation_replaces_the_secrets_of_the_first(
        self, store: Store
    ) -> None:
        await store.put_tenant(_ACME, _SECRETS)
        again = replace(_ACME, name="Acme Ltd", installed_at=6.0)
        await store.put_tenant(again, {"token": "xoxb-2"})

        assert await store.tenants() == [again]
        assert await store.tenant_secrets(_ACME.id) == {"token": "xoxb-2"}

    async def test_a_secret_of_a_tenant_is_read_as_a_credential(self, store: Store) -> None:
        await store.put_tenant(_ACME, _SECRETS)

        assert await store.credential(tenant_secret(_ACME.id, "token")) == "xoxb-1"
        assert await store.credential(tenant_secret(_ACME.id, "other")) is None
        assert await store.credential(tenant_secret(_WIRE.id, "token")) is None

    async def test_an_ended_tenant_has_no_secrets_and_is_not_renewed(self, store: Store) -> None:
        await store.put_tenant(_ACME, _SECRETS)

        assert await store.set_tenant_state(_ACME.id, "ended")
        assert not await store.set_tenant_state(_WIRE.id, "ended")
        assert not await store.renew_tenant(_ACME, Installation("", secrets=_SECRETS))
        assert await store.tenant_secrets(_ACME.id) == {}

    async def test_renewed_secrets_replace_those_of_their_names_and_end_the_trouble(
        self, store: Store
    ) -> None:
        await store.put_tenant(_ACME, _SECRETS)
        await store.set_tenant_trouble(_ACME.id, "refused")
        troubled = await store.tenant(_ACME.id)
        renewed = Installation("", secrets={"token": "xoxb-2"}, expires_at=99.0)

        assert troubled == replace(_ACME, trouble="refused")
        assert await store.renew_tenant(_ACME, renewed)
        assert await store.tenant(_ACME.id) == replace(_ACME, expires_at=99.0)
        assert await store.tenant_secrets(_ACME.id) == {"token": "xoxb-2", "refresh": "xoxe-1"}

    async def test_tokens_of_an_earlier_installation_do_not_replace_those_of_a_later_one(
        self, store: Store
    ) -> None:
        await store.put_tenant(replace(_ACME, installed_at=6.0), {"token": "xoxb-2"})

        assert not await store.renew_tenant(_ACME, Installation("", secrets=_SECRETS))
        assert await store.tenant_secrets(_ACME.id) == {"token": "xoxb-2"}

    async def test_a_new_key_seals_the_same_secrets(self, store: Store) -> None:
        await store.put_tenant(_ACME, _SECRETS)

        assert await store.rotate_tenant_key(_ACME.id) == 2
        assert await store.tenant_secrets(_ACME.id) == _SECRETS
        with pytest.raises(StoreError, match="no tenant"):
            await store.rotate_tenant_key(_WIRE.id)

    async def test_limits_of_a_tenant_outlast_a_change_of_its_state(self, store: Store) -> None:
        limits = TenantLimits(messages_per_minute=5)
        await store.put_tenant(_ACME, _SECRETS)

        assert await store.set_tenant_limits(_ACME.id, limits)
        assert not await store.set_tenant_limits(_WIRE.id, limits)
        await store.set_tenant_state(_ACME.id, "suspended")
        assert await store.tenant(_ACME.id) == replace(_ACME, state="suspended", limits=limits)

    async def test_a_removed_tenant_leaves_nothing(self, store: Store) -> None:
        await store.put_tenant(_ACME, _SECRETS)

        assert await store.remove_tenant(_ACME.id)
        assert not await store.remove_tenant(_ACME.id)
        assert (await store.tenants(), await store.tenant_secrets(_ACME.id)) == ([], {})

    async def test_a_state_of_an_installation_is_used_once(self, store: Store) -> None:
        assert await store.use_install_state(b"a", 1e12)
        assert not await store.use_install_state(b"a", 1e12)
        assert await store.use_install_state(b"b", 1e12)
