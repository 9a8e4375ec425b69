"""The REST side as one ASGI app: path -> route, token, rate limits, faults -> JSON answer."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bridge.sandbox.faults import Fault, Faults
from bridge.sandbox.feed import Feed
from bridge.sandbox.files import FileStore, TooMuch
from bridge.sandbox.limits import Limits, Window
from bridge.sandbox.multipart import BadMultipart, Bounds, read_multipart
from connectors.discord.sandbox.call import Call, Created, Route
from connectors.discord.sandbox.errors import ApiError, invalid_json, too_large, unauthorized
from connectors.discord.sandbox.routes import all_routes
from connectors.discord.sandbox.state import App, Channel
from connectors.discord.sandbox.state_changes import StateChanges

PREFIX = "/discord/api/v10"
GLOBAL = Window(50, 1)
LARGEST_FILE = 10 << 20
_LARGEST_REQUEST = 25 << 20
_MAX_FIELDS_SIZE = 4 << 20
_LIMITED = "You are being rate limited."
# discord.py takes a 429 without Via for a Cloudflare ban and gives up (http.py, 2.7.1).
_VIA = {"Via": "1.1 local"}


@dataclass(frozen=True, slots=True)
class _MatchedRequest:
    """The properties of a request by which limits and faults apply."""

    route: Route
    channel: str
    major: str
    caller: str


class Api:
    """Answers `/discord/api/v10/...`."""

    def __init__(
        self, changes: StateChanges, faults: Faults, limits: Limits, feed: Feed, files: FileStore
    ) -> None:
        self._changes = changes
        self._files = files
        self._faults = faults
        self._limits = limits
        self._feed = feed
        self._routes = all_routes()
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Release the requests that a fault keeps hanging."""
        self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            route, params = self._routes.find(request.method, _path(scope))
            call = Call(self._changes, params, request.query_params, b"", self._app(request))
            matched = self._match_request(route, call, request)
            await self._read_body(request, call, matched)
        except ClientDisconnect:
            return
        except ApiError as error:
            await self._refusal(error, "unknown", {})(scope, receive, send)
            return
        if late := self._fault(matched, "late_request"):
            await asyncio.sleep(late.seconds)
        response = await self._answer(matched, call)
        self._forget_unused(call)
        if self._fault(matched, "lose_answer"):
            await _break_connection(receive)
            return
        if late := self._fault(matched, "late_answer"):
            await asyncio.sleep(late.seconds)
        await response(scope, receive, send)

    async def _read_body(self, request: Request, call: Call, matched: _MatchedRequest) -> None:
        """Read JSON at once and files in chunks; too large bodies are refused before storing."""
        kind = request.headers.get("content-type", "")
        if not kind.startswith("multipart/form-data"):
            call.raw = await _body(request)
            return
        largest = self._largest_file(matched.channel)
        body = max(_LARGEST_REQUEST, largest + _MAX_FIELDS_SIZE)
        bounds = Bounds(file=largest, values=_MAX_FIELDS_SIZE, body=body)
        try:
            call.parts = await read_multipart(kind, request.stream(), self._files, bounds)
        except TooMuch:
            raise too_large() from None
        except BadMultipart:
            raise invalid_json() from None

    def _place_of_hook(self, params: Mapping[str, str]) -> Channel | None:
        """Return the channel of a webhook, or of the answered interaction."""
        webhook_id = params.get("webhook_id", "")
        webhook = (
            self._changes.state.webhooks.get(int(webhook_id)) if webhook_id.isdecimal() else None
        )
        if webhook is not None:
            return webhook.channel
        interaction = self._changes.state.interactions.get(params.get("token", ""))
        return interaction.channel if interaction else None

    def _largest_file(self, channel_id: str) -> int:
        channels = self._changes.state.channels
        channel = channels.get(int(channel_id)) if channel_id.isdecimal() else None
        guild = channel.guild if channel else None
        return guild.largest_file if guild else LARGEST_FILE

    def _forget_unused(self, call: Call) -> None:
        """Delete the files of a request that was refused or did not use them."""
        for part in call.parts:
            if part.file is not None and part.file.id not in self._changes.state.files_in_use:
                self._files.forget(part.file)

    async def _answer(self, matched: _MatchedRequest, call: Call) -> Response:
        if fault := self._fault(matched, "status", "rate_limited", "hang"):
            return await self._apply_fault(fault, matched)
        name = matched.route.name
        if matched.route.needs_bot and call.token is None:
            return self._refusal(unauthorized(), name, {})
        refused, headers = self._count(matched)
        if refused is not None:
            return refused
        try:
            answer = matched.route.handle(call)
        except ApiError as error:
            return self._refusal(error, name, headers)
        if answer is None:
            return Response(status_code=204, headers=headers)
        if isinstance(answer, Created):
            return _json(201, answer.body, headers)
        return _json(200, answer, headers)

    def _count(self, matched: _MatchedRequest) -> tuple[Response | None, dict[str, str]]:
        """Count a request against its limits; returns a response 429 or the bucket's headers."""
        if not self._limits.on:
            return None, {}
        now = time.monotonic()
        rate_limit = matched.route.rate_limit
        global_bucket = f"discord:global:{matched.caller}"
        bucket = f"discord:{matched.route.name}:{matched.major}"
        windows = [(global_bucket, (GLOBAL,))] + ([(bucket, (rate_limit,))] if rate_limit else [])
        wait = self._limits.retry_after(now, *windows)
        headers = self._bucket_headers(now, matched, bucket, wait) if rate_limit else {}
        if wait is None:
            return None, headers
        for_all = self._limits.left(now, global_bucket, GLOBAL) <= 0
        return self._too_many(matched, wait, headers, for_all=for_all), headers

    def _bucket_headers(
        self, now: float, matched: _MatchedRequest, bucket: str, wait: float | None
    ) -> dict[str, str]:
        """Return the headers of a bucket; a full window resets when all of it is free again.

        Discord's windows are fixed and ours slide: neither refuses a client that then sends a
        whole window at once, as discord.py does.
        """
        rate_limit = matched.route.rate_limit or GLOBAL
        left = 0 if wait else max(0, self._limits.left(now, bucket, rate_limit))
        after = wait if wait else rate_limit.seconds
        return {
            "X-RateLimit-Limit": str(rate_limit.count),
            "X-RateLimit-Remaining": str(left),
            "X-RateLimit-Reset": f"{self._changes.state.now() + after:.3f}",
            "X-RateLimit-Reset-After": f"{after:.3f}",
            "X-RateLimit-Bucket": hashlib.sha256(matched.route.name.encode()).hexdigest()[:32],
        }

    def _too_many(
        self, matched: _MatchedRequest, wait: float, headers: dict[str, str], *, for_all: bool
    ) -> Response:
        self._feed.refused("discord", "429", matched.route.name)
        limit_headers = {
            "Retry-After": str(math.ceil(wait)),
            "X-RateLimit-Scope": "global" if for_all else "user",
            **({"X-RateLimit-Global": "true"} if for_all else {}),
        }
        # Rounded up, so that a client that waits this long is accepted.
        body = {
            "message": _LIMITED, "retry_after": math.ceil(wait * 1000) / 1000, "global": for_all,
        }  # fmt: skip
        return _json(429, body, headers | limit_headers | _VIA)

    def _refusal(self, error: ApiError, name: str, headers: dict[str, str]) -> Response:
        self._feed.refused("discord", str(error.code or error.status), name)
        return _json(error.status, error.body, headers)

    async def _apply_fault(self, fault: Fault, matched: _MatchedRequest) -> Response:
        match fault.kind:
            case "rate_limited":
                return self._too_many(matched, fault.seconds, {}, for_all=False)
            case "hang":
                await self._hang(fault.seconds)
                status = 504
            case _:
                status = fault.status
        is_standard = status in {item.value for item in HTTPStatus}
        phrase = HTTPStatus(status).phrase if is_standard else "Error"
        return self._refusal(ApiError(status, 0, f"{status}: {phrase}"), matched.route.name, {})

    async def _hang(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            return

    def _fault(self, matched: _MatchedRequest, *kinds: Any) -> Fault | None:
        return self._faults.take(f"discord:{matched.route.name}:{matched.channel}", *kinds)

    def _app(self, request: Request) -> App | None:
        header = request.headers.get("authorization", "")
        return self._changes.state.apps.get(header[4:]) if header.startswith("Bot ") else None

    def _match_request(self, route: Route, call: Call, request: Request) -> _MatchedRequest:
        params = call.params
        channel = params.get("channel_id", "")
        if place := self._place_of_hook(params):
            channel = str(place.id)
        major = params.get("webhook_id") or channel or params.get("guild_id", "")
        # Requests without authorization count against the IP address (docs: topics/rate-limits).
        address = request.client.host if request.client else ""
        caller = str(call.token.id) if call.token else address
        return _MatchedRequest(route, channel, major, caller)


async def _body(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > _LARGEST_REQUEST:
            raise too_large()
        parts.append(part)
    return b"".join(parts)


def _path(scope: Scope) -> str:
    """Return the path below `/discord/api/v10`, still encoded: an emoji may hold a slash."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    path = raw.decode("ascii", "replace").split("?")[0]
    return path.removeprefix(PREFIX)


def _json(status: int, body: Any, headers: dict[str, str]) -> Response:
    # discord.py compares the whole header, so it must be exactly this type.
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


async def _break_connection(receive: Receive) -> None:
    """Cut the TCP connection, so that the client gets no response."""
    cycle: Any = getattr(receive, "__self__", None)  # uvicorn's request cycle
    transport = getattr(cycle, "transport", None)
    if transport is None:
        raise ConnectionAbortedError("The answer was lost on request (fault lose_answer)")
    transport.abort()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
