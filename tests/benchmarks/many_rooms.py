"""Many rooms: what commands cost, and for how long a reload holds the event loop.

The commands run as a person runs them, in processes of their own, with bytecode compiled once (as
an installation has it); CPU is what the kernel counted. The reload runs in this process: a probe
sleeps for a millisecond, again and again, and its longest delay is the figure.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from bridge.app import build as building
from bridge.app import reload as reloading
from bridge.app.build import Bridge, build, build_connectors
from bridge.app.reload import Reloader
from bridge.app.settings.reader import SettingsReader
from bridge.model import AccountId, ChannelRef
from bridge.ports.abilities.channels import ChannelInfo, Channels
from bridge.ports.connector import Connector
from bridge.runtime.memory import settle_memory, settle_more, uncollected

ROOT = Path(__file__).parents[2]
GUILD, TENANT = "1000000000000000000", "00000000-0000-0000-0000-000000000001"
SECRETS = dict.fromkeys("SADTK", "not asked for")
_KINDS = ("anthropic", "openai-chat", "gemini", "openai-responses", "echo")


@dataclass(frozen=True)
class Size:
    rooms: int = 1000
    agents: int = 100


def configuration(size: Size, store: Path) -> dict[str, Any]:
    """Rooms of a channel each on three platforms, with two agents each."""
    return {
        "accounts": {
            "slack": {"platform": "slack", "bot_token": {"env": "S"}, "app_token": {"env": "A"}},
            "discord": {"platform": "discord", "bot_token": {"env": "D"}},
            "teams": {
                "platform": "teams", "app_id": TENANT, "app_password": {"env": "T"},
                "tenant_id": TENANT,
            },
        },
        "agents": {f"agent-{n}": _agent(n) for n in range(size.agents)},
        "rooms": {f"room-{n}": _room(n, size.agents) for n in range(size.rooms)},
        "store": {"path": str(store)},
        "web": {"port": 0, "public_url": "https://bridge.example.org"},
    }  # fmt: skip


def _agent(n: int) -> dict[str, Any]:
    kind = _KINDS[n % len(_KINDS)]
    return (
        {"kind": kind} if kind == "echo" else {"kind": kind, "model": "m", "api_key": {"env": "K"}}
    )


def _room(n: int, agents: int) -> dict[str, Any]:
    members = [
        {"account": "slack", "channel": f"#room-{n}", "workspace": "Acme"},
        {"account": "discord", "channel": f"room-{n}", "workspace": GUILD},
        {"account": "teams", "channel": f"19:{n:032x}@thread.tacv2"},
    ]
    memberships = [
        {"agent": f"agent-{n % agents}", "allow": [f"slack:T0ACME:U{n}", "guest:slack:*"]},
        {"agent": f"agent-{(n + 1) % agents}", "listen": "always"},
    ]
    return {"members": members, "agents": memberships}


def channel_infos(account: str, size: Size) -> Sequence[ChannelInfo]:
    """The channels that an account sees."""
    workspace = {"slack": "T0ACME", "discord": GUILD}.get(account, TENANT)
    return [
        ChannelInfo(
            ChannelRef(platform=account, workspace=workspace, channel=f"C{n}"), f"room-{n}",
            workspace_name="Acme",
        )
        for n in range(size.rooms)
    ]  # fmt: skip


# --- commands ---------------------------------------------------------------------------------


def commands(size: Size, runs: int = 3) -> dict[str, float]:
    """CPU seconds of each command: the median of some runs."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bridge.yaml"
        config.write_text(yaml.safe_dump(configuration(size, Path(folder) / "bridge.sqlite3")))
        commands_ = {
            "rooms": ["rooms", "-c", str(config)],
            "check --offline": ["check", "--offline", "-c", str(config)],
        }
        return {name: _cpu(args, folder, runs) for name, args in commands_.items()}


def _cpu(args: Sequence[str], folder: str, runs: int) -> float:
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
        "PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "PYTHONPATH": str(ROOT),
        **SECRETS,
    }  # fmt: skip
    spent: list[float] = []
    for _ in range(runs + 1):  # the first one compiles
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-m", "bridge", *args], env=environment, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent[1:])


# --- reload -----------------------------------------------------------------------------------


async def reloads(size: Size) -> dict[str, dict[str, float]]:
    """Seconds that each reload takes, and the longest time for which the loop did nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "bridge.yaml"
        settings = configuration(size, Path(folder) / "bridge.sqlite3")
        config.write_text(yaml.safe_dump(settings))
        async with running(config, size) as (bridge, reader):
            reloader = Reloader(bridge, reader.read, settle_more)
            times = {"nothing changed": await _probed(reloader)}
            settings["rooms"]["room-0"]["moderation"] = "mirror"
            config.write_text(yaml.safe_dump(settings))
            times["one room changed"] = await _probed(reloader)
            for room in settings["rooms"].values():
                room["moderation"] = "room"
            for agent in settings["agents"].values():
                agent["quota"] = {"day": {"messages": 10}}
            config.write_text(yaml.safe_dump(settings))
            times["all rooms and agents changed"] = await _probed(reloader)
        return times


@asynccontextmanager
async def running(config: Path, size: Size) -> AsyncGenerator[tuple[Bridge, SettingsReader]]:
    """A bridge whose accounts see the rooms' channels, and are not connected; and what reads its
    settings."""

    def connectors(*args: Any, **named: Any) -> Mapping[AccountId, Connector]:
        built = build_connectors(*args, **named)
        for account, connector in built.items():
            sees(connector, channel_infos(account, size))
        return built

    with (
        patch.dict(os.environ, SECRETS),
        patch.object(building, "build_connectors", connectors),
        patch.object(reloading, "build_connectors", connectors),
    ):
        reader = SettingsReader(config)
        with uncollected():  # as `run` does
            bridge = await build(reader.read())
        try:
            yield bridge, reader
        finally:
            await bridge.close()


@dataclass(frozen=True)
class ListedChannels:
    """The channels that an account sees; `others` knows more about channels, where given."""

    listed: Sequence[ChannelInfo]
    others: Channels | None = None

    async def visible(self) -> Sequence[ChannelInfo]:
        return self.listed

    async def name(self, channel: ChannelRef) -> str | None:
        return await self.others.name(channel) if self.others else None

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        return self.others.with_id(channel, workspace) if self.others else None


def sees(connector: Connector, infos: Sequence[ChannelInfo]) -> None:
    """Let an account see these channels, and ask no platform who else reads them."""
    channels = ListedChannels(infos, connector.abilities.channels)
    connector.abilities = replace(connector.abilities, channels=channels, outsiders=None)


async def _probed(reloader: Reloader) -> dict[str, float]:
    """With what the machine itself holds the loop while there is nothing to do."""
    settle_memory()  # as `run` does when everything has started
    _, idle = await _held_by(asyncio.sleep(1.5))
    took, held = await _held_by(reloader.reload())
    return {
        "seconds": round(took, 3),
        "held_ms": round(held * 1000, 1),
        "idle_ms": round(idle * 1000, 1),
    }


async def _held_by(work: Awaitable[object]) -> tuple[float, float]:
    """How long it takes, and the longest time for which the loop did nothing else."""
    longest = 0.0

    async def probe() -> None:
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - began - 0.001)

    probing = asyncio.create_task(probe())
    began = time.perf_counter()
    await work
    took = time.perf_counter() - began
    await asyncio.sleep(0.05)
    probing.cancel()
    return took, longest


async def measure(size: Size) -> dict[str, Any]:
    spent = await asyncio.to_thread(commands, size)
    return {
        "cpu_seconds": {name: round(value, 2) for name, value in spent.items()},
        "reload": await reloads(size),
    }


def table(results: dict[str, Any]) -> str:
    spent = [f"{name:<32} {value:>6} s CPU" for name, value in results["cpu_seconds"].items()]
    held = [
        f"reload, {name:<24} {case['seconds']:>6} s, "
        f"the loop is held {case['held_ms']} ms at most ({case['idle_ms']} ms without one)"
        for name, case in results["reload"].items()
    ]
    return "\n".join([*spent, *held])
