"""docs/log-events.md and the log calls of the code name the same events."""

from __future__ import annotations

import re

from tests.app.logs.log_calls import ERRORS, ROOT, log_calls

TEXT = (ROOT / "docs" / "log-events.md").read_text("utf-8")


def logged_events() -> set[str]:
    return {call.event for call in log_calls()}


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

    assert documented == {call.event for call in log_calls() if call.method in ERRORS}


def test_the_new_name_of_a_renamed_event_is_logged_and_the_old_one_is_not() -> None:
    assert len(renamed()) > 50
    assert set(renamed().values()) <= logged_events()
    assert renamed().keys() & logged_events() == set()


def test_names_of_events_are_words_joined_by_underscores() -> None:
    odd = [name for name in logged_events() if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)]

    assert odd == []
