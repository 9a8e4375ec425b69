"""Every answer of Slack, and every failure to get one, becomes one of our errors."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from bridge.errors import (
    AuthFailed,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from bridge.model import Call, OperationId, Receipt
from connectors.slack.ids import channel_ref
from connectors.slack.send import WebApi, send_call, translated
from tests.connectors.slack.foreign_errors import every_foreign_error
from tests.waiting import pass_time

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class FakeClock:
    """A clock that only `sleep` advances."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def time(self) -> float:
        return 1_700_000_000.0

    def monotonic(self) -> float:
        return sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@contextlib.asynccontextmanager
async def answering(
    answer: Answer, clock: FakeClock | None = None, deadline: float = 10.0
) -> AsyncGenerator[WebApi]:
    """A Web API that gives this answer to every request."""
    app = web.Application()
    app.router.add_post("/api/{method}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    address = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    api = WebApi(address, _token, clock or FakeClock(), deadline)
    try:
        yield api
    finally:
        await api.close()
        await runner.cleanup()


async def _token() -> str:
    return "xoxb-1"


def call(kind: Any = "post", method: str = "chat.postMessage") -> Call:
    return Call(
        kind=kind, method=method, operation=OperationId("op"), channel=channel_ref("T1", "C1"),
        native_id=None if kind == "post" else "1.000002", body={"channel": "C1", "text": "hi"},
    )  # fmt: skip


def ok_false(code: str, **facts: Any) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"ok": False, "error": code, **facts})

    return answer


def status(code: int, body: str = "<html>", **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=code, text=body, headers=headers)

    return answer


async def _error_of(answer: Answer, request: Call | None = None) -> PlatformError:
    async with answering(answer) as api:
        with pytest.raises(PlatformError) as caught:
            await send_call(api, request or call())
    return caught.value


CODES: dict[str, tuple[type[PlatformError], str]] = {
    "invalid_auth": (TokenRefused, "install the app again"),
    "token_revoked": (TokenRefused, "install the app again"),
    "not_allowed_token_type": (AuthFailed, "bot_token begins with xoxb-"),
    "channel_not_found": (NotFound, "/invite @its-name"),
    "not_in_channel": (NotFound, "/invite @its-name"),
    "message_not_found": (NotFound, "gone"),
    "is_archived": (Refused, "unarchive it"),
    "restricted_action_of_a_new_kind": (Refused, "ask an admin"),
    "msg_too_long": (Refused, "report it"),
    "never_heard_of": (Refused, "never_heard_of"),
    "fatal_error": (Unsettled, "fault of its own"),
    "internal_error": (Unsettled, "fault of its own"),
    "service_unavailable": (Unavailable, "cannot do it now"),
    "ratelimited": (RateLimited, "wait 30 s"),
    "message_limit_exceeded": (RateLimited, "wait 30 s"),
}


@pytest.mark.parametrize("code", CODES)
async def test_a_refusal_names_the_method_the_channel_and_the_remedy(code: str) -> None:
    error = await _error_of(ok_false(code))

    kind, words = CODES[code]
    assert type(error) is kind
    assert error.code == code
    assert str(error).startswith("chat.postMessage 'C1': ")
    assert words in str(error)


async def test_a_missing_scope_is_named_with_its_purpose_in_the_error() -> None:
    error = await _error_of(ok_false("missing_scope", needed="chat:write", provided="im:read"))

    assert type(error) is AuthFailed
    assert "lacks the scope 'chat:write' (post, edit and delete its own messages)" in str(error)


async def test_slacks_messages_for_developers_are_in_the_error() -> None:
    facts = {"response_metadata": {"messages": ["[ERROR] missing required field: text"]}}

    error = await _error_of(ok_false("invalid_arguments", **facts))

    assert str(error).endswith("'invalid_arguments': [ERROR] missing required field: text")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0", 1.0), ("-3", 1.0), ("soon", 30.0), ("9e9", 3600.0), ("nan", 30.0)],
)
async def test_retry_after_is_obeyed_within_bounds(header: str, seconds: float) -> None:
    error = await _error_of(status(429, "", **{"Retry-After": header}))

    assert isinstance(error, RateLimited)
    assert error.retry_after == seconds


@pytest.mark.parametrize("code", [500, 502, 503, 504])
async def test_a_server_error_leaves_a_post_unsettled_and_an_edit_repeatable(code: int) -> None:
    assert type(await _error_of(status(code))) is Unsettled
    assert type(await _error_of(status(code), call("edit", "chat.update"))) is Unavailable


@pytest.mark.parametrize("body", ["", "<html>", "[]", "null", '"ok"', "{}", '{"ok": "yes"}', "{"])
async def test_a_malformed_answer_leaves_a_post_unsettled(body: str) -> None:
    assert type(await _error_of(status(200, body))) is Unsettled


@pytest.mark.parametrize("code", [301, 403, 404])
async def test_an_answer_that_is_not_slacks_reports_a_wrong_api_url(code: int) -> None:
    error = await _error_of(status(code, Location="https://elsewhere.test/"))

    assert type(error) is Refused
    assert "check api_url" in str(error)


async def test_an_unreachable_server_is_unavailable() -> None:
    api = WebApi("http://127.0.0.1:9/api/", _token, FakeClock())

    with pytest.raises(Unavailable, match="no connection"):
        await send_call(api, call())

    await api.close()


async def test_a_broken_connection_leaves_a_post_unsettled() -> None:
    async def hang_up(request: web.Request) -> web.Response:
        await request.read()
        assert request.transport
        request.transport.abort()
        return web.Response()

    assert type(await _error_of(hang_up)) is Unsettled
    assert type(await _error_of(hang_up, call("delete", "chat.delete"))) is Unavailable


async def test_a_late_answer_leaves_a_post_unsettled() -> None:
    requested, never = asyncio.Event(), asyncio.Event()

    async def dawdle(_: web.Request) -> web.Response:
        requested.set()
        await never.wait()
        return web.Response()

    async with answering(dawdle, deadline=10.0) as api:
        sending = asyncio.create_task(send_call(api, call()))
        await requested.wait()
        pass_time(60)
        with pytest.raises(Unsettled) as caught:
            await sending
        never.set()
    assert caught.value.late


async def test_deleting_a_deleted_message_succeeds() -> None:
    async with answering(ok_false("message_not_found")) as api:
        receipt = await send_call(api, call("delete", "chat.delete"))

    assert receipt == Receipt(native_id="1.000002", deleted=True)


async def test_the_receipt_has_the_thread_of_slacks_answer() -> None:
    async def answer(_: web.Request) -> web.Response:
        message = {"ts": "3.000004", "thread_ts": "1.000001"}
        return web.json_response({"ok": True, "ts": "3.000004", "message": message})

    async with answering(answer) as api:
        receipt = await send_call(api, call())

    assert receipt == Receipt(native_id="3.000004", thread="1.000001")


async def test_a_rate_limited_list_continues_at_its_cursor() -> None:
    clock = FakeClock()
    cursors: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        cursor = str((await request.post()).get("cursor", ""))
        cursors.append(cursor)
        if cursors == ["", "2"]:
            return web.Response(status=429, headers={"Retry-After": "5"})
        next_cursor = {"": "2", "2": ""}[cursor]
        return web.json_response({"ok": True, "response_metadata": {"next_cursor": next_cursor}})

    async with answering(answer, clock) as api:
        pages = [page async for page in api.pages("conversations.list")]

    assert cursors == ["", "2", "2"]
    assert len(pages) == 2
    assert clock.slept == [5.0]


@pytest.mark.parametrize("error", every_foreign_error(), ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("once", [True, False])
def test_every_foreign_error_is_translated(error: BaseException, once: bool) -> None:
    with pytest.raises(PlatformError) as caught, translated("chat.postMessage", once=once):
        raise error

    assert str(caught.value).startswith("chat.postMessage: ")
    assert caught.value.__cause__ is error
    if not once:
        assert not isinstance(caught.value, Unsettled)


def test_a_cancellation_is_not_translated() -> None:
    with pytest.raises(asyncio.CancelledError), translated():
        raise asyncio.CancelledError
