"""The demo's start and end: ports, signals, and temporary files."""

from __future__ import annotations

import signal
import socket
import urllib.request
from pathlib import Path

from tests.app.demo import showing
from tests.waiting import LONGEST_WAIT


def test_a_stop_while_a_page_is_open_leaves_nothing_behind(tmp_path: Path) -> None:
    process = showing.start("--port", "0", temp=tmp_path)
    url = showing.url_of(process)
    stream = urllib.request.urlopen(f"{url}/events", timeout=LONGEST_WAIT)
    stream.readline()
    assert list(tmp_path.iterdir())

    code, complaints = showing.stop(process, signal.SIGTERM)

    stream.close()
    assert (code, complaints) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_a_stop_during_the_start_is_clean(tmp_path: Path) -> None:
    process = showing.start("--port", "0", temp=tmp_path)
    try:
        while not list(tmp_path.iterdir()) and process.poll() is None:
            pass
        code, complaints = showing.stop(process)
    finally:
        process.kill()
        process.communicate()

    assert (code, complaints) == (0, "")
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_replaced_by_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = showing.start("--port", str(port))
        url = showing.url_of(process)
        with urllib.request.urlopen(url, timeout=LONGEST_WAIT) as answer:
            assert answer.status == 200
        code, complaints = showing.stop(process, signal.SIGINT)

    assert not url.endswith(f":{port}")
    assert (code, complaints) == (0, f"Port {port} is taken; this demo takes another.\n")
