"""The control API over HTTP: what people do and see, faults and limits. For tests and the demo.

| request | what |
|---|---|
| `GET /_control/world` | tokens, ids, places and people that the platforms were seeded with |
| `GET /_control/feed` | every visible change, as server-sent events |
| `POST`, `DELETE /_control/faults` | add a `Fault`, or remove all faults |
| `PUT /_control/limits` | `{"on": false}`: switch the rate limits off or on |
| `GET /_control/refusals` | how often each rate limit and fault refused a request |
| `POST /_control/<platform>/posts` | a person posts a message: `{workspace, channel, person, text, thread}` |
| `POST /_control/<platform>/files` | a person shares files: the fields of a post and `files`, a list of `FileUpload`; or a multipart form whose parts with a file name are the files |
| `POST /_control/<platform>/edits` | a person edits their message: `{workspace, channel, person, message, text}` |
| `POST /_control/<platform>/deletions` | a person deletes a message: `{workspace, channel, person, message}` |
| `POST /_control/<platform>/actions/<action>` | a person performs another action: calls the local platform's method `<action>_as` with the arguments of the JSON body; 404 where the platform has no such action. `ACTIONS` lists them |
| `POST /_control/<platform>/reactions` | a person adds or removes a reaction: `{workspace, channel, person, message, emoji, taken_back}` |
| `POST /_control/<platform>/pins` | a person pins or unpins a message: `{workspace, channel, person, message, pinned}` |
| `POST /_control/<platform>/typing` | a person starts typing: `{workspace, channel, person}` |
| `POST /_control/<platform>/presses` | a person presses a button (`Press`); answers the `Outcome` |
| `POST /_control/<platform>/choices` | a person chooses in a menu, or fills in one input (`Choice`) |
| `GET /_control/<platform>/forms` | the forms that are open for a person (`workspace`, `person`) |
| `POST /_control/<platform>/forms` | a person submits or closes a form (`FormSubmission`) |
| `GET /_control/<platform>/whispers` | the messages that only this person can see (`workspace`, `person`) |
| `GET /_control/<platform>/messages` | the messages of a channel (`workspace`, `channel`) |
| `POST /_control/<platform>/disconnect` | close the sockets of every app |

The status is 400 for wrong input, 404 for something that does not exist and 403 for something that
the person may not do; the body is `{"error"}`. `bridge.sandbox.user_actions.LocalUser` offers the
same in Python. Platforms add controls of their own: see the docstrings of their packages.
"""  # noqa: E501  # a table

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, validate_call
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from bridge.errors import BridgeError, InvalidData, NotFound
from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.files import TooMuch
from bridge.sandbox.multipart import BadMultipart, Bounds, read_multipart
from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.user_actions import (
    Choice,
    FileUpload,
    FormSubmission,
    Outcome,
    Press,
    TakesUserActions,
)

Answerer = Callable[[Request], Awaitable[Response]]
Model = TypeVar("Model", bound=BaseModel)
ACTIONS = frozenset({
    "join", "leave", "set_topic", "rename", "me", "broadcast", "forward", "voice", "sticker",
    "schedule", "start_thread", "close_thread", "poll", "vote", "end_poll", "command",
})  # fmt: skip
_LARGEST_FILES = 1 << 28


class _Post(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workspace: str
    channel: str
    person: str
    text: str
    thread: str | None = None


class _Deletion(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workspace: str
    channel: str
    person: str
    message: str


class _Edit(_Deletion):
    text: str


class _Reaction(_Deletion):
    emoji: str
    taken_back: bool = False


class _Pin(_Deletion):
    pinned: bool = True


class _Typing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workspace: str
    channel: str
    person: str


class _Share(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workspace: str
    channel: str
    person: str
    files: list[FileUpload]
    text: str = ""
    thread: str | None = None


def control_routes(
    context: SandboxContext, platforms: Mapping[str, LocalPlatform]
) -> list[BaseRoute]:
    """All routes under `/_control`."""
    control = _Control(context, platforms)
    return [
        Route("/_control/world", control.world),
        Route("/_control/feed", control.feed),
        Route("/_control/faults", control.faults, methods=["POST", "DELETE"]),
        Route("/_control/limits", control.limits, methods=["PUT"]),
        Route("/_control/refusals", control.refusals),
        Route(
            "/_control/{platform}/disconnect", _with_errors(control.disconnect), methods=["POST"]
        ),
        *people_routes(context, platforms, "/_control"),
    ]


def people_routes(
    context: SandboxContext, platforms: Mapping[str, LocalPlatform], prefix: str
) -> list[BaseRoute]:
    """The actions and views of people, under `<prefix>/<platform>/`; neither faults nor tokens."""
    control = _Control(context, platforms)
    base = prefix + "/{platform}/"
    return [
        Route(base + "posts", _with_errors(control.post), methods=["POST"]),
        Route(base + "files", _with_errors(control.share), methods=["POST"]),
        Route(base + "edits", _with_errors(control.edit), methods=["POST"]),
        Route(base + "deletions", _with_errors(control.delete), methods=["POST"]),
        Route(base + "actions/{action}", _with_errors(control.action), methods=["POST"]),
        Route(base + "reactions", _with_errors(control.react), methods=["POST"]),
        Route(base + "pins", _with_errors(control.pin), methods=["POST"]),
        Route(base + "typing", _with_errors(control.type), methods=["POST"]),
        Route(base + "presses", _with_errors(control.press), methods=["POST"]),
        Route(base + "choices", _with_errors(control.choose), methods=["POST"]),
        Route(base + "forms", _with_errors(control.fill), methods=["POST"]),
        Route(base + "forms", _with_errors(control.forms)),
        Route(base + "whispers", _with_errors(control.whispers)),
        Route(base + "messages", _with_errors(control.messages)),
    ]


class _Control:
    """The handlers."""

    def __init__(self, context: SandboxContext, platforms: Mapping[str, LocalPlatform]) -> None:
        self._context = context
        self._platforms = platforms

    async def world(self, _request: Request) -> Response:
        worlds = {name: p.world().model_dump() for name, p in self._platforms.items()}
        return JSONResponse(worlds)

    async def feed(self, _request: Request) -> Response:
        async def lines() -> AsyncIterator[bytes]:
            yield b": watching\n\n"
            async for change in self._context.feed.watch():
                yield b"data: " + orjson.dumps(change.model_dump()) + b"\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def faults(self, request: Request) -> Response:
        if request.method == "DELETE":
            self._context.faults.clear()
        else:
            self._context.faults.add(Fault.model_validate_json(await request.body()))
        return Response(status_code=204)

    async def limits(self, request: Request) -> Response:
        self._context.limits.on = bool((await request.json())["on"])
        return Response(status_code=204)

    async def refusals(self, _request: Request) -> Response:
        return JSONResponse(dict(self._context.feed.refusals))

    async def post(self, request: Request) -> Response:
        command = await _body(request, _Post)
        message = await self._platform(request).post_as(**command.model_dump())
        return JSONResponse(message.model_dump())

    async def share(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "")
        if kind.startswith("multipart/form-data"):
            command = await self._shared_form(request, kind)
        else:
            command = await _body(request, _Share)
        message = await self._user_actions(request).post_files(
            command.workspace, command.channel, command.person, command.files, command.text,
            command.thread,
        )  # fmt: skip
        return JSONResponse(message.model_dump())

    async def edit(self, request: Request) -> Response:
        command = await _body(request, _Edit)
        message = await self._platform(request).edit_as(**command.model_dump())
        return JSONResponse(message.model_dump())

    async def delete(self, request: Request) -> Response:
        command = await _body(request, _Deletion)
        await self._platform(request).delete_as(**command.model_dump())
        return Response(status_code=204)

    async def action(self, request: Request) -> Response:
        platform, name = self._platform(request), request.path_params["action"]
        method = getattr(platform, f"{name}_as", None) if name in ACTIONS else None
        if method is None:
            raise NotFound(f"People on the local {platform.name} have no action {name!r}")
        done = await validate_call(method)(**await _arguments(request))
        if isinstance(done, LocalMessage):
            return JSONResponse(done.model_dump())
        if isinstance(done, Outcome):
            return _json(done)
        return JSONResponse({"id": done}) if done else Response(status_code=204)

    async def react(self, request: Request) -> Response:
        command = await _body(request, _Reaction)
        platform = self._platform(request)
        act = platform.unreact_as if command.taken_back else platform.react_as
        await act(**command.model_dump(exclude={"taken_back"}))
        return Response(status_code=204)

    async def pin(self, request: Request) -> Response:
        command = await _body(request, _Pin)
        await self._platform(request).pin_as(**command.model_dump())
        return Response(status_code=204)

    async def type(self, request: Request) -> Response:
        command = await _body(request, _Typing)
        await self._platform(request).typing_as(**command.model_dump())
        return Response(status_code=204)

    async def press(self, request: Request) -> Response:
        return _json(await self._user_actions(request).press(await _body(request, Press)))

    async def choose(self, request: Request) -> Response:
        return _json(await self._user_actions(request).choose(await _body(request, Choice)))

    async def fill(self, request: Request) -> Response:
        return _json(await self._user_actions(request).fill(await _body(request, FormSubmission)))

    async def forms(self, request: Request) -> Response:
        query = request.query_params
        open_forms = self._user_actions(request).forms(query["workspace"], query["person"])
        return JSONResponse([form.model_dump(mode="json") for form in open_forms])

    async def whispers(self, request: Request) -> Response:
        query = request.query_params
        messages = self._user_actions(request).whispers(query["workspace"], query["person"])
        return JSONResponse([message.model_dump() for message in messages])

    async def messages(self, request: Request) -> Response:
        query = request.query_params
        messages = self._platform(request).messages(query["workspace"], query["channel"])
        return JSONResponse([message.model_dump() for message in messages])

    async def disconnect(self, request: Request) -> Response:
        await self._platform(request).disconnect()
        return Response(status_code=204)

    async def _shared_form(self, request: Request, kind: str) -> _Share:
        files = self._context.files
        bounds = Bounds(file=_LARGEST_FILES, values=1 << 20, body=_LARGEST_FILES + (1 << 20))
        try:
            parts = await read_multipart(kind, request.stream(), files, bounds)
        except (BadMultipart, TooMuch) as error:
            raise InvalidData(f"Not a form: {error}") from error
        fields: dict[str, Any] = {
            p.name: p.value.decode("utf-8", "replace") for p in parts if p.file is None
        }
        uploads: list[FileUpload] = []
        for part in parts:
            if part.file is not None and part.filename:
                data = files.read(part.file) or b""
                uploads.append(
                    FileUpload(name=part.filename, data=data, content_type=part.content_type)
                )
                files.forget(part.file)
        return _Share.model_validate({**fields, "files": uploads})

    def _platform(self, request: Request) -> LocalPlatform:
        name = request.path_params["platform"]
        platform = self._platforms.get(name)
        if platform is None:
            raise NotFound(f"No platform {name!r} here; there are {', '.join(self._platforms)}")
        return platform

    def _user_actions(self, request: Request) -> TakesUserActions:
        platform = self._platform(request)
        if not isinstance(platform, TakesUserActions):
            raise NotFound(f"People on the local {platform.name} only write")
        return platform


def _with_errors(answer: Answerer) -> Answerer:
    """Errors as answers that say what is wrong."""

    async def answered(request: Request) -> Response:
        try:
            return await answer(request)
        except NotFound as error:
            return JSONResponse({"error": str(error)}, 404)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            return JSONResponse({"error": f"{first['loc']}: {first['msg']}"}, 400)
        except (InvalidData, KeyError) as error:
            return JSONResponse({"error": str(error)}, 400)
        except BridgeError as error:
            return JSONResponse({"error": str(error)}, 403)

    return answered


async def _arguments(request: Request) -> dict[str, Any]:
    try:
        arguments = orjson.loads(await request.body())
    except orjson.JSONDecodeError as error:
        raise InvalidData(f"Not JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise InvalidData("The arguments are a JSON object")
    return arguments


async def _body(request: Request, model: type[Model]) -> Model:
    return model.model_validate_json(await request.body())


def _json(model: BaseModel) -> Response:
    return JSONResponse(model.model_dump(mode="json"))
