"""The Teams bot that many tenants install. Importing it loads no SDK.

Source: learn.microsoft.com "Conversation events in your Teams bot" (installation update), "Upload
your custom app" (2026-06).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from bridge.errors import Refused
from bridge.model import AccountId
from bridge.model.tenants import Installation, Tenant
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.installs import InstallableApp, InstallTools, Tenancy
from connectors.teams.app_settings import TeamsAppSettings
from connectors.teams.ids import PLATFORM
from connectors.teams.setup import app_package

_PACKAGE = "package.zip"
_NAME = "Bridge"


class TeamsApp:
    """Implements `InstallableApp`: Teams reports installations to the bot, without a code."""

    label = "Microsoft Teams"
    has_own_address = False
    by_link = True
    steps: Sequence[str] = (
        "Add the app: in Teams, Apps > Manage your apps > Upload an app. Where people may not do "
        "that, an admin uploads and approves it under `https://admin.teams.microsoft.com`, Teams "
        "apps > Manage apps.",
        "Add the app to the team or chat that the bridge is to join.",
        "Mention the bot once in each channel, for example `@Bridge help`.",
    )

    def __init__(self, settings: TeamsAppSettings, tools: InstallTools) -> None:
        self._settings = settings
        self._tools = tools

    def accounts(self, tenants: Sequence[Tenant]) -> Mapping[AccountId, BaseModel]:
        """Return the one account; it runs without a tenant, too, since tenants come to it."""
        return {AccountId(PLATFORM): self._settings}

    def account_of(self, native_id: str) -> AccountId:
        return AccountId(PLATFORM)

    def consent_url(self, state: str) -> str:
        return self._settings.app_url or f"{self._tools.public_url}/oauth/{PLATFORM}/{_PACKAGE}"

    async def finish(self, answer: Mapping[str, str]) -> Installation:
        raise Refused("Teams sends no codes", code="no_codes")

    def renewal_due(self, tenant: Tenant, now: float) -> bool:
        return False

    async def renew(self, secrets: Mapping[str, str]) -> Installation:
        raise Refused("The bot's own secret is renewed in the Azure portal")

    async def withdraw(self, native_id: str, secrets: Mapping[str, str]) -> None:
        """Do nothing: only people of the tenant can remove a Teams app."""

    def app(self, tenancy: Tenancy) -> AsgiApp | None:
        """Return what serves the app package; activities go to the account's own address."""
        package = app_package(_NAME, self._settings.app_id, self._tools.public_url)

        async def serve(_request: Request) -> Response:
            headers = {"Content-Disposition": 'attachment; filename="bridge-teams.zip"'}
            return Response(package, headers=headers, media_type="application/zip")

        return Router(routes=[Route(f"/{_PACKAGE}", serve)])

    async def close(self) -> None:
        """Do nothing: the app has no connections."""


class TeamsInstalls:
    """Builds the app; one registration has one address, so one account serves all tenants."""

    settings: type[BaseModel] = TeamsAppSettings
    shares_account = True

    def build(self, settings: Any, tools: InstallTools) -> InstallableApp:
        return TeamsApp(settings, tools)
