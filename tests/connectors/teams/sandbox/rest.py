"""Requests to the connector service from a plain HTTP client."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import aiohttp

from tests.connectors.teams.sandbox.running import RunningTeams


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: dict[str, str]


class RestClient:
    """A bot's requests, with its token."""

    def __init__(self, session: aiohttp.ClientSession, service_url: str, token: str) -> None:
        self._session = session
        self._service_url = service_url
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    async def __call__(self, method: str, path: str, body: Any = None) -> Answer:
        url = self._service_url.rstrip("/") + path
        data = body if isinstance(body, bytes) else None
        json = None if data is not None else body
        async with self._session.request(
            method, url, data=data, json=json, headers=self.headers
        ) as response:
            text = await response.read()
            json_body = await response.json(content_type=None) if text else None
            return Answer(response.status, json_body, dict(response.headers))

    async def post(self, conversation: str, text: str, reply_to: str = "") -> Answer:
        path = activities(conversation) + (f"/{reply_to}" if reply_to else "")
        return await self("POST", path, {"type": "message", "text": text})


def activities(conversation: str, activity: str = "") -> str:
    path = f"/v3/conversations/{quote(conversation, safe='')}/activities"
    return f"{path}/{quote(activity, safe='')}" if activity else path


def conversation(conversation: str, path: str) -> str:
    return f"/v3/conversations/{quote(conversation, safe='')}/{path}"


async def bot_token(
    session: aiohttp.ClientSession, teams: RunningTeams, key: str, resource: str = ""
) -> str:
    bot = teams.bot(key)
    form = {
        "grant_type": "client_credentials",
        "client_id": bot.app_id,
        "client_secret": bot.password,
        "scope": f"{resource or 'https://api.botframework.com'}/.default",
    }
    async with session.post(teams.token_url, data=form) as response:
        return (await response.json())["access_token"]


@contextlib.asynccontextmanager
async def as_bot(teams: RunningTeams, key: str = "bridge") -> AsyncGenerator[RestClient]:
    async with aiohttp.ClientSession() as session:
        url = teams.teams.service_url(key)
        token = await bot_token(session, teams, key) if teams.bot(key).auth else ""
        yield RestClient(session, url, token)
