"""A running local Slack on a free port, and helpers for plain programs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, cast

import httpx
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette

from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.server import serve_sandbox
from connectors.slack.sandbox import LocalSlack
from connectors.slack.sandbox.delivery import Pace
from tests.waiting import LONGEST_WAIT

GENERAL, RANDOM, HELP = "C0ACME001", "C0ACME002", "C0ACME003"
ADA = "U0ACME01"


@dataclass
class Running:
    """The running local Slack."""

    context: SandboxContext
    slack: LocalSlack

    def app(self, name: str = "plain", workspace: str = "T0ACME") -> dict[str, Any]:
        apps = self.slack.world().apps
        return next(a for a in apps if (a["name"], a["workspace"]) == (name, workspace))

    def client(self, name: str = "plain", workspace: str = "T0ACME") -> AsyncWebClient:
        app = self.app(name, workspace)
        return AsyncWebClient(token=app["bot_token"], base_url=app["api_url"])

    async def says(self, text: str, channel: str = GENERAL, thread: str | None = None) -> str:
        """Post a message as Ada in Acme, and return its ts."""
        return (await self.slack.post_as("T0ACME", channel, ADA, text, thread)).id

    def texts(self, channel: str = GENERAL) -> list[str]:
        return [message.text for message in self.slack.messages("T0ACME", channel)]


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    ready: asyncio.Future[Running] = asyncio.get_running_loop().create_future()

    def on_ready(context: SandboxContext, platforms: dict[str, LocalPlatform]) -> None:
        ready.set_result(Running(context, cast(LocalSlack, platforms["slack"])))

    serving = asyncio.create_task(serve_sandbox(names=("slack",), on_ready=on_ready))
    await asyncio.wait({serving, ready}, return_when=asyncio.FIRST_COMPLETED)
    yield await ready
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving


async def until(check: Callable[[], bool], seconds: float = LONGEST_WAIT) -> None:
    """Wait until `check()` is true."""
    async with asyncio.timeout(seconds):
        while not check():  # noqa: ASYNC110  # the state under test has no event to wait for
            await asyncio.sleep(0.01)


@contextlib.contextmanager
def refused(code: str) -> Any:
    """Expect that the body refuses with this error code, which answers carry as JSON."""
    with pytest.raises(SlackApiError) as caught:
        yield caught
    assert caught.value.response["error"] == code


@pytest.fixture
async def desk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    """See `desk.Desk`."""
    from tests.connectors.slack.sandbox.desk import Clock, Desk

    context, clock = SandboxContext("http://sandbox"), Clock()
    context.limits.on = False
    slack = LocalSlack(context, Pace(share_seconds=0.0), clock)
    transport = httpx.ASGITransport(Starlette(routes=slack.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as http:
        desk = Desk(slack, context, http, clock)
        monkeypatch.setattr(context.feed, "publish", desk.changes.append)
        yield desk
    await slack.close()
