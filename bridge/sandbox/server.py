"""One Starlette app for all local platforms, with a control side for tests and the demo page."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from importlib import import_module

import orjson
import uvicorn
from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from bridge.sandbox.faults import Fault
from bridge.sandbox.feed import SANDBOX_PLATFORMS
from bridge.sandbox.platform import LocalPlatform, Surroundings


class _Post(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workspace: str
    channel: str
    person: str
    text: str
    thread: str | None = None


def local_platforms(
    around: Surroundings, names: Sequence[str] = SANDBOX_PLATFORMS
) -> dict[str, LocalPlatform]:
    """Seed and build the named local platforms."""
    return {name: _builder(name)(around) for name in names}


def sandbox_app(around: Surroundings, platforms: dict[str, LocalPlatform]) -> Starlette:
    """The ASGI app: each platform under its own name, the control side under `/_control`."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None, None]:
        yield
        for platform in platforms.values():
            await platform.close()

    routes = [route for platform in platforms.values() for route in platform.routes()]
    return Starlette(routes=routes + _control_routes(around, platforms), lifespan=lifespan)


async def serve_sandbox(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    channels: int = 3,
    limits: bool = True,
    names: Sequence[str] = SANDBOX_PLATFORMS,
    on_ready: Callable[[Surroundings, dict[str, LocalPlatform]], None] | None = None,
) -> None:
    """Serve until cancelled; port 0 takes a free one, told to `on_ready` in `base_url`."""
    config = uvicorn.Config(
        app="", host=host, port=port, log_level="warning", access_log=False,
        timeout_graceful_shutdown=1, ws="websockets-sansio",
    )  # fmt: skip
    sock = config.bind_socket()
    # uvicorn makes it without a protocol number, for which asyncio leaves Nagle's algorithm on:
    # every answer then waits 40 ms for the client's acknowledgement (uvicorn 0.54, 2026-11).
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    around = Surroundings(base_url=f"http://{host}:{sock.getsockname()[1]}", channels=channels)
    around.limits.on = limits
    platforms = local_platforms(around, names)
    config.app = sandbox_app(around, platforms)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        while not server.started and not serving.done():  # noqa: ASYNC110 - uvicorn has no event
            await asyncio.sleep(0.005)
        if on_ready and not serving.done():
            on_ready(around, platforms)
        await asyncio.shield(serving)
    finally:
        for platform in platforms.values():
            await platform.close()
        server.should_exit = True
        await serving


def _builder(name: str) -> Callable[[Surroundings], LocalPlatform]:
    return import_module(f"bridge.sandbox.{name}").local_platform


def _control_routes(  # noqa: C901 - nine tiny handlers
    around: Surroundings, platforms: dict[str, LocalPlatform]
) -> list[BaseRoute]:
    def platform_of(request: Request) -> LocalPlatform:
        return platforms[request.path_params["platform"]]

    async def world(_request: Request) -> Response:
        return JSONResponse({name: p.world().model_dump() for name, p in platforms.items()})

    async def post(request: Request) -> Response:
        wanted = _Post.model_validate_json(await request.body())
        shown = await platform_of(request).post_as(**wanted.model_dump())
        return JSONResponse(shown.model_dump())

    async def messages(request: Request) -> Response:
        query = request.query_params
        shown = platform_of(request).messages(query["workspace"], query["channel"])
        return JSONResponse([message.model_dump() for message in shown])

    async def feed(_request: Request) -> Response:
        async def lines() -> AsyncIterator[bytes]:
            yield b": watching\n\n"
            async for change in around.feed.watch():
                yield b"data: " + orjson.dumps(change.model_dump()) + b"\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def faults(request: Request) -> Response:
        if request.method == "DELETE":
            around.faults.clear()
        else:
            around.faults.add(Fault.model_validate_json(await request.body()))
        return Response(status_code=204)

    async def limits(request: Request) -> Response:
        around.limits.on = bool((await request.json())["on"])
        return Response(status_code=204)

    async def refusals(_request: Request) -> Response:
        return JSONResponse(dict(around.feed.refusals))

    async def disconnect(request: Request) -> Response:
        await platform_of(request).disconnect()
        return Response(status_code=204)

    return [
        Route("/_control/world", world),
        Route("/_control/feed", feed),
        Route("/_control/faults", faults, methods=["POST", "DELETE"]),
        Route("/_control/limits", limits, methods=["PUT"]),
        Route("/_control/refusals", refusals),
        Route("/_control/{platform}/posts", post, methods=["POST"]),
        Route("/_control/{platform}/messages", messages),
        Route("/_control/{platform}/disconnect", disconnect, methods=["POST"]),
    ]
