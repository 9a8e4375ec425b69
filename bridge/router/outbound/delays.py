"""Notices in the other channels of a room while a channel is far behind, and when it is up to
date again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson
import structlog

from bridge.errors import StoreError
from bridge.model import LaneId, MessageId, RoomId, channel_of_key
from bridge.ports.clock import Clock
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_NOTED = "late"  # every lane that is behind, with the time since when


@dataclass
class _Late:
    """A lane that is behind: since when, in which rooms the notice stands, and the reason and the
    number of seconds that the notice names."""

    since: float
    rooms: set[RoomId] = field(default_factory=set[RoomId])
    reason: str = ""
    reported: float = 0.0


class _LatenessStore(KeyValueStore, OutboxStore, Protocol):
    """What `DelayNotifier` needs of the store."""


class DelayNotifier:
    """Looks at the waiting lanes every `late_look` seconds. Each time that a lane falls behind,
    there is one notice: it is edited as the delay grows, and says at the end that everything is
    there."""

    def __init__(
        self,
        store: _LatenessStore,
        rooms: Rooms,
        notices: Notices,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._notices = notices
        self._clock = clock
        self._timeouts = timeouts
        self._late: dict[LaneId, _Late] = {}

    async def watch(self) -> None:
        """Look until cancelled. After a StoreError, look again at the next turn."""
        await self._remember()
        while True:
            await self._clock.sleep(self._timeouts.late_look)
            try:
                await self.look()
            except StoreError as error:
                log.warning("delay_check_failed", error=str(error))

    async def look(self) -> None:
        now = self._clock.time()
        found = await self._store.lanes_waiting()  # late reactions are not announced
        waiting = {status.lane: status for status in found if self._rooms.have_lane(status.lane)}
        for lane, status in waiting.items():
            if lane not in self._late and now - status.oldest >= self._timeouts.late_after:
                self._late[lane] = _Late(status.oldest)
                await self._note()
        for lane, late in list(self._late.items()):
            status = waiting.get(lane)
            if status is None or now - status.oldest < self._timeouts.late_after:
                await self._over(lane, late)
            elif now - status.oldest >= 2 * late.reported:
                late.reason, late.reported = status.error, now - status.oldest
                await self._notify(lane, late)

    async def _remember(self) -> None:
        """Load the notices that stood at the last stop."""
        noted = await self._store.get_value(ROUTER_VALUES, _NOTED)
        found: dict[str, Any] = orjson.loads(noted) if noted else {}
        everywhere = {room.id for room in self._rooms.all}
        for lane, note in found.items():
            if isinstance(note, dict):
                since, rooms = note["since"], set[RoomId](note["rooms"])
            else:  # noted by 0.1.0, without the rooms
                since, rooms = note, everywhere
            self._late[LaneId(lane)] = _Late(since, rooms)

    async def _note(self) -> None:
        found = {
            lane: {"since": late.since, "rooms": sorted(late.rooms)}
            for lane, late in self._late.items()
        }
        await self._store.put_value(ROUTER_VALUES, _NOTED, orjson.dumps(found).decode())

    async def _notify(self, lane: LaneId, late: _Late) -> None:
        channel = channel_of_key(lane)
        because = f": {late.reason}" if late.reason else ""
        words = f"⏳ {self._rooms.name_of(channel)} is {span_of(late.reported)} behind{because}"
        rooms_now = {room.id for room in self._rooms.holding(channel)}
        if rooms_now - late.rooms:
            late.rooms |= rooms_now
            await self._note()
        for room in self._rooms.holding(channel):
            members = room.listeners(besides=channel)
            own_id = _notice(lane, late, room.id)
            await self._notices.post(own_id, plain_markdown(words), room.id, members)

    async def _over(self, lane: LaneId, late: _Late) -> None:
        """Edit the notice in every room where it stands: the channel may have left some since."""
        channel = channel_of_key(lane)
        name = self._rooms.name_of(channel)
        here = {room.id for room in self._rooms.holding(channel)}
        for room in sorted(late.rooms):
            now = "up to date" if room in here else "not in this room any more"
            await self._notices.change(
                _notice(lane, late, room), plain_markdown(f"{name} is {now}.")
            )
        del self._late[lane]
        await self._note()


def span_of(seconds: float) -> str:
    """About how long: "4 minutes", "3 hours"."""
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = round(seconds / length)
            return f"{number} {name}" if number == 1 else f"{number} {name}s"
    return f"{round(seconds)} seconds"


def _notice(lane: LaneId, late: _Late, room: RoomId) -> MessageId:
    return notice_id("late", lane, room, repr(late.since))
