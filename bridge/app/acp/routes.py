"""`/acp/ROOM`: the endpoints of ACP for a room and the agents in it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from bridge.agents.acp.read import said_parts
from bridge.agents.codec.json_values import Json, arr, obj, text
from bridge.app.acp.runs_json import RunEvents, agent_json, run_json
from bridge.app.agent_directory.home import Home
from bridge.app.api.api_keys import Authenticator, Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem, json_response, store_trouble
from bridge.app.api.queries import room_of
from bridge.app.tasks.records import TaskRecord
from bridge.app.tasks.tasks import Asked, Task, Tasks
from bridge.errors import StoreError
from bridge.ports.files import Files

_MODES = ("sync", "async", "stream")
_CODES = {404: "not_found", 500: "server_error", 503: "server_error"}


@dataclass(frozen=True)
class _Call:
    """One authenticated request."""

    request: Request
    caller: Caller
    room: RoomView
    tasks: Tasks


_Answer = Callable[[_Call], Awaitable[Response]]


class Acp:
    """The ACP endpoints of all rooms; programs authenticate with tokens of the API."""

    def __init__(self, gateway: Gateway, home: Callable[[], Home], files: Files) -> None:
        self._gateway = gateway
        self._home = home
        self._files = files
        self._authenticator = Authenticator(gateway.store, gateway.clock)

    def routes(self) -> Sequence[BaseRoute]:
        answers: dict[tuple[str, str], _Answer] = {
            ("GET", "/ping"): self._ping,
            ("GET", "/agents"): self._agents,
            ("GET", "/agents/{agent}"): self._agent,
            ("POST", "/runs"): self._begin,
            ("GET", "/runs/{run}"): self._read,
            ("POST", "/runs/{run}"): self._resume,
            ("POST", "/runs/{run}/cancel"): self._cancel,
            ("GET", "/runs/{run}/events"): self._events,
            ("GET", "/sessions/{session}"): self._session,
        }
        return [
            Route(f"/acp/{{room}}{path}", self._guarded(answer), methods=[method])
            for (method, path), answer in answers.items()
        ]

    def _guarded(self, answer: _Answer) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            try:
                authorization = request.headers.get("authorization", "")
                caller = await self._authenticator.caller(authorization)
                room = room_of(self._gateway, caller, str(request.path_params["room"]))
                tasks = Tasks(self._gateway, caller, room, self._files)
                return await answer(_Call(request, caller, room, tasks))
            except Problem as problem:
                return _refusal(problem)
            except StoreError as error:
                return _refusal(store_trouble(error))

        return respond

    async def _ping(self, call: _Call) -> Response:
        del call
        return json_response({})

    async def _agents(self, call: _Call) -> Response:
        home, room = self._home(), call.room
        agents = [agent_json(home, room, agent) for agent in room.agents]
        whole = [] if room.id in room.agents else [agent_json(home, room, "")]
        return json_response({"agents": [*agents, *whole]})

    async def _agent(self, call: _Call) -> Response:
        agent = _named(call.room, str(call.request.path_params["agent"]))
        return json_response(agent_json(self._home(), call.room, agent))

    async def _begin(self, call: _Call) -> Response:
        body = await _body(call.request)
        agent = _named(call.room, text(body.get("agent_name")))
        session = text(body.get("session_id")) or text(obj(body.get("session")).get("id"))
        parts = [
            part
            for message in map(obj, arr(body.get("input")))
            if not text(message.get("role")).startswith("agent")
            for part in said_parts(message)
        ]
        key = call.request.headers.get("idempotency-key", "")
        asked = Asked(agent, parts, key, _uuid(session, "session_id") if session else "")
        mode = _mode(body)
        return await _in_mode(call, await call.tasks.begin(asked), mode)

    async def _read(self, call: _Call) -> Response:
        return json_response(run_json(await _whole(call, await _record(call))))

    async def _resume(self, call: _Call) -> Response:
        body = await _body(call.request)
        record, mode = await _record(call), _mode(body)
        message = obj(obj(body.get("await_resume")).get("message"))
        if not (await call.tasks.look(record)).asks:
            raise Problem(409, "The run waits for nothing", value=record.id)
        asked = Asked(record.agent, said_parts(message))
        return await _in_mode(call, await call.tasks.go_on(record, asked), mode)

    async def _cancel(self, call: _Call) -> Response:
        record = await call.tasks.cancel(await _record(call))
        return json_response(run_json(await call.tasks.look(record)), 202)

    async def _events(self, call: _Call) -> Response:
        task = await _whole(call, await _record(call))
        return json_response({"events": list(RunEvents().take(task))})

    async def _session(self, call: _Call) -> Response:
        session = _uuid(str(call.request.path_params["session"]), "session")
        if not await call.tasks.knows(session):
            raise Problem(404, "There is no such session", value=session)
        # The room itself is the memory of its sessions: there is nothing to hand on.
        return json_response({"id": session, "history": [], "state": None})


async def _in_mode(call: _Call, record: TaskRecord, mode: str) -> Response:
    headers = {"Run-ID": record.id}
    if mode == "stream":
        pieces = _stream(call, record)
        return StreamingResponse(pieces, 200, headers, media_type="text/event-stream")
    if mode == "async":
        answer = json_response(run_json(await call.tasks.look(record)), 202)
    else:
        task = await call.tasks.with_files(await call.tasks.settled(record))
        answer = json_response(run_json(task))
    answer.headers.update(headers)
    return answer


async def _stream(call: _Call, record: TaskRecord) -> AsyncGenerator[bytes]:
    events = RunEvents()
    try:
        async with aclosing(call.tasks.follow(record)) as changes:
            async for task in changes:
                task = await call.tasks.with_files(task) if task.is_over else task
                for event in events.take(task):
                    yield _sent(event)
                if task.state == "waiting":
                    return
    except StoreError as error:
        yield _sent({"type": "error", "error": _error(store_trouble(error))})


def _sent(event: Json) -> bytes:
    return b"data: %s\n\n" % orjson.dumps(event)


async def _whole(call: _Call, record: TaskRecord) -> Task:
    return await call.tasks.with_files(await call.tasks.look(record))


async def _record(call: _Call) -> TaskRecord:
    return await call.tasks.get(_uuid(str(call.request.path_params["run"]), "run"))


async def _body(request: Request) -> Json:
    try:
        body = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise Problem(400, f"The body is no JSON: {error}", todo="send a JSON object") from None
    if not isinstance(body, dict):
        raise Problem(400, "The body is no JSON object")
    return obj(body)


def _mode(body: Json) -> str:
    mode = body.get("mode") or "sync"
    if mode not in _MODES:
        raise Problem(422, "mode is not one of sync, async and stream", value=mode)
    return text(mode)


def _named(room: RoomView, name: str) -> str:
    """The agent with this name, or "" for the room as a whole. Raises Problem."""
    if name in room.agents:
        return name
    if name == room.id:
        return ""
    known = ", ".join((*room.agents, room.id))
    raise Problem(404, "There is no such agent", value=name, todo=f"there are: {known}")


def _uuid(value: str, what: str) -> str:
    try:
        return str(UUID(value))
    except ValueError:
        raise Problem(422, f"{what} is no UUID", value=value) from None


def _refusal(problem: Problem) -> Response:
    answer = json_response(_error(problem), problem.status)
    answer.headers.update(problem.headers)
    return answer


def _error(problem: Problem) -> Json:
    return {"code": _CODES.get(problem.status, "invalid_input"), "message": problem.text}
