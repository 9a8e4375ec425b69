"""A large configuration: what it costs grows with its rooms, and with nothing else.

Python's own calls are counted, so the figures are the same on every machine.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml

from bridge.app.build import find_rooms
from bridge.app.nobody import nobody_meant
from bridge.app.reload import Reloader
from bridge.app.settings import Settings, settings_of
from bridge.model import AccountId, ChannelRef, RoomId
from bridge.ports import discovery
from bridge.ports.clock import SystemClock
from bridge.ports.connector import ChannelInfo
from bridge.router.rooms import Member, Room, Rooms
from bridge.store import SqliteStore
from tests.benchmarks.many_rooms import Size, configuration, listed, running

ROOT = Path(__file__).parents[2]
FEW, MANY = Size(rooms=40, agents=8), Size(rooms=80, agents=16)


class Town:
    """An account that sees the channels of all rooms."""

    def __init__(self, channels: Sequence[ChannelInfo]) -> None:
        self._channels = channels

    async def channels(self) -> Sequence[ChannelInfo]:
        return self._channels


def calls_in(work: Callable[[], object]) -> int:
    """How many functions of Python it calls in this thread."""
    count = 0

    def count_calls(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(count_calls)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def settings(size: Size) -> Settings:
    return settings_of(configuration(size, Path("bridge.sqlite3")))


def found(size: Size, wanted: Settings) -> Rooms:
    towns: Any = {AccountId(name): Town(listed(name, size)) for name in wanted.accounts}
    problems: list[str] = []
    rooms = asyncio.run(find_rooms(wanted, towns, SqliteStore.in_memory(SystemClock()), problems))
    assert [one for one in problems if "19:" not in one] == []
    return rooms


def test_entry_points_are_read_once_however_many_rooms_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scans: list[object] = []
    scan = discovery.entry_points

    def counted(**wanted: Any) -> Any:
        scans.append(wanted)
        return scan(**wanted)

    monkeypatch.setattr(discovery, "entry_points", counted)
    discovery.installed.cache_clear()

    settings(MANY)

    assert len(scans) <= 3  # connectors, agents, policies


@pytest.mark.parametrize("work", ["check", "find"])
def test_twice_the_rooms_cost_twice_the_calls(work: str) -> None:
    def calls(size: Size) -> int:
        data = configuration(size, Path("bridge.sqlite3"))
        wanted = settings_of(data)  # everything is imported, and known patterns are remembered
        if work == "check":
            return calls_in(lambda: settings_of(data))
        return calls_in(lambda: found(size, wanted))

    few, many = calls(FEW), calls(MANY)

    assert many <= 2.2 * few


def test_a_glob_of_people_is_looked_at_once() -> None:
    globs = ["slack:T01:*", "guest:slack:*"] * 50
    list(nobody_meant(globs, groups=True))

    assert calls_in(lambda: list(nobody_meant(globs, groups=True))) < 2 * len(globs)


def test_rooms_that_are_added_are_found_as_if_they_had_been_there() -> None:
    rooms = found(FEW, settings(FEW)).all
    whole, grown = Rooms(rooms), Rooms(rooms[:10])
    grown.add(rooms[10:])

    for room in rooms:
        for member in room.members:
            assert grown.find(room.id) is room
            assert grown.hearing(member.account, member.channel) == [room]
            assert grown.holding(member.channel) == (room,)
            assert grown.account_of(member.channel) == member.account
    assert grown.lanes == whole.lanes
    for account in ("slack", "discord"):
        assert grown.heard_channels(AccountId(account)) == whole.heard_channels(AccountId(account))


def test_a_channel_of_many_rooms_is_indexed_without_comparing_them() -> None:
    channel = ChannelRef(platform="paper", workspace="w", channel="c")
    member = Member(AccountId("a"), channel)

    def rooms(count: int) -> list[Room]:
        return [Room(RoomId(f"r{n}"), UUID(int=n), (member,)) for n in range(count)]

    few, many = rooms(100), rooms(200)

    assert calls_in(lambda: Rooms(many)) <= 2.2 * calls_in(lambda: Rooms(few))
    assert Rooms(many).hearing(AccountId("a"), channel) == many


async def test_a_reload_reads_and_builds_in_other_threads(tmp_path: Path) -> None:
    size = Size(rooms=3, agents=2)
    config = tmp_path / "bridge.yaml"
    config.write_text(yaml.safe_dump(configuration(size, tmp_path / "bridge.sqlite3")))
    threads: list[int] = []
    async with running(config, size) as bridge:

        def source() -> Settings:
            threads.append(threading.get_ident())
            return bridge.settings

        await Reloader(bridge, source).reload()

    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("command", ["rooms", "check", "run", "status"])
def test_a_broken_file_is_told_before_anything_large_is_imported(
    command: str, tmp_path: Path
) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text("rooms: [\n")
    large = "('aiohttp', 'httpx', 'slack_bolt', 'discord', 'botbuilder')"
    code = (
        f"import sys\nsys.argv = ['uacs-bridge', '{command}', '-c', {str(path)!r}]\n"
        "from bridge.app.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    print(end.code)\n"
        f"print([name for name in {large} if name in sys.modules])\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )

    assert "is not valid YAML" in done.stderr + done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_deeply_nested_file_is_refused_and_does_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text("rooms: " + "[" * 200_000)
    code = (
        "from pathlib import Path\nfrom bridge.app.yaml_file import read_yaml\n"
        f"try:\n    read_yaml(Path({str(path)!r}))\nexcept Exception as error:\n    print(error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )

    assert (done.returncode, "more than 100 levels deep" in done.stdout) == (0, True)
