"""The local Slack without a network, called in process by one app."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx
import orjson

from bridge.sandbox.feed import Change
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.user_actions import LocalUser
from connectors.slack.sandbox import LocalSlack
from connectors.slack.sandbox.state import App
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL

Json = dict[str, Any]


@dataclass
class Clock:
    """A clock that tests advance."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Desk:
    """The local Slack without a network, and one app's token."""

    slack: LocalSlack
    context: SandboxContext
    http: httpx.AsyncClient
    clock: Clock
    token: str = "xoxb-sandbox-acme"
    changes: list[Change] = field(default_factory=list[Change])

    @property
    def app(self) -> App:
        return self.slack.slack.apps["A0ACME01"]

    async def call(self, method: str, **args: Any) -> Json:
        headers = {"Authorization": f"Bearer {self.token}"}
        url = f"/slack/api/{method}"
        charset = {"Content-Type": "application/json; charset=utf-8"}
        answer = await self.http.post(url, content=orjson.dumps(args), headers=headers | charset)
        return answer.json()

    async def error(self, method: str, **args: Any) -> str:
        return (await self.call(method, **args)).get("error", "")

    async def post(self, text: str = "hello", channel: str = GENERAL, **args: Any) -> str:
        return (await self.call("chat.postMessage", channel=channel, text=text, **args))["ts"]

    async def says(self, text: str, thread: str | None = None) -> str:
        return (await self.slack.post_as("T0ACME", GENERAL, ADA, text, thread)).id

    @property
    def ada(self) -> LocalUser:
        return LocalUser(self.slack, "T0ACME", GENERAL, ADA)

    async def upload(self, name: str, data: bytes, **more: Any) -> str:
        """Upload a file without completing it, and return its id."""
        arguments = {"filename": name, "length": len(data), **more}
        opened = await self.call("files.getUploadURLExternal", **arguments)
        answer = await self.http.post(opened["upload_url"], content=data)
        assert answer.text == f"OK - {len(data)}"
        return opened["file_id"]

    async def get(self, url: str, token: str | None = None) -> httpx.Response:
        bearer = self.token if token is None else token
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return await self.http.get(url, headers=headers)

    def without(self, *scopes: str) -> None:
        self.app.scopes -= set(scopes)
