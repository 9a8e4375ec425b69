"""Plain slack-bolt and slack_sdk programs run unchanged against the local Slack."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.errors import ConfigError
from bridge.sandbox.faults import Fault
from tests.connectors.serving import served
from tests.connectors.slack.sandbox.conftest import GENERAL, HELP, RANDOM, Running, refused, until


def echo_bot(client: AsyncWebClient, signing_secret: str = "unused") -> AsyncApp:
    app = AsyncApp(client=client, signing_secret=signing_secret)

    @app.event("app_mention")
    async def _mention(event: dict[str, Any], say: Any) -> None:
        await say(f"At your service, <@{event['user']}>", thread_ts=event["ts"])

    @app.event("message")
    async def _message(event: dict[str, Any], say: Any) -> None:
        if event["text"].startswith("echo "):
            await say(event["text"].removeprefix("echo "))

    return app


def pinned_threads_bot(client: AsyncWebClient) -> AsyncApp:
    """Answers every question of a channel in its thread, and keeps one summary up to date."""
    app = AsyncApp(client=client, signing_secret="unused")
    summaries: dict[str, str] = {}
    counts: dict[str, int] = {}

    @app.message(re.compile(r"\?$"))
    async def _question(message: dict[str, Any], client: AsyncWebClient) -> None:
        channel, root = message["channel"], message.get("thread_ts", message["ts"])
        await client.chat_postMessage(channel=channel, thread_ts=root, text="Noted.")
        counts[channel] = counts.get(channel, 0) + 1
        text = f"{counts[channel]} open"
        if channel in summaries:
            await client.chat_update(channel=channel, ts=summaries[channel], text=text)
        else:
            posted = await client.chat_postMessage(channel=channel, text=text)
            summaries[channel] = str(posted["ts"])

    return app


@contextlib.asynccontextmanager
async def over_sockets(app: AsyncApp, app_token: str) -> AsyncGenerator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, app_token, ping_interval=1)
    await handler.connect_async()
    try:
        yield handler
    finally:
        await handler.close_async()


async def across(pages: AsyncSlackResponse, field: str) -> list[str]:
    """The values of a field in the messages of all pages."""
    return [message[field] async for page in pages for message in page.get("messages", [])]


def reconnected(handler: AsyncSocketModeHandler, before: Any) -> bool:
    session = handler.client.current_session
    return session is not None and session is not before and not session.closed


@contextlib.asynccontextmanager
async def over_http(app: AsyncApp) -> AsyncGenerator[str]:
    """The app behind a small web server; yields its request URL."""
    handler = AsyncSlackRequestHandler(app)

    async def events(request: Request) -> Response:
        return await handler.handle(request)

    routes = [Route("/slack/events", events, methods=["POST"])]
    async with served(Starlette(routes=routes)) as server:
        yield f"{server.base_url}/slack/events"


async def test_an_echo_bot_answers_over_socket_mode(running: Running) -> None:
    async with over_sockets(echo_bot(running.client()), running.app()["app_token"]):
        await running.says("echo 1 < 2 & 3")
        await until(lambda: len(running.texts()) == 2)

    assert running.texts() == ["echo 1 < 2 & 3", "1 < 2 & 3"]


async def test_an_echo_bot_answers_over_signed_http(running: Running) -> None:
    facts = running.app()
    bot = echo_bot(running.client(), facts["signing_secret"])

    async with over_http(bot) as url:
        await running.slack.set_request_url(facts["app_id"], url)
        await running.says("echo over http")
        await until(lambda: len(running.texts()) == 2)

    assert running.texts() == ["echo over http", "over http"]


async def test_a_request_url_with_the_wrong_secret_is_refused(running: Running) -> None:
    bot = echo_bot(running.client(), "another-secret")

    async with over_http(bot) as url:
        with pytest.raises(ConfigError, match="401"):
            await running.slack.set_request_url(running.app()["app_id"], url)


async def test_a_mentioned_bot_answers_in_the_thread(running: Running) -> None:
    async with over_sockets(echo_bot(running.client()), running.app()["app_token"]):
        question = await running.says("@Plain are you there?")
        await until(lambda: len(running.texts()) == 2)

    answer = running.slack.messages("T0ACME", GENERAL)[1]
    assert (answer.thread, answer.author, answer.bot) == (question, "Plain", True)
    assert answer.text == "At your service, @Ada Park"


async def test_a_bot_keeps_threads_and_one_edited_summary(running: Running) -> None:
    async with over_sockets(pinned_threads_bot(running.client()), running.app()["app_token"]):
        first = await running.says("why?")
        await until(lambda: "1 open" in running.texts())
        second = await running.says("how?")
        await until(lambda: "2 open" in running.texts())

    messages = [(m.text, m.thread, m.edited) for m in running.slack.messages("T0ACME", GENERAL)]
    assert sorted(messages, key=lambda item: item[0]) == [
        ("2 open", None, True),
        ("Noted.", first, False),
        ("Noted.", second, False),
        ("how?", None, False),
        ("why?", None, False),
    ]


async def test_a_bot_in_two_workspaces_separates_them(running: Running) -> None:
    acme, globex = running.app(), running.app(workspace="T0GLOBEX")
    acme_bot, globex_bot = (
        echo_bot(running.client()),
        echo_bot(running.client(workspace="T0GLOBEX")),
    )

    async with (
        over_sockets(acme_bot, acme["app_token"]),
        over_sockets(globex_bot, globex["app_token"]),
    ):
        await running.slack.post_as("T0GLOBEX", "C0GLOBEX001", "U0GLOBEX01", "echo here")
        await until(lambda: len(running.slack.messages("T0GLOBEX", "C0GLOBEX001")) == 2)

    assert running.texts() == []


async def test_a_program_reads_a_long_history_page_by_page(running: Running) -> None:
    texts = [f"message {number}" for number in range(25)]
    for text in texts:
        await running.says(text)

    pages = await running.client().conversations_history(channel=GENERAL, limit=10)
    read = await across(pages, "text")

    assert read == texts[::-1]


async def test_a_program_catches_up_from_its_last_message(running: Running) -> None:
    client = running.client()
    last = await running.says("seen")
    missed = [await running.says(f"missed {number}") for number in range(7)]

    pages = await client.conversations_history(channel=GENERAL, oldest=last, limit=3)
    newer = await across(pages, "ts")

    assert newer == [missed[i] for i in (2, 1, 0, 5, 4, 3, 6)]


async def test_a_program_reads_a_thread_page_by_page(running: Running) -> None:
    client = running.client()
    root = await running.says("root")
    for number in range(5):
        await running.says(f"reply {number}", thread=root)

    pages = await client.conversations_replies(channel=GENERAL, ts=root, limit=2)
    read = await across(pages, "text")

    assert read == ["root", *(f"reply {number}" for number in range(5))]


async def test_the_sdks_retry_handler_waits_out_the_rate_limit(running: Running) -> None:
    client = running.client()
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=5))
    running.context.faults.add(Fault(kind="rate_limited", where="*postMessage*", seconds=1))

    await client.chat_postMessage(channel=GENERAL, text="patient")

    assert running.texts() == ["patient"]
    assert running.context.feed.refusals == {"slack:429:chat.postMessage": 1}


async def test_posts_above_a_channels_burst_limit_are_refused(running: Running) -> None:
    client = running.client()
    for number in range(5):
        await client.chat_postMessage(channel=GENERAL, text=str(number))

    with refused("ratelimited") as caught:
        await client.chat_postMessage(channel=GENERAL, text="too much")
    await client.chat_postMessage(channel=RANDOM, text="another channel has its own limit")

    answer = caught.value.response
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "1"


async def test_nothing_is_refused_when_limits_are_off(running: Running) -> None:
    running.context.limits.on = False
    client = running.client()

    for number in range(30):
        await client.chat_postMessage(channel=GENERAL, text=str(number))

    assert len(running.texts()) == 30


async def test_a_bot_reconnects_after_a_disconnect(running: Running) -> None:
    async with over_sockets(echo_bot(running.client()), running.app()["app_token"]) as handler:
        before = handler.client.current_session
        await running.slack.disconnect()
        await until(lambda: reconnected(handler, before))
        await running.says("echo again")
        await until(lambda: len(running.texts()) == 2)


async def test_a_bot_reconnects_after_a_broken_connection(running: Running) -> None:
    async with over_sockets(echo_bot(running.client()), running.app()["app_token"]) as handler:
        before = handler.client.current_session
        await running.slack.disconnect("crash")
        await until(lambda: reconnected(handler, before))
        await running.says("echo again")
        await until(lambda: len(running.texts()) == 2)


async def test_a_wrong_token_is_refused(running: Running) -> None:
    url = running.app()["api_url"]

    with refused("invalid_auth"):
        await AsyncWebClient(token="xoxb-nobody", base_url=url).auth_test()
    with refused("not_authed"):
        await AsyncWebClient(base_url=url).auth_test()
    with refused("not_allowed_token_type"):
        await running.client().apps_connections_open(app_token=running.app()["bot_token"])


async def test_a_lost_answer_shows_as_a_broken_connection(running: Running) -> None:
    client = running.client()
    client.retry_handlers.clear()
    running.context.faults.add(Fault(kind="lose_answer", where="slack:chat.postMessage:*"))

    with pytest.raises(aiohttp.ClientConnectionError):
        await client.chat_postMessage(channel=GENERAL, text="did it arrive?")

    assert running.texts() == ["did it arrive?"]


async def test_the_sdks_own_retry_doubles_a_post_whose_answer_was_lost(running: Running) -> None:
    running.context.faults.add(Fault(kind="lose_answer", where="slack:chat.postMessage:*"))

    await running.client().chat_postMessage(channel=GENERAL, text="twice")

    assert running.texts() == ["twice", "twice"]


async def test_a_failed_request_stores_nothing(running: Running) -> None:
    running.context.faults.add(Fault(kind="status", where=f"*:{HELP}", status=503))

    with pytest.raises(SlackApiError) as caught:
        await running.client().chat_postMessage(channel=HELP, text="lost")

    assert caught.value.response.status_code == 503
    assert running.texts(HELP) == []


async def test_a_hanging_server_answers_too_late(running: Running) -> None:
    client = running.client()
    client.timeout = 0.2  # pyright: ignore[reportAttributeAccessIssue]  # aiohttp takes floats
    running.context.faults.add(Fault(kind="hang", seconds=0.5))

    with pytest.raises(TimeoutError):
        await client.chat_postMessage(channel=GENERAL, text="never")

    assert running.texts() == []
