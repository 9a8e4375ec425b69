"""Servers written on others' SDKs, each in an environment of its own, which `.ci/run` makes."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.free_ports import free_port


@contextmanager
def peer_server(variable: str, package: str, program: str, folder: Path) -> Generator[str]:
    """Runs the program, which is given a port, with the Python that the variable names; the
    address. Skips without that environment."""
    python = os.environ.get(variable, "")
    if not python:
        pytest.skip(f"{variable} names no Python with {package}; .ci/run makes one")
    path = folder / "peer.py"
    path.write_text(program)
    port = free_port()
    log = folder / "peer.log"
    with log.open("wb") as log_file:
        process = subprocess.Popen([python, str(path), str(port)], stdout=log_file, stderr=log_file)
        try:
            _wait(port, process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it listens: importing it takes seconds."""
    until = time.monotonic() + 60
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < until, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
