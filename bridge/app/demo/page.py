"""The demo's page: people act on the local platforms, and the page shows changes live."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridge.app.demo.running import Demo
from bridge.app.demo.views import Json, explanation_view, private_view, shown_view
from bridge.app.demo.world import ROOMS, demo_types
from bridge.app.web.request_bodies import BoundedBodies
from bridge.content.text.emoji import emoji_by_name
from bridge.errors import BridgeError, NotFound
from bridge.model import ChannelRef, RoomId
from bridge.sandbox.control import people_routes
from bridge.sandbox.local_only import LocalOnly
from bridge.uacs import Conversation

_HERE = Path(__file__).parent
_MOST_BYTES = 16_000_000  # of a request: enough for a file of 10 MB in base64
_FIRST = asyncio.FIRST_COMPLETED
_ALIVE = 15.0  # seconds between two comments in a stream without events
_COUNTS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_LOOK = 0.2  # seconds between two polls of what single people see

Play = Callable[[], Coroutine[Any, Any, None]]


def page_app(demo: Demo, plays: Mapping[str, Play], closing: asyncio.Event) -> Starlette:
    """The ASGI app; `plays` are the scenes that people can start, `closing` ends the streams."""
    page = _Page(demo, plays, closing)
    sandbox = demo.sandbox
    routes = [
        Route("/", page.show),
        Route("/events", page.events),
        Route("/emoji.json", page.emoji),
        Route("/plays/{name}", page.play, methods=["POST"]),
        Route("/files/{platform}/{file}", page.file),
        *people_routes(sandbox.context, sandbox.platforms, "/people"),
        Route("/archive/{room}", page.archive),
        Route("/explain", page.explain),
        Route("/healthz", page.health),
        Route("/metrics", page.health),
        Mount("/static", StaticFiles(directory=_HERE / "static")),
        *_drawings(),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(LocalOnly),
            Middleware(_Strict, media_from=(demo.sandbox_url, demo.bridge_url)),
            Middleware(BoundedBodies, most_bytes=_MOST_BYTES),
        ],
        exception_handlers={BridgeError: _refused},
    )


class _Page:
    """The request handlers of the page."""

    def __init__(self, demo: Demo, plays: Mapping[str, Play], closing: asyncio.Event) -> None:
        self._demo = demo
        self._plays = plays
        self._closing = closing
        self._playing: asyncio.Task[None] | None = None
        self._templates = Jinja2Templates(directory=_HERE / "templates")

    async def show(self, request: Request) -> Response:
        sides = list(self._demo.sides.values())
        *labels, last = [side.label for side in sides]
        named = {"labels": f"{', '.join(labels)} and {last}" if labels else last}
        named["count"] = _COUNTS.get(len(sides), str(len(sides)))
        agents = [membership.agent for membership in self._demo.bridge.rooms.all[0].agents]
        context = {"sides": sides, "agents": agents, **named}
        return self._templates.TemplateResponse(request, "page.html", context)

    async def events(self, _request: Request) -> Response:
        return StreamingResponse(
            self._stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    async def emoji(self, _request: Request) -> Response:
        return JSONResponse(emoji_by_name(), headers={"Cache-Control": "max-age=3600"})

    async def play(self, request: Request) -> Response:
        """Start a scene, unless another one is running."""
        name = request.path_params["name"]
        if name not in self._plays:
            raise NotFound(f"There is no scene {name!r}; there are {', '.join(self._plays)}")
        if self._playing is None or self._playing.done():
            self._playing = asyncio.create_task(self._plays[name]())
        return Response(status_code=202)

    async def file(self, request: Request) -> Response:
        """A file of a local platform whose own URL needs an app's token."""
        path = request.path_params
        file_response = self._demo.file(path["platform"], path["file"])
        return file_response or JSONResponse(
            {"error": f"There is no file {path['file']!r} on {path['platform']!r}"}, status_code=404
        )

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
        explanation = await store.explain(message) if message else None
        if explanation is None:
            text = "The bridge does not know this message: it was said outside the rooms"
            if channel.channel in (side_channel.id for side_channel in side.channels):
                text = "The bridge does not know this message yet; it was said a moment ago"
                return JSONResponse({"error": text}, status_code=202)
            raise NotFound(text)
        return JSONResponse(explanation_view(explanation, self._demo.sides))

    async def health(self, request: Request) -> Response:
        return RedirectResponse(f"{self._demo.bridge_url}{request.url.path}", status_code=307)

    async def _stream(self) -> AsyncGenerator[bytes]:
        """All messages, then every change; the watch begins first, so that no change is lost."""
        changes = self._demo.feed.watch()
        upcoming = asyncio.ensure_future(anext(changes))
        closing = asyncio.create_task(self._closing.wait())
        private = self._private()
        silent = 0.0
        try:
            await asyncio.sleep(0)
            yield _event("private", private)
            yield _event("everything", self._everything())
            while not closing.done():
                await asyncio.wait({upcoming, closing}, timeout=_LOOK, return_when=_FIRST)
                if (now := self._private()) != private:
                    private = now
                    yield _event("private", private)
                if not upcoming.done():
                    silent += _LOOK
                    if silent >= _ALIVE:
                        silent = 0.0
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
            shown_view(message)
            for side in demo.sides.values()
            for channel in side.channels
            for message in demo.standing(side.platform, channel.id)
        ]
        sides = [side.model_dump() for side in demo.sides.values()]
        media_from = [demo.sandbox_url, demo.bridge_url]
        return {"sides": sides, "messages": messages, "media_from": media_from}

    def _private(self) -> Json:
        """What single people see alone, by platform and person."""
        demo = self._demo
        return {
            name: private_view(demo.sandbox.platforms[name], side)
            for name, side in demo.sides.items()
        }


def _drawings() -> list[Mount]:
    """The scripts and styles that draw each platform's messages."""
    return [
        Mount(f"/platforms/{name}", StaticFiles(directory=local.demo.static))
        for name, local in demo_types().items()
        if local.demo
    ]


async def archived(demo: Demo, room: str) -> Conversation:
    """The room's archived conversation."""
    ids = await demo.bridge.store.room_ids([RoomId(room)])
    return await demo.bridge.store.conversation(ids[RoomId(room)])


def _event(name: str, data: Json) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


async def _refused(_request: Request, error: Exception) -> Response:
    return JSONResponse(
        {"error": str(error)}, status_code=404 if isinstance(error, NotFound) else 409
    )


class _Strict:
    """ASGI middleware: a content security policy with our scripts and styles, and media of the
    local platforms and the bridge."""

    def __init__(self, app: ASGIApp, media_from: Sequence[str]) -> None:
        self._app = app
        media = f"'self' {' '.join(media_from)}"
        self._policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            f"img-src {media}; media-src {media}; base-uri 'none'; form-action 'none'; "
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
