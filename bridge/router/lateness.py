"""A channel that gets what is said much too late is said so in the others, and when it is over."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.text import Paragraph, Text
from bridge.errors import StoreError
from bridge.model import LaneId, MessageId, RoomId, channel_of_key
from bridge.ports.clock import Clock
from bridge.ports.store import LaneStatus, Store
from bridge.router.notices import Notices, notice_id
from bridge.router.policy import Policy
from bridge.router.rooms import Room, Rooms

log = structlog.get_logger()

_SHELF = "late since "


@dataclass
class _Late:
    """A lane that is behind: since when, and how many seconds of it people were told of."""

    status: LaneStatus
    since: float
    told: float = 0.0


class Lateness:
    """Looks now and then at what waits. One notice for each time that a lane falls behind: it
    grows with the delay, and ends with the news that everything is there."""

    def __init__(
        self, store: Store, rooms: Rooms, notices: Notices, clock: Clock, policy: Policy
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._notices = notices
        self._clock = clock
        self._policy = policy
        self._late: dict[LaneId, _Late] = {}

    async def watch(self) -> None:
        """Look for ever; a store in trouble is asked again."""
        await self._remember()
        while True:
            await self._clock.sleep(self._policy.late_look)
            try:
                await self.look()
            except StoreError as error:
                log.warning("lateness_not_seen", error=str(error))

    async def look(self) -> None:
        now = self._clock.time()
        posts = self._rooms.lanes  # reactions that are late are told to nobody
        found = await self._store.lanes_waiting()
        waiting = {status.lane: status for status in found if status.lane in posts}
        for lane, status in waiting.items():
            if lane not in self._late and now - status.oldest >= self._policy.late_after:
                self._late[lane] = _Late(status, status.oldest)
                await self._store.shelf_put(status.account, _SHELF + lane, repr(status.oldest))
        for lane, late in list(self._late.items()):
            status = waiting.get(lane)
            if status is None or now - status.oldest < self._policy.late_after:
                await self._over(lane, late)
            elif now - status.oldest >= 2 * late.told:
                late.status, late.told = status, now - status.oldest
                await self._tell(late)

    async def _remember(self) -> None:
        """What was said of lateness before the last stop."""
        for room in self._rooms.all:
            for member in room.members:
                lane = member.channel.lane
                since = await self._store.shelf_get(member.account, _SHELF + lane)
                if since is not None:
                    status = LaneStatus(lane, member.account, 0, float(since), "waiting")
                    self._late[lane] = _Late(status, float(since))

    async def _tell(self, late: _Late) -> None:
        name = self._rooms.name_of(channel_of_key(late.status.lane))
        why = f": {late.status.error}" if late.status.error else ""
        words = f"⏳ {name} is {span_of(late.told)} behind{why}"
        for room in self._rooms_of(late.status.lane):
            members = room.listeners(besides=channel_of_key(late.status.lane))
            await self._notices.say(_notice(late, room.id), _plain(words), room.id, members)

    async def _over(self, lane: LaneId, late: _Late) -> None:
        name = self._rooms.name_of(channel_of_key(lane))
        for room in self._rooms_of(lane):
            await self._notices.change(_notice(late, room.id), _plain(f"{name} is up to date."))
        await self._store.shelf_remove(late.status.account, _SHELF + lane)
        del self._late[lane]

    def _rooms_of(self, lane: LaneId) -> list[Room]:
        channel = channel_of_key(lane)
        return [r for r in self._rooms.all if any(m.channel == channel for m in r.members)]


def span_of(seconds: float) -> str:
    """About how long: "4 minutes", "3 hours"."""
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            number = round(seconds / length)
            return f"{number} {name}" if number == 1 else f"{number} {name}s"
    return f"{round(seconds)} seconds"


def _notice(late: _Late, room: RoomId) -> MessageId:
    return notice_id("late", late.status.lane, room, repr(late.since))


def _plain(words: str) -> str:
    return text_to_markdown((Paragraph((Text(words),)),))
