"""A first day: a thread began before its channel was in a room, and an agent is asked in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.local_sandbox import configuration, local_sandbox, running

# Without IRC: IRC has no threads.
PLATFORMS = ("slack", "discord", "teams")


@pytest.mark.parametrize("home", PLATFORMS)
async def test_a_question_in_a_thread_older_than_the_room_is_answered_in_that_thread(
    home: str, tmp_path: Path
) -> None:
    async with local_sandbox() as local:
        root = await local.say(home, "general", "Said before anybody listened")
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        async with running(local, settings) as (bridge, _):
            asking = await local.say(home, "general", "@echo what now?", thread=root)
            others = [platform for platform in PLATFORMS if platform != home]
            # That somebody started a thread is an event of its own on Discord.
            count = 3 if home == "discord" else 2
            await local.until(
                lambda: (
                    len(local.standing(home, "general")) == 3
                    and all(len(local.standing(other, "general")) == count for other in others)
                )
            )
            await bridge.router.settled()

            _, question, answer = local.standing(home, "general")
            assert (question.id, answer.thread) == (asking, question.thread)
            for other in others:
                first, *below = local.standing(other, "general")
                assert "what now?" in below[0].text or "what now?" in first.text
                assert [message.thread for message in below] == [first.id] * len(below)
                assert "echo" in below[-1].text
            assert await bridge.store.dead_letters() == []
