"""Who we are in a Slack workspace, asked for once."""

from __future__ import annotations

import asyncio

from connectors.slack.ids import Identity
from connectors.slack.json_values import text_at
from connectors.slack.send import WebApi


class OwnIdentity:
    """Looks ourselves up at first use."""

    def __init__(self, api: WebApi) -> None:
        self._api = api
        self._asking = asyncio.Lock()
        self.cached: Identity | None = None

    async def get(self) -> Identity:
        """Our ids and names. Raises PlatformError and AuthFailed where Slack does not tell."""
        async with self._asking:
            if self.cached is None:
                answer = await self._api.read("auth.test")
                self.cached = Identity(
                    team=text_at(answer, "team_id"),
                    team_name=text_at(answer, "team"),
                    user=text_at(answer, "user_id"),
                    handle=text_at(answer, "user"),
                    bot=text_at(answer, "bot_id"),
                    url=text_at(answer, "url"),
                )
        return self.cached
