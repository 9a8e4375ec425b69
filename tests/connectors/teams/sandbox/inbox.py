"""A messaging endpoint that records activities and gives prepared answers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from aiohttp import web

from tests.connectors.teams.sandbox.bots import listening
from tests.connectors.teams.sandbox.running import RunningTeams
from tests.waiting import LONGEST_WAIT


class Inbox:
    """What arrived; `answers` are the next statuses (0: break the connection), then 201.

    Invokes are answered with the next of `replies` as JSON, then with 200 and nothing. While `hold`
    is an event, answers wait until it is set.
    """

    def __init__(self) -> None:
        self.activities: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answers: list[int] = []
        self.replies: list[Any] = []
        self.seconds = 0.0
        self.hold: asyncio.Event | None = None

    @property
    def texts(self) -> list[str]:
        return [activity["text"] for activity in self.activities]

    @property
    def invokes(self) -> list[dict[str, Any]]:
        return [activity for activity in self.activities if activity["type"] == "invoke"]

    async def received(self, count: int) -> None:
        """Wait until this number of activities has arrived."""
        async with asyncio.timeout(LONGEST_WAIT):
            while len(self.activities) < count:  # noqa: ASYNC110 - requests arrive by themselves
                await asyncio.sleep(0.01)

    async def take(self, request: web.Request) -> web.StreamResponse:
        self.activities.append(await request.json())
        self.headers.append(dict(request.headers))
        await asyncio.sleep(self.seconds)
        if self.hold is not None:
            await self.hold.wait()
        invoked = self.activities[-1]["type"] == "invoke"
        status = self.answers.pop(0) if self.answers else 200 if invoked else 201
        if status == 0 and request.transport:
            request.transport.close()
        if invoked and status == 200 and self.replies:
            return web.json_response(self.replies.pop(0))
        return web.Response(status=status or 201)


@contextlib.asynccontextmanager
async def inbox(teams: RunningTeams, key: str = "bridge") -> AsyncGenerator[Inbox]:
    """Serve an endpoint for this bot."""
    inbox = Inbox()
    async with listening(inbox.take) as url:
        await teams.listen(key, url)
        yield inbox
        await teams.listen(key, "")
