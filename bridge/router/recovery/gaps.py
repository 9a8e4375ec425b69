"""Announces messages that could not be recovered in their rooms, once for each gap."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from bridge.model import AccountId, ChannelRef
from bridge.ports.abilities.platform_history import Unreadable
from bridge.ports.connector import Connector
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.features import platform_name
from bridge.router.rooms.rooms import Room, Rooms


class Gaps:
    """Posts notices of messages that could not be recovered, for everybody in the room: authors
    should know of the gap as well as readers."""

    def __init__(
        self, rooms: Rooms, connectors: Mapping[AccountId, Connector], notices: Notices
    ) -> None:
        self._rooms = rooms
        self._connectors = connectors
        self._notices = notices

    async def post(self, account: AccountId, channel: ChannelRef, gap: Unreadable) -> None:
        """Post the gap of one channel in all rooms that receive from it. Raises StoreError."""
        for room in self._rooms.receiving_from(account, channel):
            await self._post(account, room, gap, channel.key)

    async def post_in_all_rooms(self, account: AccountId, gap: Unreadable) -> None:
        """Post the gap of all channels of the account, once in each of its rooms. Raises
        StoreError."""
        for room in self._rooms.all:
            if any(member.speaks and member.account == account for member in room.members):
                await self._post(account, room, gap, "")

    async def post_uncompared(
        self, account: AccountId, channel: ChannelRef, gap: Unreadable
    ) -> None:
        """Post that changes in a channel were not compared to the end. Raises StoreError."""
        platform = platform_name(self._connectors, self._connectors[account].capabilities.platform)
        text = (
            f"Edits, deletions and reactions on {platform} {_between(gap.since, gap.until)} may be "
            "missing: there was more to compare than the bridge may ask for."
        )
        for room in self._rooms.receiving_from(account, channel):
            own_id = notice_id("uncompared", account, str(room.id), f"{gap.since:.3f}")
            await self._notices.post(
                own_id, text, room.id, room.listeners(), timeline=room.timeline
            )

    async def _post(self, account: AccountId, room: Room, gap: Unreadable, channel: str) -> None:
        own_id = notice_id("gap", account, channel, str(room.id), f"{gap.since:.3f}")
        platform = platform_name(self._connectors, self._connectors[account].capabilities.platform)
        await self._notices.post(
            own_id, words_of(gap, platform), room.id, room.listeners(), timeline=room.timeline
        )


def words_of(gap: Unreadable, platform: str) -> str:
    """Return the gap as one sentence, with times in UTC to the minute."""
    when = _between(gap.since, gap.until)
    if gap.count is None:
        return f"Messages on {platform} {when} could not be read."
    subject = "1 message" if gap.count == 1 else f"{gap.count} messages"
    return f"{subject} on {platform} {when} could not be recovered."


def _between(since: float, until: float) -> str:
    first, last = (datetime.fromtimestamp(at, UTC) for at in (since, until))
    if first.date() != last.date():
        return f"between {first:%Y-%m-%d %H:%M} and {last:%Y-%m-%d %H:%M} UTC"
    if f"{first:%H:%M}" == f"{last:%H:%M}":
        return f"at {first:%H:%M} UTC"
    return f"between {first:%H:%M} and {last:%H:%M} UTC"
