"""`uacs-bridge archive replay` asks the running bridge; without --yes it only counts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bridge.app.build import Bridge
from tests.app.archive.test_backfill import running as running
from tests.app.running import cli


async def test_without_a_name_the_replays_are_listed(running: tuple[Bridge, Path]) -> None:
    result = await asyncio.to_thread(cli, "archive", "replay", "-c", str(running[1]))

    assert result.exit_code == 0, result.output
    assert "archive replay ROOM --to CHANNEL" in result.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("den",), "A replay needs a channel: --to KEY"),
        (("den", "--to", "x:y:z"), "'den' in the archive is not there: none"),
        (("den", "--to", "x:y:z", "--since", "May"), "--since 'May' is no time"),
    ],
)
async def test_what_is_wrong_is_named(
    running: tuple[Bridge, Path], options: tuple[str, ...], what: str
) -> None:
    result = await asyncio.to_thread(cli, "archive", "replay", *options, "-c", str(running[1]))

    assert result.exit_code != 0
    assert what in result.output.replace("\n", " ")


async def test_without_a_running_bridge_the_command_says_how_to_start_one(tmp_path: Path) -> None:
    config = tmp_path / "bridge.yaml"
    config.write_text("store: {path: b.sqlite3}\n")

    result = await asyncio.to_thread(cli, "archive", "replay", "den", "-c", str(config))

    assert "start it: uacs-bridge run" in result.output.replace("\n", " ")
