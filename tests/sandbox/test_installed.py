"""Local platforms come from the installed connectors, and only when they are asked for."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from bridge.errors import ConfigError
from bridge.runtime.discovery import CONNECTORS, names_of
from bridge.sandbox import installed, server
from bridge.sandbox.installed import local_platform_types
from bridge.sandbox.platform import LocalPlatform, LocalPlatformType, Starts


@pytest.fixture
def _not_cached() -> Generator[None]:
    local_platform_types.cache_clear()
    yield
    local_platform_types.cache_clear()


@dataclass
class Connector:
    """A connector type whose `local_platform` returns this."""

    local: object

    def local_platform(self) -> object:
        return self.local

    def sandbox_settings(self, app: Any, base_url: str) -> dict[str, Any]:
        return {"app": app, "base_url": base_url}


@dataclass
class Listening:
    """A local platform that listens on an address of its own."""

    did: list[str] = field(default_factory=list[str])

    def routes(self) -> list[Any]:
        return []

    async def start(self) -> None:
        self.did.append("started")

    async def close(self) -> None:
        self.did.append("closed")


def local_type(order: int) -> LocalPlatformType:
    return LocalPlatformType("Somewhere", lambda _: cast("LocalPlatform", Listening()), order)


@pytest.mark.usefixtures("_not_cached")
def test_local_platforms_are_listed_in_their_own_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = {"a": Connector(local_type(2)), "b": Connector(local_type(1)), "c": object()}
    monkeypatch.setattr(installed, "names_of", lambda _group: list(kinds))
    monkeypatch.setattr(installed, "connector_type", kinds.__getitem__)

    assert list(local_platform_types()) == ["b", "a"]


@pytest.mark.usefixtures("_not_cached")
def test_the_error_names_a_connector_with_an_invalid_local_platform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installed, "names_of", lambda _group: ["a"])
    monkeypatch.setattr(installed, "connector_type", lambda _name: Connector("a string"))

    with pytest.raises(ConfigError, match=r"the connector 'a' returned 'a string'"):
        local_platform_types()


async def test_a_platform_with_an_address_of_its_own_starts_before_it_is_used_and_closes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    local = Listening()
    assert isinstance(local, Starts)
    kind = LocalPlatformType("Somewhere", lambda _: cast("LocalPlatform", local))
    monkeypatch.setattr(server, "local_platform_types", lambda: {"somewhere": kind})
    ready: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()

    serving = asyncio.create_task(
        server.serve_sandbox(on_ready=lambda *_: ready.set_result(list(local.did)))
    )
    assert await ready == ["started"]
    serving.cancel()
    await asyncio.wait({serving})

    assert set(local.did[1:]) == {"closed"}


@pytest.mark.parametrize("fixed", [True, False])
async def test_servers_of_platforms_leave_out_the_port_that_another_program_needs(
    monkeypatch: pytest.MonkeyPatch, fixed: bool
) -> None:
    monkeypatch.setattr(server, "local_platform_types", dict)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    ready: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()

    serving = asyncio.create_task(
        server.serve_sandbox(
            port=port if fixed else 0, taken_ports=(port + 2,),
            on_ready=lambda context, _: ready.set_result([*context.server_ports]),
        )
    )  # fmt: skip
    ports = await ready
    serving.cancel()
    await asyncio.wait({serving})

    assert ports[:3] == ([port + 1, port + 3, port + 4] if fixed else [])


@pytest.mark.process
def test_a_bridge_in_production_imports_no_local_platform() -> None:
    code = f"""
import sys
import bridge.app.run, bridge.app.checks.examine
from bridge.runtime.discovery import connector_type
for name in {names_of(CONNECTORS)!r}:
    connector_type(name).codec()
print([name for name in sys.modules if "sandbox" in name])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
