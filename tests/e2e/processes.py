"""The local platforms and the bridge as processes of their own, seen from outside over HTTP."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from bridge.app.local_accounts import app_settings
from bridge.sandbox.feed import LocalMessage
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Spot:
    """A channel of a local platform, and the people who may speak there."""

    platform: str
    workspace: str
    channel: str
    people: tuple[str, ...]


class NotThere(AssertionError):
    """A message or thread that a person wanted to touch is gone."""


@dataclass
class SandboxProcess:
    """A sandbox in another process."""

    url: str
    world: Mapping[str, Any]
    http: aiohttp.ClientSession
    process: asyncio.subprocess.Process

    def spots(self, platform: str) -> list[Spot]:
        """Every seeded channel, those of one workspace together."""
        world = self.world[platform]
        people: dict[str, list[str]] = {}
        for person in world["people"]:
            people.setdefault(person["workspace"], []).append(person["id"])
        return [
            Spot(platform, p["workspace"], p["channel"], tuple(people[p["workspace"]]))
            for p in world["places"]
        ]

    def account(self, platform: str, app: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of an app; its secrets go into the environment."""
        settings = app_settings(platform, app, self.url)
        os.environ.update(settings.pop("environment", {}))
        return {"platform": platform, **settings}

    async def say(
        self, spot: Spot, person: str, text: str, thread: str | None = None, file: str = ""
    ) -> LocalMessage:
        """`file`: the name of one that is shared with it; its bytes are its name."""
        body: dict[str, Any] = {
            "workspace": spot.workspace, "channel": spot.channel, "person": person,
            "text": text, "thread": thread,
        }  # fmt: skip
        if file:
            body["files"] = [{"name": file, "data": base64.b64encode(file.encode()).decode()}]
        way = "files" if file else "posts"
        posted = await self.ask("POST", f"/_control/{spot.platform}/{way}", body)
        return LocalMessage.model_validate(posted)

    async def standing(self, spot: Spot) -> list[LocalMessage]:
        query = {"workspace": spot.workspace, "channel": spot.channel}
        address = f"{self.url}/_control/{spot.platform}/messages"
        async with self.http.get(address, params=query) as answer:
            answer.raise_for_status()
            return [LocalMessage.model_validate(message) for message in await answer.json()]

    async def fault(self, kind: str, where: str, **more: Any) -> None:
        await self.ask("POST", "/_control/faults", {"kind": kind, "where": where, **more})

    async def no_faults(self) -> None:
        await self.ask("DELETE", "/_control/faults")

    async def refusals(self) -> dict[str, int]:
        return await self.ask("GET", "/_control/refusals")

    async def disconnect(self, platform: str) -> None:
        await self.ask("POST", f"/_control/{platform}/disconnect", {})

    async def edit(self, spot: Spot, person: str, message: str, text: str) -> None:
        body = self._touched(spot, person, message) | {"text": text}
        await self.ask("POST", f"/_control/{spot.platform}/edits", body)

    async def delete(self, spot: Spot, person: str, message: str) -> None:
        body = self._touched(spot, person, message)
        await self.ask("POST", f"/_control/{spot.platform}/deletions", body)

    async def react(
        self, spot: Spot, person: str, message: str, emoji: str, *, taken_back: bool
    ) -> None:
        body = self._touched(spot, person, message) | {"emoji": emoji, "taken_back": taken_back}
        await self.ask("POST", f"/_control/{spot.platform}/reactions", body)

    def _touched(self, spot: Spot, person: str, message: str) -> dict[str, str]:
        return {
            "workspace": spot.workspace, "channel": spot.channel, "person": person,
            "message": message,
        }  # fmt: skip

    async def taken_by_teams_bots(self, since: int = 0) -> list[dict[str, Any]]:
        """The activities that Teams handed over (2xx), from this one on."""
        return (await self.ask("GET", f"/teams/_control/taken?since={since}"))["taken"]

    async def ask(self, method: str, path: str, body: object = None) -> Any:
        async with self.http.request(method, self.url + path, json=body) as answer:
            content = await answer.read()
            problem = f"{method} {path}: {answer.status} {content[:300]!r}"
            if answer.status == 404:
                raise NotThere(problem)
            assert answer.status < 300, problem
            return await answer.json() if content else None


@asynccontextmanager
async def sandbox_beside(
    *, channels: int = 3, workspaces: int = 2, limits: bool = True, boosted: bool = False
) -> AsyncGenerator[SandboxProcess, None]:
    """The local platforms in a process of their own, until the block ends."""
    more = ["--channels", str(channels), "--workspaces", str(workspaces)]
    more += [] if limits else ["--no-limits"]
    more += ["--boosted"] if boosted else []
    process = await start_python("tests.e2e.sandbox_process", more, asyncio.subprocess.PIPE)
    draining = None
    try:
        assert process.stdout
        url = (await asyncio.wait_for(process.stdout.readline(), LONGEST_WAIT)).decode().strip()
        draining = asyncio.create_task(_drain(process.stdout))
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as http:
            async with http.get(f"{url}/_control/world") as answer:
                world = await answer.json()
            yield SandboxProcess(url, world, http, process)
    finally:
        await end(process)
        if draining is not None:
            draining.cancel()


async def _drain(output: asyncio.StreamReader) -> None:
    """Read on: who writes into a full pipe stands still."""
    while await output.read(1 << 16):
        pass


@dataclass
class BridgeProcess:
    """A bridge that may be killed and started again; its web server keeps its port."""

    sandbox: SandboxProcess
    config: Path
    settings: Mapping[str, Any]
    log: Path
    process: asyncio.subprocess.Process | None = None
    module: str = "tests.e2e.bridge_process"
    starts: int = 0
    more: Sequence[str] = field(default_factory=tuple)
    checkout: Path = ROOT

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings['web']['port']}"

    async def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = await start_python(
                self.module, [str(self.config), *self.more], log, checkout=self.checkout
            )
        self.starts += 1

    async def health(self) -> dict[str, Any] | None:
        """What /healthz says; None while nobody listens."""
        try:
            timeout = aiohttp.ClientTimeout(total=2)
            async with self.sandbox.http.get(f"{self.url}/healthz", timeout=timeout) as answer:
                return await answer.json()
        except (aiohttp.ClientError, TimeoutError, OSError):
            return None

    async def connected(self, seconds: float = LONGEST_WAIT) -> None:
        """Wait until every account hears."""
        async with asyncio.timeout(seconds):
            while not _hears(await self.health()):
                assert self.process
                assert self.process.returncode is None, self.log.read_text()[-3000:]
                await asyncio.sleep(0.02)

    async def kill(self) -> None:
        """kill -9, in the middle of whatever it does."""
        assert self.process
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """SIGTERM; its exit code."""
        assert self.process
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), LONGEST_WAIT)


def _hears(health: Mapping[str, Any] | None) -> bool:
    accounts = health["accounts"].values() if health else ()
    return bool(accounts) and all(a["state"] in ("connected", "listening") for a in accounts)


@asynccontextmanager
async def bridge_beside(
    sandbox: SandboxProcess,
    settings: Mapping[str, Any],
    folder: Path,
    *,
    module: str = "tests.e2e.bridge_process",
    more: Sequence[str] = (),
    checkout: Path = ROOT,
) -> AsyncGenerator[BridgeProcess, None]:
    """A bridge with these settings, not started yet; it is gone when the block ends. `checkout`:
    the folder of the code that runs."""
    settings = {**settings, "web": {"port": free_port()}}
    config = folder / "bridge.yaml"
    config.write_text(yaml.safe_dump(dict(settings)))
    bridge = BridgeProcess(
        sandbox, config, settings, folder / "bridge.log", module=module, more=tuple(more),
        checkout=checkout,
    )  # fmt: skip
    for name, account in settings["accounts"].items():
        if account["platform"] == "teams":
            body = {"app": account["app_id"], "url": f"{bridge.url}/{name}/messages"}
            await sandbox.ask("POST", "/teams/_control/endpoint", body)
    try:
        yield bridge
    finally:
        if bridge.process:
            await end(bridge.process)


async def start_python(
    module: str,
    arguments: Sequence[str],
    stdout: Any,
    *,
    limit: int = 1 << 16,
    checkout: Path = ROOT,
) -> asyncio.subprocess.Process:
    """`python -m module ...`; it sees the end of its standard input when we are gone."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, cwd=checkout,
        stdin=asyncio.subprocess.PIPE, stdout=stdout,
        stderr=None if stdout == asyncio.subprocess.PIPE else stdout, limit=limit,
    )  # fmt: skip


async def end(process: asyncio.subprocess.Process) -> None:
    """Ask it to end, then see to it."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 8)
        except TimeoutError:
            process.kill()
            await process.wait()
    # asyncio would warn of open pipes in its collector.
    transport = process._transport  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # no public way
    transport.close()


def rooms_across(
    sandbox: SandboxProcess,
    platforms: Sequence[str] = ("slack", "discord", "teams"),  # IRC: see test_irc_kills.py
) -> tuple[dict[str, Any], list[tuple[Spot, ...]]]:
    """Accounts for every workspace, and rooms that each join one channel of each platform."""
    accounts: dict[str, Any] = {}
    of_spot: dict[Spot, str] = {}
    for platform in platforms:
        world = sandbox.world[platform]
        spots = dict(zip(sandbox.spots(platform), world["places"], strict=True))
        apps = [app for app in world["apps"] if app["name"] == world["apps"][0]["name"]]
        for app in apps:
            served = {spot: place for spot, place in spots.items() if _serves(app, place)}
            where: str = next(iter(served.values()))["workspace_name"]
            alone = len(apps) == 1
            name = platform if alone else f"{platform}-{where.lower().replace(' ', '-')}"
            accounts[name] = sandbox.account(platform, app)
            of_spot |= dict.fromkeys(served, name)
    joined = list(zip(*map(sandbox.spots, platforms), strict=True))
    rooms: dict[str, Any] = {}
    for number, room in enumerate(joined, 1):
        members = [
            {
                "account": of_spot[spot],
                "workspace": spot.workspace,
                "channel": spot.channel,
            }
            for spot in room
        ]
        rooms[f"room-{number}"] = {"members": members}
    # Looking back is patient by itself; nobody wants to wait for it here.
    soon = {"requests_per_minute": 6000, "reconcile_requests": 20_000}
    here = {"allow_loopback": True}
    return {"accounts": accounts, "rooms": rooms, "catch_up": soon, "files": here}, joined


def _serves(app: Mapping[str, Any], place: Mapping[str, Any]) -> bool:
    """Whether the app is in the place's workspace, guild or team."""
    teams = [team["name"] for team in app.get("teams", ())]
    return (
        place["workspace"] in (app.get("workspace"), *app.get("guilds", ()))
        or place["workspace_name"] in teams
    )
