"""What the backfill command asks a running bridge, and what it is told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bridge.errors import ConfigError
from bridge.model import AccountId, ChannelRef
from bridge.router.recovery.backfill import BackfillProgress
from bridge.router.rooms.rooms import Room


def backfill_channels(rooms: Iterable[Room], name: str) -> Sequence[tuple[AccountId, ChannelRef]]:
    """Return the channels of a room, or the channel with this key, that the bridge reads.

    Raises:
        ConfigError: there is no such room or channel.
    """
    listed = list(rooms)
    found = {
        member.channel.key: (member.account, member.channel)
        for room in listed
        for member in room.members
        if name in (str(room.id), member.channel.key)
    }
    if not found:
        names = ", ".join(sorted(str(room.id) for room in listed)) or "none"
        raise ConfigError(f"There is no room, and no channel of a room, {name!r}; rooms: {names}")
    return list(found.values())


def backfill_json(progress: BackfillProgress) -> dict[str, Any]:
    """Return how far a backfill is, for commands."""
    return {
        "channel": progress.channel.key,
        "since": progress.since,
        "until": progress.until,
        "state": progress.state,
        "error": progress.error,
        "requests": progress.requests,
        "added": progress.added,
        "known": progress.known,
        "reached": progress.reached,
        "left_out": dict(progress.left_out),
    }
