"""`status` shows how far an account has caught up."""

from __future__ import annotations

import pytest

from bridge.app.cli.commands.status import progress_lines

FACTS = {"channels": 120, "unread": 40, "uncompared": 111, "since": 0.0, "waiting": ["c1", "c2"]}


@pytest.mark.parametrize(
    ("seconds_left", "expected"),
    [(252.0, "about 4 m 12 s left"), (None, "time left not known yet")],
)
def test_status_shows_how_far_an_account_has_caught_up_and_the_time_left(
    seconds_left: float | None, expected: str
) -> None:
    lines = list(progress_lines("slack", {**FACTS, "seconds_left": seconds_left}))

    assert lines == [
        "  slack catches up: messages read in 80 of 120 channels; edits, deletions, "
        f"reactions and pins compared in 9; {expected}",
        "    next: c1, c2 and 38 more",
    ]


def test_status_counts_channels_left_to_compare_once_all_are_read() -> None:
    facts = {**FACTS, "unread": 0, "seconds_left": 5.0}

    assert list(progress_lines("slack", facts))[1] == "    next: c1, c2 and 109 more"
