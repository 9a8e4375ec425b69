"""The demo's one page: what people do goes to the local platforms, what is seen comes live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridge.app.bodies import BoundedBodies
from bridge.app.demo.running import Demo
from bridge.app.demo.views import Json, explanation_view, shown_view
from bridge.app.demo.world import ROOMS
from bridge.errors import BridgeError, NotFound
from bridge.model import ChannelRef, RoomId
from bridge.sandbox.local_only import LocalOnly
from bridge.uacs import Conversation

_HERE = Path(__file__).parent
_MOST_TEXT = 40_000  # characters: what the most patient of the platforms takes
_MOST_BYTES = 400_000
_FIRST = asyncio.FIRST_COMPLETED
_ALIVE = 15.0  # seconds between two signs of life of a silent stream


class _Post(BaseModel):
    model_config = ConfigDict(extra="forbid")

    platform: str
    channel: str
    person: str
    text: str = Field(min_length=1, max_length=_MOST_TEXT)
    thread: str | None = None


Play = Callable[[], Coroutine[Any, Any, None]]


def page_app(demo: Demo, play: Play, closing: asyncio.Event) -> Starlette:
    """The ASGI app; `play` acts a scene out for those who only watch, `closing` ends streams."""
    page = _Page(demo, play, closing)
    routes = [
        Route("/", page.show),
        Route("/events", page.events),
        Route("/posts", page.post, methods=["POST"]),
        Route("/scene", page.scene, methods=["POST"]),
        Route("/archive/{room}", page.archive),
        Route("/explain", page.explain),
        Route("/healthz", page.health),
        Route("/metrics", page.health),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(LocalOnly),
            Middleware(_Strict, pictures_from=demo.sandbox_url),
            Middleware(BoundedBodies, most_bytes=_MOST_BYTES),
        ],
        exception_handlers={BridgeError: _refused},
    )


class _Page:
    """The handlers."""

    def __init__(self, demo: Demo, play: Play, closing: asyncio.Event) -> None:
        self._demo = demo
        self._play = play
        self._closing = closing
        self._playing: asyncio.Task[None] | None = None
        self._templates = Jinja2Templates(directory=_HERE / "templates")

    async def show(self, request: Request) -> Response:
        sides = list(self._demo.sides.values())
        return self._templates.TemplateResponse(request, "page.html", {"sides": sides})

    async def events(self, _request: Request) -> Response:
        return StreamingResponse(
            self._stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    async def post(self, request: Request) -> Response:
        try:
            wanted = _Post.model_validate_json(await request.body())
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            return JSONResponse({"error": f"{first['loc']}: {first['msg']}"}, status_code=400)
        if wanted.platform not in self._demo.sides:
            raise NotFound(f"There is no platform {wanted.platform!r} here")
        shown = await self._demo.say(**wanted.model_dump())
        return JSONResponse(shown_view(shown), status_code=201)

    async def scene(self, _request: Request) -> Response:
        """Act the scene out; while it is played, it is not begun again."""
        if self._playing is None or self._playing.done():
            self._playing = asyncio.create_task(self._play())
        return Response(status_code=202)

    async def archive(self, request: Request) -> Response:
        room = request.path_params["room"]
        if room not in ROOMS:
            raise NotFound(f"There is no room {room!r}; there are {', '.join(ROOMS)}")
        conversation = await archived(self._demo, room)
        document = conversation.model_dump(mode="json", exclude_none=True)
        return Response(
            orjson.dumps(document, option=orjson.OPT_INDENT_2), media_type="application/json"
        )

    async def explain(self, request: Request) -> Response:
        query = request.query_params
        side = self._demo.sides.get(query.get("platform", ""))
        if side is None:
            raise NotFound(f"There is no platform {query.get('platform')!r} here")
        channel = ChannelRef(
            platform=side.platform, workspace=side.workspace, channel=query.get("channel", "")
        )
        store = self._demo.bridge.store
        message = await store.resolve(channel, query.get("id", ""))
        found = await store.explain(message) if message else None
        if found is None:
            text = "The bridge does not know this message: it was said outside the rooms"
            if channel.channel in (one.id for one in side.channels):
                text = "The bridge does not know this message yet; it was said a moment ago"
                return JSONResponse({"error": text}, status_code=202)
            raise NotFound(text)
        return JSONResponse(explanation_view(found, self._demo.sides))

    async def health(self, request: Request) -> Response:
        return RedirectResponse(f"{self._demo.bridge_url}{request.url.path}", status_code=307)

    async def _stream(self) -> AsyncGenerator[bytes]:
        """All that stands there, then every change. The watch begins first: nothing is missed."""
        changes = self._demo.feed.watch()
        upcoming = asyncio.ensure_future(anext(changes))
        closing = asyncio.create_task(self._closing.wait())
        try:
            await asyncio.sleep(0)
            yield _event("everything", self._everything())
            while not closing.done():
                await asyncio.wait({upcoming, closing}, timeout=_ALIVE, return_when=_FIRST)
                if not upcoming.done():
                    yield b": alive\n\n"
                    continue
                change = upcoming.result()
                yield _event("change", {"kind": change.kind, "message": shown_view(change.message)})
                upcoming = asyncio.ensure_future(anext(changes))
        finally:
            closing.cancel()
            upcoming.cancel()
            await asyncio.wait({upcoming})
            await changes.aclose()  # type: ignore[attr-defined]

    def _everything(self) -> Json:
        demo = self._demo
        messages = [
            shown_view(shown)
            for side in demo.sides.values()
            for channel in side.channels
            for shown in demo.standing(side.platform, channel.id)
        ]
        sides = [side.model_dump() for side in demo.sides.values()]
        return {"sides": sides, "messages": messages, "pictures_from": demo.sandbox_url}


async def archived(demo: Demo, room: str) -> Conversation:
    """The room as the archive has it."""
    ids = await demo.bridge.store.room_ids([RoomId(room)])
    return await demo.bridge.store.conversation(ids[RoomId(room)])


def _event(name: str, data: Json) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


async def _refused(_request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"error": str(error)}, status_code=404 if isinstance(error, NotFound) else 409
    )


class _Strict:
    """ASGI middleware: only our own scripts and styles, and the local platforms' pictures."""

    def __init__(self, app: ASGIApp, pictures_from: str) -> None:
        self._app = app
        self._policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src 'self' {pictures_from}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        await self._app(scope, receive, guarded)
