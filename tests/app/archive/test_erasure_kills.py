"""kill -9 during an erasure: before its transaction nothing is erased, after it everything is, and
the next erasure or start of the bridge overwrites what is left in files."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from bridge.store.schema import open_to_read
from tests.app.running import cli
from tests.benchmarks.slack_export import write_export

SEED = 5
KILLS = 80
_FIRST, _STEP = 0.2, 0.05  # seconds
WORD = "quicksilverish"  # that the person alone says, in every message


@pytest.mark.long
@pytest.mark.process
@pytest.mark.timeout(900)
def test_killed_erasures_are_done_or_undone_and_leave_no_word(tmp_path: Path) -> None:
    source, store = tmp_path / "acme.zip", tmp_path / "archive.sqlite3"
    whole = tmp_path / "whole.zip"
    write_export(whole, 20_000, SEED)
    person = _with_a_word(whole, source)
    assert cli("archive", "import", str(source), "--store", str(store)).exit_code == 0
    messages = _having(store)
    assert messages > 20
    command = [
        sys.executable, "-m", "bridge", "archive", "erase", "person", person, "--yes",
        "--store", str(store),
    ]  # fmt: skip
    states: list[int] = []
    for number in range(KILLS):  # each a little later than the one before
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as own:
            try:
                own.wait(_FIRST + number * _STEP)
            except subprocess.TimeoutExpired:
                own.kill()
        states.append(_having(store))
        verified = cli("archive", "verify", "--store", str(store), "--json")
        assert json.loads(verified.stdout)["fault_count"] == 0
        if states[-1] == 0:
            break
    finished = cli("archive", "erase", "person", person, "--yes", "--store", str(store))
    assert finished.exit_code == 0 or "has nothing of" in finished.output, finished.output

    print(f"\n{states.count(messages)} kills left {messages} messages, then {states[-1]}")
    assert set(states) <= {messages, 0}, "an erasure was half done"
    assert states.count(messages) > 5, "no kill came early enough"
    assert _having(store) == 0
    backup, exported = tmp_path / "later.sqlite3", tmp_path / "later.jsonl"
    config = tmp_path / "bridge.yaml"
    config.write_text(f"store: {{path: {store}}}\n")
    assert cli("db", "backup", str(backup), "-c", str(config)).exit_code == 0
    assert cli(
        "archive", "export", str(exported), "--format", "uacs-lines", "--store", str(store)
    ).exit_code == 0  # fmt: skip
    for path in (store, store.with_name(f"{store.name}-wal"), backup, exported):
        if path.exists():
            assert WORD.encode() not in path.read_bytes(), path.name


def _with_a_word(whole: Path, target: Path) -> str:
    """The same export, in which one person says the word. Returns the person's id."""
    with zipfile.ZipFile(whole) as before, zipfile.ZipFile(target, "w") as after:
        team = "T0BENCH01"
        user = json.loads(before.read("users.json"))[3]["id"]
        for name in before.namelist():
            content = before.read(name)
            if name.count("/") == 1:
                posts = json.loads(content)
                for post in posts:
                    if post.get("user") == user and "blocks" in post:
                        post["text"] = f"{post['text']} {WORD}"
                        section = post["blocks"][0]["elements"][0]["elements"]
                        section.append({"type": "text", "text": f" {WORD}"})
                content = json.dumps(posts, ensure_ascii=False).encode()
            after.writestr(name, content)
    return f"slack:{team}:{user}"


def _having(store: Path) -> int:
    """How many messages have the word."""
    with closing(open_to_read(store)) as db:
        query = "SELECT count(*) FROM messages WHERE instr(body, ?)"
        return db.execute(query, (WORD.encode(),)).fetchone()[0]
