"""The part of a running bridge that the API uses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from bridge.app.archive.accesses import AccessLog
from bridge.app.build import Bridge
from bridge.content.cards.tool_calls import ToolsShown
from bridge.errors import CodecError
from bridge.model import ActorId, ChannelRef, Event, MessageId, RoomId
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.ports.store.whole import Store
from bridge.router.turns.visitors import Visitors
from bridge.uacs import ContentPart, Message


@dataclass(frozen=True)
class RoomView:
    """A room as programs see it: its conversation, channels and agents, and how much of agents'
    tool calls it shows."""

    id: RoomId
    conversation: UUID
    channels: tuple[ChannelRef, ...]
    agents: tuple[str, ...]
    tools: ToolsShown = "names"


class Gateway(Protocol):
    """A running bridge."""

    @property
    def store(self) -> Store: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def blobs(self) -> Blobs: ...

    def rooms(self) -> Sequence[RoomView]: ...

    def note_access(self, who: str, what: str, **facts: object) -> None:
        """Note who reads what, in the log of accesses."""
        ...

    def name_of(self, channel: ChannelRef) -> str:
        """The channel's name with its platform."""
        ...

    async def process_event(self, event: Event, key: str) -> str | None:
        """Process the event durably, like an event of a platform.

        Returns its outcome; None if an event with this key was processed before.
        """
        ...

    async def cancel(self, question: MessageId) -> None:
        """Stop the agents that answer a message, and those that answers to it called."""
        ...

    async def decide_approval(
        self, own_id: str, actor: ActorId, channel: ChannelRef, *, allowed: bool
    ) -> bool:
        """Allow or refuse a call that waits for leave. Returns whether the decision counts."""
        ...

    @property
    def visitors(self) -> Visitors:
        """What programs that visit rooms may do."""
        ...

    def growing(self, room: RoomId) -> Sequence[Message]:
        """The answers that agents are writing in the room, in their current version."""
        ...

    def reading(self) -> AbstractContextManager[asyncio.Event]:
        """An asyncio event that is set when any room may have changed."""
        ...

    def complete(self, message: Message) -> Message:
        """The message with the fallback parts of its cards, which its author may omit."""
        ...

    def card_faults(self, parts: Sequence[ContentPart]) -> list[CodecError]:
        """The errors in cards that cannot be shown, each with its place in the message."""
        ...


class BridgeGateway:
    """The Gateway of the bridge in this process."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    @property
    def store(self) -> Store:
        return self._bridge.store

    @property
    def clock(self) -> Clock:
        return self._bridge.clock

    @property
    def blobs(self) -> Blobs:
        return self._bridge.files.blobs

    def note_access(self, who: str, what: str, **facts: object) -> None:
        if self._bridge.settings.archive.access_log_days != 0:
            AccessLog(self._bridge.settings.store.path).note(who, what, **facts)

    def rooms(self) -> Sequence[RoomView]:
        return [
            RoomView(
                room.id,
                room.conversation,
                tuple(dict.fromkeys(member.channel for member in room.members)),
                tuple(membership.agent for membership in room.agents),
                room.options.show_tools,
            )
            for room in self._bridge.rooms.all
        ]

    def name_of(self, channel: ChannelRef) -> str:
        return self._bridge.rooms.name_of(channel)

    async def process_event(self, event: Event, key: str) -> str | None:
        return await self._bridge.router.process_event(event, key)

    async def cancel(self, question: MessageId) -> None:
        await self._bridge.router.operations.cancel(question)

    async def decide_approval(
        self, own_id: str, actor: ActorId, channel: ChannelRef, *, allowed: bool
    ) -> bool:
        operations = self._bridge.router.operations
        return await operations.decide_approval(own_id, actor, channel, allowed=allowed)

    @property
    def visitors(self) -> Visitors:
        return self._bridge.router.operations.visitors

    def growing(self, room: RoomId) -> Sequence[Message]:
        return self._bridge.router.operations.growing(room)

    def reading(self) -> AbstractContextManager[asyncio.Event]:
        return self._bridge.router.operations.reading()

    def complete(self, message: Message) -> Message:
        return self._bridge.router.operations.complete(message)

    def card_faults(self, parts: Sequence[ContentPart]) -> list[CodecError]:
        return self._bridge.router.operations.card_faults(parts)
