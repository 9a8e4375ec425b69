"""A tenant's events pass at its pace, in order; the channel is told once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import uuid4

from bridge.model import AccountId, ChannelRef, Raw, RoomId
from bridge.model.inbox_records import InboxRow
from bridge.router.inbound.queues import InboundQueues
from bridge.router.inbound.tenant_pace import TenantPace
from bridge.router.outbound.notices import Notices
from bridge.router.rooms.rooms import Member, Room, Rooms
from bridge.router.signals import Signal
from bridge.testing.clock import ManualClock

ACME, GLOBEX = (ChannelRef(platform="tin", workspace=one, channel="C1") for one in ("A", "G"))
ACCOUNT = AccountId("tin")


@dataclass
class Posted:
    """Notices that were posted: the channels that show them."""

    channels: list[ChannelRef] = field(default_factory=list[ChannelRef])

    async def post(self, _id: Any, _text: str, _room: RoomId, members: list[Member]) -> None:
        self.channels += [member.channel for member in members]


def row(channel: ChannelRef) -> InboxRow:
    raw = Raw(
        account=ACCOUNT, kind="post", dedupe_key="k", order_key="1", channel=channel, payload=b"{}"
    )
    return InboxRow(1, raw)


def pace_of(limits: dict[tuple[str, str], int]) -> tuple[TenantPace, ManualClock, Posted]:
    members = (Member(ACCOUNT, ACME), Member(ACCOUNT, GLOBEX))
    rooms, posted, clock = (
        Rooms([Room(RoomId("r"), uuid4(), members)]),
        Posted(),
        ManualClock(1000.0),
    )
    queues = InboundQueues(Signal[InboxRow]())
    pace = TenantPace(queues, rooms, cast("Notices", posted), clock)
    pace.change(limits)
    return pace, clock, posted


async def test_a_minutes_worth_passes_at_once_and_the_rest_follows_at_the_pace() -> None:
    pace, clock, posted = pace_of({("tin", "A"): 60})
    for _ in range(60):
        await pace.wait(row(ACME))
    at_once = clock.now
    for _ in range(10):
        await pace.wait(row(ACME))

    assert at_once == 1000.0
    assert round(clock.now) == 1010
    assert posted.channels == [ACME]


async def test_another_tenant_is_not_held_up() -> None:
    pace, clock, posted = pace_of({("tin", "A"): 1, ("tin", "G"): 1})
    await pace.wait(row(ACME))
    await pace.wait(row(GLOBEX))

    assert (clock.now, posted.channels) == (1000.0, [])


async def test_what_has_no_limit_never_waits() -> None:
    pace, clock, _ = pace_of({})
    for _ in range(1000):
        await pace.wait(row(ACME))

    assert clock.now == 1000.0


async def test_a_channel_is_told_again_after_the_tenant_was_quiet() -> None:
    pace, clock, posted = pace_of({("tin", "A"): 2})
    for _ in range(4):
        await pace.wait(row(ACME))
    clock.now += 3600
    for _ in range(3):
        await pace.wait(row(ACME))

    assert posted.channels == [ACME, ACME]


async def test_a_limit_that_is_lifted_lets_all_pass() -> None:
    pace, clock, _ = pace_of({("tin", "A"): 1})
    await pace.wait(row(ACME))
    waiting = asyncio.ensure_future(pace.wait(row(ACME)))
    pace.change({})
    await waiting

    assert clock.now == 1000.0
