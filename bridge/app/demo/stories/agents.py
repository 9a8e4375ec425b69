"""Starts the agents of a story, each in a process of its own, and says how a room gets them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import Any

from bridge.app.demo.stories.story import Story
from bridge.errors import BridgeError

_STARTS = 30.0  # seconds until an agent serves


@asynccontextmanager
async def story_agents(story: Story) -> AsyncGenerator[Mapping[str, str]]:
    """Yield the addresses of the agents; the host knows those of the others."""
    addresses: dict[str, str] = {}
    names = [name for name in reversed(list(story.agents)) if name != story.host]
    async with AsyncExitStack() as stack:
        for name in (*names, story.host):
            started = _agent(story, name, dict(addresses))
            addresses[name] = await stack.enter_async_context(started)
        yield addresses


@asynccontextmanager
async def _agent(story: Story, name: str, addresses: Mapping[str, str]) -> AsyncGenerator[str]:
    program = program_of(story, name, addresses)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *program, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield f"http://127.0.0.1:{await _port(process, name)}/floor"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def program_of(story: Story, name: str, addresses: Mapping[str, str]) -> Sequence[str]:
    """Return the module that is an agent of a story, with its arguments."""
    known = json.dumps(addresses)
    if story.mediation is not None and name == story.host:
        return ["bridge.app.demo.stories.mediator", story.name, known]
    on_library = name == story.on_library and find_spec("openfloor") is not None
    module = "library_agent" if on_library else "agent"
    return [f"bridge.app.demo.stories.{module}", story.name, name, known]


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
    settings["openfloor"] = {"invite": ["127.0.0.1"], "private_addresses": True}
    for name in story.in_room:
        agent: dict[str, Any] = {"url": addresses[name], "private_addresses": True}
        if story.mediation is not None and name == story.host:
            agent |= {"kind": "webhook", "tools": ["agents"]}
        else:
            agent["kind"] = "openfloor"
        settings["agents"][name] = agent
    settings["rooms"][room]["agents"] = [
        {"agent": story.host, "listen": "always", "greeting": story.welcome},
        *({"agent": name, "listen": "mentions"} for name in story.in_room[1:]),
    ]
    if story.mediation is not None:
        settings["rooms"][room]["show_tools"] = "off"
