"""Names of things: accounts, channels, places, messages, actors; all plain strings underneath."""

from __future__ import annotations

from functools import lru_cache
from typing import NewType
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict

AccountId = NewType("AccountId", str)  # the account's name in the configuration
MessageId = NewType("MessageId", str)  # "platform:workspace:channel:native id"
ActorId = NewType("ActorId", str)  # "platform:workspace:native id"
RoomId = NewType("RoomId", str)  # the room's name in the configuration
LaneId = NewType("LaneId", str)  # the key of the lane's channel
OperationId = NewType("OperationId", str)
TurnId = NewType("TurnId", str)
PersonId = NewType("PersonId", str)  # of somebody with several accounts

BRIDGE = ActorId("bridge")  # the author of the bridge's own messages
BRIDGE_NAME = "Bridge"  # the name that its messages show
PROGRAMS = ("api", "bridge")  # platform and workspace of programs that speak through the bridge

_MARKS = "+marks"
_CONVERSATIONS = UUID("0b0f5f6e-3f3c-5b0a-9d5c-2f1f0a3a7c11")  # our own UUIDv5 namespace


class ChannelRef(BaseModel):
    """A channel of a workspace (elsewhere called guild, server or tenant); it keys the lanes.

    The three parts are the platform's own ids, never names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    platform: str
    workspace: str
    channel: str

    @property
    def key(self) -> str:
        """`platform:workspace:channel`, unique, readable, reversible by `channel_of_key`."""
        return _channel_key(self.platform, self.workspace, self.channel)

    @property
    def lane(self) -> LaneId:
        return LaneId(self.key)

    @property
    def marks_lane(self) -> LaneId:
        """Where reactions and pins wait for their turn, so that no post waits for them."""
        return LaneId(f"{self.key}{_MARKS}")

    def __str__(self) -> str:
        return self.key


class Place(BaseModel):
    """A channel, or one thread in it; `thread` is the platform's id of the thread."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel: ChannelRef
    thread: str | None = None

    @property
    def key(self) -> str:
        return self.channel.key if self.thread is None else join_key_to(self.channel, self.thread)


def join_key(*segments: str) -> str:
    """Segments -> one string with ':' between them; ':' and '%' inside are escaped."""
    return ":".join(_escape(segment) for segment in segments)


_channel_key = lru_cache(maxsize=16384)(join_key)  # asked for several times with each message


def join_key_to(channel: ChannelRef, segment: str) -> str:
    return f"{channel.key}:{_escape(segment)}"


def split_key(key: str) -> list[str]:
    """The inverse of `join_key`."""
    return [segment.replace("%3A", ":").replace("%25", "%") for segment in key.split(":")]


def channel_of_key(key: str) -> ChannelRef:
    """The inverse of `ChannelRef.key`."""
    platform, workspace, channel = split_key(key)
    return ChannelRef(platform=platform, workspace=workspace, channel=channel)


def is_notice(message: MessageId) -> bool:
    """Whether the bridge itself is the author of the message."""
    return message.startswith(f"{BRIDGE}:")


def message_id_of(channel: ChannelRef, native_id: str) -> MessageId:
    """The same message has the same id however it reaches us: live, by catch-up, by import."""
    return MessageId(join_key_to(channel, native_id))


def native_id_in(channel_key: str, message: MessageId) -> str | None:
    """The inverse of `message_id_of`: the platform's id of a message that was said in the channel
    with this key. None where its id is of another channel, or no platform's."""
    channel, _, native_id = message.rpartition(":")
    if channel != channel_key or not native_id:
        return None
    return native_id.replace("%3A", ":").replace("%25", "%")


def actor_id_of(platform: str, workspace: str, native_id: str) -> ActorId:
    return ActorId(join_key(platform, workspace, native_id))


def conversation_id_of(place: Place) -> UUID:
    """The Conversation that a channel or a thread is."""
    return _conversation_named(place.key)


def channel_of_lane(lane: LaneId) -> ChannelRef:
    """The channel that a lane leads to."""
    return channel_of_key(lane.removesuffix(_MARKS))


@lru_cache(maxsize=4096)
def _conversation_named(key: str) -> UUID:
    return uuid5(_CONVERSATIONS, key)


def _escape(segment: str) -> str:
    return segment.replace("%", "%25").replace(":", "%3A")
