"""The Web API endpoint: token, rate limits and faults around a method, and the form of
the answer."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from bridge.sandbox.faults import Fault
from bridge.sandbox.limits import Window
from bridge.sandbox.platform import SandboxContext
from connectors.slack.sandbox.arguments import ApiError, Arguments, read_arguments
from connectors.slack.sandbox.broken import Broken
from connectors.slack.sandbox.methods import METHODS
from connectors.slack.sandbox.methods.call import Call, Method
from connectors.slack.sandbox.oauth import OAuth
from connectors.slack.sandbox.sockets import Sockets
from connectors.slack.sandbox.state import App, Slack
from connectors.slack.sandbox.state_changes import StateChanges
from connectors.slack.sandbox.uploads import Uploads
from connectors.slack.sandbox.views import Views

Json = dict[str, Any]
# About one message a second in a channel, short bursts allowed (docs, without a number). Here any
# window of s seconds takes s + 4 messages: a burst of five passes, and one message a second always.
PER_CHANNEL = tuple(Window(seconds + 4, float(seconds)) for seconds in (1, 5, 15, 60))
_JSON = "application/json; charset=utf-8"
_WORDS = {503: "service_unavailable", 504: "request_timeout"}


class WebApi:
    """`POST|GET /slack/api/<method>`."""

    def __init__(
        self, context: SandboxContext, slack: Slack, changes: StateChanges, sockets: Sockets,
        uploads: Uploads, views: Views, oauth: OAuth,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._oauth = oauth
        self._context = context
        self._slack = slack
        self._changes = changes
        self._sockets = sockets
        self._uploads = uploads
        self._views = views
        self._clock = clock

    async def endpoint(self, request: Request) -> Response:
        method: str = request.path_params["method"]
        try:
            if method in self._oauth.methods:
                return await self._answer_app(method, request)
            return await self._answer(method, request)
        except ApiError as error:
            self._context.feed.refused("slack", error.code, method)
            return _json({"ok": False, "error": error.code} | error.facts)

    async def _answer(self, method: str, request: Request) -> Response:
        handler = METHODS.get(method)
        if handler is None:
            raise ApiError("unknown_method", req_method=method)
        kind = request.headers.get("content-type", "")
        args = Arguments(read_arguments(request.query_params, kind, await request.body()))
        app = self._caller(method, _token(request, args, kind))
        where = f"slack:{method}:{_channel_named(args)}"
        if fault := self._context.faults.take(where, "status", "rate_limited", "hang"):
            return await self._fail(fault, method)
        if wait := self._wait(method, handler, app, args):
            return self._limited(wait, method)
        if late := self._context.faults.take(where, "late_request"):
            await asyncio.sleep(late.seconds)
        answer = self._run(handler, app, args)
        if self._context.faults.take(where, "lose_answer"):
            return Broken()
        if late := self._context.faults.take(where, "late_answer"):
            await asyncio.sleep(late.seconds)
        return _json(_with_warning(answer, kind), {"x-oauth-scopes": ",".join(app.scopes)})

    async def _answer_app(self, method: str, request: Request) -> Response:
        """A method that takes the id and the secret of an app instead of a token."""
        kind = request.headers.get("content-type", "")
        args = Arguments(read_arguments(request.query_params, kind, await request.body()))
        where = f"slack:{method}:-"
        if fault := self._context.faults.take(where, "status", "rate_limited", "hang"):
            return await self._fail(fault, method)
        answer = {"ok": True} | self._oauth.methods[method](args)
        if self._context.faults.take(where, "lose_answer"):
            return Broken()
        return _json(answer)

    def _caller(self, method: str, token: str) -> App:
        if not token:
            raise ApiError("not_authed")
        tokens = self._slack.bot_tokens
        others = self._slack.app_tokens
        if method == "apps.connections.open":
            tokens, others = others, tokens
        app = tokens.get(token)
        if app is None:
            raise ApiError("not_allowed_token_type" if token in others else "invalid_auth")
        if not app.active:
            raise ApiError("account_inactive")
        if self._oauth.has_ended(token):
            raise ApiError("token_expired")
        return app

    def _wait(self, method: str, handler: Method, app: App, args: Arguments) -> float | None:
        key = f"slack:{method}:{app.team}:{app.id}"
        whole = (key, (Window(handler.per_minute, 60.0),))
        if method != "chat.postMessage":
            return self._context.limits.retry_after(self._clock(), whole)
        channel = (f"{key}:{_channel_named(args)}", PER_CHANNEL)
        return self._context.limits.retry_after(self._clock(), whole, channel)

    def _run(self, handler: Method, app: App, args: Arguments) -> Json:
        workspace = self._slack.workspaces[app.team]
        call = Call(
            self._slack, self._changes, self._sockets, workspace, app, args, self._context.base_url,
            self._uploads, self._views,
        )  # fmt: skip
        if handler.scope:
            call.need(handler.scope)
        return {"ok": True} | handler.run(call)

    async def _fail(self, fault: Fault, method: str) -> Response:
        if fault.kind == "rate_limited":
            return self._limited(fault.seconds, method)
        status = fault.status
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
            status = 504
        self._context.feed.refused("slack", str(status), method)
        body = {"ok": False, "error": _WORDS.get(status, "internal_error")}
        return _json(body, status=status)

    def _limited(self, wait: float, method: str) -> Response:
        self._context.feed.refused("slack", "429", method)
        seconds = str(max(1, math.ceil(wait)))
        return _json({"ok": False, "error": "ratelimited"}, {"retry-after": seconds}, 429)


def _token(request: Request, args: Arguments, content_type: str) -> str:
    """The token of the header or of a form's `token`; never of the query string (docs, 2021)."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    in_form = (
        not content_type.startswith("application/json") and "token" not in request.query_params
    )
    return args.text("token") if in_form else ""


def _channel_named(args: Arguments) -> str:
    channel = args.values.get("channel") or args.values.get("channel_id")
    return channel if isinstance(channel, str) else "-"


def _with_warning(answer: Json, content_type: str) -> Json:
    if content_type.strip().lower() != "application/json" or "warning" in answer:
        return answer
    about = answer.get("response_metadata", {}) | {"warnings": ["missing_charset"]}
    return answer | {"warning": "missing_charset", "response_metadata": about}


def _json(body: Json, headers: dict[str, str] | None = None, status: int = 200) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type=_JSON)
