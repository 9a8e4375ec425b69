"""The end of a story of kills or storms: wait until all sides agree, count, hold to the bars."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bridge.app.opening import open_to_read
from bridge.app.settings.store import StoreSettings
from bridge.model import ChannelRef, message_id_of
from bridge.model.outbox_records import DeadLetter
from bridge.runtime.clock import SystemClock
from bridge.store.sql_store import SqlStore
from tests.e2e.processes import SandboxProcess, Spot
from tests.e2e.tally import IsReported, Tally, TeamsLog, Where, tally
from tests.e2e.traffic import Traffic, read_tag, text_of

_WRONGS = (
    "lost", "doubled", "disordered", "stale", "undeleted", "unlike", "torn", "unfiled",
)  # fmt: skip
_LOOK = 0.25  # seconds between two looks, and at least as long as a look takes
_RETOLD = 75.0  # seconds after which Slack has told again what was not acknowledged


class Bridges(Protocol):
    """One bridge, or many over one store."""

    async def health(self) -> Mapping[str, Any] | None:
        """What it says of itself; None while nobody answers."""
        ...

    async def stop(self) -> int:
        """SIGTERM; the exit code."""
        ...


@dataclass
class Reckoning:
    """What stands at the end, and what the store knows of it."""

    tally: Tally
    letters: Sequence[DeadLetter] = ()
    unmapped: list[tuple[str, Spot]] = field(default_factory=list[tuple[str, Spot]])
    seconds: float = 0.0  # until all sides agreed, or nothing more was to come
    in_time: bool = True

    @property
    def unproved(self) -> set[Where]:
        """Posts whose copy in a channel of Teams the bridge lists as unproved."""
        return _unproved_in(self.tally, self.letters)

    def hold(self, *, unproved_per_lane: int, in_order: bool = True) -> None:
        """Every bar, by name; what is unproved may be missing or stay as it was, and is listed."""
        excused = self.unproved
        assert self.in_time
        assert self.tally.doubled == []
        assert not in_order or self.tally.disordered == []
        assert [where for where in self.tally.lost if where not in excused] == []
        assert [where for where in self.tally.stale if where not in excused] == []
        assert [where for where in self.tally.undeleted if where not in excused] == []
        assert [where for where in self.tally.unlike if where not in excused] == []
        assert [where for where in self.tally.torn if where not in excused] == []
        assert [where for where in self.tally.unfiled if where not in excused] == []
        assert self.unmapped == []
        assert [letter for letter in self.letters if letter.state != "unproved"] == []
        lanes = [letter.operation.channel for letter in self.letters]
        assert all(lane.platform == "teams" for lane in lanes)
        assert max((lanes.count(lane) for lane in set(lanes)), default=0) <= unproved_per_lane

    def __str__(self) -> str:
        lines = [
            f"{self.tally}; {len(self.unmapped)} unmapped, {len(self.letters)} unproved and listed "
            f"({len(self.unproved)} of them not as they should stand); "
            f"{'settled' if self.in_time else 'not settled'} after {self.seconds:.0f} s"
        ]
        for name in _WRONGS:
            wrong: list[Where] = getattr(self.tally, name)
            lines += [f"  {name}: #{n:05d} in {spot.platform} {spot.channel}" for n, spot in wrong]
        lines += [
            f"  unmapped: {text!r} in {at.platform} {at.channel}" for text, at in self.unmapped
        ]
        lines += [
            f"  {letter.state} in {letter.operation.channel}: {letter.excerpt!r}: {letter.error}"
            for letter in self.letters
        ]
        return "\n".join(lines)


async def reckon(
    local: SandboxProcess,
    traffic: Traffic,
    bridge: Bridges,
    log: TeamsLog,
    is_reported: IsReported,
    *,
    seconds: float,
    store: Path | StoreSettings,
) -> Reckoning:
    """Wait, end the bridge, count; also where it did not settle in time."""
    since = time.monotonic()
    try:
        await settled(local, traffic, bridge, log, is_reported, seconds, store)
        in_time = True
    except TimeoutError:
        in_time = False
    taken = time.monotonic() - since
    assert await bridge.stop() == 0
    result = await tally(local, traffic.posts, traffic.rooms, log, is_reported)
    async with _reading(store) as opened:
        letters = await opened.dead_letters()
        unmapped = await _unmapped(local, traffic, opened, letters)
    return Reckoning(result, letters, unmapped, taken, in_time)


async def settled(
    local: SandboxProcess,
    traffic: Traffic,
    bridge: Bridges,
    log: TeamsLog,
    is_reported: IsReported,
    seconds: float,
    store: Path | StoreSettings,
) -> Tally:
    """Wait until all is as it should be or listed as unproved, or nothing more is to come."""
    since = time.monotonic()
    async with asyncio.timeout(seconds):
        while True:
            looked = time.monotonic()
            result = await tally(local, traffic.posts, traffic.rooms, log, is_reported)
            if result.settled or {*result.wrong} <= _unproved_in(result, await _letters(store)):
                break
            if not is_idle(await bridge.health()):
                since = time.monotonic()
            elif time.monotonic() - since > _RETOLD:
                break
            await asyncio.sleep(max(_LOOK, time.monotonic() - looked))
    await asyncio.sleep(2.5)  # a double would come now
    return await tally(local, traffic.posts, traffic.rooms, log, is_reported)


def _unproved_in(result: Tally, letters: Sequence[DeadLetter]) -> set[Where]:
    """What is not as it should be, and listed as unproved."""
    listed = {
        (int(tag[0]), letter.operation.channel.channel)
        for letter in letters
        if letter.state == "unproved" and (tag := read_tag(letter.excerpt)) is not None
    }
    return {where for where in result.wrong if (where[0], where[1].channel) in listed}


async def _letters(store: Path | StoreSettings) -> Sequence[DeadLetter]:
    async with _reading(store) as opened:
        return await opened.dead_letters()


@asynccontextmanager
async def _reading(store: Path | StoreSettings) -> AsyncGenerator[SqlStore]:
    """The bridge may run."""
    settings = StoreSettings(path=store) if isinstance(store, Path) else store
    opened = await open_to_read(settings, SystemClock())
    try:
        yield opened
    finally:
        await opened.close()


def is_idle(health: Mapping[str, Any] | None) -> bool:
    if health is None or any(
        health[what] for what in ("catching_up", "reconciling", "files_awaited")
    ):
        return False
    return not health["outbox"].get("open")


async def _unmapped(
    local: SandboxProcess, traffic: Traffic, store: SqlStore, letters: Sequence[DeadLetter]
) -> list[tuple[str, Spot]]:
    """Copies that stand and that the store does not know, or takes for another message."""
    by_number = {post.number: post for post in traffic.posts}
    listed = {(letter.excerpt[:6], letter.operation.channel.channel) for letter in letters}
    wrong: list[tuple[str, Spot]] = []
    for spot in (spot for room in traffic.rooms for spot in room):
        for message in await local.standing(spot):
            tag = read_tag(text_of(message))
            if tag is None or by_number[tag[0]].spot == spot:
                continue
            post = by_number[tag[0]]
            if (f"#{tag[0]:05d}", spot.channel) in listed:
                continue
            canonical = await store.resolve(_ref(spot), message.id)
            if canonical != message_id_of(_ref(post.spot), post.native_id):
                wrong.append((text_of(message), spot))
    return wrong


def _ref(spot: Spot) -> ChannelRef:
    return ChannelRef(platform=spot.platform, workspace=spot.workspace, channel=spot.channel)
