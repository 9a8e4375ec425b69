"""kill -9 at random moments of Smart Errands: the dialogue ends as it must, and nothing is said
twice or lost."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from bridge.app.demo.stories.agents import story_agents, with_agents
from bridge.app.demo.stories.smart_errands import SMART_ERRANDS as STORY
from bridge.model.export_records import ArchiveFilter
from bridge.model.refs import BRIDGE
from bridge.runtime.clock import SystemClock
from bridge.store.sqlite import open_sqlite_to_read
from bridge.uacs import TextPart
from tests.e2e.processes import Spot, bridge_beside, rooms_across, sandbox_beside
from tests.e2e.test_smart_errands import plain

SEED = int(os.environ.get("KILL_SEED", "3"))


async def archived(store: Path) -> tuple[list[tuple[str, str]], bool]:
    """Who said what in the room, and whether something is still to be done."""
    opened = await open_sqlite_to_read(store, clock=SystemClock())
    try:
        rooms = [one for one in await opened.archived_conversations() if one.channel.kind == "room"]
        if not rooms:
            return [], True
        page = await opened.archived_messages(
            rooms[0].timelines, ArchiveFilter(), after=None, limit=1000
        )
        works = bool(await opened.open_turns()) or bool(await opened.open_lanes())
    finally:
        await opened.close()
    said: list[tuple[str, str]] = []
    for stored in page.messages:
        parts = [part.text for part in stored.message.content if isinstance(part, TextPart)]
        if stored.author.id != BRIDGE and any(parts):
            name = stored.author.name
            said.append((name if name in STORY.agents else "Emmett", "\n\n".join(parts)))
    return said, works


async def play_killed(folder: Path, *, errands: int, kills: int) -> None:
    """Emmett says his lines; the bridge is killed after some of them, in the midst of its work."""
    chance, lines, store = (
        random.Random(SEED),
        STORY.dialogue(errands),
        folder / "bridge.sqlite3",
    )
    asked = [number for number, (who, _) in enumerate(lines) if who == "Emmett"]
    per_line = {number: kills * (at + 1) // len(asked) - kills * at // len(asked)
                for at, number in enumerate(asked)}  # fmt: skip
    async with (
        sandbox_beside(channels=1, limits=False) as local,
        story_agents(STORY) as urls,
    ):
        parts, rooms = rooms_across(local, ("slack", "discord"))
        spots, (name, room) = rooms[0], next(iter(parts["rooms"].items()))
        parts["agents"], parts["rooms"] = {}, {name: room}
        with_agents(parts, name, STORY, urls)
        settings = {**parts, "store": {"path": str(store)}}
        spot: Spot = spots[0]
        async with bridge_beside(local, settings, folder) as bridge:
            await bridge.start()
            await bridge.connected(120)
            for number in asked:
                await local.say(spot, spot.people[0], lines[number][1])
                for _ in range(per_line[number]):
                    await asyncio.sleep(chance.uniform(0.0, 0.6))
                    await bridge.kill()
                    await bridge.start()
                following = next((n for n in asked if n > number), len(lines))
                await until_said(store, following)
            said, _ = await archived(store)
            await bridge.stop()
        assert [plain(text) for _, text in said] == [plain(text) for _, text in lines]
        assert [who for who, _ in said] == [who for who, _ in lines]
        for one in spots:
            texts = [plain(message.text) for message in await local.standing(one)]
            for _, text in lines:
                times = sum(1 for _, other in lines if plain(other) == plain(text))
                assert sum(plain(text) == shown for shown in texts) == times, (one, text)


async def until_said(store: Path, count: int) -> None:
    async with asyncio.timeout(120):
        while True:
            said, works = await archived(store)
            assert len(said) <= count, said[count:]
            if len(said) == count and not works:
                return
            await asyncio.sleep(0.05)


@pytest.mark.timeout(300)
async def test_an_errand_survives_kills(tmp_path: Path) -> None:
    await play_killed(tmp_path, errands=1, kills=3)


@pytest.mark.long
@pytest.mark.timeout(3000)
async def test_smart_errands_survives_fifty_kills(tmp_path: Path) -> None:
    await play_killed(tmp_path, errands=4, kills=50)
