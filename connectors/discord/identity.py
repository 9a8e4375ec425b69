"""The ids of our bot user and its application, requested from Discord once."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.errors import Unsettled
from connectors.discord.rest import Rest


@dataclass(frozen=True)
class Identity:
    """Old bots have different user and application ids, so both are kept."""

    user: str
    application: str
    name: str = ""
    flags: int = 0


class BotIdentity:
    """Looks up the bot's identity at first use and caches it."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._identity: Identity | None = None

    @property
    def cached(self) -> Identity | None:
        return self._identity

    async def identity(self, *, fresh: bool = False) -> Identity:
        if self._identity is None or fresh:
            self._identity = await self._look_up()
        return self._identity

    def learn(self, user: str, application: str, name: str) -> None:
        """Cache the identity that the gateway's READY event holds."""
        if self._identity is None:
            self._identity = Identity(user, application, name)

    async def _look_up(self) -> Identity:
        doing = "Reading the bot's identity"
        user = await self._rest.read("/users/@me", bucket="GET me", doing=doing)
        path = "/oauth2/applications/@me"
        app = await self._rest.read(path, bucket="GET app", doing=doing)
        try:
            flags = int(app.get("flags") or 0)
            return Identity(str(user["id"]), str(app["id"]), str(user.get("username")), flags)
        except (KeyError, TypeError, AttributeError, ValueError):
            raise Unsettled(f"{doing}: Discord's answer holds no id", code="broken") from None
