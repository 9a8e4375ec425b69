"""kill -9 at random moments while people talk: nothing lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bridge.ports.clock import SystemClock
from bridge.ports.store import DeadLetter
from bridge.store.sqlite import open_sqlite_to_read
from tests.e2e.tally import Said, Tally, tally
from tests.e2e.town import BridgeProcess, Spot, Town, bridge_beside, rooms_across, town

CHANNELS = 7  # in each of two workspaces, guilds and teams: 42 channels, 14 rooms
SEED = int(os.environ.get("KILL_SEED", "1"))


@dataclass
class Crowd:
    """People who say numbered things in random channels, a third of them in threads."""

    town: Town
    rooms: Sequence[Sequence[Spot]]
    random: random.Random
    said: list[Said] = field(default_factory=list[Said])

    @property
    def later(self) -> int:
        """How many were said after everybody's first."""
        return len(self.said) - sum(map(len, self.rooms))

    async def one_each(self) -> None:
        for room in self.rooms:
            for spot in room:
                await self._say(spot, None)

    async def talk(self, count: int, pause: float) -> None:
        """That many posts, with random pauses of `pause` seconds on average."""
        for _ in range(count):
            spot = self.random.choice(self.random.choice(self.rooms))
            thread = await self._thread(spot) if self.random.random() < 0.33 else None
            await self._say(spot, thread)
            await asyncio.sleep(self.random.expovariate(1 / pause))

    async def _thread(self, spot: Spot) -> str | None:
        """A message of this channel to answer: somebody's here, or our copy of another's."""
        roots = [
            shown
            for shown in await self.town.standing(spot)
            if _may_be_root(shown.id, shown.thread)
        ]
        return self.random.choice(roots[-10:]).id if roots else None

    async def _say(self, spot: Spot, thread: str | None) -> None:
        number = len(self.said)
        person = self.random.choice(spot.people)
        shown = await self.town.say(spot, person, Said.text(number), thread)
        self.said.append(Said(number, spot, shown.id))


def _may_be_root(native_id: str, thread: str | None) -> bool:
    """A message in the channel itself, or a thread's first."""
    return thread in (None, native_id)


async def survive(kills: int, posts: int, folder: Path, *, pause: float, limits: bool) -> None:
    """The whole of it; prints what was counted."""
    chance = random.Random(SEED)
    async with town(channels=CHANNELS, limits=limits) as local:
        parts, rooms = rooms_across(local)
        settings = {**parts, "store": {"path": str(folder / "bridge.sqlite3")}}
        crowd = Crowd(local, rooms, random.Random(SEED + 1))
        async with bridge_beside(local, settings, folder) as bridge:
            await bridge.start()
            await bridge.connected()
            await crowd.one_each()
            assert (await settled(local, crowd, bridge, 120)).clean
            for left in range(kills, 0, -1):
                talking = asyncio.create_task(
                    crowd.talk((posts - crowd.later) // (left + 1), pause)
                )
                await asyncio.sleep(await moment(bridge, chance))
                await bridge.kill()
                await asyncio.sleep(chance.uniform(0.0, 0.5))  # some is said while nobody hears
                await bridge.start()
                await talking
            await crowd.talk(posts - crowd.later, pause)
            await bridge.connected(60)
            found = await settled(local, crowd, bridge, 600)
            assert await bridge.stop() == 0
        letters = await dead_letters(folder / "bridge.sqlite3")
        refusals = await local.refusals()
    report(found, letters, kills, crowd, refusals)
    unproved = excused(found, letters)
    assert found.doubled == []
    assert found.disordered == []
    assert [lost for lost in found.lost if lost not in unproved] == []
    assert {letter.state for letter in letters} <= {"unproved"}
    assert max(Counter(letter.operation.channel for letter in letters).values(), default=0) <= kills


async def moment(bridge: BridgeProcess, chance: random.Random) -> float:
    """How long from now until the kill: mostly at work, sometimes while it starts."""
    if chance.random() < 0.3:
        return chance.uniform(0.0, 3.0)
    await bridge.connected(60)
    return chance.uniform(0.0, 1.5)


async def settled(local: Town, crowd: Crowd, bridge: BridgeProcess, seconds: float) -> Tally:
    """Wait until all is seen, or nothing more is to come."""
    quiet = 0
    async with asyncio.timeout(seconds):
        while (await tally(local, crowd.said, crowd.rooms)).lost and quiet < 20:
            quiet = quiet + 1 if is_idle(await bridge.health()) else 0
            await asyncio.sleep(0.25)
    await asyncio.sleep(2.5)  # a double would come now
    return await tally(local, crowd.said, crowd.rooms)


def is_idle(health: Mapping[str, Any] | None) -> bool:
    if health is None or health["catching_up"]:
        return False
    return not any(health["outbox"].get(state) for state in ("waiting", "sending"))


async def dead_letters(store: Path) -> Sequence[DeadLetter]:
    opened = await open_sqlite_to_read(store, clock=SystemClock())
    try:
        return await opened.dead_letters()
    finally:
        await opened.close()


def excused(found: Tally, letters: Sequence[DeadLetter]) -> set[tuple[int, Spot]]:
    """Losses on Teams that the bridge lists itself as unproved."""
    listed = {(letter.excerpt[:6], letter.operation.channel.channel) for letter in letters}
    return {
        (number, spot)
        for number, spot in found.lost
        if spot.platform == "teams" and (f"#{number:05d}", spot.channel) in listed
    }


def report(
    found: Tally, letters: Sequence[DeadLetter], kills: int, crowd: Crowd, refusals: object
) -> None:
    print(
        f"\n{kills} kills, {len(crowd.said)} posts in {3 * len(crowd.rooms)} channels: "
        f"{found.seen} copies seen, {len(found.lost)} lost, {len(found.doubled)} doubled, "
        f"{len(found.disordered)} out of order, {len(letters)} unproved and listed, "
        f"{found.not_told} posts that Teams could not hand over meanwhile; refused: {refusals}"
    )


async def test_no_kill_loses_doubles_or_reorders_a_post(tmp_path: Path) -> None:
    await survive(kills=6, posts=300, folder=tmp_path, pause=0.05, limits=False)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_fifty_kills_during_two_thousand_posts(tmp_path: Path) -> None:
    await survive(kills=50, posts=2000, folder=tmp_path, pause=0.08, limits=True)
