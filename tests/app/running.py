"""The command line as a person uses it: commands in child processes, beside a local sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from bridge.app.cli import main

# The smallest configuration that a bridge starts with; nothing listens at its platform's address.
SMALL = """\
accounts: {d: {platform: discord, bot_token: {env: PATH}, api_url: "http://127.0.0.1:9/api"}}
rooms: {r: {members: [{account: d, channel: general}]}}
store: {path: bridge.sqlite3}
web: {port: 0}
"""
STARTED = 60.0  # seconds for a child to start: it imports three SDKs on a busy machine


def cli(*args: str, stdin: str | None = None) -> Result:
    """Run a command in this process, with stdout and stderr separate."""
    return CliRunner().invoke(main, args, input=stdin, prog_name="uacs-bridge")


@dataclass
class Child:
    """A command in a child process, whose stderr is collected."""

    process: Process
    errors: list[str]

    async def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal; returns the exit code."""
        if self.process.returncode is None:
            self.process.send_signal(number)
        async with asyncio.timeout(STARTED):
            return await self.process.wait()

    async def line(self, pattern: str) -> re.Match[str]:
        """The first line of stderr that matches the pattern."""
        async with asyncio.timeout(STARTED):
            while True:
                for line in self.errors:
                    if found := re.search(pattern, line):
                        return found
                if self.process.returncode is not None:
                    pytest.fail(f"it ended with {self.process.returncode}: {self.errors}")
                await asyncio.sleep(0.02)


@asynccontextmanager
async def child(*args: str, env: Mapping[str, str] | None = None) -> AsyncGenerator[Child]:
    """Run `uacs-bridge ...` until the block ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bridge", *args,
        stdout=PIPE, stderr=PIPE, env={**os.environ, **(env or {})},
    )  # fmt: skip
    errors: list[str] = []
    reading = asyncio.create_task(_read(process, errors))
    try:
        yield Child(process, errors)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await reading


async def _read(process: Process, errors: list[str]) -> None:
    if process.stderr is not None:
        while line := await process.stderr.readline():
            errors.append(line.decode().rstrip())
    if process.stdout is not None:
        await process.stdout.read()


def events(child: Child) -> list[dict[str, object]]:
    """The log lines of the child that are JSON."""
    found: list[dict[str, object]] = []
    for line in child.errors:
        with contextlib.suppress(orjson.JSONDecodeError):
            found.append(orjson.loads(line))
    return found


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
