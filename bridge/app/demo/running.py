"""Runs the parts of the demo in one event loop: local platforms, the bridge, the agent."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

from bridge.app.build import Bridge
from bridge.app.demo.desk import serving_desk
from bridge.app.demo.lines import Line
from bridge.app.demo.world import Side, configuration, demo_types, sides_of
from bridge.app.local_accounts import announce_accounts
from bridge.app.run import run
from bridge.app.settings.file import settings_of
from bridge.app.web.server import health_of
from bridge.errors import BridgeError
from bridge.sandbox.feed import Feed, LocalMessage
from bridge.sandbox.platform import LocalPlatform, SandboxContext, ShowsFiles, TakesNewcomers
from bridge.sandbox.server import serve_sandbox

STORE = "demo.sqlite3"
_CONNECTS = 30.0  # seconds for the bridge to connect to all platforms
_STOPS = 2.5  # seconds for the bridge to stop


@dataclass(frozen=True)
class Sandbox:
    """The running local platforms."""

    context: SandboxContext
    platforms: dict[str, LocalPlatform]


@dataclass(frozen=True)
class Demo:
    """A bridge that is connected to all local platforms."""

    sandbox: Sandbox
    sides: dict[str, Side]
    bridge: Bridge
    bridge_url: str

    @property
    def feed(self) -> Feed:
        return self.sandbox.context.feed

    @property
    def sandbox_url(self) -> str:
        return self.sandbox.context.base_url

    async def say(
        self, platform: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage:
        """Post a message as a person.

        Raises:
            BridgeError: The platform refuses the message.
        """
        side = self.sides[platform]
        local = self.sandbox.platforms[platform]
        return await local.post_as(side.workspace, channel, person, text, thread)

    def file(self, platform: str, file: str) -> Response | None:
        """A file that people see on a platform; None if there is no file with this id."""
        local = self.sandbox.platforms.get(platform)
        return local.file_as_seen(file) if isinstance(local, ShowsFiles) else None

    def standing(self, platform: str, channel: str) -> list[LocalMessage]:
        """The messages that a channel shows."""
        side = self.sides[platform]
        return self.sandbox.platforms[platform].messages(side.workspace, channel)


@contextlib.asynccontextmanager
async def running_demo(
    folder: Path,
    *,
    pace: float,
    lines: Sequence[Line] = (),
    change: Callable[[dict[str, Any]], None] = lambda _: None,
) -> AsyncGenerator[tuple[Demo, asyncio.Task[None]]]:
    """Run a demo with its store in `folder`; yields it and the task of its bridge.

    Authors of `lines` who are not on their platform join it before the bridge starts; `change` may
    change the configuration.
    """
    labels = {name: local.label for name, local in demo_types().items()}
    async with _sandbox() as sandbox, serving_desk(labels) as desk:
        _add_newcomers(sandbox, lines)
        worlds = {name: platform.world() for name, platform in sandbox.platforms.items()}
        base_url = sandbox.context.base_url
        settings, environment = configuration(
            worlds, base_url, folder / STORE, pace, desk, _free_port()
        )
        change(settings)
        ready: asyncio.Future[tuple[Bridge, str]] = asyncio.get_running_loop().create_future()
        with _environment(environment):
            running = asyncio.create_task(
                run(
                    settings_of(settings), ready=lambda bridge, url: ready.set_result((bridge, url))
                )
            )
            try:
                await asyncio.wait({ready, running}, return_when=asyncio.FIRST_COMPLETED)
                if not ready.done():
                    running.result()
                    raise asyncio.CancelledError  # a signal came first
                bridge, url = ready.result()
                announce_accounts(sandbox.platforms, url)
                await _wait_until_connected(bridge)
                yield Demo(sandbox, sides_of(sandbox.platforms), bridge, url), running
            finally:
                await _cancel_and_wait(running)


def _free_port() -> int:
    """A free port, because the configuration needs the number before the port is bound."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.asynccontextmanager
async def _sandbox() -> AsyncGenerator[Sandbox]:
    ready: asyncio.Future[Sandbox] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_sandbox(
            channels=2,
            names=tuple(demo_types()),
            on_ready=lambda context, platforms: ready.set_result(Sandbox(context, platforms)),
        )
    )
    try:
        await asyncio.wait({ready, serving}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            serving.result()
            raise BridgeError("The local platforms stopped before they were ready")
        yield ready.result()
    finally:
        await _cancel_and_wait(serving)


async def _cancel_and_wait(task: asyncio.Task[None]) -> None:
    """Cancel the task and wait for its end, but only as long as a person who pressed Ctrl-C
    would."""
    task.cancel()
    await asyncio.wait({task}, timeout=_STOPS)
    if task.done() and not task.cancelled() and (error := task.exception()):
        raise error


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Generator[None]:
    """Set the tokens of the local platforms in this process's environment while the demo runs."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _add_newcomers(sandbox: Sandbox, lines: Sequence[Line]) -> None:
    for line in lines:
        local = sandbox.platforms[line.platform]
        if any(person.name == line.person for person in local.world().people):
            continue
        if isinstance(local, TakesNewcomers):
            local.add_person(line.person)


async def _wait_until_connected(bridge: Bridge) -> None:
    try:
        async with asyncio.timeout(_CONNECTS):
            while not _all_connected(bridge):  # noqa: ASYNC110 - connectors have no such event
                await asyncio.sleep(0.01)
    except TimeoutError:
        states = {name: health_of(bridge, name) for name in bridge.connectors}
        raise BridgeError(f"The bridge did not connect within {_CONNECTS:g} s: {states}") from None


def _all_connected(bridge: Bridge) -> bool:
    states = (health_of(bridge, name).state for name in bridge.connectors)
    return all(state in ("connected", "listening") for state in states)
