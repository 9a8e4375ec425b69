"""Tenants: the workspaces that installed an app of ours by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NewType

from bridge.model.refs import join_key

TenantId = NewType("TenantId", str)
TenantState = Literal["waiting", "active", "suspended", "ended"]

_SECRET = "tenant:"  # noqa: S105 - how the names of their sealed secrets begin


@dataclass(frozen=True)
class TenantLimits:
    """What a tenant may use; None: as the configuration says.

    - `messages_per_minute`: messages of its people and bots that the bridge carries.
    - `turns_per_hour`, `turns_per_day`: turns of agents that its people start.
    """

    messages_per_minute: int | None = None
    turns_per_hour: int | None = None
    turns_per_day: int | None = None


@dataclass(frozen=True)
class Tenant:
    """A workspace, guild or organization that installed our app.

    - `native_id`: the platform's id of it; `name`: what people call it.
    - `installed_by`: the platform's id of the person who installed the app; may be empty.
    - `state`: waiting: an operator has to approve it; active; suspended: by an operator; ended: the
      app was removed there, or its tokens were revoked.
    - `expires_at`: when its access token ends (seconds since 1970); None: never.
    - `trouble`: why its tokens could not be renewed; empty if nothing is wrong.
    """

    id: TenantId
    platform: str
    native_id: str
    name: str
    installed_by: str
    installed_at: float
    state: TenantState
    limits: TenantLimits = TenantLimits()
    expires_at: float | None = None
    trouble: str = ""


@dataclass(frozen=True)
class Installation:
    """What a workspace granted to our app: its ids, and the `secrets` by their names."""

    native_id: str
    name: str = ""
    installed_by: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    expires_at: float | None = None


def tenant_id(platform: str, native_id: str) -> TenantId:
    """Return the id of the tenant with this native id."""
    return TenantId(join_key(platform, native_id))


def tenant_secret(tenant: TenantId, name: str) -> str:
    """Return the name under which a `SecretRef` (`sealed`) refers to a secret of a tenant."""
    return f"{_SECRET}{name}:{tenant}"


def split_tenant_secret(name: str) -> tuple[TenantId, str] | None:
    """Return tenant and secret of a name of `tenant_secret`; None for any other name."""
    if not name.startswith(_SECRET):
        return None
    secret, _, tenant = name.removeprefix(_SECRET).partition(":")
    return TenantId(tenant), secret
