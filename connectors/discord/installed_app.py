"""One Discord app that many guilds install by OAuth; its bot is one account.

Source: discord.com/developers/docs "OAuth2" (advanced bot authorization), "Leave Guild" (2026-06).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
from pydantic import BaseModel

from bridge.errors import NotFound, Refused, Unavailable
from bridge.model import AccountId
from bridge.model.tenants import Installation, Tenant
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.installs import InstallTools, Tenancy
from connectors.discord.app_settings import DiscordAppSettings
from connectors.discord.capabilities import PERMISSIONS, SCOPES
from connectors.discord.ids import PLATFORM
from connectors.discord.rest import Rest, translated

_DEADLINE = aiohttp.ClientTimeout(total=15.0, sock_connect=5.0)
_DOING = "Exchanging a code of an installation"


class DiscordApp:
    """Implements `InstallableApp`: the code only confirms which guild took the bot."""

    label = "Discord"
    has_own_address = False
    by_link = False
    steps: Sequence[str] = (
        "Let the bot's role see the channel that the bridge is to join.",
        "Say `/bridge help` there: it lists what the bridge can do.",
    )

    def __init__(self, settings: DiscordAppSettings, tools: InstallTools) -> None:
        self._settings = settings
        self._tools = tools
        self._rest = Rest(
            settings.api_url, lambda: tools.secrets.secret(settings.bot_token), tools.clock
        )

    def accounts(self, tenants: Sequence[Tenant]) -> Mapping[AccountId, BaseModel]:
        """Return the one account; it runs without a guild, too, since guilds come to it."""
        return {AccountId(PLATFORM): self._settings.account()}

    def account_of(self, native_id: str) -> AccountId:
        return AccountId(PLATFORM)

    def consent_url(self, state: str) -> str:
        query = {
            "client_id": self._settings.client_id,
            "scope": " ".join(SCOPES),
            "permissions": str(sum(PERMISSIONS.values())),
            "response_type": "code",
            "redirect_uri": self._tools.callback_url,
            "state": state,
        }
        return f"{self._settings.authorize_url}?{urlencode(query)}"

    async def finish(self, answer: Mapping[str, str]) -> Installation:
        """Exchange the code for the guild that took the bot. The person's token is not kept."""
        granted = await self._exchange(answer.get("code", ""))
        guild = granted.get("guild")
        own_id = guild.get("id") if isinstance(guild, dict) else None
        if not isinstance(guild, dict) or not isinstance(own_id, str):
            raise Refused("Discord's answer names no server", code="no_guild")
        if answer.get("guild_id", own_id) != own_id:
            raise Refused("the code is for another server", code="other_guild")
        return Installation(own_id, str(guild.get("name") or ""))

    def renewal_due(self, tenant: Tenant, now: float) -> bool:
        return False

    async def renew(self, secrets: Mapping[str, str]) -> Installation:
        raise Refused("Discord's bot token does not end")

    async def withdraw(self, native_id: str, secrets: Mapping[str, str]) -> None:
        """Leave the guild. Raises PlatformError."""
        path = f"/users/@me/guilds/{native_id}"
        try:
            await self._rest.request("DELETE", path, bucket="guild.leave", doing="Leaving a server")
        except NotFound:
            return

    def app(self, tenancy: Tenancy) -> AsgiApp | None:
        return None

    async def close(self) -> None:
        await self._rest.close()

    async def _exchange(self, code: str) -> dict[str, Any]:
        """The answer to a code, which Discord accepts once. Raises PlatformError."""
        secret = await self._tools.secrets.secret(self._settings.client_secret)
        own = base64.b64encode(f"{self._settings.client_id}:{secret}".encode()).decode()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._tools.callback_url,
        }
        with translated(_DOING):
            async with (
                aiohttp.ClientSession(timeout=_DEADLINE, trust_env=True) as session,
                session.post(
                    f"{self._settings.api_url.rstrip('/')}/oauth2/token", data=form,
                    headers={"Authorization": f"Basic {own}"}, allow_redirects=False,
                ) as response,
            ):  # fmt: skip
                content, status = await response.read(), response.status
        if status >= 500 or status == 429:
            raise Unavailable(f"{_DOING}: HTTP {status}")
        try:
            answer = orjson.loads(content)
        except orjson.JSONDecodeError:
            answer = None
        body: dict[str, Any] = answer if isinstance(answer, dict) else {}
        if status >= 400:
            raise Refused(f"{_DOING}: HTTP {status}", code=str(body.get("error") or status)[:40])
        return body
