"""The endpoints of the API as a table, from which the routes and the OpenAPI document are made."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import structlog
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from bridge.app.api import messages, queries
from bridge.app.api.api_keys import Caller
from bridge.app.api.events import Streams
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem, store_trouble
from bridge.app.api.shapes import Changed, Hits, MessageView, Post, Posted, Press, Pressed, RoomList
from bridge.app.files.file_links import FileResponse, Linked, safe_headers
from bridge.content.messages.tool_messages import with_tool_messages
from bridge.errors import StoreError
from bridge.model.api_records import Scope
from bridge.uacs import Conversation, write

log = structlog.get_logger()

_DIGITS = len(str(queries.LARGEST_NUMBER))


@dataclass(frozen=True)
class ApiCall:
    """One request with its caller, and its room if the path has one."""

    request: Request
    gateway: Gateway
    streams: Streams
    caller: Caller
    room: RoomView | None = None

    @property
    def where(self) -> RoomView:
        if self.room is None:
            raise TypeError("only paths with {room} have a room")
        return self.room

    @property
    def message(self) -> str:
        return str(self.request.path_params["message"])

    @property
    def key(self) -> str | None:
        return self.request.headers.get("idempotency-key")

    def text(self, name: str) -> str | None:
        value = self.request.query_params.get(name)
        if value is not None and len(value) > queries.LONGEST_QUERY:
            raise Problem(422, f"{name}: at most {queries.LONGEST_QUERY} characters", value=value)
        return value

    def number(self, name: str, usual: int | None, maximum: int) -> int | None:
        text = self.text(name)
        if text is None:
            return usual
        number = int(text) if re.fullmatch(rf"[0-9]{{1,{_DIGITS}}}", text) else 0
        if not 1 <= number <= maximum:
            raise Problem(
                422, f"{name}: a whole number from 1 to {maximum}", value=text,
                todo=f"leave it out, or write {name}={usual or 1}",
            )  # fmt: skip
        return number


Answer = Callable[[ApiCall], Awaitable[ASGIApp]]


@dataclass(frozen=True)
class Parameter:
    """A parameter of an endpoint, as the OpenAPI document describes it."""

    name: str
    about: str
    schema: Mapping[str, Any]
    where: str = "query"
    required: bool = False


@dataclass(frozen=True)
class Endpoint:
    """One method of one path. `takes` and `gives` are the models of the bodies; `media` is the
    media type of the answer, `status` its code, and `problems` further codes of refusals."""

    method: str
    path: str
    name: str
    about: str
    scope: Scope | None
    answer: Answer
    parameters: tuple[Parameter, ...] = ()
    takes: type[BaseModel] | None = None
    gives: type[BaseModel] | None = None
    media: str = "application/json"
    status: int = 200
    problems: tuple[int, ...] = field(default=())


def _json(body: BaseModel | Mapping[str, Any], status: int = 200) -> Response:
    content = body.model_dump(mode="json") if isinstance(body, BaseModel) else body
    return _bytes(orjson.dumps(content), status)


def _bytes(content: bytes, status: int = 200) -> Response:
    headers = {"Cache-Control": "no-store"}
    return Response(content, status, headers, media_type="application/json")


async def _rooms(call: ApiCall) -> ASGIApp:
    return _json(await queries.room_list(call.gateway, call.caller))


async def _conversation(call: ApiCall) -> ASGIApp:
    limit = call.number("limit", 50, queries.MOST_MESSAGES) or 50
    before = call.number("before", None, queries.LARGEST_NUMBER)
    results = call.text("tool_results") or "parts"
    if results not in ("parts", "messages"):
        raise Problem(422, "tool_results: parts or messages", value=results)
    found = await queries.conversation(call.gateway, call.caller, call.where, limit, before)
    if results == "messages":
        found = found.model_copy(update={"messages": with_tool_messages(found.messages)})
    return _bytes(write(found))


async def _events(call: ApiCall) -> ASGIApp:
    after = call.request.headers.get("last-event-id") or call.text("after")
    deltas = call.text("deltas") or "1"
    if deltas not in ("0", "1"):
        raise Problem(422, "deltas: 0 or 1", value=deltas)
    return await call.streams.follow(call.caller, call.where, after, deltas=deltas == "1")


async def _post(call: ApiCall) -> ASGIApp:
    body = await call.request.body()
    posted = await messages.post(call.gateway, call.caller, call.where, body, call.key)
    return _json(posted, 200 if posted.repeat else 201)


async def _message(call: ApiCall) -> ASGIApp:
    stored = await queries.visible_message(call.gateway, call.caller, call.where, call.message)
    return _json(await queries.message_view(call.gateway, call.caller, call.where, stored))


async def _edit(call: ApiCall) -> ASGIApp:
    body = await call.request.body()
    return _json(await messages.edit(call.gateway, call.caller, call.where, call.message, body))


async def _delete(call: ApiCall) -> ASGIApp:
    return _json(await messages.delete(call.gateway, call.caller, call.where, call.message))


async def _press(call: ApiCall) -> ASGIApp:
    body = await call.request.body()
    return _json(await messages.press(call.gateway, call.caller, call.where, body, call.key))


async def _search(call: ApiCall) -> ASGIApp:
    query = call.text("q")
    if query is None:
        raise Problem(422, "q: the words to search for", todo="write q=deploy")
    limit = call.number("limit", 20, queries.MOST_FOUND) or 20
    room_name = call.text("room")
    if room_name is None:
        rooms = [room for room in call.gateway.rooms() if call.caller.sees(room.id)]
    else:
        rooms = [queries.room_of(call.gateway, call.caller, room_name)]
    before = call.number("before", None, queries.LARGEST_NUMBER)
    context = call.number("context", None, queries.MOST_CONTEXT) or 0
    return _json(
        await queries.search(call.gateway, call.caller, rooms, query, limit, before, context)
    )


async def _blob(call: ApiCall) -> ASGIApp:
    """The bytes of a file, if the caller may see the message that shows it."""
    file_id, room = str(call.request.path_params["blob"]), call.text("room")
    message = call.text("message")
    if room is None or message is None:
        raise Problem(
            422, "A file can be read only through a message that shows it",
            todo="write room=ROOM&message=MESSAGE_ID",
        )  # fmt: skip
    view = queries.room_of(call.gateway, call.caller, room)
    stored = await queries.visible_message(call.gateway, call.caller, view, message)
    media_type = queries.media_type_of(stored.message, file_id)
    blob = None if media_type is None else await call.gateway.blobs.stat(file_id)
    if media_type is None or blob is None:
        raise Problem(404, "The message does not show this file", value=file_id)
    linked = Linked(file_id, "file", media_type, 0)
    headers = {**safe_headers(linked), "Cache-Control": "private, no-store"}
    return FileResponse(200, headers, call.gateway.blobs, file_id, 0, blob.size, blob.size)


_WHOLE = {"type": "integer", "minimum": 1}
_NUMBER = {**_WHOLE, "maximum": queries.LARGEST_NUMBER}
_TEXT = {"type": "string", "maxLength": queries.LONGEST_QUERY}
_KEY = Parameter(
    "Idempotency-Key", "Makes the request idempotent: the same key is processed once.",
    {"type": "string", "maxLength": 200}, "header",
)  # fmt: skip
_LIMIT = {**_WHOLE, "maximum": queries.MOST_MESSAGES, "default": 50}
_FOUND = {**_WHOLE, "maximum": queries.MOST_FOUND, "default": 20}
_CONTEXT = {**_WHOLE, "maximum": queries.MOST_CONTEXT}
_POSITION = {"type": "string", "pattern": r"^\d{1,15}\.\d{1,15}$"}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET", "/v1/rooms", "list_rooms", "The token's identity, and the rooms that it may see.",
        None, _rooms, gives=RoomList,
    ),
    Endpoint(
        "GET", "/v1/rooms/{room}", "read_room",
        "A page of the room as a UACS Conversation, oldest first. `metadata.uacs_bridge` has "
        "`next_before` for the next older page, and `position` for /events.",
        "read", _conversation,
        (
            Parameter("limit", "How many messages.", _LIMIT),
            Parameter("before", "Only messages before this number.", _NUMBER),
            Parameter(
                "tool_results",
                "`messages`: results of tools are messages of the tool, with the role `tool`.",
                {"type": "string", "enum": ["parts", "messages"], "default": "parts"},
            ),
        ),
        gives=Conversation,
    ),
    Endpoint(
        "GET", "/v1/rooms/{room}/events", "follow_room",
        "The events of the room, as Server-Sent Events: hello, message_posted, message_changed, "
        "message_deleted, reactions_changed, feedback_changed, delta (a UACS delta of a "
        "growing answer), end.",
        "read", _events,
        (
            Parameter("after", "Continue after this position; absent: only new events.", _POSITION),
            Parameter("Last-Event-ID", "The same, as browsers send it.", _POSITION, "header"),
            Parameter("deltas", "0: no deltas of growing answers.", {"enum": ["0", "1"]}),
        ),
        media="text/event-stream",
    ),
    Endpoint(
        "POST", "/v1/rooms/{room}/messages", "post_message",
        "Post a message to the room as the token's actor. 200: it was posted before.",
        "post", _post, (_KEY,), takes=Post, gives=Posted, status=201, problems=(409, 503),
    ),
    Endpoint(
        "GET", "/v1/rooms/{room}/messages/{message}", "read_message",
        "The current version of one message.", "read", _message, gives=MessageView,
    ),
    Endpoint(
        "PUT", "/v1/rooms/{room}/messages/{message}", "edit_message",
        "Replace the content of the token's message.", "post", _edit, takes=Post, gives=Changed,
        problems=(409, 503),
    ),
    Endpoint(
        "DELETE", "/v1/rooms/{room}/messages/{message}", "delete_message",
        "Delete the token's message with all its copies.", "post", _delete, gives=Changed,
        problems=(409, 503),
    ),
    Endpoint(
        "POST", "/v1/rooms/{room}/interactions", "press",
        "Press a button, choose an option or submit a form on the card of a message.",
        "interact", _press, (_KEY,), takes=Press, gives=Pressed, problems=(409, 503),
    ),
    Endpoint(
        "GET", "/v1/search", "search",
        "Messages that match a query, newest first: words, \"phrases\", prefixes (dep*), -words to "
        "exclude, and from:, in:, has:, is:, thread:, before:, after:, on:.",
        "read", _search,
        (
            Parameter("q", "The query.", _TEXT, required=True),
            Parameter("room", "Search only this room.", _TEXT),
            Parameter("limit", "How many messages.", _FOUND),
            Parameter("before", "The `next` of the page before.", _NUMBER),
            Parameter("context", "How many messages on each side of a found one.", _CONTEXT),
        ),
        gives=Hits,
    ),
    Endpoint(
        "GET", "/v1/blobs/{blob}", "read_file",
        "The bytes of a file (`source.file_id`) of a message that the token may see.",
        "read", _blob,
        (
            Parameter("room", "The room of the message.", _TEXT, required=True),
            Parameter("message", "A message that shows the file.", _TEXT, required=True),
        ),
        media="application/octet-stream",
    ),
)  # fmt: skip


async def answer(endpoint: Endpoint, call: ApiCall) -> ASGIApp:
    """Call the endpoint.

    Raises:
        Problem: The request is refused, or the store failed.
    """
    if endpoint.scope is not None:
        call.caller.require_scope(endpoint.scope)
    if endpoint.scope == "read":
        asked = {**call.request.path_params, **call.request.query_params}
        call.gateway.note_access(f"token {call.caller.name}", endpoint.name, **_facts(asked))
    try:
        return await endpoint.answer(call)
    except StoreError as error:
        log.warning("api_store_failed", endpoint=endpoint.name, error=str(error))
        raise store_trouble(error) from error


def _facts(asked: Mapping[str, object]) -> dict[str, object]:
    """What was asked for; a parameter that is called as a fact of every access has another name."""
    return {f"{name}_" if name in ("who", "what", "self") else name: asked[name] for name in asked}
