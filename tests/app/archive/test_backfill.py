"""`uacs-bridge archive backfill` asks the running bridge, and prints how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bridge.app.build import Bridge, build
from bridge.app.control import ControlAccess, RunningBridge, running_bridge
from bridge.app.settings.file import settings_of
from bridge.app.web.server import WebServer, web_app
from bridge.errors import BridgeError
from tests.app.running import cli


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[tuple[Bridge, Path]]:
    """A bridge without accounts, which commands reach through its store."""
    config = tmp_path / "bridge.yaml"
    config.write_text("store: {path: b.sqlite3}\nweb: {port: 0}\n")
    bridge = await build(settings_of({"store": {"path": str(tmp_path / "b.sqlite3")}}))
    control = ControlAccess.new()
    server = WebServer(web_app(bridge, control), "127.0.0.1", 0)
    await server.start()
    control.open(tmp_path / "b.sqlite3", server.url)
    yield bridge, config
    control.close()
    await server.stop()
    await bridge.close()


async def test_without_a_name_the_backfills_are_listed(running: tuple[Bridge, Path]) -> None:
    result = await asyncio.to_thread(cli, "archive", "backfill", "-c", str(running[1]))

    assert result.exit_code == 0, result.output
    assert "archive backfill ROOM" in result.output.replace("\n", " ")


async def test_a_room_that_is_not_there_is_named(running: tuple[Bridge, Path]) -> None:
    result = await asyncio.to_thread(cli, "archive", "backfill", "den", "-c", str(running[1]))

    assert result.exit_code == 1
    assert "no channel of a room, 'den'; rooms: none" in result.output.replace("\n", " ")


async def test_a_time_that_is_none_is_named(running: tuple[Bridge, Path]) -> None:
    result = await asyncio.to_thread(
        cli, "archive", "backfill", "den", "--since", "May", "-c", str(running[1])
    )

    assert "--since 'May' is no time" in result.output


async def test_without_a_running_bridge_the_command_says_how_to_start_one(tmp_path: Path) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text("store: {path: b.sqlite3}\n")

    result = await asyncio.to_thread(cli, "archive", "backfill", "den", "-c", str(config))

    assert "start it: uacs-bridge run" in result.output.replace("\n", " ")


@pytest.mark.parametrize("body", [{"begin": 7, "since": 0}, {"begin": "x", "since": "y"}, {"a": 1}])
async def test_a_bad_order_is_refused(
    running: tuple[Bridge, Path], body: dict[str, object]
) -> None:
    found = await asyncio.to_thread(running_bridge, running[1].with_name("b.sqlite3"))
    assert isinstance(found, RunningBridge)

    with pytest.raises(BridgeError, match=r"it is \{begin: name"):
        await asyncio.to_thread(found.ask, "/admin/backfill", body)
