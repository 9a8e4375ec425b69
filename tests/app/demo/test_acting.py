"""Lines of a scene: each is posted once all panes show the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridge.app.demo.acting import act_out
from bridge.app.demo.lines import lines_of
from bridge.app.demo.running import Demo, running_demo
from bridge.app.demo.world import ROOMS, demo_types
from bridge.sandbox.feed import LocalMessage


async def test_each_line_of_the_opening_waits_for_the_copies_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing: list[list[int]] = []

    def count(demo: Demo) -> list[int]:
        channels = {name: side.channel_of(ROOMS[0]) for name, side in demo.sides.items()}
        return [len(demo.standing(name, channel)) for name, channel in channels.items()]

    say = Demo.say

    async def counting(
        demo: Demo, platform: str, channel: str, person: str, text: str, thread: str | None = None
    ) -> LocalMessage:
        standing.append(count(demo))
        return await say(demo, platform, channel, person, text, thread)

    monkeypatch.setattr(Demo, "say", counting)
    async with running_demo(tmp_path, pace=0.0) as (demo, _):
        lines = lines_of("opening", demo_types())
        await act_out(demo, lines, pause=0.0)
        standing.append(count(demo))

    assert standing == [[number] * len(demo.sides) for number in range(len(lines) + 1)]
