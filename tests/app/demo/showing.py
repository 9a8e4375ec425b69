"""The demo in a child process, and a browser."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from playwright.sync_api import Browser, expect, sync_playwright

from tests.waiting import LONGEST_WAIT

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_URL = re.compile(r"http://127\.0\.0\.1:\d+")


def start(*options: str, temp: Path | None = None) -> subprocess.Popen[str]:
    """`uacs-bridge demo` with these options; `temp` is where it makes its temporary files."""
    environment = dict(os.environ) | ({"TMPDIR": str(temp)} if temp else {})
    return subprocess.Popen(
        [sys.executable, "-m", "bridge", "demo", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def url_of(process: subprocess.Popen[str]) -> str:
    """Wait for the line with the demo's URL."""
    line = _lines(process.stdout).readline()
    found = _URL.search(line)
    assert found, f"no address in {line!r}; stderr: {_lines(process.stderr).read()}"
    return found[0]


def stop(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> tuple[int, str]:
    """Stop the demo; returns its exit code and stderr."""
    process.send_signal(number)
    try:
        _, complaints = process.communicate(timeout=LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, complaints


@contextmanager
def running(*options: str) -> Generator[str]:
    """A demo at a free port; yields its URL, and checks that it ends without an error."""
    process = start("--port", "0", *options)
    try:
        yield url_of(process)
    finally:
        ended = stop(process)
    assert ended == (0, "")


@contextmanager
def browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        expect.set_options(timeout=1000 * LONGEST_WAIT)
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        try:
            yield opened
        finally:
            opened.close()


def _lines(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
