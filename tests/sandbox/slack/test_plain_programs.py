"""Programs written plainly on slack-bolt and slack_sdk run against the local Slack unchanged."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from tests.sandbox.slack.conftest import Running, until


def echo_bot(client: AsyncWebClient) -> AsyncApp:
    app = AsyncApp(client=client, signing_secret="unused-over-sockets")

    @app.event("app_mention")
    async def _mention(event: dict[str, Any], say: Any) -> None:
        await say(f"You said: {event['text']}", thread_ts=event.get("thread_ts") or event["ts"])

    @app.event("message")
    async def _message(event: dict[str, Any], say: Any) -> None:
        if event["text"].startswith("echo "):
            await say(event["text"].removeprefix("echo "))

    return app


@contextlib.asynccontextmanager
async def over_sockets(app: AsyncApp, app_token: str) -> AsyncIterator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, app_token, ping_interval=1)
    await handler.connect_async()
    try:
        yield handler
    finally:
        await handler.close_async()


async def test_an_echo_bot_answers_over_socket_mode(running: Running) -> None:
    async with over_sockets(echo_bot(running.client()), running.app()["app_token"]):
        await running.says("echo 1 < 2 & 3")
        await until(lambda: len(running.texts()) == 2)

    assert running.texts() == ["echo 1 < 2 & 3", "1 < 2 & 3"]
