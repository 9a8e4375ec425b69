"""`demo --script`: a conversation without a browser, checked by itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from bridge.app.demo.lines import lines_of
from bridge.app.demo.running import running_demo
from bridge.app.demo.script import ARCHIVE_MARK, play_script
from bridge.app.demo.world import demo_types
from bridge.sandbox.faults import Fault
from bridge.uacs import Conversation
from connectors.slack.sandbox.demo import REFUSED_NAME

_SCHEMA = Path(__file__).parents[3] / "docs" / "uacs.schema.json"
_AUTHORS = [
    "Ada Park", "Chen Wei", "Noor Haddad", "Dana Okafor", "Chloe Meyer", "echo", "Ben Ortiz",
    "mika", REFUSED_NAME, "Dev Rao", "Carmen Diaz", "yara",
]  # fmt: skip


def _demo(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bridge", "demo", "--script", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_script_prints_every_side_and_one_valid_conversation(tmp_path: Path) -> None:
    done = _demo("--data", str(tmp_path / "kept"))

    assert (done.returncode, done.stderr) == (0, "")
    transcript, _, document = done.stdout.partition(ARCHIVE_MARK)
    for title in ("Slack: #general", "Discord: #general", "Teams: #General", "IRC: #general"):
        assert title in transcript
    sides = [local.demo for local in demo_types().values() if local.demo]
    assert transcript.count("Which two?") == len(sides)
    assert transcript.count("    | ") == 3 * sum(side.threads for side in sides)
    conversation = Conversation.model_validate_json(document)
    assert [message.actor.name for message in conversation.messages] == _AUTHORS
    jsonschema.Draft7Validator(json.loads(_SCHEMA.read_text("utf-8"))).validate(
        json.loads(document)
    )
    assert (tmp_path / "kept" / "demo.sqlite3").exists()


async def test_a_message_that_is_missing_on_a_platform_fails_the_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running_demo(tmp_path, pace=0.0, lines=lines_of("script", demo_types())) as (
        demo,
        _,
    ):
        dropped_events = Fault(kind="drop", where="slack:event:*", times=None)
        demo.sandbox.context.faults.add(dropped_events)

        code = await play_script(demo, json_only=True, timeout=0.3)

    output = capsys.readouterr()
    assert code == 1
    assert '"conversation_id"' in output.out
    assert ARCHIVE_MARK not in output.out
    assert "discord: what Ada Park said on slack did not come within 0.3 s" in output.err
    assert "Teams does not show what it should" in output.err
