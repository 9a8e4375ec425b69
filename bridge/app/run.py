"""Run a bridge until it is told to stop: signals, web server, router, and a clean end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Coroutine

import structlog

from bridge.app.build import Bridge, build
from bridge.app.settings import Settings
from bridge.app.web import WebServer, web_app

log = structlog.get_logger()


async def run(settings: Settings, *, ready: Callable[[Bridge, str], None] | None = None) -> None:
    """Until SIGINT, SIGTERM or cancellation; `ready` is told the bridge and its web address."""
    bridge = await build(settings)
    server = WebServer(web_app(bridge), settings.web.host, settings.web.port)
    try:
        await server.start()
        log.info("bridge_started", accounts=list(bridge.connectors), web=server.url)
        routing = asyncio.create_task(
            bridge.router.run(lambda: ready(bridge, server.url) if ready else None)
        )
        try:
            await _first(routing, stop_wanted())
        finally:
            await server.stop()
            routing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await routing
    finally:
        await bridge.close()
        log.info("bridge_stopped")


async def stop_wanted() -> None:
    """Returns at SIGINT or SIGTERM."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await stop.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


async def _first(routing: asyncio.Task[None], stop: Coroutine[None, None, None]) -> None:
    stopping = asyncio.ensure_future(stop)
    try:
        await asyncio.wait({routing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if routing.done():
            routing.result()
    finally:
        stopping.cancel()
