"""A web server ends when it is told to."""

from __future__ import annotations

import asyncio

import pytest
import uvicorn
from starlette.applications import Starlette

from bridge.app.web.server import listen
from bridge.runtime import serving
from bridge.runtime.serving import PromptServer
from tests.waiting import LONGEST_WAIT


async def test_a_server_that_is_told_to_end_does_not_wait_for_its_next_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "_LOOKS", 60.0)
    server = PromptServer(uvicorn.Config(Starlette(), log_config=None, lifespan="off"))
    running = asyncio.create_task(server.serve(sockets=[listen("127.0.0.1", 0)]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.005)

    server.end()

    async with asyncio.timeout(LONGEST_WAIT):
        await running
