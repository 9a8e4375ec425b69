"""Decisions about rooms at run time, as the store has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bridge.model.refs import AccountId, ActorId, ChannelRef, RoomId

BanReason = Literal["banned", "opted_out"]


@dataclass(frozen=True)
class Ban:
    """An actor who is excluded from one room, or (None) from all; `at` is in seconds since 1970."""

    actor: ActorId
    reason: BanReason
    by: str
    at: float
    room: RoomId | None = None


@dataclass(frozen=True)
class RoomPause:
    """A room that carries no messages until it is resumed, or until `until` (seconds since
    1970)."""

    room: RoomId
    reason: str
    by: str
    at: float
    until: float | None = None


@dataclass(frozen=True)
class RoomLink:
    """A channel that was linked to a room or unlinked from it, whatever the configuration file
    says."""

    room: RoomId
    account: AccountId
    channel: ChannelRef
    linked: bool
    by: str
    at: float


@dataclass(frozen=True)
class RoomForm:
    """A room's configuration: a digest of its settings, and the names of all its members."""

    room: RoomId
    digest: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class RoomStanding:
    """The number of a room's configuration, from 1, and the time each member joined; 0 for the
    first members."""

    epoch: int
    joined: Mapping[str, float]


@dataclass(frozen=True)
class DirectEnd:
    """A person who accepts direct messages from people of a room, and the channel of their direct
    chat with our bot; `at` is in seconds since 1970."""

    actor: ActorId
    account: AccountId
    channel: ChannelRef
    room: RoomId
    at: float
