"""Tenants and their secrets as rows. A secret is sealed with the tenant's key, that with ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bridge.errors import StoreError
from bridge.model.tenants import Installation, Tenant, TenantId, TenantLimits, TenantState
from bridge.store.connection import Connection
from bridge.store.queries import read_queries
from bridge.store.seal import Seal, key_to_text, make_key, text_to_key

SQL = read_queries("tenants")


def tenants(db: Connection) -> Sequence[Tenant]:
    return [_tenant_of(row) for row in db.execute(SQL["tenants"]).fetchall()]


def tenant(db: Connection, own_id: TenantId) -> Tenant | None:
    row = db.execute(SQL["tenant"], (own_id,)).fetchone()
    return None if row is None else _tenant_of(row)


def _tenant_of(row: tuple[Any, ...]) -> Tenant:
    own_id, platform, native_id, name, by, at, state, limits, expires_at, trouble = row
    return Tenant(
        own_id, platform, native_id, name, by, at, state, TenantLimits(**json.loads(limits)),
        expires_at, trouble,
    )  # fmt: skip


def put(db: Connection, new: Tenant, values: Mapping[str, str], seal: Seal) -> None:
    key = make_key()
    columns = (
        new.id, new.platform, new.native_id, new.name, new.installed_by, new.installed_at,
        new.state, json.dumps(asdict(new.limits)), new.expires_at, new.trouble,
        seal.close(key_to_text(key), key_name(new.id)),
    )  # fmt: skip
    db.execute(SQL["remove_secrets"], (new.id,))
    db.execute(SQL["put_tenant"], columns)
    _put_secrets(db, new.id, values, Seal(key))


def set_state(db: Connection, own_id: TenantId, state: TenantState, seal: Seal) -> bool:
    if state == "ended":
        db.execute(SQL["remove_secrets"], (own_id,))
        _new_key(db, own_id, seal)
    return db.execute(SQL["set_state"], (own_id, state)).rowcount > 0


def set_limits(db: Connection, own_id: TenantId, limits: TenantLimits) -> bool:
    return db.execute(SQL["set_limits"], (own_id, json.dumps(asdict(limits)))).rowcount > 0


def set_trouble(db: Connection, own_id: TenantId, trouble: str) -> None:
    db.execute(SQL["set_trouble"], (own_id, trouble))


def renew(db: Connection, known: Tenant, renewed: Installation, seal: Seal) -> bool:
    own_id, current = known.id, tenant(db, known.id)
    if current is None or current.state == "ended" or current.installed_at != known.installed_at:
        return False
    _put_secrets(db, own_id, renewed.secrets, _seal_of(db, own_id, seal))
    db.execute(SQL["set_expiry"], (own_id, renewed.expires_at))
    return True


def secrets(db: Connection, own_id: TenantId, seal: Seal) -> Mapping[str, str]:
    rows = db.execute(SQL["secrets"], (own_id,)).fetchall()
    if not rows:
        return {}
    own_seal = _seal_of(db, own_id, seal)
    return {name: own_seal.open(sealed, secret_name(own_id, name)) for name, sealed in rows}


def secret(db: Connection, own_id: TenantId, name: str, seal: Seal) -> str | None:
    row = db.execute(SQL["secret"], (own_id, name)).fetchone()
    if row is None:
        return None
    return _seal_of(db, own_id, seal).open(row[0], secret_name(own_id, name))


def rotate_key(db: Connection, own_id: TenantId, seal: Seal) -> int:
    values = secrets(db, own_id, seal)
    key = _new_key(db, own_id, seal)
    if key is None:
        raise StoreError(f"There is no tenant {own_id!r}; see `uacs-bridge tenants list`")
    _put_secrets(db, own_id, values, Seal(key))
    return len(values)


def remove(db: Connection, own_id: TenantId) -> bool:
    db.execute(SQL["remove_secrets"], (own_id,))
    return db.execute(SQL["remove_tenant"], (own_id,)).rowcount > 0


def use_state(db: Connection, digest: bytes, expires: float, now: float) -> bool:
    db.execute(SQL["forget_states"], (now,))
    return db.execute(SQL["use_state"], (digest, expires)).rowcount > 0


def _new_key(db: Connection, own_id: TenantId, seal: Seal) -> bytes | None:
    key = make_key()
    sealed = seal.close(key_to_text(key), key_name(own_id))
    return key if db.execute(SQL["set_data_key"], (own_id, sealed)).rowcount else None


def _put_secrets(
    db: Connection, own_id: TenantId, values: Mapping[str, str], own_seal: Seal
) -> None:
    for name, value in values.items():
        sealed = own_seal.close(value, secret_name(own_id, name))
        db.execute(SQL["put_secret"], (own_id, name, sealed))


def _seal_of(db: Connection, own_id: TenantId, seal: Seal) -> Seal:
    (sealed,) = db.execute(SQL["data_key"], (own_id,)).fetchone()
    return Seal(text_to_key(seal.open(sealed, key_name(own_id))))


def key_name(own_id: TenantId) -> str:
    return f"The key of tenant {own_id!r}"


def secret_name(own_id: TenantId, name: str) -> str:
    return f"The secret {name!r} of tenant {own_id!r}"
