"""`status` says how far an account is with what it missed."""

from __future__ import annotations

import pytest

from bridge.app.cli.commands.status import progress_lines

FACTS = {"channels": 120, "unread": 40, "uncompared": 111, "since": 0.0, "waiting": ["c1", "c2"]}


@pytest.mark.parametrize(
    ("seconds_left", "expected"),
    [(252.0, "about 4 m 12 s left"), (None, "time left not known yet")],
)
def test_status_tells_what_is_read_and_compared_and_how_long_it_will_take(
    seconds_left: float | None, expected: str
) -> None:
    lines = list(progress_lines("slack", {**FACTS, "seconds_left": seconds_left}))

    assert lines == [
        "  slack looks for what it missed: messages read in 80 of 120 channels; edits, deletions, "
        f"reactions and pins compared in 9; {expected}",
        "    next: c1, c2 and 38 more",
    ]


def test_status_counts_what_is_left_to_compare_when_everything_is_read() -> None:
    facts = {**FACTS, "unread": 0, "seconds_left": 5.0}

    assert list(progress_lines("slack", facts))[1] == "    next: c1, c2 and 109 more"
