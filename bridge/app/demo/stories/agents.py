"""Starts the agents of a story, each in a process of its own, and says how a room gets them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from bridge.app.demo.stories.story import Story
from bridge.errors import BridgeError

_STARTS = 30.0  # seconds until an agent serves


@asynccontextmanager
async def story_agents(story: Story) -> AsyncGenerator[Mapping[str, str]]:
    """Yield the addresses of the agents; the host knows those of the others."""
    addresses: dict[str, str] = {}
    names = [name for name in story.agents if name != story.host]
    async with AsyncExitStack() as stack:
        for name in (*names, story.host):
            started = _agent(story, name, dict(addresses))
            addresses[name] = await stack.enter_async_context(started)
        yield addresses


@asynccontextmanager
async def _agent(story: Story, name: str, addresses: Mapping[str, str]) -> AsyncGenerator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bridge.app.demo.stories.agent",
        story.name, name, json.dumps(addresses), stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{await _port(process, name)}/floor"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _port(process: asyncio.subprocess.Process, name: str) -> int:
    if process.stdout is None:
        raise BridgeError(f"The agent {name} of the story has no output")
    try:
        async with asyncio.timeout(_STARTS):
            return int(await process.stdout.readline())
    except (TimeoutError, ValueError):
        raise BridgeError(f"The agent {name} of the story did not start") from None


def with_agents(
    settings: dict[str, Any], room: str, story: Story, addresses: Mapping[str, str]
) -> None:
    """Add the agents to a configuration, and give them the room for themselves."""
    for name, address in addresses.items():
        settings["agents"][name] = {
            "kind": "openfloor", "url": address, "private_addresses": True,
        }  # fmt: skip
    settings["rooms"][room]["agents"] = [
        {"agent": story.host, "listen": "always"},
        *({"agent": name, "listen": "mentions"} for name in addresses if name != story.host),
    ]
