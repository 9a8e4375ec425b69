"""kill -9 while people of IRC and of other platforms write to one another: with chathistory nothing
is lost, doubled or reordered.

What history does not tell is left out: reactions and redactions while the bridge is down.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_kills import CHANNELS, survive
from tests.e2e.traffic import Mix

WORDS_ALONE = Mix(answers=0.25, edits=0, deletions=0, reactions=0, files=0)


@pytest.mark.timeout(400)
async def test_kills_lose_duplicate_and_reorder_no_message_from_or_to_irc(
    tmp_path: Path,
) -> None:
    await survive(
        kills=4, events=160, folder=tmp_path, pause=0.05, limits=False, channels=2,
        platforms=("discord", "irc"), mix=WORDS_ALONE,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_a_hundred_kills_during_five_thousand_posts(tmp_path: Path) -> None:
    await survive(
        kills=100, events=5000, folder=tmp_path, pause=0.1, limits=False, channels=CHANNELS,
        platforms=("slack", "discord", "irc"), mix=WORDS_ALONE,
    )  # fmt: skip
