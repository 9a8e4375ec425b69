"""Showing an answer while it grows: volatile edits, outside the lanes, as fast as each may be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from bridge.errors import BridgeError, RateLimited
from bridge.model import AccountId, Byline, Call, Delivery, EditMessage, MessageId, OperationId
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store import Store
from bridge.router.budgets import Budgets, Priority
from bridge.router.rooms import Member, Room
from bridge.router.showing import as_shown
from bridge.uacs import Message

log = structlog.get_logger()

_WAIT = 0.05  # seconds between two looks for the opening post


class Stream:
    """The newest state goes to each channel whose opening post stands; what lies between is
    skipped. Nothing here is durable: the final state goes through the lanes."""

    def __init__(
        self,
        store: Store,
        connectors: Mapping[AccountId, Connector],
        budgets: Budgets,
        clock: Clock,
        room: Room,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._budgets = budgets
        self._clock = clock
        self._room = room
        self._newest: Message | None = None
        self._version = 0
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []
        self._wakes: list[asyncio.Event] = []

    def show(self, message: Message) -> None:
        """The answer as it stands now."""
        self._newest = message
        self._version += 1
        if not self._tasks:
            for member in self._room.listeners():
                wake = asyncio.Event()
                self._wakes.append(wake)
                self._tasks.append(asyncio.create_task(self._follow(member, wake)))
        for wake in self._wakes:
            wake.set()

    async def close(self) -> None:
        """No further edit; one that is under way ends first, so that it cannot come last."""
        self._closing = True
        for wake in self._wakes:
            wake.set()
        await asyncio.gather(*self._tasks)

    async def _follow(self, member: Member, wake: asyncio.Event) -> None:
        connector = self._connectors[member.account]
        shown = 0
        while not self._closing:
            await wake.wait()
            wake.clear()
            while shown != self._version and not self._closing:
                version, pause = self._version, connector.capabilities.stream_pace
                try:
                    if await self._edit(member, connector):
                        shown = version
                    else:
                        pause = _WAIT
                except RateLimited as error:
                    pause = error.retry_after
                except BridgeError as error:
                    log.info("stream_edit_failed", channel=member.channel.key, error=str(error))
                await self._rest(pause)

    async def _rest(self, seconds: float) -> None:
        """Pause, but not longer than the stream lives."""
        until = self._clock.monotonic() + seconds
        while not self._closing and (left := until - self._clock.monotonic()) > 0:
            await self._clock.sleep(min(left, _WAIT))

    async def _edit(self, member: Member, connector: Connector) -> bool:
        """Show the newest state; False while the opening post is still on its way."""
        message = self._newest
        if message is None:
            return False
        copies = await self._store.copies(MessageId(message.message_id), member.channel)
        if not copies:
            return False
        operation = EditMessage(
            id=OperationId(f"stream of {message.message_id}"),
            account=member.account,
            channel=member.channel,
            room=self._room.id,
            message=MessageId(message.message_id),
            byline=Byline(name=message.actor.name or "agent", agent=True),
        )
        delivery = Delivery(
            operation=operation, message=message, copies=tuple(copies), thread=copies[0].thread
        )
        if not member.options.shows_as_said:
            delivery, _ = as_shown(delivery, member.options, now=self._clock.time())
        for call in volatile_calls(delivery, connector.encode(delivery).calls):
            async with self._budgets.permission(member.account, call.budgets, Priority.STREAM_EDIT):
                if not self._closing:
                    await connector.send(call)
        return True


def volatile_calls(delivery: Delivery, calls: Sequence[Call]) -> list[Call]:
    """The calls that change only what stands there already."""
    standing = {receipt.slot for receipt in delivery.copies}
    return [call for call in calls if call.kind == "edit" and call.slot in standing]
