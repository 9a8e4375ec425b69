"""`run` and `sandbox` as real processes: they start, serve, and stop at a signal."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import sqlite3
import sys
import urllib.request
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridge.app.cli.commands.options import read_environment
from bridge.store.schema import newest_version
from tests.app.running import SMALL, Child, child, cli, events, write
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.process


@pytest_asyncio.fixture
async def local() -> AsyncGenerator[Sandbox]:
    async with local_sandbox(names=("slack", "discord")) as found:
        yield found


@pytest.fixture
def config(local: Sandbox, tmp_path: Path) -> Path:
    settings = configuration(local, tmp_path / "bridge.sqlite3", channels=["general"])
    return write(tmp_path / "bridge.yaml", json.dumps(settings))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_drains_and_ends_with_0(
    local: Sandbox, config: Path, number: signal.Signals
) -> None:
    async with child("run", "-c", str(config)) as bridge:
        await bridge.line("bridge_started")
        await bridge.line("gateway_session_began")
        await local.say("slack", "general", "hello")
        await local.until(lambda: len(local.standing("discord", "general")) == 1)

        assert await bridge.stop(number) == 0

    assert "bridge_stopped" in [event["event"] for event in events(bridge)]
    assert not config.with_name("bridge.sqlite3.control").exists()
    assert (await asyncio.to_thread(cli, "status", "-c", str(config))).exit_code == 0


async def test_a_signal_while_it_starts_ends_with_0(config: Path) -> None:
    async with child("run", "-c", str(config)) as bridge:
        await bridge.line(".")  # the first log line, or nothing: then the SDKs are still imported
        assert await bridge.stop() == 0


async def test_a_second_bridge_on_the_same_store_ends_with_1(tmp_path: Path) -> None:
    config = write(tmp_path / "b.yaml", SMALL)
    async with child("run", "-c", str(config)) as first:
        await first.line("bridge_started")

        second = await asyncio.to_thread(cli, "status", "-c", str(config))
        blocked = await asyncio.to_thread(cli, "db", "migrate", "-c", str(config))
        async with child("run", "-c", str(config)) as other:
            code = await other.process.wait()

    assert (second.exit_code, blocked.exit_code, code) == (0, 1, 1)
    assert _plain(other)
    assert "in use by another process (pid" in other.errors[-1]


def test_a_taken_port_ends_with_2(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        text = SMALL.replace("port: 0", f"port: {port}")
        result = cli("run", "-c", str(write(tmp_path / "taken.yaml", text)))

    assert result.exit_code == 2
    assert f"\nuacs-bridge: Cannot listen on 127.0.0.1:{port}" in f"\n{result.stderr}"
    assert "Traceback" not in result.output


@pytest.mark.parametrize("trouble", ["corrupt", "newer", "foreign", "folder"])
def test_a_store_that_cannot_be_used_ends_with_1(trouble: str, tmp_path: Path) -> None:
    store = tmp_path / "bridge.sqlite3"
    text = {
        "corrupt": "damaged",
        "newer": "install the newer version",
        "foreign": "no store of the bridge",
        "folder": "is a folder",
    }
    _spoil(store, trouble)
    config = write(tmp_path / "bridge.yaml", SMALL.replace("bridge.sqlite3", str(store)))

    result = cli("run", "-c", str(config))

    assert result.exit_code == 1
    assert result.stderr.startswith("uacs-bridge: ")
    assert text[trouble] in result.stderr
    assert "Traceback" not in result.output


async def test_a_full_disk_at_the_start_ends_with_1(tmp_path: Path) -> None:
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from bridge.app.cli import main\n"
        f"main(['run', '-c', {str(tmp_path / 'bridge.yaml')!r}])\n"
    )
    write(tmp_path / "bridge.yaml", SMALL)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()

    assert process.returncode == 1
    assert errors.decode().startswith("uacs-bridge: The disk of the store ")
    assert "Traceback" not in errors.decode()


async def test_the_sandbox_command_writes_a_configuration_that_runs(tmp_path: Path) -> None:
    port, bridge_port = free_port(), free_port()
    async with child(
        "sandbox", "--port", str(port), "--bridge-port", str(bridge_port),
        "--write-config", str(tmp_path / "s"),
    ) as sandbox:  # fmt: skip
        async with child(
            "run", "-c", str(await _written(sandbox, tmp_path / "s" / "bridge.yaml")),
            "--env-file", str(tmp_path / "s" / "sandbox.env"),
        ) as bridge:  # fmt: skip
            await bridge.line("bridge_started")
            health = _get(f"http://127.0.0.1:{bridge_port}/healthz")
            assert await bridge.stop() == 0
        assert await sandbox.stop(signal.SIGINT) == 0

    assert (health["ok"], health["problems"]) == (True, [])
    assert set(health["accounts"]) == {"slack", "discord", "teams", "irc"}
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "s").glob("*.*")}
    assert modes == {"bridge.yaml": 0o600, "sandbox.env": 0o600}


def _get(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, timeout=LONGEST_WAIT) as answer:
        return json.loads(answer.read())


async def _written(sandbox: Child, path: Path) -> Path:
    async with asyncio.timeout(LONGEST_WAIT):
        while not path.with_name("sandbox.env").exists():
            assert sandbox.process.returncode is None, sandbox.errors
            await asyncio.sleep(0.05)
    return path


def _spoil(store: Path, trouble: str) -> None:
    if trouble == "corrupt":
        store.write_bytes(b"no SQLite file at all" * 500)
        store.with_name("bridge.sqlite3.lock").write_text("clean\n")  # as if a store had been there
    elif trouble == "folder":
        store.mkdir()
    else:
        db = sqlite3.connect(store)
        db.execute("CREATE TABLE t (x)")
        if trouble == "newer":
            db.execute("PRAGMA application_id = 1430340435")
            db.execute(f"PRAGMA user_version = {newest_version() + 1}")
        db.commit()
        db.close()


def _plain(bridge: Child) -> bool:
    """Check that there is no traceback and that the last line is the program's own error."""
    return not any("Traceback" in line for line in bridge.errors) and bool(
        re.match("uacs-bridge: ", bridge.errors[-1])
    )


def change(config: Path, old: str, new: str) -> None:
    write(config, config.read_text().replace(old, new))


def exclude_secrets(config: Path) -> None:
    settings = json.loads(config.read_text())
    settings["rooms"]["general"]["exclude"] = [{"matching": "secret"}]
    write(config, json.dumps(settings))


async def test_sighup_reloads_a_changed_configuration(local: Sandbox, config: Path) -> None:
    async with child("run", "-c", str(config)) as bridge:
        await bridge.line("gateway_session_began")
        exclude_secrets(config)
        bridge.process.send_signal(signal.SIGHUP)
        await bridge.line("configuration_reloaded")
        await local.say("slack", "general", "a secret")
        await local.say("slack", "general", "heard")
        await local.until(lambda: len(local.standing("discord", "general")) == 1)
        assert local.standing("discord", "general")[0].text == "heard"

        change(config, '"members"', '"membrs"')
        bridge.process.send_signal(signal.SIGHUP)
        await bridge.line("configuration_rejected.*did you mean 'members'")
        await local.say("slack", "general", "still heard")
        await local.until(lambda: len(local.standing("discord", "general")) == 2)

        assert await bridge.stop() == 0


async def test_the_command_reload_reloads_a_changed_configuration(
    local: Sandbox, config: Path
) -> None:
    async with child("run", "-c", str(config)) as bridge:
        await bridge.line("gateway_session_began")
        exclude_secrets(config)
        result = await asyncio.to_thread(cli, "reload", "-c", str(config))
        assert (result.exit_code, result.stdout) == (0, "room 'general' changed\n")
        await local.say("slack", "general", "a secret")
        await local.say("slack", "general", "heard")
        await local.until(lambda: len(local.standing("discord", "general")) == 1)
        assert local.standing("discord", "general")[0].text == "heard"

        again = await asyncio.to_thread(cli, "reload", "-c", str(config))
        assert again.stdout == "Nothing changed\n"
        change(config, '"members"', '"membrs"')
        wrong = await asyncio.to_thread(cli, "reload", "-c", str(config))
        assert wrong.exit_code == 2
        assert "did you mean 'members'" in wrong.stderr
        await local.say("slack", "general", "still heard")
        await local.until(lambda: len(local.standing("discord", "general")) == 2)

        assert await bridge.stop() == 0


async def test_without_a_bridge_there_is_nothing_to_reload(config: Path) -> None:
    result = await asyncio.to_thread(cli, "reload", "-c", str(config))

    assert result.exit_code == 1
    assert "No bridge runs with this store" in result.stderr


async def test_a_person_is_banned_while_no_bridge_runs(config: Path) -> None:
    async with child("run", "-c", str(config)) as bridge:
        await bridge.line("bridge_started")
        assert await bridge.stop() == 0

    async def say(*args: str) -> str:
        return (await asyncio.to_thread(cli, "people", *args, "-c", str(config))).stdout

    assert await say("ban", "slack:T1:U1") == "slack:T1:U1 is banned from all rooms\n"
    assert "were not before" in await say("unban", "slack:T1:U1", "--room", "general")
    assert await say("unban", "slack:T1:U1") == "slack:T1:U1 is not banned from all rooms\n"


def test_a_changed_environment_file_is_read_at_the_next_look_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRIDGE_TEST_SET", "before")
    monkeypatch.delenv("BRIDGE_TEST_NEW", raising=False)
    file = tmp_path / "bridge.env"
    before = frozenset(os.environ)
    found: list[tuple[str, str]] = []
    for value in ("one", "two"):
        file.write_text(f"BRIDGE_TEST_NEW={value}\nBRIDGE_TEST_SET={value}\n")
        read_environment(file, before)
        found.append((os.environ["BRIDGE_TEST_NEW"], os.environ["BRIDGE_TEST_SET"]))
    monkeypatch.delenv("BRIDGE_TEST_NEW")

    assert found == [("one", "before"), ("two", "before")]
