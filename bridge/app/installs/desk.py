"""The tenants of a running bridge: who may install, what is saved, and whose account runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from bridge.app.installs.accounts import with_tenants
from bridge.app.settings.installs import InstallSettings
from bridge.app.settings.quotas import quota_of
from bridge.app.settings.sections import Settings
from bridge.errors import BridgeError, PlatformError
from bridge.model import AccountId, ChannelRef
from bridge.model.tenants import Installation, Tenant, TenantLimits, TenantState, tenant_id
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.clock import Clock
from bridge.ports.installs import HasInstalls, InstallableApp, InstallTools, Tenancy
from bridge.ports.secrets import SecretSource
from bridge.ports.store.tenants import TenantStore
from bridge.router.turns.quotas import Quota
from bridge.runtime.discovery import connector_type

log = structlog.get_logger()

CALLBACK = "/oauth/{platform}/callback"
_LAST = 20.0  # seconds that a stop waits for tokens that a platform renews just now
_AGAIN = 15.0  # seconds until a change of the accounts that failed is tried again

Apply = Callable[[frozenset[AccountId]], Awaitable[object]]


@dataclass
class Installs:
    """The installable apps and their tenants.

    - `apply`: makes the accounts those of the stored tenants; builds those that are named anew.
    - `app_of`: what answers the platform's requests for an account; None while it does not run.
    """

    apps: Mapping[str, InstallableApp]
    store: TenantStore
    clock: Clock
    settings: Callable[[], InstallSettings]
    app_of: Callable[[AccountId], AsgiApp | None] = field(default=lambda _: None)
    apply: Apply | None = None
    _behind_app: frozenset[AccountId] = frozenset()
    _active: Sequence[Tenant] = ()
    _renewing: set[asyncio.Future[None]] = field(default_factory=set[asyncio.Future[None]])
    _renewed: set[AccountId] = field(default_factory=set[AccountId])
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def accounts_in(self, settings: Settings) -> Settings:
        """Return the settings with the accounts and channels of the active tenants. Raises
        StoreError."""
        if not self.apps:
            return settings
        tenants = await self.store.tenants()
        self._active = [tenant for tenant in tenants if tenant.state == "active"]
        self._behind_app = frozenset(
            self.apps[tenant.platform].account_of(tenant.native_id)
            for tenant in tenants
            if tenant.platform in self.apps and self.apps[tenant.platform].has_own_address
        ) - {AccountId(name) for name in settings.accounts}  # fmt: skip
        return with_tenants(settings, tenants, self.apps)

    def tenancy_of(self, account: AccountId, platform: str, settings: Settings) -> Tenancy | None:
        """Return the tenancy for an account that serves tenants; None for one of the file."""
        app = self.apps.get(platform)
        if app is None or account in settings.accounts:
            return None
        return self.tenancy(platform)

    def paces(self, settings: InstallSettings) -> dict[tuple[str, str], int]:
        """Return the messages in a minute of each active tenant with a limit."""
        usual = settings.limits.messages_per_minute
        limits = {
            (one.platform, one.native_id): one.limits.messages_per_minute or usual
            for one in self._active
        }
        return {tenant: limit for tenant, limit in limits.items() if limit is not None}

    def quotas(self, settings: InstallSettings) -> dict[tuple[str, str], Quota]:
        """Return the quota of each active tenant that has one."""
        usual = quota_of(settings.limits.quota)
        quotas = {(one.platform, one.native_id): _own_quota(one, usual) for one in self._active}
        return {tenant: quota for tenant, quota in quotas.items() if quota != Quota()}

    def own_account(self, tenant: Tenant) -> AccountId | None:
        """Return the account that serves this tenant alone; None if others share it."""
        app = self.apps.get(tenant.platform)
        alone = app is not None and app.has_own_address
        return app.account_of(tenant.native_id) if app is not None and alone else None

    async def end(self, tenant: Tenant) -> None:
        """Remove the app from the workspace, as far as its platform lets us, and stop serving it.
        When this returns, nothing of it is received any more. Raises StoreError."""
        secrets = await self.store.tenant_secrets(tenant.id)
        if tenant.state != "ended" and tenant.platform in self.apps:
            await self.withdraw(tenant.platform, Installation(tenant.native_id, secrets=secrets))
        await self.store.set_tenant_state(tenant.id, "ended")
        if self.apply is not None:
            await self.apply(frozenset())

    def serves(self, account: AccountId, channel: ChannelRef) -> bool:
        """Whether a channel may be in a room: an account that many tenants share serves those that
        are active alone."""
        app = self.apps.get(channel.platform)
        if app is None or app.has_own_address or account != app.account_of(channel.workspace):
            return True
        own_id = channel.workspace.lower()
        return any(
            (one.platform, one.native_id) == (channel.platform, own_id) for one in self._active
        )

    def answers(self, account: AccountId) -> bool:
        """Whether the account's requests come to the address of its app, not to its own."""
        return account in self._behind_app

    def tenancy(self, platform: str) -> Tenancy:
        """Return the tenancy of a platform's app."""
        return PlatformTenancy(self, platform, self.apps[platform])

    async def save(self, platform: str, installation: Installation) -> Tenant | None:
        """Save an installation, and let its account follow; None if it is not allowed."""
        async with self._one_at_a_time:
            own_id = tenant_id(platform, installation.native_id)
            former = await self.store.tenant(own_id)
            state = self._state_for(installation.native_id, former)
            if state is None:
                log.warning("install_refused", platform=platform, tenant=installation.native_id)
                return None
            tenant = Tenant(
                own_id, platform, installation.native_id,
                installation.name or (former.name if former else ""),
                installation.installed_by, self.clock.time(), state,
                former.limits if former else TenantLimits(), installation.expires_at,
            )  # fmt: skip
            await self.store.put_tenant(tenant, installation.secrets)
        log.info("tenant_installed", tenant=own_id, state=state, again=former is not None)
        own = bool(installation.secrets)  # a shared account stays connected
        self.change(self.apps[platform].account_of(installation.native_id) if own else None)
        return tenant

    def _state_for(self, native_id: str, former: Tenant | None) -> TenantState | None:
        """The state of a tenant that installs now; None if it may not. An operator's suspension
        outlasts a second installation."""
        allow = self.settings().allow
        if isinstance(allow, tuple) and native_id not in allow:
            return None
        if former is not None and former.state in ("active", "suspended", "waiting"):
            return former.state
        return "waiting" if allow == "approval" else "active"

    async def set_limits(self, tenant: Tenant, limits: TenantLimits) -> None:
        """Give a tenant limits of its own; they take effect at once. Raises StoreError."""
        await self.store.set_tenant_limits(tenant.id, limits)
        log.info("tenant_limited", tenant=tenant.id)
        self.change()

    async def set_state(self, tenant: Tenant, state: TenantState) -> None:
        """Change the state of a tenant, and let its account follow. Raises StoreError."""
        async with self._one_at_a_time:
            await self.store.set_tenant_state(tenant.id, state)
        log.info("tenant_changed", tenant=tenant.id, state=state, before=tenant.state)
        self.change()

    async def renew(self, tenant: Tenant) -> None:
        """Renew the tokens of a tenant. The old ones stay where the platform gives no new ones.

        Raises:
            PlatformError: the platform does not renew them now.
            StoreError: they cannot be read.
        """
        secrets = await self.store.tenant_secrets(tenant.id)
        # Not cancelled between the answer and the store: the platform gives new tokens once.
        renewing = asyncio.ensure_future(self._renew(tenant, secrets))
        self._renewing.add(renewing)
        renewing.add_done_callback(self._renewing.discard)
        await asyncio.shield(renewing)

    async def _renew(self, tenant: Tenant, secrets: Mapping[str, str]) -> None:
        renewed = await self.apps[tenant.platform].renew(secrets)
        pause = 0.1
        while True:
            try:
                await self.store.renew_tenant(tenant, renewed)
            except BridgeError as error:
                log.warning("renewed_tokens_not_saved", tenant=tenant.id, error=str(error))
                await self.clock.sleep(pause)
                pause = min(2 * pause, _AGAIN)
            else:
                break
        log.info("tenant_tokens_renewed", tenant=tenant.id)

    async def withdraw(self, platform: str, installation: Installation) -> None:
        """Remove the app again from a workspace that may not have it; failures are logged."""
        app = self.apps[platform]
        try:
            await app.withdraw(installation.native_id, installation.secrets)
        except PlatformError as error:
            log.warning("install_not_withdrawn", tenant=installation.native_id, error=str(error))

    def change(self, renewed: AccountId | None = None) -> None:
        """Let the accounts follow the stored tenants soon; `renewed` is built anew."""
        if renewed is not None:
            self._renewed.add(renewed)
        self._news.set()

    async def follow(self) -> None:
        """Apply changes of tenants to the running bridge until cancelled."""
        while True:
            await self._news.wait()
            self._news.clear()
            renewed = frozenset(self._renewed)
            self._renewed.clear()
            if self.apply is None:
                continue
            try:
                await self.apply(renewed)
            except BridgeError as error:
                log.warning("tenants_not_applied", error=str(error), retry_in=_AGAIN)
                self._renewed |= renewed
                await self.clock.sleep(_AGAIN)
                self._news.set()

    async def close(self) -> None:
        """Wait until renewed tokens are saved, then close the connections of the apps."""
        if self._renewing:
            await asyncio.wait(set(self._renewing), timeout=_LAST)
        for app in self.apps.values():
            await app.close()


def _own_quota(tenant: Tenant, usual: Quota) -> Quota:
    """The quota of a tenant: its own turns in the place of the usual ones."""
    limits = tenant.limits
    hour, day = usual.hour, usual.day
    if limits.turns_per_hour is not None:
        hour = replace(hour, messages=limits.turns_per_hour)
    if limits.turns_per_day is not None:
        day = replace(day, messages=limits.turns_per_day)
    return Quota(hour, day)


@dataclass(frozen=True)
class PlatformTenancy:
    """Implements `Tenancy` for one platform."""

    installs: Installs
    platform: str
    own_app: InstallableApp

    async def tenants(self) -> Sequence[Tenant]:
        tenants = await self.installs.store.tenants()
        return [tenant for tenant in tenants if tenant.platform == self.platform]

    async def tenant(self, native_id: str) -> Tenant | None:
        return await self.installs.store.tenant(tenant_id(self.platform, native_id))

    async def admits(self, native_id: str) -> bool:
        tenant = await self.tenant(native_id)
        return tenant is not None and tenant.state == "active"

    async def secrets(self, native_id: str) -> Mapping[str, str]:
        return await self.installs.store.tenant_secrets(tenant_id(self.platform, native_id))

    async def installed(self, installation: Installation) -> Tenant | None:
        return await self.installs.save(self.platform, installation)

    async def ended(self, native_id: str, reason: str) -> None:
        tenant = await self.tenant(native_id)
        if tenant is not None and tenant.state != "ended":
            log.info("tenant_ended", tenant=tenant.id, reason=reason)
            await self.installs.set_state(tenant, "ended")

    def account_app(self, native_id: str) -> AsgiApp | None:
        return self.installs.app_of(self.own_app.account_of(native_id))


def build_installs(
    settings: Settings,
    store: TenantStore,
    clock: Clock,
    secrets: SecretSource,
    current: Callable[[], Settings],
) -> Installs:
    """Return the installs of these settings; `current` are those in effect later."""
    public_url = (settings.web.public_url or "").rstrip("/")
    apps: dict[str, InstallableApp] = {}
    for platform, options in settings.installs.apps.items():
        kind = connector_type(platform)
        if isinstance(kind, HasInstalls):
            callback = public_url and public_url + CALLBACK.format(platform=platform)
            tools = InstallTools(clock, secrets, callback, public_url)
            apps[platform] = kind.installs().build(options, tools)
    return Installs(apps, store, clock, lambda: current().installs)
