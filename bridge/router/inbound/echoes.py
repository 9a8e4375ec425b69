"""Events that change nothing: messages that the archive has, and echoes of our own posts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from bridge.model import Ignored, LaneId, MessagePosted, Receipt, message_id_of
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.inbound.context import Planned, Received, ended
from bridge.router.signals import Signal, UnknownPost


@dataclass(frozen=True)
class DropRepeats:
    """Ends a message that live events, catch-up and import bring more than once.

    The admitting transaction checks it again, so two at the same moment are archived once, too.
    """

    store: MessageStore

    async def __call__(self, received: Received) -> Received | Planned:
        match received.event:
            case Ignored(reason=reason):
                return ended(f"ignored: {reason}")
            case MessagePosted() as event if not event.own and not received.is_new:
                own_id = message_id_of(event.place.channel, event.native_id)
                return ended("repeat") if await self.store.message(own_id) else received
            case _:
                return received


class _EchoStore(MessageStore, OutboxStore, Protocol):
    """What `SettleOwnEcho` needs of the store."""


@dataclass(frozen=True)
class SettleOwnEcho:
    """Takes our own post, when it comes back, as the proof that it was sent; it is never routed.

    `unknown_post` is emitted for a post of our account that no operation of this store made.
    """

    store: _EchoStore
    wake_lane: Callable[[LaneId], None]
    unknown_post: Signal[UnknownPost]

    async def __call__(self, received: Received) -> Received | Planned:
        event = received.event
        if not getattr(event, "own", False):
            return received
        if isinstance(event, MessagePosted) and event.operation:
            if await self.store.resolve(event.place.channel, event.native_id):
                return ended("own_echo")
            receipt = Receipt(slot=event.slot, native_id=event.native_id, thread=event.place.thread)
            if not await self.store.knows_operation(event.operation):
                await self.unknown_post.emit(UnknownPost(event, ""))
            await self.store.record(event.operation, [receipt])
            self.wake_lane(event.place.channel.lane)
        return ended("own_echo")
