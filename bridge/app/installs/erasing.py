"""Erases a tenant: its tokens, messages, files and people, with a report of what went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import structlog

from bridge.app.installs.accounts import room_of
from bridge.app.settings.installs import InstallSettings
from bridge.model import AccountId, ActorId, RoomId
from bridge.model.erasure_records import Erasure
from bridge.model.tenants import Tenant
from bridge.ports.store.erasures import ErasureStore
from bridge.ports.store.tenants import TenantStore

log = structlog.get_logger()

_AT_ONCE = 50  # people in one transaction: others write between two of them


class TenantErasureStore(ErasureStore, TenantStore, Protocol):
    """What the erasure of a tenant needs of the store."""


async def erase_tenant(
    store: TenantErasureStore,
    tenant: Tenant,
    order: Mapping[str, Any],
    settings: InstallSettings,
    *,
    account: AccountId | None,
    dry_run: bool,
) -> dict[str, int]:
    """Erase everything of a tenant from the store, or only count it.

    Args:
        order: the `id` of the erasure, `by` whom and the `reason`.
        account: the account that serves this tenant alone; None if others share it.

    Raises:
        ErasureForbidden: a legal hold protects one of its messages; what was erased before stays
            erased, and the tenant stays.
        StoreError: the store cannot be written.
    """
    counts: Counter[str] = Counter()
    rooms = tuple(
        RoomId(room_of(name, template, tenant))
        for name, template in settings.rooms.items()
        if template.scope == "tenant"
    )
    actors = await store.actors_of(tenant.id)
    for erasure in _erasures(tenant, actors, order, rooms, account):
        record = await store.erase(erasure, dry_run=dry_run)
        counts.update(record.counts)
        if not dry_run:
            log.info("tenant_erased_in_part", tenant=tenant.id, erasure=erasure.id)
    counts["people"] = len(actors)
    counts["tokens"] = len(await store.tenant_secrets(tenant.id))
    if not dry_run:
        await store.remove_tenant(tenant.id)
        log.info("tenant_erased", tenant=tenant.id, **counts)
    return {kind: number for kind, number in counts.items() if number}


def _erasures(
    tenant: Tenant,
    actors: Sequence[ActorId],
    order: Mapping[str, Any],
    rooms: tuple[RoomId, ...],
    account: AccountId | None,
) -> Iterator[Erasure]:
    """The erasures of a tenant: the workspace with the first people, then the other people."""
    own_id, by, reason = str(order["id"]), str(order["by"]), str(order["reason"])
    first = tuple(actors[:_AT_ONCE])
    yield Erasure(
        own_id, by, reason, actors=first, workspace=tenant.id, rooms=rooms, account=account
    )
    for number, start in enumerate(range(_AT_ONCE, len(actors), _AT_ONCE), 2):
        some = tuple(actors[start : start + _AT_ONCE])
        yield Erasure(f"{own_id}-{number}", by, reason, actors=some, workspace=tenant.id)
