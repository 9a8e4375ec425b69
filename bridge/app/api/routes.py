"""The API's routes, /v1 and /mcp; every answer is JSON, also 404."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge.app.api.api_keys import Authenticator
from bridge.app.api.endpoints import ENDPOINTS, ApiCall, Endpoint, answer
from bridge.app.api.events import Streams
from bridge.app.api.gateway import Gateway
from bridge.app.api.mcp_mount import McpMount
from bridge.app.api.openapi import document_text
from bridge.app.api.problems import Problem
from bridge.app.api.queries import room_of

log = structlog.get_logger()

_ROOM = 3  # the step of a path that names a room: /v1/rooms/{room}
_CONVERTED = {"{message}": "{message:path}", "{blob}": "{blob:path}"}


class Api:
    """The API: `routes` for the web server, and `close` for when it stops."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._authenticator = Authenticator(gateway.store, gateway.clock)
        self._streams = Streams(gateway, self._authenticator)
        self._mcp = McpMount(gateway, self._authenticator)

    async def close(self) -> None:
        self._streams.close()
        await self._mcp.close()

    def routes(self) -> Sequence[BaseRoute]:
        return [*self._rooms(), *self._mcp.routes()]

    def _rooms(self) -> Sequence[BaseRoute]:
        by_path: dict[str, dict[str, Endpoint]] = {}
        for endpoint in ENDPOINTS:
            by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
        # Longer paths first, because a message's id may contain a slash.
        paths = sorted(by_path, key=lambda path: (-path.count("/"), path))
        routes: list[BaseRoute] = [Route("/v1/openapi.json", self._openapi)]
        routes += [Route(_converted(path), _Address(self, by_path[path])) for path in paths]
        return [*routes, _EverythingBelow("/v1", _Address(self, {}))]

    async def _openapi(self, _request: Request) -> Response:
        return Response(document_text(), media_type="application/json")

    async def respond(self, methods: dict[str, Endpoint], request: Request) -> ASGIApp:
        """The answer to a request; a Problem becomes an answer."""
        try:
            return await self._respond(methods, request)
        except Problem as problem:
            return problem.response()
        except Exception:
            log.exception("api_request_crashed", path=request.url.path, method=request.method)
            return Problem(500, "The bridge could not answer; its log says why").response()

    async def _respond(self, methods: dict[str, Endpoint], request: Request) -> ASGIApp:
        caller = await self._authenticator.caller(request.headers.get("authorization", ""))
        if not methods:
            raise Problem(
                404, "There is no such path", value=request.url.path,
                todo="/v1/openapi.json lists all paths",
            )  # fmt: skip
        endpoint = methods.get(request.method)
        if endpoint is None:
            allowed = ", ".join(sorted(methods))
            raise Problem(
                405, f"The path accepts {allowed}", value=request.method,
                headers={"Allow": allowed},
            )  # fmt: skip
        room = None
        if "room" in request.path_params:
            room = room_of(self._gateway, caller, _room_name(request))
        return await answer(endpoint, ApiCall(request, self._gateway, self._streams, caller, room))


def _room_name(request: Request) -> str:
    """The room's name from the raw path. Starlette decodes the path before it matches routes, so
    `general%2Fevents` would match the events of `general`."""
    raw: bytes | None = request.scope.get("raw_path")
    if raw is None:
        return str(request.path_params["room"])
    return unquote(raw.decode("latin-1").split("/")[_ROOM])


class _Address:
    """The ASGI app of one path: a class instance, so that Starlette routes every method to it."""

    def __init__(self, api: Api, methods: dict[str, Endpoint]) -> None:
        self._api = api
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        app = await self._api.respond(self._methods, request)
        await app(scope, receive, send)


class _EverythingBelow(BaseRoute):
    """Matches a path and everything below it, also line breaks, which a pattern would not match."""

    def __init__(self, path: str, app: ASGIApp) -> None:
        self._path = path
        self._app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        below = f"{scope['path']}/".startswith(f"{self._path}/")
        return (Match.FULL if scope["type"] == "http" and below else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _converted(path: str) -> str:
    for plain, converted in _CONVERTED.items():
        path = path.replace(plain, converted)
    return path
