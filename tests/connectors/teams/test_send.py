"""Calls to a scripted Teams: the error or receipt of each answer, also malformed or late ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from bridge.model import Call, ChannelRef, OperationId, Receipt
from bridge.model.secret_refs import SecretRef
from bridge.runtime.clock import SystemClock
from connectors.teams.references import Reference, References
from connectors.teams.sandbox.refusals import BrokenAnswer
from connectors.teams.send import (
    BotToken,
    HttpClient,
    Sender,
    connect_within,
    error_of,
    token_within,
)
from connectors.teams.settings import TeamsSettings
from tests.connectors.doubles import FixedTokens, MemoryKeyValues
from tests.connectors.serving import served
from tests.connectors.teams.payloads import APP_ID, CHANNEL, TENANT
from tests.connectors.teams.sdk_errors import sdk_errors
from tests.waiting import LONGEST_WAIT, pass_time

CHANNEL_REF = ChannelRef(platform="teams", workspace=TENANT, channel=CHANNEL)
TOKEN_PATH = f"/login/{TENANT}/oauth2/v2.0/token"
GOOD: dict[str, Any] = {"access_token": "t1", "expires_in": 3600}


@dataclass
class Script:
    """The received requests, and the next answers; without one, 201 with an id."""

    answers: list[Any] = field(default_factory=list[Any])
    token_answers: list[Any] = field(default_factory=list[Any])
    requests: list[tuple[str, str, str, Any]] = field(default_factory=list[Any])
    token_forms: list[dict[str, str]] = field(default_factory=list[Any])

    async def answer(self, request: Request) -> Response:
        body = await request.body()
        path = request.scope["raw_path"].decode()
        json_body = orjson.loads(body) if body else None
        self.requests.append((request.method, path, request.headers["authorization"], json_body))
        next_answer = self.answers.pop(0) if self.answers else JSONResponse({"id": "17"}, 201)
        return next_answer if isinstance(next_answer, Response) else await next_answer()

    async def token(self, request: Request) -> Response:
        self.token_forms.append(dict(parse_qsl((await request.body()).decode())))
        return self.token_answers.pop(0) if self.token_answers else JSONResponse(GOOD)


@dataclass
class Wire:
    """A sender and the script that answers it."""

    script: Script
    sender: Sender
    token: BotToken
    references: References
    http: HttpClient
    base: str
    settings: TeamsSettings

    def sender_within(self, deadline: float) -> Sender:
        """A sender with this deadline in seconds."""
        tokens = FixedTokens({"PW": "s3cret"})
        token = BotToken(self.settings, tokens, self.http, SystemClock(), deadline)
        return Sender(self.settings, self.references, token, self.http, deadline)


@pytest.fixture
async def wire() -> AsyncIterator[Wire]:
    script = Script()
    methods = ["GET", "POST", "PUT", "DELETE"]
    routes = [
        Route(TOKEN_PATH, script.token, methods=["POST"]),
        Route("/svc/{path:path}", script.answer, methods=methods),
    ]
    async with served(Starlette(routes=routes)) as server:
        base = server.base_url
        settings = TeamsSettings(
            app_id=APP_ID, app_password=SecretRef(env="PW"), tenant_id=TENANT,
            login_url=f"{base}/login", service_hosts=("127.0.0.1",),
        )  # fmt: skip
        http = HttpClient(deadline=LONGEST_WAIT)
        references = References(MemoryKeyValues())
        await references.learn(
            Reference(conversation=CHANNEL, tenant=TENANT, service_url=f"{base}/svc/")
        )
        token = BotToken(settings, FixedTokens({"PW": "s3cret"}), http, SystemClock())
        sender = Sender(settings, references, token, http, deadline=0.5)
        yield Wire(script, sender, token, references, http, base, settings)
        await http.close()


def call(like: Any = "post", **changes: Any) -> Call:
    fields: dict[str, Any] = {
        "kind": like,
        "operation": OperationId("op"),
        "channel": CHANNEL_REF,
        "method": {"post": "POST", "edit": "PUT", "delete": "DELETE"}[like],
        "native_id": None if like == "post" else "17",
        "body": {"type": "message", "text": "hello"},
    }
    return Call(**fields | changes)


async def test_a_post_is_sent_to_the_conversation_of_its_thread(wire: Wire) -> None:
    receipt = await wire.sender.send(call(slot=1, thread="9"))

    assert receipt == Receipt(slot=1, native_id="17", thread="9")
    assert wire.script.requests == [
        (
            "POST",
            "/svc/v3/conversations/19%3A0a1b2c%40thread.tacv2%3Bmessageid%3D9/activities",
            "Bearer t1",
            {"type": "message", "text": "hello"},
        )
    ]
    assert wire.script.token_forms == [
        {
            "grant_type": "client_credentials",
            "client_id": APP_ID,
            "client_secret": "s3cret",
            "scope": "https://api.botframework.com/.default",
        }
    ]


def reaction(method: str = "PUT") -> Call:
    return call("edit", kind="other", method=method, body={"reaction": "1f44b_wavinghand"})


async def test_a_reaction_is_a_separate_request(wire: Wire) -> None:
    wire.script.answers = [Response(status_code=200), Response(status_code=204)]

    receipts = [await wire.sender.send(reaction(method)) for method in ("PUT", "DELETE")]

    assert receipts == [Receipt(slot=0, native_id="17")] * 2
    path = "/svc/v3/conversations/19%3A0a1b2c%40thread.tacv2/activities/17/reactions/"
    assert [request[:2] for request in wire.script.requests] == [
        ("PUT", f"{path}1f44b_wavinghand"), ("DELETE", f"{path}1f44b_wavinghand"),
    ]  # fmt: skip


@pytest.mark.parametrize("status", [400, 403, 404, 405, 501])
async def test_a_reaction_that_the_service_lacks_raises_form_refused(
    wire: Wire, status: int
) -> None:
    wire.script.answers = [JSONResponse({"message": "no such thing"}, status)] * 3

    with pytest.raises(FormRefused):
        await wire.sender.send(reaction())


async def test_a_reaction_to_a_deleted_message_succeeds(wire: Wire) -> None:
    body = {"error": {"code": "ActivityNotFoundInConversation", "message": "gone"}}
    wire.script.answers = [JSONResponse(body, 404)]

    assert await wire.sender.send(reaction()) == Receipt(slot=0, native_id="17")


async def test_edits_and_deletions_are_sent_to_their_copy(wire: Wire) -> None:
    edited = await wire.sender.send(call("edit"))
    wire.script.answers = [Response(status_code=200)]
    deleted = await wire.sender.send(call("delete"))

    assert edited == Receipt(native_id="17")
    assert deleted == Receipt(native_id="17", deleted=True)
    path = "/svc/v3/conversations/19%3A0a1b2c%40thread.tacv2/activities/17"
    assert [(method, path, body) for method, path, _token, body in wire.script.requests] == [
        ("PUT", path, {"type": "message", "text": "hello"}),
        ("DELETE", path, None),
    ]


async def test_deleting_a_deleted_message_succeeds_unless_the_conversation_is_unknown(
    wire: Wire,
) -> None:
    wire.script.answers = [_error(404, "ActivityNotFoundInConversation")]
    assert await wire.sender.send(call("delete")) == Receipt(native_id="17", deleted=True)

    wire.script.answers = [_error(404, "ConversationNotFound")]
    with pytest.raises(NotFound):
        await wire.sender.send(call("delete"))


async def test_the_token_is_fetched_once(wire: Wire) -> None:
    await asyncio.gather(*(wire.sender.send(call()) for _ in range(5)))

    assert len(wire.script.token_forms) == 1


async def test_a_refused_token_is_fetched_again_once(wire: Wire) -> None:
    wire.script.token_answers = [JSONResponse(GOOD), JSONResponse(GOOD | {"access_token": "t2"})]
    wire.script.answers = [Response(status_code=401)]

    assert await wire.sender.send(call()) == Receipt(native_id="17")
    assert [token for _m, _p, token, _b in wire.script.requests] == ["Bearer t1", "Bearer t2"]


@pytest.mark.parametrize("lasts", ["nan", "inf", "-inf", "soon", "9" * 400, 1e300, None, [], -5])
async def test_a_token_is_cached_for_at_most_a_day(wire: Wire, lasts: Any) -> None:
    wire.script.token_answers = [JSONResponse(GOOD | {"expires_in": lasts})] * 2

    await wire.token.get()

    assert vars(wire.token)["_until"] <= time.monotonic() + 86_400


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [("nan", None), ("inf", None), ("9" * 400, None), ("1e9", 3600.0), ("7", 7.0)],
)
async def test_a_requested_wait_has_an_upper_bound(
    wire: Wire, retry_after: str, wait: float | None
) -> None:
    wire.script.answers = [_error(429, Retry_After=retry_after)]

    with pytest.raises(RateLimited) as caught:
        await wire.sender.send(call())

    assert 0 < caught.value.retry_after <= 3600
    assert wait is None or caught.value.retry_after == wait


async def test_a_second_refusal_of_the_token_raises_auth_failed(wire: Wire) -> None:
    wire.script.answers = [JSONResponse({"message": "denied"}, 401)] * 2

    with pytest.raises(AuthFailed, match="check app_id"):
        await wire.sender.send(call())
    refused = wire.sender.credential.refused
    await wire.sender.send(call())

    assert ("check app_id" in refused, wire.sender.credential.refused) == (True, "")


def _error(status: int, code: str = "Code", **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return JSONResponse({"error": {"code": code, "message": "why"}}, status, named)


async def _hang() -> Response:
    await asyncio.Event().wait()
    return Response(status_code=504)


async def _come_late() -> Response:
    pass_time(2 * LONGEST_WAIT)
    return await _hang()


Made = Response | Callable[[], Any]


@pytest.mark.parametrize(
    ("answer", "for_a_post", "for_an_edit"),
    [
        (_error(400, "BadSyntax"), FormRefused, FormRefused),
        (_error(403, "BotNotInConversationRoster"), Refused, Refused),
        (_error(404, "ConversationNotFound"), NotFound, NotFound),
        (_error(409), Refused, Refused),
        (_error(412, "PreconditionFailed"), Unavailable, Unavailable),
        (_error(413, "MessageSizeTooBig"), FormRefused, FormRefused),
        (_error(429, Retry_After="7"), RateLimited, RateLimited),
        (_error(500, "ServiceError"), Unsettled, Unavailable),
        (_error(502), Unsettled, Unavailable),
        (_error(503), Unavailable, Unavailable),
        (_error(504), Unsettled, Unavailable),
        (PlainTextResponse("<html>gateway</html>", 502), Unsettled, Unavailable),
        (Response(status_code=302, headers={"Location": "https://evil.example"}), Refused, Refused),
        (BrokenAnswer(), Unsettled, Unavailable),
        (_come_late, Unsettled, Unavailable),
    ],
)
async def test_every_http_answer_is_mapped_to_an_error(
    wire: Wire, answer: Made, for_a_post: type[PlatformError], for_an_edit: type[PlatformError]
) -> None:
    for sent_call, expected in ((call(), for_a_post), (call("edit"), for_an_edit)):
        # aiohttp itself asks once more when a connection that it kept breaks under a PUT.
        wire.script.answers = [answer] * 2
        with pytest.raises(PlatformError) as caught:
            await wire.sender.send(sent_call)
        assert type(caught.value) is expected, sent_call.kind
        wire.script.answers.clear()


async def test_a_rate_limit_error_has_the_wait(wire: Wire) -> None:
    for headers, seconds in (
        ({"Retry_After": "7"}, 7.0),
        ({}, 2.0),
        ({"Retry_After": "soon"}, 2.0),
    ):
        wire.script.answers = [_error(429, "Throttled", **headers)]
        with pytest.raises(RateLimited) as caught:
            await wire.sender.send(call())
        assert caught.value.retry_after == seconds


async def test_the_refusal_of_an_uninstalled_bot_explains_how_to_install_it(wire: Wire) -> None:
    wire.script.answers = [_error(403, "BotNotInConversationRoster")]

    with pytest.raises(Refused, match="install the app in this team"):
        await wire.sender.send(call())


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"id": 7}', b"not json"])
async def test_a_success_without_an_id_is_unsettled(wire: Wire, body: bytes) -> None:
    wire.script.answers = [Response(body, 201)]

    with pytest.raises(Unsettled, match="without a message id"):
        await wire.sender.send(call())


async def test_an_unreachable_service_is_unavailable(wire: Wire) -> None:
    unreachable = Reference(
        conversation=CHANNEL, tenant=TENANT, service_url="http://127.0.0.1:9/svc"
    )
    await wire.references.learn(unreachable)

    with pytest.raises(Unavailable, match="cannot connect"):
        await wire.sender.send(call())


async def test_a_conversation_without_a_stored_reference_is_refused_with_advice(wire: Wire) -> None:
    other = CHANNEL_REF.model_copy(update={"workspace": "elsewhere", "channel": "19:x@thread.v2"})

    with pytest.raises(Refused, match="mention the bot once"):
        await wire.sender.send(call(channel=other))

    assert wire.script.requests == []


async def test_another_channel_of_a_known_tenant_uses_its_address(wire: Wire) -> None:
    other = CHANNEL_REF.model_copy(update={"channel": "19:random@thread.tacv2"})

    assert await wire.sender.send(call(channel=other))


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/", "http://smba.trafficmanager.net/", "https://[::1/", "",
        "https://evil.trafficmanager.net/", "https://127.0.0.1.evil.example/",
        "https://user@127.0.0.1/", "ftp://127.0.0.1/", "127.0.0.1",
    ],
)  # fmt: skip
async def test_the_token_is_never_sent_to_an_unknown_host(wire: Wire, url: str) -> None:
    await wire.references.learn(Reference(conversation="19:y", tenant="T2", service_url=url or "x"))

    with pytest.raises(Refused, match="service_hosts"):
        await wire.sender.send(
            call(channel=ChannelRef(platform="teams", workspace="T2", channel="19:y"))
        )

    assert wire.script.token_forms == []


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (JSONResponse({"error": "invalid_client", "error_description": "AADSTS7000215: Invalid "
            "client secret. Trace ID: x"}, 401), TokenRefused),
        (JSONResponse({"error": "unauthorized_client"}, 400), TokenRefused),
        (Response(status_code=500), Unavailable),
        (Response(status_code=503), Unavailable),
        (PlainTextResponse("hello"), Unavailable),
        (_error(429, Retry_After="3"), RateLimited),
        (BrokenAnswer(), Unavailable),
    ],
)  # fmt: skip
async def test_without_a_token_nothing_is_sent(
    wire: Wire, answer: Response, error: type[PlatformError]
) -> None:
    wire.script.token_answers = [answer] * 2

    with pytest.raises(error) as caught:
        await wire.sender.send(call())

    assert type(caught.value) is error
    assert "Trace ID" not in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert wire.script.requests == []


@pytest.mark.parametrize("deadline", [0.05, 0.4, 3.0, 15.0, 30.0, 600.0])
def test_connecting_and_fetching_a_token_fit_within_the_deadline(deadline: float) -> None:
    """As long as it may take: to connect, be refused, fetch a token and connect once more."""
    assert token_within(deadline) + 2 * connect_within(deadline) < deadline


async def test_a_post_without_a_token_in_time_is_unavailable_and_not_unsettled(wire: Wire) -> None:
    wire.script.token_answers = [_Late()]

    with pytest.raises(Unavailable, match=r"No token from .* within 0\.1 s"):
        await wire.sender_within(0.4).send(call())

    assert wire.script.requests == []


async def test_many_posts_that_wait_for_a_token_time_out_together(wire: Wire) -> None:
    sender = wire.sender_within(0.8)
    wire.script.token_answers = [_Late(), _Late(), _Late()]

    sent = await asyncio.gather(*(sender.send(call()) for _ in range(3)), return_exceptions=True)

    assert [type(error) for error in sent] == [Unavailable] * 3
    assert len(wire.script.token_forms) == 1
    assert wire.script.requests == []


class _Late(Response):
    """Answers after the client's deadline."""

    async def __call__(self, *arguments: Any) -> None:
        pass_time(LONGEST_WAIT)
        await asyncio.Event().wait()
        await super().__call__(*arguments)


async def test_cancelling_leaves_no_request_running(wire: Wire) -> None:
    wire.script.answers = [_hang]
    sending = asyncio.create_task(wire.sender.send(call()))
    async with asyncio.timeout(LONGEST_WAIT):
        while not wire.script.requests:  # noqa: ASYNC110 - the script is a plain list
            await asyncio.sleep(0.01)

    sending.cancel()

    with pytest.raises(asyncio.CancelledError):
        await sending


async def test_a_closed_account_sends_nothing(wire: Wire) -> None:
    await wire.http.close()

    with pytest.raises(Unavailable, match="closed"):
        await wire.sender.send(call())


def test_the_walk_over_the_sdks_finds_their_exceptions() -> None:
    names = {type(error).__name__ for error in sdk_errors()}

    assert {"ErrorResponseException", "ServerDisconnectedError", "AuthenticationError"} <= names
    assert len(names) > 40


def test_every_status_gives_an_error_with_a_text() -> None:
    errors: Sequence[PlatformError] = [error_of("x", status, {}) for status in range(600)]

    assert all(str(error) for error in errors)
