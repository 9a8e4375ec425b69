"""The calendar's server over HTTP, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn

from tests.tools import calendar_server
from tests.waiting import LONGEST_WAIT


@asynccontextmanager
async def http_server(port: int) -> AsyncGenerator[None]:
    """The same server over HTTP, until it is cut off."""
    app = calendar_server.mcp.streamable_http_app()
    config = uvicorn.Config(app, port=port, log_config=None, timeout_graceful_shutdown=0)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
        yield
    finally:
        server.force_exit = server.should_exit = True
        await serving
