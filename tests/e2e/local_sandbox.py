"""A whole bridge beside the local platforms: real SDKs, a real store, the echo agent."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from bridge.app.build import Bridge
from bridge.app.local_accounts import app_settings
from bridge.app.run import run
from bridge.app.settings.file import settings_of
from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.installed import local_platform_types
from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.server import serve_sandbox
from tests.waiting import LONGEST_WAIT

PLATFORMS = tuple(local_platform_types())  # those of the installed connectors


@dataclass
class Sandbox:
    """The local platforms of this process and the settings with which a bridge reaches them."""

    context: SandboxContext
    platforms: dict[str, LocalPlatform]

    def account(self, platform: str, app: int = 0) -> dict[str, Any]:
        """The settings of an app of the local platform; its secrets go into the environment."""
        app_world = self.platforms[platform].world().apps[app]
        settings = app_settings(platform, app_world, self.context.base_url)
        os.environ.update(settings.pop("environment", {}))
        return {"platform": platform, **settings}

    def app_in(self, platform: str, workspace: str) -> int:
        """The number of the first app that serves a workspace, with the name of the first app."""
        apps = self.platforms[platform].world().apps
        return next(
            number
            for number, app in enumerate(apps)
            if app["name"] == apps[0]["name"] and app.get("workspace", workspace) == workspace
        )

    def place(self, platform: str, name: str, index: int = 0) -> tuple[str, str]:
        """Workspace and channel id of the `index`th channel of that name."""
        places = [
            p for p in self.platforms[platform].world().places if p.channel_name.lower() == name
        ]
        return places[index].workspace, places[index].channel

    def person(self, platform: str, workspace: str, index: int = 0) -> str:
        people = [p for p in self.platforms[platform].world().people if p.workspace == workspace]
        return people[index].id

    async def say(
        self, platform: str, channel: str, text: str, *, thread: str | None = None, person: int = 0
    ) -> str:
        workspace, channel_id = self.place(platform, channel)
        who = self.person(platform, workspace, person)
        local = self.platforms[platform]
        return (await local.post_as(workspace, channel_id, who, text, thread)).id

    def standing(self, platform: str, channel: str) -> Sequence[LocalMessage]:
        return self.platforms[platform].messages(*self.place(platform, channel))

    async def until(self, holds: Callable[[], bool], seconds: float = LONGEST_WAIT) -> None:
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110 - the platforms have no event for it
                await asyncio.sleep(0.01)


@asynccontextmanager
async def local_sandbox(
    *, channels: int = 3, limits: bool = True, names: Sequence[str] | None = None
) -> AsyncGenerator[Sandbox, None]:
    """The local platforms in this process."""
    ready: asyncio.Future[Sandbox] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve_sandbox(
            channels=channels,
            limits=limits,
            names=names,
            on_ready=lambda context, platforms: ready.set_result(Sandbox(context, platforms)),
        )
    )
    try:
        yield await ready
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


def configuration(
    sandbox: Sandbox, store: Path, *, channels: Sequence[str] = ("general", "random")
) -> dict[str, Any]:
    """One account on each platform, one room for each channel name, the echo agent in all."""
    accounts = {name: sandbox.account(name) for name in sandbox.platforms}
    rooms: dict[str, Any] = {}
    for name in channels:
        members = [
            dict(zip(("workspace", "channel"), sandbox.place(platform, name), strict=True))
            | {"account": platform}
            for platform in sandbox.platforms
        ]
        rooms[name] = {"members": members, "agents": [{"agent": "echo", "listen": "mentions"}]}
    return {
        "accounts": accounts,
        "rooms": rooms,
        "agents": {"echo": {"kind": "echo", "pace": 0.01}},
        "store": {"path": str(store)},
        "web": {"port": 0},
        "catch_up": {"requests_per_minute": 6000},  # 30 would make each start wait two seconds
    }


@asynccontextmanager
async def running(
    sandbox: Sandbox, settings: Mapping[str, Any], *, wait: bool = True
) -> AsyncGenerator[tuple[Bridge, str], None]:
    """A bridge in this process, its requests reaching it, until the block ends.

    `wait`: until every account hears.
    """
    ready: asyncio.Future[tuple[Bridge, str]] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(
        run(
            settings_of(settings),
            ready=lambda bridge, url: ready.set_result((bridge, url)),
            ask_agents=False,  # local APIs answer what tests told them to, in its order
        )
    )
    try:
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        bridge, url = ready.result()
        await connect(sandbox, settings, url, wait=wait)
        yield bridge, url
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def connect(
    sandbox: Sandbox, settings: Mapping[str, Any], url: str, *, wait: bool = True
) -> None:
    """Tell the platforms that call us where we are, and wait until all sockets are open."""
    async with aiohttp.ClientSession() as http:
        for name, account in settings["accounts"].items():
            if account["platform"] == "teams":
                body = {"app": account["app_id"], "url": f"{url}/{name}/messages"}
                address = f"{sandbox.context.base_url}/teams/_control/endpoint"
                async with http.post(address, json=body) as answer:
                    answer.raise_for_status()
        async with asyncio.timeout(LONGEST_WAIT):
            while wait and not await _connected(http, url):  # noqa: ASYNC110 - another program
                await asyncio.sleep(0.02)


async def _connected(http: aiohttp.ClientSession, url: str) -> bool:
    async with http.get(f"{url}/healthz") as answer:
        accounts = (await answer.json())["accounts"].values()
    return all(account["state"] in ("connected", "listening") for account in accounts)
