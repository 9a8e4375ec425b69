"""What the replay command asks a running bridge, and what it is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bridge.errors import ConfigError
from bridge.ports.store.archive import ArchiveStore
from bridge.router.outbound.replay import ReplayProgress
from bridge.router.rooms.rooms import Room


async def replay_of(
    store: ArchiveStore,
    rooms: Iterable[Room],
    source: str,
    target: str,
    since: float | None,
    until: float | None,
) -> ReplayProgress:
    """Return the replay of a room or channel of the archive, by name or key, into a channel of a
    room, by its key.

    Raises:
        ConfigError: there is no such source or target, or the source has several meanings.
        StoreError: the store cannot be read.
    """
    archived = await store.archived_conversations()
    found = [one for one in archived if source in (one.channel.name, one.channel.channel.key)]
    if len(found) != 1:
        names = ", ".join(sorted({one.channel.name for one in archived})[:30]) or "none"
        what = "is the name of several; give the key" if found else f"is not there: {names}"
        raise ConfigError(f"{source!r} in the archive {what}")
    members = [(room, member) for room in rooms for member in room.members]
    for room, member in members:
        if member.channel.key == target:
            timelines = tuple(found[0].timelines)
            return ReplayProgress(source, timelines, member.channel, room.id, since, until)
    keys = ", ".join(sorted({member.channel.key for _, member in members})) or "none"
    todo = "put it into a room, if need be alone"
    raise ConfigError(f"{target!r} is no channel of a room; {todo}. Channels: {keys}")


def replay_json(progress: ReplayProgress) -> dict[str, Any]:
    """Return how far a replay is, for commands."""
    return {
        "source": progress.source,
        "target": progress.target.key,
        "state": progress.state,
        "error": progress.error,
        "posted": progress.posted,
        "failed": progress.failed,
        "left_out": dict(progress.left_out),
        "reached": progress.reached,
    }
