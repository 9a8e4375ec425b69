"""`/openfloor/ROOM`: envelopes by POST, the room's manifest by GET."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridge.app.api.api_keys import Authenticator, Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem, json_response, store_trouble
from bridge.app.api.queries import room_of
from bridge.app.openfloor.serving import Serving
from bridge.errors import InvalidData, StoreError
from bridge.openfloor.manifest import write_manifest
from bridge.openfloor.read import read_envelope

log = structlog.get_logger()

_ABOUT = "docs/openfloor.md says what the bridge reads"
_Answer = Callable[[Caller, RoomView, bytes], Awaitable[object]]


class OpenFloor:
    """The endpoints of all rooms; peers authenticate with tokens of the API."""

    def __init__(self, gateway: Gateway, serving: Callable[[], Serving]) -> None:
        self._gateway = gateway
        self._serving = serving
        self._authenticator = Authenticator(gateway.store, gateway.clock)

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/openfloor/{room}", self._post, methods=["POST"]),
            Route("/openfloor/{room}", self._get, methods=["GET"]),
        ]

    async def _get(self, request: Request) -> Response:
        return await self._answered(request, self._manifest)

    async def _post(self, request: Request) -> Response:
        return await self._answered(request, self._envelope)

    async def _answered(self, request: Request, answer: _Answer) -> Response:
        try:
            caller = await self._authenticator.caller(request.headers.get("authorization", ""))
            room = room_of(self._gateway, caller, str(request.path_params["room"]))
            return json_response(await answer(caller, room, await request.body()))
        except Problem as problem:
            return problem.response()
        except StoreError as error:
            return store_trouble(error).response()

    async def _manifest(self, _caller: Caller, room: RoomView, _body: bytes) -> object:
        return write_manifest(self._serving().manifest(room))

    async def _envelope(self, caller: Caller, room: RoomView, body: bytes) -> object:
        try:
            read = read_envelope(body)
        except InvalidData as error:
            raise Problem(400, str(error), todo=_ABOUT) from None
        for warning in read.warnings:
            log.debug("openfloor_envelope_warning", peer=caller.name, problem=warning)
        return await self._serving().answer(caller, room, read.envelope, body)
