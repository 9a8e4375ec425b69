"""Our own identity in a Slack workspace, requested once."""

from __future__ import annotations

import asyncio

from connectors.slack.ids import Identity
from connectors.slack.json_values import text_at
from connectors.slack.send import WebApi


class OwnIdentity:
    """Our identity; looked up at the first use. `cached` is None before."""

    def __init__(self, api: WebApi) -> None:
        self._api = api
        self._asking = asyncio.Lock()
        self.cached: Identity | None = None

    async def get(self) -> Identity:
        """Our ids and names. Raises PlatformError, and AuthFailed when Slack rejects the token."""
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
