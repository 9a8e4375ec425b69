"""A post that was sent again and arrives twice after all: the later copy is taken away."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from bridge.errors import BridgeError
from bridge.model import (
    AccountId,
    Call,
    DeleteMessage,
    Delivery,
    Operation,
    OperationId,
    Receipt,
)
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.router.runtime.timeouts import Policy

log = structlog.get_logger()

_REMEMBERED = 4096  # operations
_LOOKS = 30  # for the answer to the second request, which says which copy is the one


@dataclass
class _Resent:
    operation: Operation
    seen: dict[int, set[str]] = field(default_factory=dict[int, set[str]])


class DuplicateRemover:
    """Remembers what was sent again because it was not found, and hears our posts come back.

    Only posts that come back with their operation's id are known for sure: elsewhere two equal
    posts may be two messages, and nothing is taken away.
    """

    def __init__(
        self,
        store: MessageStore,
        connectors: Mapping[AccountId, Connector],
        clock: Clock,
        policy: Policy,
        send: Callable[[Connector, Call], Awaitable[Receipt]],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._clock = clock
        self._policy = policy
        self._send = send
        self._resent: OrderedDict[OperationId, _Resent] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def sent_again(self, operation: Operation) -> None:
        """It was looked for and not found; from now on it may arrive twice."""
        self._resent.setdefault(operation.id, _Resent(operation))
        if len(self._resent) > _REMEMBERED:
            self._resent.popitem(last=False)

    def heard(self, operation: OperationId, receipt: Receipt) -> None:
        """A post of this operation came back."""
        resent = self._resent.get(operation)
        if resent is None:
            return
        seen = resent.seen.setdefault(receipt.slot, set())
        seen.add(receipt.native_id)
        if len(seen) > 1:
            task = asyncio.create_task(self._take_away(resent, receipt.slot), name="double")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take_away(self, resent: _Resent, slot: int) -> None:
        operation = resent.operation
        connector = self._connectors.get(operation.account)
        standing: dict[str, Receipt] = {}
        for _ in range(_LOOKS):
            await self._clock.sleep(self._policy.settle_grace)
            copies = await self._store.copies(operation.message, operation.channel)
            if standing := {copy.native_id: copy for copy in copies if copy.slot == slot}:
                break
        stored = await self._store.message(operation.message)
        if connector is None or stored is None or not standing:
            return
        for native_id in sorted(resent.seen[slot] - set(standing)):
            if await self._store.resolve(operation.channel, native_id) is not None:
                continue
            resent.seen[slot].discard(native_id)
            copy = next(iter(standing.values())).model_copy(update={"native_id": native_id})
            deletion = DeleteMessage(
                id=OperationId(f"{operation.id} double"), account=operation.account,
                channel=operation.channel, room=operation.room, message=operation.message,
            )  # fmt: skip
            delivery = Delivery(operation=deletion, message=stored.message, copies=(copy,))
            try:
                for call in connector.encode(delivery).calls:
                    await self._send(connector, call)
            except BridgeError as error:
                log.warning(
                    "double_stands", account=operation.account, channel=operation.channel.key,
                    operation=operation.id, error=str(error),
                )  # fmt: skip
            else:
                log.warning(
                    "double_taken_away", account=operation.account,
                    channel=operation.channel.key, operation=operation.id, native_id=native_id,
                )  # fmt: skip
