"""References to accounts, channels, places, messages and actors; all are plain strings
underneath."""

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
PersonId = NewType("PersonId", str)  # a person with several accounts

BRIDGE = ActorId("bridge")  # the author of the bridge's own messages
BRIDGE_NAME = "Bridge"  # the author name of its messages
PROGRAMS = ("api", "bridge")  # platform and workspace of programs that speak through the bridge

_MARKS = "+marks"
_CONVERSATIONS = UUID("0b0f5f6e-3f3c-5b0a-9d5c-2f1f0a3a7c11")  # our own UUIDv5 namespace


class ChannelRef(BaseModel):
    """A channel of a workspace (elsewhere called guild, server or tenant); it is the key of a lane.

    The three parts are the platform's own ids, never names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    platform: str
    workspace: str
    channel: str

    def __eq__(self, other: object) -> bool:
        """As any model's, at a third of the cost: channels are compared a dozen times for each
        message, and most differ in their own ids."""
        if self is other:
            return True
        if not isinstance(other, ChannelRef):
            return NotImplemented
        return (
            self.channel == other.channel
            and self.workspace == other.workspace
            and self.platform == other.platform
        )

    def __hash__(self) -> int:
        return hash((self.platform, self.workspace, self.channel))

    @property
    def key(self) -> str:
        """`platform:workspace:channel`: unique, readable, and reversible by `channel_of_key`."""
        return _channel_key(self.platform, self.workspace, self.channel)

    @property
    def lane(self) -> LaneId:
        """The queue of the channel's posts, edits and deletions."""
        return LaneId(self.key)

    @property
    def reaction_lane(self) -> LaneId:
        """The queue of the channel's reactions and pins, so that no post waits for them."""
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
        """The channel's key, followed by the thread's id for a thread."""
        return self.channel.key if self.thread is None else join_key_to(self.channel, self.thread)


def join_key(*segments: str) -> str:
    """Joins segments with ':'; ':' and '%' inside them are escaped."""
    return ":".join(_escape(segment) for segment in segments)


_channel_key = lru_cache(maxsize=16384)(join_key)  # called several times for each message


def join_key_to(channel: ChannelRef, segment: str) -> str:
    """Joins a channel's key and one more segment."""
    return f"{channel.key}:{_escape(segment)}"


def split_key(key: str) -> list[str]:
    """Returns the segments of a key: the inverse of `join_key`."""
    return [segment.replace("%3A", ":").replace("%25", "%") for segment in key.split(":")]


def channel_of_key(key: str) -> ChannelRef:
    """Returns the channel of a key: the inverse of `ChannelRef.key`.

    Raises:
        ValueError: The key has not three segments.
    """
    platform, workspace, channel = split_key(key)
    return ChannelRef(platform=platform, workspace=workspace, channel=channel)


def is_notice(message: MessageId) -> bool:
    """Whether the bridge itself is the author of the message."""
    return message.startswith(f"{BRIDGE}:")


def message_id_of(channel: ChannelRef, native_id: str) -> MessageId:
    """Returns the canonical id of a native message; it is the same by live event, catch-up and
    import."""
    return MessageId(join_key_to(channel, native_id))


def native_id_in(channel_key: str, message: MessageId) -> str | None:
    """Returns the platform's id of a message of this channel: the inverse of `message_id_of`.

    Args:
        channel_key: The key of the channel.
        message: A canonical message id.

    Returns:
        The native id; None if the message is of another channel, or of no platform.
    """
    channel, _, native_id = message.rpartition(":")
    if channel != channel_key or not native_id:
        return None
    return native_id.replace("%3A", ":").replace("%25", "%")


def actor_id_of(platform: str, workspace: str, native_id: str) -> ActorId:
    """Returns the canonical id of a platform's actor."""
    return ActorId(join_key(platform, workspace, native_id))


def conversation_id_of(place: Place) -> UUID:
    """Returns the id of the Conversation of a channel or a thread."""
    return _conversation_named(place.key)


def channel_of_lane(lane: LaneId) -> ChannelRef:
    """Returns the channel of a lane."""
    return channel_of_key(lane.removesuffix(_MARKS))


@lru_cache(maxsize=4096)
def _conversation_named(key: str) -> UUID:
    return uuid5(_CONVERSATIONS, key)


def _escape(segment: str) -> str:
    return segment.replace("%", "%25").replace(":", "%3A")
