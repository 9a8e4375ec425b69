"""docs/log-events.md and the log calls of the code name the same events."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "log-events.md").read_text("utf-8")
_ERRORS = ("error", "exception", "critical")
_METHODS = ("debug", "info", "warning", *_ERRORS)


@cache
def logged() -> Mapping[str, set[str]]:
    """Each event of the code -> the methods that log it."""
    events: defaultdict[str, set[str]] = defaultdict(set)
    for package in ("bridge", "connectors"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                match node:
                    case ast.Call(
                        func=ast.Attribute(value=ast.Name("log"), attr=method),
                        args=[ast.Constant(str() as event), *_],
                    ) if method in _METHODS:
                        events[event].add(method)
                    case _:
                        pass
    return events


def renamed() -> dict[str, str]:
    section = TEXT.partition("## Renamed events")[2]
    return dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|$", section, re.MULTILINE))


def test_every_error_is_documented() -> None:
    section = TEXT.partition("## Errors")[2].partition("## ")[0]
    documented = {
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }

    assert documented == {name for name, methods in logged().items() if methods & {*_ERRORS}}


def test_the_new_name_of_a_renamed_event_is_logged_and_the_old_one_is_not() -> None:
    assert len(renamed()) > 50
    assert set(renamed().values()) <= logged().keys()
    assert renamed().keys() & logged().keys() == set()


def test_names_of_events_are_words_joined_by_underscores() -> None:
    odd = [name for name in logged() if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)]

    assert odd == []
