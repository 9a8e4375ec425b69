"""Shows an answer while it grows: volatile edits outside of the lanes, at the pace that each
platform allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from bridge.errors import BridgeError, RateLimited, StreamStopped
from bridge.model import (
    AccountId,
    Call,
    Delivery,
    EditMessage,
    MessageId,
    OperationId,
    PostMessage,
    edit_of,
)
from bridge.model.turns import PlanStep
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.whole import Store
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.rate_limits import Priority, RateLimits
from bridge.router.outbound.send import InFlightCalls
from bridge.router.runtime import metrics
from bridge.uacs import Message

log = structlog.get_logger()

_WAIT = 0.05  # seconds between two looks for a post that is on its way


@dataclass(frozen=True)
class StreamRenderer:
    """What every stream works with.

    `roll_over` queues the edit that posts the parts which do not stand there yet.
    """

    store: Store
    connectors: Mapping[AccountId, Connector]
    rate_limits: RateLimits
    clock: Clock
    encoding: Encoding
    roll_over: Callable[[PostMessage, Message], Awaitable[None]]
    in_flight: InFlightCalls


@dataclass
class _Follower:
    """One channel that shows the answer. `shown` is the version that stands there; `parts`: how
    many posts were queued; `busy`: a call is under way that must not be cancelled."""

    post: PostMessage
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    shown_version: int = 0
    parts: int = 1
    busy: bool = False


class Growing(Protocol):
    """An answer that is being written: as it stands, and how far the agent's plan has come."""

    @property
    def steps(self) -> Sequence[PlanStep]: ...

    def message(self) -> Message: ...


class Stream:
    """Shows the newest state of an answer in each channel whose opening post stands, and skips the
    states between. Nothing here is durable: posts of further parts and the final state go through
    the lanes. `stopped` is called when a person stops the answer by a button of the platform."""

    def __init__(
        self, renderer: StreamRenderer, answer: Growing, stopped: Callable[[], None]
    ) -> None:
        self._with = renderer
        self._answer = answer
        self._stopped = stopped
        self._version = 0
        self._closing = False
        self._followers: list[_Follower] = []
        self._tasks: list[asyncio.Task[None]] = []

    def open(self, posts: Sequence[PostMessage]) -> None:
        """Follow the answer in the channels of its opening posts, which are queued."""
        self._followers = [_Follower(post) for post in posts]
        self._tasks = [asyncio.create_task(self._follow(follower)) for follower in self._followers]

    def grew(self) -> None:
        """The answer grew. The followers read its newest state when they may show it."""
        self._version += 1
        for follower in self._followers:
            follower.wake.set()

    async def close(self) -> None:
        """Make no further edit. An edit that is under way ends first, so that it cannot arrive
        after the final state; one that waits for its rate limit is cancelled."""
        self._closing = True
        for follower, task in zip(self._followers, self._tasks, strict=True):
            follower.wake.set()
            if not follower.busy:
                task.cancel()
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result

    async def _follow(self, follower: _Follower) -> None:
        while not self._closing:
            await follower.wake.wait()
            follower.wake.clear()
            while follower.shown_version != self._version and not self._closing:
                connector = self._with.connectors.get(follower.post.account)
                if connector is None:  # its account was taken away meanwhile
                    return
                await self._with.clock.sleep(await self._step(follower, connector))

    async def _step(self, follower: _Follower, connector: Connector) -> float:
        """Show the newest state. Returns the seconds to wait before the next step."""
        channel = follower.post.channel
        try:
            return await self._show(follower, connector)
        except RateLimited as error:
            metrics.RETRIED.labels(follower.post.account, "stream_rate_limited").inc()
            log.warning("stream_rate_limited", channel=channel.key, error=str(error))
            return error.retry_after
        except StreamStopped:
            self._closing = True
            self._stopped()
            return 0.0
        except BridgeError as error:
            log.info("stream_edit_failed", channel=channel.key, error=str(error))
            return connector.capabilities.stream_pace

    async def _show(self, follower: _Follower, connector: Connector) -> float:
        version = self._version
        delivery = await self._delivery(follower.post)
        if delivery is None or len(delivery.copies) < follower.parts:
            return _WAIT  # a post is still on its way
        calls = await self._with.encoding.growing_calls(delivery, connector)
        standing = {copy.slot for copy in delivery.copies}
        parts = len(standing | {call.slot for call in calls if call.kind == "post"})
        if parts > len(delivery.copies):
            follower.parts, follower.busy = parts, True
            await self._with.roll_over(follower.post, delivery.message)
            follower.busy = False
            return _WAIT
        pace = connector.capabilities.stream_pace
        streams = connector.abilities.streams
        grown = await self._with.encoding.grown(delivery, streams) if streams else delivery
        for call in calls:
            pace = await self._make(follower, connector, grown, call) or pace
        follower.shown_version = version
        return pace

    async def _make(
        self, follower: _Follower, connector: Connector, delivery: Delivery, call: Call
    ) -> float | None:
        """Bring one copy up to date. Returns the pace of the platform's own stream, if any."""
        account = follower.post.account
        own = None
        streams = connector.abilities.streams
        if call.kind == "edit" and streams is not None:
            own = streams.growing(delivery, call, self._answer.steps)
        calls = volatile_calls(delivery, [call]) if own is None else own
        for changed in self._with.encoding.edits.changed_by(account, calls):
            async with self._with.rate_limits.permission(
                account, changed.rate_limits, Priority.STREAM_EDIT
            ):
                if self._closing:
                    break
                follower.busy = True
                try:
                    with self._with.in_flight.call(connector):
                        await connector.send(changed)
                finally:
                    follower.busy = False
                self._with.encoding.edits.note(account, changed)
        return streams.pace if own is not None and streams is not None else None

    async def _delivery(self, post: PostMessage) -> Delivery | None:
        """Return the newest state for this channel; None while its opening post is under way."""
        message = self._answer.message()
        copies = await self._with.store.copies(MessageId(message.message_id), post.channel)
        if not copies:
            return None
        operation: EditMessage = edit_of(post, OperationId(f"{post.id} grows"), stream=True)
        return Delivery(
            operation=operation, message=message, copies=tuple(copies), thread=copies[0].thread
        )


def volatile_calls(delivery: Delivery, calls: Sequence[Call]) -> list[Call]:
    """Return the calls that edit existing copies."""
    standing = {receipt.slot for receipt in delivery.copies}
    return [call for call in calls if call.kind == "edit" and call.slot in standing]
