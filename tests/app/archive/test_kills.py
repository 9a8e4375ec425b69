"""An import that is killed at random moments and resumed ends as one that was not."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.running import cli
from tests.benchmarks.slack_export import write_export

KILLS = 20
SEED = 7


@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(900)
def test_twenty_kills_change_nothing_of_an_import(tmp_path: Path) -> None:
    source = tmp_path / "acme.zip"
    write_export(source, 100_000, SEED)
    chance = random.Random(SEED)
    killed, whole = tmp_path / "killed.sqlite3", tmp_path / "whole.sqlite3"
    command = [sys.executable, "-m", "bridge", "archive", "import", source, "--store", killed]
    ended = 0
    for _ in range(KILLS):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                process.wait(chance.uniform(0.3, 2.5))
                ended += 1
            except subprocess.TimeoutExpired:
                process.kill()
    cli("archive", "import", str(source), "--store", str(killed))
    cli("archive", "import", str(source), "--store", str(whole))

    assert ended < KILLS, "every import ended before its kill"
    assert _exported(killed, tmp_path / "killed.jsonl") == _exported(
        whole, tmp_path / "whole.jsonl"
    )


def _exported(store: Path, target: Path) -> bytes:
    result = cli(
        "archive", "export", str(target), "--format", "uacs-lines", "--store", str(store),
        "--deleted",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return target.read_bytes()
