"""Decisions about rooms at run time, as the store has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from bridge.model.refs import AccountId, ActorId, ChannelRef, RoomId
from bridge.model.times import datetime_of
from bridge.uacs import to_timestamp

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
    """A room's configuration: a digest of its settings, the names of all its members, and metadata
    that readers of its Conversation are shown."""

    room: RoomId
    digest: str
    members: tuple[str, ...]
    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True)
class Membership:
    """A time in which a channel (its key) or an agent (`agent:NAME`) was a member of a room.

    - `joined`, `left`: seconds since 1970; None: from the beginning, and until now.
    - `name`, `topic`: of the channel, as far as the archive knows them.
    """

    member: str
    joined: float | None
    left: float | None
    name: str | None = None
    topic: str | None = None


@dataclass(frozen=True)
class RoomFacts:
    """What a room's Conversation says beside its messages."""

    metadata: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    memberships: tuple[Membership, ...] = ()


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


def membership_json(membership: Membership) -> dict[str, JsonValue]:
    """Return a membership as Conversations show it; what is not known is absent."""
    times = {
        name: None if seconds is None else to_timestamp(datetime_of(seconds))
        for name, seconds in (("joined", membership.joined), ("left", membership.left))
    }
    shown: dict[str, JsonValue] = {
        "member": membership.member, "name": membership.name, "topic": membership.topic, **times,
    }  # fmt: skip
    return {name: value for name, value in shown.items() if value is not None}
