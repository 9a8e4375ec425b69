"""docs/operations.md has a heading for each command."""

from __future__ import annotations

import re
from pathlib import Path

from bridge.app.cli import COMMANDS

ROOT = Path(__file__).parents[2]


def test_operations_describes_every_command() -> None:
    text = (ROOT / "docs" / "operations.md").read_text()

    assert set(re.findall(r"^### (\S+)$", text, re.MULTILINE)) == set(COMMANDS)
