"""A backfill, and the replay of what it read, that are killed again and again: everything is there
once, and in order."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bridge.app.control import running_bridge
from bridge.model import ChannelRef
from bridge.model.export_records import ArchivedMessage, ArchiveFilter
from bridge.ports.store.key_values import ROUTER_VALUES
from bridge.runtime.clock import SystemClock
from bridge.store.sqlite import open_sqlite_to_read
from tests.e2e.processes import (
    BridgeProcess,
    SandboxProcess,
    Spot,
    bridge_beside,
    rooms_across,
    sandbox_beside,
)
from tests.e2e.test_backfill import text_of

SEED = 11
POSTS = 60  # in each channel


async def value_in(store: Path, name: str) -> list[dict[str, Any]]:
    """What the router noted in the store."""
    opened = await open_sqlite_to_read(store, clock=SystemClock())
    try:
        return json.loads(await opened.get_value(ROUTER_VALUES, name) or "[]")
    finally:
        await opened.close()


async def killed_until_done(
    bridge: BridgeProcess, store: Path, name: str, kills: int, chance: random.Random
) -> int:
    """Kill the bridge at random moments, then let it end. Returns the number of kills."""
    made = 0
    while True:
        await bridge.start()
        await bridge.connected(120)
        limit = chance.uniform(0.0, 1.5) if made < kills else 120.0
        try:
            async with asyncio.timeout(limit):
                while any(  # noqa: ASYNC110 - another process changes it
                    one["state"] in ("waiting", "reading", "posting")
                    for one in await value_in(store, name)
                ) or not await value_in(store, name):
                    await asyncio.sleep(0.02)
        except TimeoutError:
            await bridge.kill()
            made += 1
            continue
        await bridge.stop()
        return made


async def archived(store: Path) -> list[ArchivedMessage]:
    opened = await open_sqlite_to_read(store, clock=SystemClock())
    try:
        found: list[ArchivedMessage] = []
        for conversation in await opened.archived_conversations():
            page = await opened.archived_messages(
                conversation.timelines, ArchiveFilter(deleted=True), after=None, limit=10_000
            )
            found += page.messages
        assert (await opened.verify_chain({})).faults == []
        return found
    finally:
        await opened.close()


async def people_talk(local: SandboxProcess, spot: Spot, chance: random.Random) -> list[str]:
    """Posts and threads in a channel. Returns their texts."""
    roots: list[str] = []
    texts: list[str] = []
    for number in range(POSTS):
        texts.append(f"{spot.platform} {spot.channel} says {number}.")
        thread = chance.choice(roots) if roots and chance.random() < 0.5 else None
        posted = await local.say(spot, chance.choice(spot.people), texts[-1], thread)
        if thread is None:
            roots.append(posted.id)
    return texts


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_killed_backfills_and_replays_miss_and_double_nothing(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    store = tmp_path / "bridge.sqlite3"
    async with sandbox_beside(channels=1, limits=False) as local:
        parts, rooms = rooms_across(local, ("slack", "discord"))
        for room in parts["rooms"].values():
            room["backfill"] = "all"
        spots = [spot for room in rooms for spot in room]
        said = {spot: await people_talk(local, spot, chance) for spot in spots}
        async with bridge_beside(
            local, {**parts, "store": {"path": str(store)}}, tmp_path
        ) as bridge:
            kills = await killed_until_done(bridge, store, "backfills", 12, chance)
            found = Counter(text_of(message) for message in await archived(store))
            assert found == Counter(text for texts in said.values() for text in texts)
            assert not [m for spot in spots for m in await local.standing(spot) if m.bot]

            source, target = rooms[0]
            await bridge.start()
            await bridge.connected(120)
            control = running_bridge(store)
            assert control
            order = {"begin": key_of(source), "to": key_of(target), "since": None, "until": None}
            await asyncio.to_thread(control.ask, "/admin/archive-replay", order)
            await bridge.kill()
            kills += 1 + await killed_until_done(bridge, store, "replays", 12, chance)
            copies = [m.text for m in await local.standing(target) if m.bot]
    print(f"\n{kills} kills, {sum(found.values())} messages archived, {len(copies)} replayed")
    assert Counter(copies) == Counter(said[source])


def key_of(spot: Spot) -> str:
    """The channel's key."""
    channel = ChannelRef(platform=spot.platform, workspace=spot.workspace, channel=spot.channel)
    return channel.key
