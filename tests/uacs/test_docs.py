"""docs/uacs.md is true: its example runs, and it names every part and every delta."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from bridge.uacs import PART_TYPES, Delta

PAGE = (Path(__file__).parents[2] / "docs" / "uacs.md").read_text(encoding="utf-8")


def test_the_example_in_the_docs_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

    exec(compile(example, "docs/uacs.md", "exec"), {})


def test_the_docs_describe_every_part_and_every_delta() -> None:
    deltas = [get_arg.model_fields["type"].default for get_arg in get_args(get_args(Delta)[0])]

    for name in (*PART_TYPES, *deltas):
        assert f"`{name}`" in PAGE
