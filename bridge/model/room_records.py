"""What is decided about rooms while the bridge runs, as the store keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bridge.model.refs import AccountId, ActorId, ChannelRef, RoomId

BarredWhy = Literal["banned", "opted_out"]


@dataclass(frozen=True)
class Ban:
    """Somebody who is not admitted, in one room or (None) in all; `at` is seconds since 1970."""

    actor: ActorId
    why: BarredWhy
    by: str
    at: float
    room: RoomId | None = None


@dataclass(frozen=True)
class Paused:
    """A room that carries nothing, until it is resumed or `until` (seconds since 1970)."""

    room: RoomId
    why: str
    by: str
    at: float
    until: float | None = None


@dataclass(frozen=True)
class RoomLink:
    """A channel that was linked to a room, or unlinked from it, whatever the file says."""

    room: RoomId
    account: AccountId
    channel: ChannelRef
    linked: bool
    by: str
    at: float


@dataclass(frozen=True)
class RoomForm:
    """A room as it is configured: a digest of its settings, and the names of all who are in it."""

    room: RoomId
    digest: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class RoomStanding:
    """The number of a room's configuration, from 1, and since when each member is in it; 0 for
    those who were there first."""

    epoch: int
    joined: Mapping[str, float]


@dataclass(frozen=True)
class DirectEnd:
    """Somebody who wants to be written to by people of a room, and the channel in which they and
    our bot are alone; `at` is seconds since 1970."""

    actor: ActorId
    account: AccountId
    channel: ChannelRef
    room: RoomId
    at: float
