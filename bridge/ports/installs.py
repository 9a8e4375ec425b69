"""Port: an app of ours that many workspaces of a platform install by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from bridge.model import AccountId
from bridge.model.tenants import Installation, Tenant
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.clock import Clock
from bridge.ports.secrets import SecretSource


class Tenancy(Protocol):
    """The bridge's side, for the apps and accounts of one platform: who its tenants are."""

    async def admits(self, native_id: str) -> bool:
        """Whether this workspace is an active tenant. Raises StoreError."""
        ...

    async def tenants(self) -> Sequence[Tenant]:
        """Return the tenants of this platform. Raises StoreError."""
        ...

    async def tenant(self, native_id: str) -> Tenant | None:
        """Return the tenant; None for a workspace that did not install the app. Raises
        StoreError."""
        ...

    async def secrets(self, native_id: str) -> Mapping[str, str]:
        """Return the tenant's secrets; empty if it has none. Raises StoreError."""
        ...

    async def installed(self, installation: Installation) -> Tenant | None:
        """Save what a workspace granted; when this returns, it is durable. The account follows in
        the background.

        Returns:
            None if this workspace may not install the app: nothing was saved.

        Raises:
            StoreError: nothing was saved.
        """
        ...

    async def ended(self, native_id: str, reason: str) -> None:
        """End the tenant: the app was removed there. Its secrets are deleted; when this returns,
        that is durable. Raises StoreError."""
        ...

    def account_app(self, native_id: str) -> AsgiApp | None:
        """Return what answers the platform's requests for this tenant; None while its account does
        not run."""
        ...


@dataclass(frozen=True)
class InstallTools:
    """What the bridge gives to an app that can be installed. `callback_url` is where the platform
    sends people back; both addresses are empty without a public one."""

    clock: Clock
    secrets: SecretSource
    callback_url: str = ""
    public_url: str = ""


class InstallableApp(Protocol):
    """One app of ours on one platform; `label` is the platform's name as people write it.

    - `steps`: what people have to do after the installation, for the page.
    - `has_own_address`: the platform sends the events of all tenants to `/oauth/<platform>/...`.
    - `by_link`: people install it at `consent_url` and do not come back with a code.
    """

    label: str
    has_own_address: bool
    by_link: bool
    steps: Sequence[str]

    def accounts(self, tenants: Sequence[Tenant]) -> Mapping[AccountId, BaseModel]:
        """Return the settings of the accounts that serve these active tenants, by name. Pure."""
        ...

    def account_of(self, native_id: str) -> AccountId:
        """Return the name of the account that serves this tenant."""
        ...

    def consent_url(self, state: str) -> str:
        """Return the platform's page on which people allow the installation."""
        ...

    async def finish(self, answer: Mapping[str, str]) -> Installation:
        """Exchange the code that the platform sent back.

        Args:
            answer: the query of the request to the callback.

        Raises:
            Refused: the code is not valid; `code` is the platform's word.
            PlatformError: the platform does not answer.
        """
        ...

    def renewal_due(self, tenant: Tenant, now: float) -> bool:
        """Whether the tokens of this tenant are to be renewed now."""
        ...

    async def renew(self, secrets: Mapping[str, str]) -> Installation:
        """Renew the tokens of a tenant; the secrets of the result replace those of their names.

        Raises:
            Refused: the platform will not renew them; a person has to install the app again.
            PlatformError: it does not answer; the tokens may have been renewed all the same.
        """
        ...

    async def withdraw(self, native_id: str, secrets: Mapping[str, str]) -> None:
        """Remove the app from the workspace, as far as the platform lets us. Raises
        PlatformError."""
        ...

    def app(self, tenancy: Tenancy) -> AsgiApp | None:
        """Return what answers the platform's requests for all tenants, below `/oauth/<platform>/`;
        None if each account answers its own."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...


class InstallableType(Protocol):
    """How the app of a platform is configured (`installs.apps`), and built. `shares_account`: one
    account, named as the platform, serves all tenants."""

    settings: type[BaseModel]
    shares_account: bool

    def build(self, settings: Any, tools: InstallTools) -> InstallableApp:
        """Build the app; `settings` is an instance of `self.settings`. No network yet."""
        ...


@runtime_checkable
class HasInstalls(Protocol):
    """A connector type whose app many workspaces can install."""

    def installs(self) -> InstallableType:
        """Return the type. Cheap: the SDK is imported in `build` and later."""
        ...
