"""How fast events of a tenant are worked on: what comes faster waits in its channel's queue, in
order, and stays in the inbox. The channel is told once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog

from bridge.errors import StoreError
from bridge.model import ChannelRef
from bridge.model.inbox_records import InboxRow
from bridge.ports.clock import Clock
from bridge.router.inbound.queues import InboundQueues
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import Rooms

log = structlog.get_logger()

Workspace = tuple[str, str]  # platform and its id of the workspace
_MINUTE = 60.0


@dataclass
class _Bucket:
    """What a tenant has left; `told`: its people know that it waits."""

    left: float
    at: float
    told: bool = False

    def refill(self, per_minute: int, now: float) -> None:
        self.left = min(per_minute, self.left + (now - self.at) * per_minute / _MINUTE)
        self.at = now
        if self.left >= per_minute:
            self.told = False


@dataclass
class TenantPace:
    """Lets a tenant's events pass at its pace: at most a minute's worth at once."""

    queues: InboundQueues
    rooms: Rooms
    notices: Notices
    clock: Clock
    _limits: Mapping[Workspace, int] = field(default_factory=dict[Workspace, int])
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _buckets: dict[Workspace, _Bucket] = field(default_factory=dict[Workspace, _Bucket])

    def change(self, limits: Mapping[Workspace, int]) -> None:
        """Replace the limits: events in a minute, by workspace. What waits looks at them anew."""
        self._limits = limits
        self.queues.wait = self.wait if limits else None
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        self._buckets = {key: one for key, one in self._buckets.items() if key in limits}

    async def wait(self, row: InboxRow) -> None:
        """Return when the row may be worked on."""
        channel = row.raw.channel
        if channel is None:
            return
        key = (channel.platform, channel.workspace)
        while (per_minute := self._limits.get(key)) is not None:
            now = self.clock.monotonic()
            bucket = self._buckets.setdefault(key, _Bucket(per_minute, now))
            bucket.refill(per_minute, now)
            if bucket.left >= 1:
                bucket.left -= 1
                return
            if not bucket.told:
                bucket.told = True
                await self._tell(channel, per_minute)
            await self._sleep((1 - bucket.left) * _MINUTE / per_minute)

    async def _sleep(self, seconds: float) -> None:
        """Return after the time, or when the limits change."""
        sleeping = asyncio.ensure_future(self.clock.sleep(seconds))
        changing = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait({sleeping, changing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            changing.cancel()

    async def _tell(self, channel: ChannelRef, per_minute: int) -> None:
        log.info("tenant_waits", platform=channel.platform, tenant=channel.workspace)
        held = [(room, room.member(channel)) for room in self.rooms.holding(channel)]
        room, member = next(((r, m) for r, m in held if m is not None), (None, None))
        if room is None or member is None or not member.listens:
            return
        text = (
            f"⏳ More than {per_minute} messages a minute came from here. The rest follows, in "
            "order; nothing is lost."
        )
        own_id = notice_id("pace", channel.key, f"{self.clock.time():.0f}")
        try:
            await self.notices.post(own_id, plain_markdown(text), room.id, [member])
        except StoreError as error:
            log.warning("tenant_notice_failed", tenant=channel.workspace, error=str(error))
