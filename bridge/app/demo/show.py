"""Runs the demo from start to end: options in, an exit code out."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import webbrowser
from collections.abc import AsyncGenerator, Awaitable, Coroutine, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import structlog
from starlette.applications import Starlette

from bridge.app.demo.acting import act_out
from bridge.app.demo.lines import lines_of
from bridge.app.demo.page import page_app
from bridge.app.demo.running import Demo, running_demo
from bridge.app.demo.script import play_script
from bridge.app.demo.stories.agents import story_agents, with_agents
from bridge.app.demo.stories.playing import lines_of_story, play_story, tell
from bridge.app.demo.stories.story import Story
from bridge.app.demo.world import ROOMS, demo_types
from bridge.app.run import stop_signals
from bridge.app.web.server import WebServer
from bridge.errors import BridgeError, ConfigError
from bridge.store.place import make_folder

log = structlog.get_logger()

_PAGE_PACE = 0.09  # seconds between two words of the agent: slow enough to see
_SCRIPT_PACE = 0.03
_STORY_PAUSE = 2.0  # seconds in which people read an answer
_ENDS = 2.0  # seconds for a bridge to end after it closed its store
_INTERRUPTED = 130  # exit code of a script that was interrupted


@dataclass(frozen=True)
class DemoOptions:
    """The command's options."""

    scripted: bool = False
    json_only: bool = False
    port: int = 8765
    browser: bool = False
    quiet_room: bool = False
    data: Path | None = None
    story: Story | None = None


async def show(options: DemoOptions) -> int:
    """Run until done or stopped; returns the exit code."""
    with stop_signals() as stop, _folder(options.data) as folder:
        demo_task = asyncio.create_task(
            _script(options, folder) if options.scripted else _page(options, folder)
        )
        stop_task = asyncio.create_task(stop.wait())
        await asyncio.wait({demo_task, stop_task}, return_when=asyncio.FIRST_COMPLETED)
        stop_task.cancel()
        demo_task.cancel()
        try:
            return await demo_task
        except asyncio.CancelledError:
            return _INTERRUPTED if options.scripted else 0


async def _script(options: DemoOptions, folder: Path) -> int:
    if (story := options.story) is not None:
        async with _story_demo(folder, story, _SCRIPT_PACE) as (demo, running):
            return await _played(play_story(demo, story), running)
    lines = lines_of("script", demo_types())
    async with running_demo(folder, pace=_SCRIPT_PACE, lines=lines) as (demo, running):
        return await _played(play_script(demo, json_only=options.json_only), running)


async def _played(play: Coroutine[None, None, int], running: asyncio.Task[None]) -> int:
    """The exit code of a script, unless a signal stops the bridge before it ends."""
    playing = asyncio.create_task(play)
    await asyncio.wait({playing, running}, return_when=asyncio.FIRST_COMPLETED)
    if not playing.done():
        playing.cancel()
        raise asyncio.CancelledError
    return playing.result()


@contextlib.asynccontextmanager
async def _story_demo(
    folder: Path, story: Story, pace: float
) -> AsyncGenerator[tuple[Demo, asyncio.Task[None]]]:
    """The demo with the agents of a story, each in a process of its own."""
    async with story_agents(story) as addresses:

        def change(settings: dict[str, Any]) -> None:
            with_agents(settings, ROOMS[0], story, addresses)

        lines = lines_of_story(story)
        async with running_demo(folder, pace=pace, lines=lines, change=change) as running:
            yield running


async def _page(options: DemoOptions, folder: Path) -> int:
    closing = asyncio.Event()
    story = options.story
    started = (
        running_demo(folder, pace=_PAGE_PACE)
        if story is None
        else _story_demo(folder, story, _PAGE_PACE)
    )
    async with contextlib.AsyncExitStack() as ends, started as (demo, running):
        types = demo_types()
        plays = {
            "scene": lambda: _on_page(act_out(demo, lines_of("scene", types), pause=1.3), running),
            "card": lambda: _on_page(act_out(demo, lines_of("card", types), pause=0.0), running),
        }
        app = page_app(demo, plays, closing)
        server = await _serve(app, options.port)
        # The page does not begin empty.
        opening = () if options.quiet_room or story else lines_of("opening", types)
        begins = (
            act_out(demo, opening, pause=0.15)
            if story is None
            else tell(demo, story, pause=_STORY_PAUSE)
        )
        background = asyncio.create_task(_on_page(begins, running))
        try:
            click.echo(f"The demo is at {server.url} (Ctrl-C stops it and all that it started)")
            if options.browser:
                await asyncio.to_thread(webbrowser.open, server.url)
            await asyncio.wait({running})
        finally:
            closing.set()
            background.cancel()
            stopping = asyncio.gather(server.stop(), background, return_exceptions=True)
            ends.push_async_callback(asyncio.wait, {stopping})  # while the platforms end
        running.result()
    return 0


async def _on_page(play: Awaitable[object], running: asyncio.Task[None]) -> None:
    """Play something on the page; it is no failure if the bridge stops meanwhile."""
    try:
        await play
    except BridgeError as error:
        await asyncio.wait({running}, timeout=_ENDS)
        if not running.done():
            log.warning("demo_scene_failed", error=str(error))


async def _serve(app: Starlette, port: int) -> WebServer:
    """Serve on this port, or on a free one if it is taken."""
    try:
        server = WebServer(app, "127.0.0.1", port)
        await server.start()
    except ConfigError:
        server = WebServer(app, "127.0.0.1", 0)
        await server.start()
        click.echo(f"Port {port} is taken; this demo takes another.", err=True)
    return server


@contextlib.contextmanager
def _folder(folder: Path | None) -> Generator[Path]:
    """The folder of the store: the given one, which stays, or a temporary one."""
    if folder is not None:
        make_folder(folder)
        yield folder
        return
    with tempfile.TemporaryDirectory(
        prefix="uacs-bridge-demo-", ignore_cleanup_errors=True
    ) as name:
        yield Path(name)
