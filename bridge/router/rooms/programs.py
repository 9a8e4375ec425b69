"""Programs that speak through the bridge itself: each room has a channel of its own for them, which
no platform shows. What they say is kept as an event, and goes the way of all events.

They know messages by their canonical ids: those are the native ids of these channels.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from bridge.errors import UndecodableEvent
from bridge.model import (
    EVENT,
    AccountId,
    ActorId,
    ChannelRef,
    Event,
    MessageId,
    Raw,
    RoomId,
    actor_id_of,
)
from bridge.model.refs import PROGRAMS

ACCOUNT = AccountId("(api)")  # no account of a configuration can have this name
_PLATFORM, _WORKSPACE = PROGRAMS


def outside_channel(room: RoomId) -> ChannelRef:
    """Where programs speak into this room."""
    return ChannelRef(platform=_PLATFORM, workspace=_WORKSPACE, channel=room)


def room_of_outside(channel: ChannelRef) -> RoomId:
    """The room of a channel of programs; no room's id for any other channel."""
    is_outside = (channel.platform, channel.workspace) == PROGRAMS
    return RoomId(channel.channel if is_outside else "")


def outside_actor(name: str) -> ActorId:
    """Who a program is that speaks under this name."""
    return actor_id_of(_PLATFORM, _WORKSPACE, name)


def aside_of(message: MessageId, agent: str) -> MessageId:
    """The id of what a program says to one agent alone, together with a message to all: the agent
    reads both when it answers the message."""
    return MessageId(f"{message}+aside:{agent}")


def is_outside(channel: ChannelRef) -> bool:
    return channel.platform == _PLATFORM


def raw_of(event: Event, key: str, *, order_key: str | None = None) -> Raw:
    """The event as it is kept; the same `key` is taken once. `order_key`: its place among what
    happened in its channel, by default that of its time."""
    return Raw(
        account=ACCOUNT,
        kind=event.type,
        dedupe_key=key,
        order_key=order_key or f"{event.time.timestamp():018.6f}",
        channel=event.place.channel,
        payload=EVENT.dump_json(event),
    )


def decode(raw: Raw) -> Sequence[Event]:
    """The inverse of `raw_of`."""
    try:
        return [EVENT.validate_json(raw.payload)]
    except ValidationError as error:
        raise UndecodableEvent(f"this is no event of ours: {error}") from None
