"""The costs of a large configuration grow only with its rooms.

The tests count Python's calls, so the figures are the same on every machine.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import click
import pytest
import yaml

from bridge.app import reload as reloading
from bridge.app.cli import main
from bridge.app.reload import Reloader
from bridge.app.room_changes.linker import AppLinker
from bridge.app.room_changes.patterns import update_rooms
from bridge.app.rooms import find as finding
from bridge.app.rooms.find import RoomFinder
from bridge.app.settings import file as settings_module
from bridge.app.settings.file import read_settings, settings_of
from bridge.app.settings.sections import Settings
from bridge.app.settings.unmatched_people import unmatched_globs
from bridge.model import AccountId, ActorId, ChannelRef, RoomId
from bridge.ports.abilities import Abilities
from bridge.ports.abilities.channels import ChannelInfo
from bridge.router.rooms.rooms import Member, Room, Rooms
from bridge.runtime import discovery
from bridge.runtime.clock import SystemClock
from bridge.runtime.memory import settle_memory, settle_more
from bridge.store import SqliteStore, metrics
from tests.benchmarks.many_rooms import (
    ListedChannels,
    Size,
    channel_infos,
    commands,
    configuration,
    running,
    sees,
)

ROOT = Path(__file__).parents[2]
ANN = ActorId("slack:T01:U01")
FEW, MANY = Size(rooms=40, agents=8), Size(rooms=80, agents=16)


class ChannelLister:
    """An account that sees the channels of all rooms."""

    def __init__(self, channels: Sequence[ChannelInfo]) -> None:
        self.abilities = Abilities(channels=ListedChannels(channels))


def calls_in(work: Callable[[], object]) -> int:
    """The number of Python functions that the call runs in this thread."""
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


def rooms_of(size: Size, settings: Settings) -> Rooms:
    connectors: Any = {
        AccountId(name): ChannelLister(channel_infos(name, size)) for name in settings.accounts
    }
    problems: list[str] = []
    finder = RoomFinder(SqliteStore.in_memory(SystemClock()))
    rooms = asyncio.run(finder.find(settings, connectors, problems))
    assert [problem for problem in problems if "19:" not in problem] == []
    return rooms


def test_entry_points_are_read_once_however_many_rooms_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scans: list[object] = []
    scan = discovery.entry_points

    def counted(**query: Any) -> Any:
        scans.append(query)
        return scan(**query)

    monkeypatch.setattr(discovery, "entry_points", counted)
    discovery.installed.cache_clear()

    settings(MANY)

    assert len(scans) <= 3  # connectors, agents, policies


@pytest.mark.parametrize("work", ["check", "find"])
def test_the_cost_of_a_start_grows_linearly_with_the_rooms(work: str) -> None:
    def calls(size: Size) -> int:
        data = configuration(size, Path("bridge.sqlite3"))
        settings = settings_of(data)  # everything is imported, and known patterns are remembered
        if work == "check":
            return calls_in(lambda: settings_of(data))
        return calls_in(lambda: rooms_of(size, settings))

    few, many = calls(FEW), calls(MANY)

    assert many <= 2.2 * few


def test_a_glob_of_people_is_checked_once() -> None:
    globs = ["slack:T01:*", "guest:slack:*"] * 50
    list(unmatched_globs(globs, groups=True))

    assert calls_in(lambda: list(unmatched_globs(globs, groups=True))) < 2 * len(globs)


def test_added_rooms_are_found_like_earlier_ones() -> None:
    rooms = rooms_of(FEW, settings(FEW)).all
    whole, grown = Rooms(rooms), Rooms(rooms[:10])
    grown.add(rooms[10:])

    for room in rooms:
        for member in room.members:
            assert grown.find(room.id) is room
            assert grown.receiving_from(member.account, member.channel) == [room]
            assert grown.holding(member.channel) == (room,)
            assert grown.account_of(member.channel) == member.account
    lanes = [member.channel.lane for room in rooms for member in room.members]
    assert all(map(grown.have_lane, lanes))
    assert all(map(whole.have_lane, lanes))
    assert not grown.have_lane(rooms[0].members[0].channel.reaction_lane)
    for account in ("slack", "discord"):
        assert grown.inbound_channels(AccountId(account)) == whole.inbound_channels(
            AccountId(account)
        )


def test_a_channel_of_many_rooms_is_indexed_without_comparing_them() -> None:
    channel = ChannelRef(platform="fake", workspace="w", channel="c")
    member = Member(AccountId("a"), channel)

    def rooms(count: int) -> list[Room]:
        return [Room(RoomId(f"r{n}"), UUID(int=n), (member,)) for n in range(count)]

    few, many = rooms(100), rooms(200)

    assert calls_in(lambda: Rooms(many)) <= 2.2 * calls_in(lambda: Rooms(few))
    assert Rooms(many).receiving_from(AccountId("a"), channel) == many


async def test_a_reload_reads_and_builds_in_other_threads(tmp_path: Path) -> None:
    size = Size(rooms=3, agents=2)
    config = tmp_path / "bridge.yaml"
    config.write_text(yaml.safe_dump(configuration(size, tmp_path / "bridge.sqlite3")))
    threads: dict[str, set[int]] = {}

    def noted(patched: pytest.MonkeyPatch, module: object, name: str) -> None:
        work = getattr(module, name)

        def in_thread(*args: Any, **named: Any) -> Any:
            threads.setdefault(name, set()).add(threading.get_ident())
            return work(*args, **named)

        patched.setattr(module, name, in_thread)

    # `running` patches the same functions, so what is patched within it is undone within it.
    async with running(config, size) as (bridge, _):
        with pytest.MonkeyPatch.context() as patched:
            for module, name in (
                (reloading, "build_connectors"), (reloading, "build_agents"),
                (reloading, "agent_pictures"), (finding, "_form"),
                (settings_module, "settings_in"),
            ):  # fmt: skip
                noted(patched, module, name)

            await Reloader(bridge, lambda: read_settings(config)).reload()

    assert set(threads) == {
        "build_connectors", "build_agents", "agent_pictures", "_form", "settings_in",
    }  # fmt: skip
    assert threading.get_ident() not in set().union(*threads.values())


async def test_a_reload_looks_only_for_the_rooms_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, size = tmp_path / "bridge.yaml", Size(rooms=20, agents=5)
    data = configuration(size, tmp_path / "bridge.sqlite3")
    config.write_text(yaml.safe_dump(data))
    looked: list[str] = []
    find = finding.Search.find

    async def noted(self: Any, conversation: Any, name: str, *args: Any) -> Any:
        looked.append(name)
        return await find(self, conversation, name, *args)

    monkeypatch.setattr(finding.Search, "find", noted)

    async with running(config, size) as (bridge, reader):
        reloader = Reloader(bridge, reader.read)
        before = bridge.rooms.all
        looked.clear()
        assert await reloader.reload() == []
        assert (looked, bridge.rooms.all) == ([], before)

        data["rooms"]["room-7"]["moderation"] = "mirror"
        config.write_text(yaml.safe_dump(data))
        assert await reloader.reload() == ["room 'room-7' changed"]
        assert looked == ["room-7"]
        others = [(a, b) for a, b in zip(before, bridge.rooms.all, strict=True) if a is not b]
        assert [(a.id, b.epoch) for a, b in others] == [("room-7", (before[7].epoch or 0) + 1)]

        looked.clear()
        sees(bridge.connectors[AccountId("slack")], channel_infos("slack", Size(rooms=21)))
        await reloader.reload()
        assert len(looked) == 20  # any of them may have been renamed
        assert bridge.rooms.by_id == {room.id: room for room in bridge.rooms.all}


async def test_a_room_with_a_missing_channel_is_looked_for_again(tmp_path: Path) -> None:
    config, size = tmp_path / "bridge.yaml", Size(rooms=3, agents=5)
    data = configuration(size, tmp_path / "bridge.sqlite3")
    data["rooms"]["room-1"]["members"][0]["channel"] = "#later"
    config.write_text(yaml.safe_dump(data))

    async with running(config, size) as (bridge, reader):
        reloader = Reloader(bridge, reader.read)
        problem = "There is no channel '#later'"
        (told,) = await reloader.reload()
        (again,) = await reloader.reload()
        assert problem in told
        assert problem in again
        assert len(bridge.rooms.all[1].members) == 2

        infos = list(channel_infos("slack", size))
        infos[1] = replace(infos[1], name="later")
        sees(bridge.connectors[AccountId("slack")], infos)
        assert await reloader.reload() == []
        assert len(bridge.rooms.all[1].members) == 3


async def test_what_changes_during_a_search_for_channels_is_not_undone_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reload may add a room while patterns are matched, and a person may link a channel to a room
    while a reload looks for its channels."""
    config, size = tmp_path / "bridge.yaml", Size(rooms=2, agents=5)
    data = configuration(size, tmp_path / "bridge.sqlite3")
    config.write_text(yaml.safe_dump(data))

    async with running(config, size) as (bridge, reader):
        reloader, find = Reloader(bridge, reader.read), bridge.finder.find
        sees(bridge.connectors[AccountId("slack")], channel_infos("slack", Size(rooms=3)))

        def meanwhile(change: Callable[[], Awaitable[object]]) -> None:
            async def find_once(*args: Any) -> Rooms:
                monkeypatch.setattr(bridge.finder, "find", find)
                rooms = await find(*args)
                await change()
                return rooms

            monkeypatch.setattr(bridge.finder, "find", find_once)

        sees(bridge.connectors[AccountId("discord")], channel_infos("discord", Size(rooms=1)))
        meanwhile(reloader.reload)
        data["rooms"]["room-2"] = {"members": [{"account": "slack", "channel": "#room-2"}]}
        config.write_text(yaml.safe_dump(data))
        await update_rooms(bridge)
        assert [len(room.members) for room in bridge.rooms.all] == [3, 2, 1]

        meanwhile(lambda: AppLinker(bridge).link(RoomId("room-2"), "discord", "#room-0", ANN))
        data["rooms"]["room-2"]["moderation"] = "mirror"
        config.write_text(yaml.safe_dump(data))
        await reloader.reload()
        assert [len(room.members) for room in bridge.rooms.all] == [3, 2, 2]


async def test_a_channel_that_moves_between_rooms_is_told_of_in_both(tmp_path: Path) -> None:
    """The other room did not change, and yet its channel belongs to another account now."""
    config, size = tmp_path / "bridge.yaml", Size(rooms=2, agents=5)
    data = configuration(size, tmp_path / "bridge.sqlite3")
    data["accounts"]["slack-2"] = data["accounts"]["slack"]
    config.write_text(yaml.safe_dump(data))

    async with running(config, size) as (bridge, reader):
        reloader = Reloader(bridge, reader.read)
        sees(bridge.connectors[AccountId("slack-2")], channel_infos("slack", size))
        data["rooms"]["room-0"]["members"][0] = {"account": "slack-2", "channel": "#room-1"}
        config.write_text(yaml.safe_dump(data))
        changes = await reloader.reload()
        assert any("is the one that account 'slack-2' speaks in" in text for text in changes)
        assert [len(room.members) for room in bridge.rooms.all] == [3, 2]


@pytest.mark.process
async def test_no_step_of_a_reload_of_a_thousand_rooms_takes_long_in_the_event_loop(
    tmp_path: Path,
) -> None:
    """Measured in CPU time of this thread, without that of other programs."""
    size, limit = Size(rooms=1000, agents=100), 0.05
    config = tmp_path / "bridge.yaml"
    data = configuration(size, tmp_path / "bridge.sqlite3")
    config.write_text(yaml.safe_dump(data))
    async with running(config, size) as (bridge, _):
        for room in data["rooms"].values():
            room["moderation"] = "room"
        for agent in data["agents"].values():
            agent["quota"] = {"day": {"messages": 10}}
        config.write_text(yaml.safe_dump(data))
        settle_memory()  # as `run` does when everything has started, and after a reload
        reloader = Reloader(bridge, lambda: read_settings(config), settle_more)
        try:
            with steps_of_the_loop() as steps:
                changes = await reloader.reload()
        finally:
            gc.unfreeze()

    assert len(changes) >= size.rooms + size.agents
    assert (
        len(steps) > size.rooms
    )  # one for each room, between which a running bridge receives events
    assert max(steps) <= limit


@contextmanager
def steps_of_the_loop() -> Generator[list[float]]:
    """CPU seconds of each step of the event loop."""
    steps: list[float] = []
    run = asyncio.events.Handle._run  # every step of a loop goes through it

    def timed(handle: asyncio.Handle) -> None:
        began = time.thread_time()
        run(handle)
        steps.append(time.thread_time() - began)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asyncio.events.Handle, "_run", timed)
        yield steps


@pytest.mark.process
@pytest.mark.long
def test_commands_with_a_thousand_rooms_take_less_than_two_seconds_of_cpu() -> None:
    """The kernel's CPU time of the child, the median of three runs. Run by hand, because a busy
    machine makes the same work cost up to 1.5 times as much."""
    cpu_by_command = commands(Size(rooms=1000, agents=100))

    assert set(cpu_by_command) == {"rooms", "check --offline"}
    assert {name: cpu for name, cpu in cpu_by_command.items() if cpu >= 2.0} == {}


# Options without which some commands do not read the configuration.
ARGUMENTS = {
    "explain": ["1700000000.000100"],
    "archive show": ["general"],
    "db backup": ["x"],
    "dead-letters replay": ["--all"],
}


def _reading_commands() -> list[str]:
    """Every command that reads a configuration file."""

    def walk(command: click.Command, names: tuple[str, ...]) -> Iterator[str]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                if (subcommand := command.get_command(context, name)) is not None:
                    yield from walk(subcommand, (*names, name))
        elif any(option.name == "config" for option in command.params):
            yield " ".join(names)

    return [name for name in walk(main, ()) if name != "init"]  # it writes one


def _arguments(command: str) -> list[str]:
    """The command line, with a value for each required parameter."""
    found_command: click.Command | None = main
    for name in command.split():
        assert isinstance(found_command, click.Group)
        found_command = found_command.get_command(click.Context(found_command), name)
    assert found_command is not None
    given = [*command.split(), *ARGUMENTS.get(command, ())]
    for param in found_command.params:
        if param.required:
            value = param.type.choices[0] if isinstance(param.type, click.Choice) else "x"
            given += [value] if isinstance(param, click.Argument) else [param.opts[0], value]
    return given


# Runs each command; prints for each its exit code, what it wrote, and the large packages that it
# was the first to import.
RUN_COMMANDS = """
import contextlib, io, json, sys
from bridge.app.cli import main
large, command_lines = json.load(sys.stdin)
for command_line in command_lines:
    sys.argv, sys.stdin, code = ["uacs-bridge", *command_line], io.StringIO("a secret"), None
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
        try:
            main()
        except SystemExit as end:
            code = end.code
    imported = [name for name in large if name in sys.modules]
    large = [name for name in large if name not in imported]
    print(json.dumps([command_line, code, text.getvalue(), imported]))
"""


@pytest.mark.process
def test_an_invalid_file_is_reported_before_large_imports(tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text("rooms: [\n")
    large = (
        "aiohttp", "botbuilder", "discord", "httpx", "mcp", "slack_bolt", "starlette", "uvicorn",
    )  # fmt: skip
    command_lines = [[*_arguments(command), "-c", str(path)] for command in _reading_commands()]

    done = subprocess.run(
        [sys.executable, "-c", RUN_COMMANDS], capture_output=True, text=True, check=True, cwd=ROOT,
        input=json.dumps([large, command_lines]),
    )  # fmt: skip

    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [command_line for command_line, *_ in results] == command_lines
    assert {tuple(c): code for c, code, *_ in results if code not in (1, 2)} == {}
    assert {tuple(c): text for c, _, text, _ in results if "is not valid YAML" not in text} == {}
    assert {tuple(c): imported for c, _, _, imported in results if imported} == {}


@pytest.mark.process
def test_a_deeply_nested_file_is_refused_and_does_not_end_the_process(tmp_path: Path) -> None:
    path = tmp_path / "bridge.yaml"
    path.write_text("rooms: " + "[" * 200_000)
    code = (
        "from pathlib import Path\nfrom bridge.app.settings.yaml_file import read_yaml\n"
        f"try:\n    read_yaml(Path({str(path)!r}))\nexcept Exception as error:\n    print(error)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )

    assert (done.returncode, "more than 100 levels deep" in done.stdout) == (0, True)


async def test_a_first_start_remembers_the_channels_of_all_rooms_in_few_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    units: list[int] = []
    monkeypatch.setattr(metrics.COMMIT_UNITS, "observe", lambda count: units.append(int(count)))
    size = Size(200, 10)
    config = tmp_path / "bridge.yaml"
    config.write_text(yaml.safe_dump(configuration(size, tmp_path / "bridge.sqlite3")))

    async with running(config, size) as (bridge, _):
        assert len(units) < size.rooms / 4
        for number in range(size.rooms):
            named = f"channel named Acme/#room-{number}"
            assert await bridge.store.get_value(AccountId("slack"), named)
