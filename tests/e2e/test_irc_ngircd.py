"""A room of the local Slack and a channel of a real ngircd, a server of RFC 2812 without history.

Needs the program ngircd (Debian package `ngircd`); without it these tests are skipped.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from connectors.irc.bylines import GAP
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

NGIRCD = shutil.which("ngircd") or shutil.which("ngircd", path="/usr/sbin")
pytestmark = pytest.mark.skipif(NGIRCD is None, reason="needs ngircd (apt-get install ngircd)")

CHANNEL = "#general"
_CONFIG = """
[Global]
Name = irc.ngircd.test
Info = A server for tests
Listen = 127.0.0.1
Ports = {port}
PidFile = {folder}/ngircd.pid
MotdPhrase = hello
[Limits]
MaxConnectionsIP = 0
MaxJoins = 10
[Options]
DNS = no
Ident = no
PAM = no
"""


@dataclass
class Person:
    """Somebody with a plain client: lines out, lines in."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    lines: list[str] = field(default_factory=list[str])

    def send(self, *lines: str) -> None:
        for line in lines:
            self.writer.write(f"{line}\r\n".encode())

    async def listen(self) -> None:
        while raw := await self.reader.readline():
            line = raw.decode("utf-8", "replace").rstrip("\r\n")
            if line.startswith("PING"):
                self.send(f"PONG {line.partition(' ')[2]}")
            self.lines.append(line)

    @property
    def read(self) -> list[str]:
        """The messages of the channel, as people see them."""
        mark = f" PRIVMSG {CHANNEL} :"
        return [line.split(mark, 1)[1].replace(GAP, "") for line in self.lines if mark in line]


@asynccontextmanager
async def person(port: int, nick: str) -> AsyncGenerator[Person]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = Person(reader, writer)
    listening = asyncio.create_task(found.listen())
    try:
        found.send(f"NICK {nick}", f"USER {nick} 0 * :{nick}", f"JOIN {CHANNEL}")
        async with asyncio.timeout(10):
            while not any(" 366 " in line for line in found.lines):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        yield found
    finally:
        listening.cancel()
        writer.close()


@dataclass
class Server:
    """An ngircd of its own on a free port."""

    config: Path
    port: int
    process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        assert NGIRCD is not None
        self.process = await asyncio.create_subprocess_exec(
            NGIRCD, "-n", "-f", str(self.config), stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        async with asyncio.timeout(10):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.02)
                else:
                    writer.close()
                    return

    async def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            await self.process.wait()
            self.process = None


@asynccontextmanager
async def ngircd(folder: Path) -> AsyncGenerator[Server]:
    """Running, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    config = folder / "ngircd.conf"
    config.write_text(_CONFIG.format(port=port, folder=folder))
    server = Server(config, port)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


def settings_of(local: Sandbox, port: int, store: Path) -> dict[str, Any]:
    settings = configuration(local, store, channels=("general",))
    settings["accounts"]["irc"] = {
        "platform": "irc", "host": "127.0.0.1", "port": port, "tls": False, "nick": "bridge",
        "network": "ngircd", "burst": 3, "lines_per_second": 3,
    }  # fmt: skip
    settings["rooms"]["general"]["members"].append({"account": "irc", "channel": CHANNEL})
    return settings


def slack_texts(local: Sandbox) -> list[str]:
    return [one.text for one in local.standing("slack", "general")]


async def test_messages_are_copied_between_slack_and_a_real_server(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack",)) as local, ngircd(tmp_path) as server:
        settings = settings_of(local, server.port, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _), person(server.port, "alice") as alice:
            alice.send(f"PRIVMSG {CHANNEL} :hello from \x02ngircd\x02, café")
            await local.until(
                lambda: any("hello from *ngircd*, café" in line for line in slack_texts(local))
            )
            await local.say("slack", "general", "hello from *slack*")
            await local.until(lambda: any("\x02slack\x0f" in line for line in alice.read))
            alice.send(f"PRIVMSG {CHANNEL} :\x01ACTION waves\x01")
            await local.until(lambda: any("_waves_" in line for line in slack_texts(local)))

            assert await bridge.store.dead_letters() == []


async def test_a_long_text_arrives_whole_in_lines_that_the_server_does_not_cut(
    tmp_path: Path,
) -> None:
    text = " ".join(f"wörd{number}" for number in range(250))
    async with local_sandbox(names=("slack",)) as local, ngircd(tmp_path) as server:
        settings = settings_of(local, server.port, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _), person(server.port, "alice") as alice:
            await local.say("slack", "general", text)
            await local.until(lambda: any("wörd249" in line for line in alice.read), 30)

            assert await bridge.store.dead_letters() == []
        assert not any("[CUT]" in line for line in alice.lines)
        assert " ".join(one.partition("> ")[2] for one in alice.read) == text
        assert max(len(line.encode()) + 2 for line in alice.lines) <= 512


async def test_the_bot_connects_again_after_a_restart_of_the_server(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack",)) as local, ngircd(tmp_path) as server:
        settings = settings_of(local, server.port, tmp_path / "bridge.sqlite3")
        async with running(local, settings) as (bridge, _):
            async with person(server.port, "alice") as alice:
                await local.say("slack", "general", "before")
                await local.until(lambda: any("before" in line for line in alice.read))
            await server.stop()
            await local.say("slack", "general", "after")
            await server.start()
            async with person(server.port, "alice") as alice:
                await local.until(lambda: any("after" in line for line in alice.read), 20)

            assert await bridge.store.dead_letters() == []


async def test_a_post_to_a_moderated_channel_is_refused(tmp_path: Path) -> None:
    async with local_sandbox(names=("slack",)) as local, ngircd(tmp_path) as server:
        settings = settings_of(local, server.port, tmp_path / "bridge.sqlite3")
        async with person(server.port, "alice") as alice, running(local, settings) as (bridge, _):
            alice.send(f"MODE {CHANNEL} +m")
            await local.until(lambda: any("+m" in line for line in alice.lines))
            await local.say("slack", "general", "may I?")
            async with asyncio.timeout(20):
                while not (letters := await bridge.store.dead_letters()):  # noqa: ASYNC110 - the store has no event
                    await asyncio.sleep(0.02)

            assert "404" in letters[0].error
