"""What the API answers, as a table: the web server's routes and the OpenAPI document are made of
it."""

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

from bridge.app.api import messages as saying
from bridge.app.api import reading
from bridge.app.api.api_keys import Caller
from bridge.app.api.events import Streams
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem, store_trouble
from bridge.app.api.shapes import Changed, Hits, Post, Posted, Press, Pressed, RoomList, Said
from bridge.app.files.file_links import FileResponse, Linked, safe_headers
from bridge.errors import StoreError
from bridge.model.api_records import Scope
from bridge.uacs import Conversation, write

log = structlog.get_logger()

_DIGITS = len(str(reading.LARGEST_NUMBER))


@dataclass(frozen=True)
class ApiCall:
    """One request: who asks whom for what, in which room (where the address names one)."""

    request: Request
    gateway: Gateway
    streams: Streams
    caller: Caller
    room: RoomView | None = None

    @property
    def where(self) -> RoomView:
        if self.room is None:
            raise TypeError("only addresses with {room} have one")
        return self.room

    @property
    def message(self) -> str:
        return str(self.request.path_params["message"])

    @property
    def key(self) -> str | None:
        return self.request.headers.get("idempotency-key")

    def text(self, name: str) -> str | None:
        value = self.request.query_params.get(name)
        if value is not None and len(value) > reading.LONGEST_QUERY:
            raise Problem(422, f"{name}: at most {reading.LONGEST_QUERY} characters", value=value)
        return value

    def number(self, name: str, usual: int | None, most: int) -> int | None:
        text = self.text(name)
        if text is None:
            return usual
        number = int(text) if re.fullmatch(rf"[0-9]{{1,{_DIGITS}}}", text) else 0
        if not 1 <= number <= most:
            raise Problem(
                422, f"{name}: a whole number from 1 to {most}", value=text,
                todo=f"leave it out, or write {name}={usual or 1}",
            )  # fmt: skip
        return number


Answer = Callable[[ApiCall], Awaitable[ASGIApp]]


@dataclass(frozen=True)
class Parameter:
    """One of an endpoint's parameters, as the document tells it."""

    name: str
    about: str
    schema: Mapping[str, Any]
    where: str = "query"
    required: bool = False


@dataclass(frozen=True)
class Endpoint:
    """`takes` and `gives` are the shapes of the bodies; `media` what else it gives."""

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
    return _json(await reading.room_list(call.gateway, call.caller))


async def _conversation(call: ApiCall) -> ASGIApp:
    limit = call.number("limit", 50, reading.MOST_MESSAGES) or 50
    before = call.number("before", None, reading.LARGEST_NUMBER)
    return _bytes(
        write(await reading.conversation(call.gateway, call.caller, call.where, limit, before))
    )


async def _events(call: ApiCall) -> ASGIApp:
    after = call.request.headers.get("last-event-id") or call.text("after")
    deltas = call.text("deltas") or "1"
    if deltas not in ("0", "1"):
        raise Problem(422, "deltas: 0 or 1", value=deltas)
    return await call.streams.follow(call.caller, call.where, after, deltas=deltas == "1")


async def _post(call: ApiCall) -> ASGIApp:
    body = await call.request.body()
    posted = await saying.post(call.gateway, call.caller, call.where, body, call.key)
    return _json(posted, 200 if posted.repeat else 201)


async def _message(call: ApiCall) -> ASGIApp:
    stored = await reading.visible(call.gateway, call.caller, call.where, call.message)
    return _json(reading.message_view(call.caller, call.where, stored))


async def _edit(call: ApiCall) -> ASGIApp:
    body = await call.request.body()
    return _json(await saying.edit(call.gateway, call.caller, call.where, call.message, body))


async def _delete(call: ApiCall) -> ASGIApp:
    return _json(await saying.delete(call.gateway, call.caller, call.where, call.message))


async def _press(call: ApiCall) -> ASGIApp:
    body = await call.request.body()
    return _json(await saying.press(call.gateway, call.caller, call.where, body, call.key))


async def _search(call: ApiCall) -> ASGIApp:
    query = call.text("q")
    if query is None:
        raise Problem(422, "q: the words that are looked for", todo="write q=deploy")
    limit = call.number("limit", 20, reading.MOST_FOUND) or 20
    room_name = call.text("room")
    if room_name is None:
        rooms = [room for room in call.gateway.rooms() if call.caller.sees(room.id)]
    else:
        rooms = [reading.room_of(call.gateway, call.caller, room_name)]
    return _json(await reading.search(call.gateway, call.caller, rooms, query, limit))


async def _blob(call: ApiCall) -> ASGIApp:
    """A file, to whoever may see a message that holds it."""
    file_id, room = str(call.request.path_params["blob"]), call.text("room")
    message = call.text("message")
    if room is None or message is None:
        raise Problem(
            422, "A file is given to whoever may see a message that holds it",
            todo="write room=ROOM&message=MESSAGE_ID",
        )  # fmt: skip
    view = reading.room_of(call.gateway, call.caller, room)
    stored = await reading.visible(call.gateway, call.caller, view, message)
    media_type = reading.holds(stored.message, file_id)
    blob = None if media_type is None else await call.gateway.blobs.stat(file_id)
    if media_type is None or blob is None:
        raise Problem(404, "The message holds no such file", value=file_id)
    linked = Linked(file_id, "file", media_type, 0)
    headers = {**safe_headers(linked), "Cache-Control": "private, no-store"}
    return FileResponse(200, headers, call.gateway.blobs, file_id, 0, blob.size, blob.size)


_WHOLE = {"type": "integer", "minimum": 1}
_NUMBER = {**_WHOLE, "maximum": reading.LARGEST_NUMBER}
_TEXT = {"type": "string", "maxLength": reading.LONGEST_QUERY}
_KEY = Parameter(
    "Idempotency-Key", "The same key is taken once: ask again without fear.",
    {"type": "string", "maxLength": 200}, "header",
)  # fmt: skip
_LIMIT = {**_WHOLE, "maximum": reading.MOST_MESSAGES, "default": 50}
_FOUND = {**_WHOLE, "maximum": reading.MOST_FOUND, "default": 20}
_POSITION = {"type": "string", "pattern": r"^\d{1,15}\.\d{1,15}$"}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        "GET", "/v1/rooms", "list_rooms", "Who the token is, and the rooms that it may see.",
        None, _rooms, gives=RoomList,
    ),
    Endpoint(
        "GET", "/v1/rooms/{room}", "read_room",
        "A page of the room as a UACS Conversation, oldest first. `metadata.uacs_bridge` has "
        "`next_before` for the next older page, and `position` for /events.",
        "read", _conversation,
        (
            Parameter("limit", "How many messages.", _LIMIT),
            Parameter("before", "Only what stands before this number.", _NUMBER),
        ),
        gives=Conversation,
    ),
    Endpoint(
        "GET", "/v1/rooms/{room}/events", "follow_room",
        "What happens in the room, as Server-Sent Events: hello, message_posted, message_changed, "
        "message_deleted, reactions_changed, feedback_changed, delta (a UACS delta of an answer "
        "that grows), end.",
        "read", _events,
        (
            Parameter("after", "Go on behind this position; from now on where absent.", _POSITION),
            Parameter("Last-Event-ID", "The same, as browsers send it.", _POSITION, "header"),
            Parameter("deltas", "0: without answers while they grow.", {"enum": ["0", "1"]}),
        ),
        media="text/event-stream",
    ),
    Endpoint(
        "POST", "/v1/rooms/{room}/messages", "post_message",
        "Say something in the room, as the token's actor. 200: it was said before.",
        "post", _post, (_KEY,), takes=Post, gives=Posted, status=201, problems=(409, 503),
    ),
    Endpoint(
        "GET", "/v1/rooms/{room}/messages/{message}", "read_message",
        "One message as it stands now.", "read", _message, gives=Said,
    ),
    Endpoint(
        "PUT", "/v1/rooms/{room}/messages/{message}", "edit_message",
        "Other words for what the token said.", "post", _edit, takes=Post, gives=Changed,
        problems=(409, 503),
    ),
    Endpoint(
        "DELETE", "/v1/rooms/{room}/messages/{message}", "delete_message",
        "Take back what the token said, wherever it is shown.", "post", _delete, gives=Changed,
        problems=(409, 503),
    ),
    Endpoint(
        "POST", "/v1/rooms/{room}/interactions", "press",
        "Press a button, choose or submit on the card of a message.",
        "interact", _press, (_KEY,), takes=Press, gives=Pressed, problems=(409, 503),
    ),
    Endpoint(
        "GET", "/v1/search", "search",
        f"Messages that hold all these words; the newest {reading.LOOKED_AT} of each room are "
        "looked at.",
        "read", _search,
        (
            Parameter("q", "The words.", _TEXT, required=True),
            Parameter("room", "One room only.", _TEXT),
            Parameter("limit", "How many messages.", _FOUND),
        ),
        gives=Hits,
    ),
    Endpoint(
        "GET", "/v1/blobs/{blob}", "read_file",
        "The bytes of a file, to whoever may see a message that holds it (`source.file_id`).",
        "read", _blob,
        (
            Parameter("room", "The room of the message.", _TEXT, required=True),
            Parameter("message", "A message that holds the file.", _TEXT, required=True),
        ),
        media="application/octet-stream",
    ),
)  # fmt: skip


async def answer(endpoint: Endpoint, call: ApiCall) -> ASGIApp:
    """Raises Problem, which says what is wrong."""
    if endpoint.scope is not None:
        call.caller.must(endpoint.scope)
    try:
        return await endpoint.answer(call)
    except StoreError as error:
        log.warning("api_store_failed", endpoint=endpoint.name, error=str(error))
        raise store_trouble(error) from error
