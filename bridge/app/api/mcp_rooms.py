"""What the MCP tools call: functions of the bridge in its own process, or /v1 of a running one.

Every call has a deadline and is cancelled with its caller. A room is a name to look up, never a
piece of an address. Raises `Problem` for whatever is refused.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol
from urllib.parse import quote

import httpx
import orjson

from bridge.app.api import messages as saying
from bridge.app.api import reading
from bridge.app.api.api_keys import Caller, Doorkeeper
from bridge.app.api.gateway import Gateway
from bridge.app.api.problems import Problem, store_trouble
from bridge.errors import StoreError
from bridge.uacs import write

Json = dict[str, Any]

DEADLINE = 30.0  # seconds of one call
MOST_BYTES = 64 * 1024 * 1024  # of an answer of /v1 that is read
_NO_ROOM_OF_AN_ADDRESS = re.compile(r"[/\\\x00-\x1f\x7f]|^\.{0,2}$")


class Rooms(Protocol):
    """`authorization` is the header of whoever calls the tool."""

    async def list_rooms(self, authorization: str) -> Json: ...

    async def page(self, authorization: str, room: str, limit: int, before: int | None) -> Json: ...

    async def post(self, authorization: str, room: str, body: Json) -> Json: ...

    async def search(
        self, authorization: str, query: str, room: str | None, limit: int
    ) -> Json: ...


@asynccontextmanager
async def _bounded() -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(DEADLINE):
            yield
    except TimeoutError:
        raise Problem(
            503, f"The bridge did not answer within {DEADLINE:g} s", todo="try again later"
        ) from None
    except StoreError as error:
        raise store_trouble(error) from error


class RoomsHere:
    """Of the bridge in this process."""

    def __init__(self, gateway: Gateway, doorkeeper: Doorkeeper) -> None:
        self._gateway = gateway
        self._doorkeeper = doorkeeper

    async def list_rooms(self, authorization: str) -> Json:
        async with _bounded():
            caller = await self._doorkeeper.caller(authorization)
            rooms = await reading.room_list(self._gateway, caller)
            return rooms.model_dump(mode="json")

    async def page(self, authorization: str, room: str, limit: int, before: int | None) -> Json:
        async with _bounded():
            caller = await self._reader(authorization)
            if before is not None and not 1 <= before <= reading.LARGEST_NUMBER:
                raise Problem(
                    422, f"before: a whole number from 1 to {reading.LARGEST_NUMBER}",
                    value=before, todo="give `next_before` of the last result",
                )  # fmt: skip
            view = reading.room_of(self._gateway, caller, room)
            conversation = await reading.conversation(self._gateway, caller, view, limit, before)
            return orjson.loads(write(conversation))

    async def post(self, authorization: str, room: str, body: Json) -> Json:
        async with _bounded():
            caller = await self._doorkeeper.caller(authorization)
            caller.must("post")
            view = reading.room_of(self._gateway, caller, room)
            posted = await saying.post(self._gateway, caller, view, _json(body), None)
            return posted.model_dump(mode="json")

    async def search(self, authorization: str, query: str, room: str | None, limit: int) -> Json:
        async with _bounded():
            caller = await self._reader(authorization)
            if len(query) > reading.LONGEST_QUERY:
                raise Problem(
                    422, f"query: at most {reading.LONGEST_QUERY} characters", value=query
                )
            rooms = (
                [view for view in self._gateway.rooms() if caller.sees(view.id)]
                if room is None
                else [reading.room_of(self._gateway, caller, room)]
            )
            hits = await reading.search(self._gateway, caller, rooms, query, limit)
            return orjson.loads(orjson.dumps(hits))

    async def _reader(self, authorization: str) -> Caller:
        caller = await self._doorkeeper.caller(authorization)
        caller.must("read")
        return caller


class RoomsElsewhere:
    """Of a bridge that runs in another process."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def list_rooms(self, authorization: str) -> Json:
        return await self._ask(authorization, "GET", "/v1/rooms")

    async def page(self, authorization: str, room: str, limit: int, before: int | None) -> Json:
        params = {"limit": str(limit)} | ({} if before is None else {"before": str(before)})
        return await self._ask(authorization, "GET", _room_path(room), params)

    async def post(self, authorization: str, room: str, body: Json) -> Json:
        path = f"{_room_path(room)}/messages"
        return await self._ask(authorization, "POST", path, body=_json(body))

    async def search(self, authorization: str, query: str, room: str | None, limit: int) -> Json:
        params = {"q": query, "limit": str(limit)} | ({} if room is None else {"room": room})
        return await self._ask(authorization, "GET", "/v1/search", params)

    async def _ask(
        self,
        authorization: str,
        method: str,
        path: str,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Json:
        headers = {"Authorization": authorization, "Content-Type": "application/json"}
        try:
            async with (
                _bounded(),
                self._http.stream(
                    method, path, params=params, content=body, headers=headers
                ) as answer,
            ):
                content = await _read_json(answer)
        except (httpx.HTTPError, UnicodeError) as error:
            raise Problem(503, f"The bridge does not answer: {type(error).__name__}") from None
        if not answer.is_success:
            raise _refused(answer.status_code, content)
        if not isinstance(content, dict):
            raise Problem(503, "The bridge answered with something else than a JSON object")
        return content


async def _read_json(answer: httpx.Response) -> object:
    """None where it is no JSON; nothing of a stream of events is read."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/json", "application/problem+json"):
        return None
    content = bytearray()
    async for piece in answer.aiter_bytes():
        content += piece
        if len(content) > MOST_BYTES:
            raise Problem(503, f"The bridge answered with more than {MOST_BYTES:,} bytes")
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None


def _refused(status: int, content: object) -> Problem:
    """The problem that /v1 told."""
    match content:
        case {"detail": str(detail), **problem}:
            return Problem(
                status, detail, value=problem.get("value"), todo=str(problem.get("todo") or "")
            )
        case _:
            return Problem(status, f"The bridge answered {status}")


def _room_path(room: str) -> str:
    """Raises Problem for a name that an address cannot hold: it could lead elsewhere."""
    if _NO_ROOM_OF_AN_ADDRESS.search(room):
        raise Problem(
            404, "There is no such room, or the token may not see it", value=room,
            todo="list_rooms names those that it sees",
        )  # fmt: skip
    try:
        return f"/v1/rooms/{quote(room, safe='')}"
    except UnicodeEncodeError:
        raise Problem(422, "The room's name is no text", value=room) from None


def _json(body: Json) -> bytes:
    try:
        return orjson.dumps(body)
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise Problem(422, f"This cannot be said: {error}") from None
