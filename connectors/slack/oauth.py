"""OAuth v2 of Slack: codes and refresh tokens in, tokens out.

Source: docs.slack.dev "Installing with OAuth", "Using token rotation" (2026-06).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import aiohttp

from bridge.errors import Refused
from bridge.model.tenants import Installation
from bridge.ports.clock import Clock
from connectors.slack.json_values import Json, text_at, whole_at
from connectors.slack.send import checked_answer, proxy_for, translated

_DEADLINE = aiohttp.ClientTimeout(total=15.0, sock_connect=5.0)
_FORM = "application/x-www-form-urlencoded"


class OAuth:
    """The methods that take the app's own id and secret."""

    def __init__(
        self, api_url: str, client_id: str, secret: Callable[[], Awaitable[str]], clock: Clock
    ) -> None:
        self._api_url = api_url
        self._client_id = client_id
        self._secret = secret
        self._clock = clock

    async def exchange_code(self, code: str, redirect_uri: str) -> Installation:
        """Exchange a code, which Slack accepts once within ten minutes.

        Raises:
            Refused: the code is not valid, or it installs the app for a whole organisation.
            PlatformError: Slack does not answer.
        """
        answer = await self._call("oauth.v2.access", code=code, redirect_uri=redirect_uri)
        if answer.get("is_enterprise_install") is True:
            token = text_at(answer, "access_token")
            await self.uninstall(token)
            raise Refused("the app was installed for a whole organisation", code="org_install")
        return Installation(
            native_id=text_at(answer, "team", "id"),
            name=text_at(answer, "team", "name"),
            installed_by=text_at(answer, "authed_user", "id"),
            secrets=_secrets_in(answer),
            expires_at=self._end_of(answer),
        )

    async def renew(self, secrets: Mapping[str, str]) -> Installation:
        """Exchange the refresh token, which Slack accepts once; without one, the token that never
        ends for one that does. Raises Refused, and PlatformError if Slack does not answer."""
        if refresh := secrets.get("refresh_token"):
            arguments = {"grant_type": "refresh_token", "refresh_token": refresh}
            answer = await self._call("oauth.v2.access", **arguments)
        else:
            answer = await self._call("oauth.v2.exchange", token=secrets.get("bot_token", ""))
        return Installation("", secrets=_secrets_in(answer), expires_at=self._end_of(answer))

    async def uninstall(self, token: str) -> None:
        """Remove the app from the token's workspace. Raises PlatformError."""
        await self._call("apps.uninstall", token=token)

    def _end_of(self, answer: Json) -> float | None:
        seconds = whole_at(answer, "expires_in")
        return None if seconds is None else self._clock.time() + seconds

    async def _call(self, method: str, **arguments: str) -> Json:
        """Call a method once. A lost answer is Unsettled: Slack may have used the code."""
        own = {"client_id": self._client_id, "client_secret": await self._secret()}
        address = self._api_url + method
        with translated(method, once=True):
            async with (
                aiohttp.ClientSession(timeout=_DEADLINE, proxy=proxy_for(address)) as session,
                session.post(
                    address, data={**own, **arguments}, allow_redirects=False,
                    headers={"Content-Type": _FORM},
                ) as response,
            ):  # fmt: skip
                content = await response.read()
            return checked_answer(method, response.status, response.headers, content, once=True)


def _secrets_in(answer: Json) -> dict[str, str]:
    """The tokens of an answer. Raises Refused for one without a bot token."""
    token, refresh = text_at(answer, "access_token"), text_at(answer, "refresh_token")
    if not token:
        raise Refused("Slack gave no bot token; the app needs bot scopes", code="no_bot_token")
    return {"bot_token": token, **({"refresh_token": refresh} if refresh else {})}
