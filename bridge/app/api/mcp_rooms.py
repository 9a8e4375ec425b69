"""The rooms that MCP tools work on: in this process, or through /v1 of a running bridge.

Every call has a deadline and is cancelled with its caller. A room's name is looked up; it is never
used as part of a path unescaped. All calls raise `Problem` if they are refused.
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

from bridge.app.api import messages, queries
from bridge.app.api.api_keys import Authenticator, Caller
from bridge.app.api.gateway import Gateway
from bridge.app.api.problems import Problem, store_trouble
from bridge.errors import StoreError
from bridge.uacs import write

Json = dict[str, Any]

DEADLINE = 30.0  # seconds for one call
MOST_BYTES = 64 * 1024 * 1024  # read from an answer of /v1
_NO_ROOM_OF_AN_ADDRESS = re.compile(r"[/\\\x00-\x1f\x7f]|^\.{0,2}$")


class Rooms(Protocol):
    """Access to rooms for the caller with this `authorization` header; answers have the JSON of
    /v1."""

    async def list_rooms(self, authorization: str) -> Json: ...

    async def page(self, authorization: str, room: str, limit: int, before: int | None) -> Json: ...

    async def post(self, authorization: str, room: str, body: Json) -> Json: ...

    async def search(
        self, authorization: str, query: str, room: str | None, limit: int
    ) -> Json: ...


@asynccontextmanager
async def _within_deadline() -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(DEADLINE):
            yield
    except TimeoutError:
        raise Problem(
            503, f"The bridge did not answer within {DEADLINE:g} s", todo="try again later"
        ) from None
    except StoreError as error:
        raise store_trouble(error) from error


class LocalRooms:
    """The rooms of the bridge in this process."""

    def __init__(self, gateway: Gateway, authenticator: Authenticator) -> None:
        self._gateway = gateway
        self._authenticator = authenticator

    async def list_rooms(self, authorization: str) -> Json:
        async with _within_deadline():
            caller = await self._authenticator.caller(authorization)
            rooms = await queries.room_list(self._gateway, caller)
            return rooms.model_dump(mode="json")

    async def page(self, authorization: str, room: str, limit: int, before: int | None) -> Json:
        async with _within_deadline():
            caller = await self._caller_who_reads(authorization)
            if before is not None and not 1 <= before <= queries.LARGEST_NUMBER:
                raise Problem(
                    422, f"before: a whole number from 1 to {queries.LARGEST_NUMBER}",
                    value=before, todo="give `next_before` of the last result",
                )  # fmt: skip
            view = queries.room_of(self._gateway, caller, room)
            who = f"token {caller.name}"
            self._gateway.note_access(who, "mcp read_conversation", room=room, before=before)
            conversation = await queries.conversation(self._gateway, caller, view, limit, before)
            return orjson.loads(write(conversation))

    async def post(self, authorization: str, room: str, body: Json) -> Json:
        async with _within_deadline():
            caller = await self._authenticator.caller(authorization)
            caller.require_scope("post")
            view = queries.room_of(self._gateway, caller, room)
            posted = await messages.post(self._gateway, caller, view, _json(body), None)
            return posted.model_dump(mode="json")

    async def search(self, authorization: str, query: str, room: str | None, limit: int) -> Json:
        async with _within_deadline():
            caller = await self._caller_who_reads(authorization)
            if len(query) > queries.LONGEST_QUERY:
                raise Problem(
                    422, f"query: at most {queries.LONGEST_QUERY} characters", value=query
                )
            rooms = (
                [view for view in self._gateway.rooms() if caller.sees(view.id)]
                if room is None
                else [queries.room_of(self._gateway, caller, room)]
            )
            who = f"token {caller.name}"
            self._gateway.note_access(who, "mcp search_archive", room=room, q=query)
            hits = await queries.search(self._gateway, caller, rooms, query, limit)
            return orjson.loads(orjson.dumps(hits))

    async def _caller_who_reads(self, authorization: str) -> Caller:
        caller = await self._authenticator.caller(authorization)
        caller.require_scope("read")
        return caller


class RemoteRooms:
    """The rooms of a bridge that runs in another process."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def list_rooms(self, authorization: str) -> Json:
        return await self._request(authorization, "GET", "/v1/rooms")

    async def page(self, authorization: str, room: str, limit: int, before: int | None) -> Json:
        params = {"limit": str(limit)} | ({} if before is None else {"before": str(before)})
        return await self._request(authorization, "GET", _room_path(room), params)

    async def post(self, authorization: str, room: str, body: Json) -> Json:
        path = f"{_room_path(room)}/messages"
        return await self._request(authorization, "POST", path, body=_json(body))

    async def search(self, authorization: str, query: str, room: str | None, limit: int) -> Json:
        params = {"q": query, "limit": str(limit)} | ({} if room is None else {"room": room})
        return await self._request(authorization, "GET", "/v1/search", params)

    async def _request(
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
                _within_deadline(),
                self._http.stream(
                    method, path, params=params, content=body, headers=headers
                ) as answer,
            ):
                content = await _read_json(answer)
        except (httpx.HTTPError, UnicodeError) as error:
            raise Problem(503, f"The bridge does not answer: {type(error).__name__}") from None
        if not answer.is_success:
            raise _problem_of(answer.status_code, content)
        if not isinstance(content, dict):
            raise Problem(503, "The answer of the bridge is not a JSON object")
        return content


async def _read_json(answer: httpx.Response) -> object:
    """The JSON body; None for another media type, whose body is not read."""
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


def _problem_of(status: int, content: object) -> Problem:
    """The refusal of /v1 as a Problem."""
    match content:
        case {"detail": str(detail), **problem}:
            return Problem(
                status, detail, value=problem.get("value"), todo=str(problem.get("todo") or "")
            )
        case _:
            return Problem(status, f"The bridge answered {status}")


def _room_path(room: str) -> str:
    """The room's path; raises Problem for a name that could lead to another path."""
    if _NO_ROOM_OF_AN_ADDRESS.search(room):
        raise Problem(
            404, "There is no such room, or the token may not see it", value=room,
            todo="list_rooms lists the rooms that it sees",
        )  # fmt: skip
    try:
        return f"/v1/rooms/{quote(room, safe='')}"
    except UnicodeEncodeError:
        raise Problem(422, "The room's name is not valid text", value=room) from None


def _json(body: Json) -> bytes:
    try:
        return orjson.dumps(body)
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise Problem(422, f"The message is not valid JSON: {error}") from None
