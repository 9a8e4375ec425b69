"""Serves a local Discord and points discord.py at it; the programs need no changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bridge.sandbox.feed import LocalMessage
from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.server import serve_sandbox
from bridge.sandbox.user_actions import LocalUser
from connectors.discord.sandbox import LocalDiscord
from tests.waiting import LONGEST_WAIT

# The time that discord.py waits for further guilds before it is ready; its default is 2 s.
READY_AFTER_S = 0.05


@dataclass
class Running:
    """A served local Discord; its first channel and second person are the defaults."""

    context: SandboxContext
    discord: LocalDiscord
    http: aiohttp.ClientSession = field(repr=False)

    @property
    def guild(self) -> str:
        return self.discord.world().places[0].workspace

    @property
    def channel(self) -> str:
        return self.discord.world().places[0].channel

    @property
    def other_channel(self) -> str:
        return self.discord.world().places[1].channel

    @property
    def person(self) -> str:
        return self.discord.world().people[1].id

    def app(self, name: str = "bridge") -> dict[str, Any]:
        return next(app for app in self.discord.world().apps if app["name"] == name)

    async def say(self, text: str, *, channel: str = "", thread: str | None = None) -> LocalMessage:
        where = channel or self.channel
        return await self.discord.post_as(self.guild, where, self.person, text, thread)

    @property
    def user(self) -> LocalUser:
        """The second person in the first channel."""
        return LocalUser(self.discord, self.guild, self.channel, self.person)

    def texts(self, channel: str = "") -> list[str]:
        return [m.text for m in self.discord.messages(self.guild, channel or self.channel)]

    async def ask(
        self, method: str, path: str, body: Any = None, *, app: str | None = "bridge"
    ) -> tuple[int, Any, Mapping[str, str]]:
        """Send a bare REST request, and return its status, JSON and headers."""
        headers = {"Authorization": f"Bot {self.app(app)['token']}"} if app else {}
        # The path is taken as it is, so that an encoded emoji stays encoded.
        url = yarl.URL(f"{self.context.base_url}/discord/api/v10{path}", encoded=True)
        async with self.http.request(method, url, json=body, headers=headers) as response:
            raw = await response.read()
            answer = await response.json() if raw else None
            return response.status, answer, response.headers

    @contextlib.asynccontextmanager
    async def program(
        self, client: discord.Client, app: str = "bridge"
    ) -> AsyncGenerator[discord.Client, None]:
        """Run a client from its ready event to the end of the block."""
        running = asyncio.create_task(client.start(self.app(app)["token"]))
        try:
            ready = asyncio.create_task(_ready(client))
            either = {running, ready}
            await asyncio.wait(either, timeout=LONGEST_WAIT, return_when="FIRST_COMPLETED")
            ready.cancel()
            if running.done():
                await running
            assert client.is_ready()
            yield client
        finally:
            await client.close()
            with contextlib.suppress(Exception):
                await running


@contextlib.asynccontextmanager
async def running_discord(
    *, limits: bool = False, channels: int = 3
) -> AsyncGenerator[Running, None]:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[tuple[SandboxContext, LocalPlatform]] = loop.create_future()
    serving = asyncio.create_task(
        serve_sandbox(
            names=("discord",),
            limits=limits,
            channels=channels,
            on_ready=lambda context, platforms: ready.set_result((context, platforms["discord"])),
        )
    )
    context, platform = await asyncio.wait_for(ready, LONGEST_WAIT)
    assert isinstance(platform, LocalDiscord)
    try:
        with pointed_at(context.base_url):
            async with aiohttp.ClientSession() as http:
                yield Running(context, platform, http)
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving


@contextlib.contextmanager
def pointed_at(base_url: str) -> Generator[None, None, None]:
    """Point discord.py at the local Discord: its URLs are class attributes."""
    before = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, discord.Asset.BASE
    Route.BASE = f"{base_url}/discord/api/v10"
    gateway = base_url.replace("http", "ws", 1) + "/discord/gateway"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
    discord.Asset.BASE = f"{base_url}/discord"  # pyright: ignore[reportAttributeAccessIssue]
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, discord.Asset.BASE = before


def a_client() -> discord.Client:
    return discord.Client(intents=discord.Intents.all(), guild_ready_timeout=READY_AFTER_S)


async def until(true: Callable[[], Any], seconds: float = LONGEST_WAIT) -> None:
    """Wait until the condition is true."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110  # what is waited for has no event
            await asyncio.sleep(0.01)


async def _ready(client: discord.Client) -> None:
    while client.loop is discord.utils.MISSING or not client.is_ready():  # noqa: ASYNC110
        await asyncio.sleep(0.005)
