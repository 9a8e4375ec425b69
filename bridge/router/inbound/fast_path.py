"""The fast path of a posted message: planned first, then kept and admitted in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from bridge.content.messages.parts import may_hold_files
from bridge.model import MessageId, MessagePosted, Raw, message_id_of
from bridge.model.inbox_records import InboxRow
from bridge.ports.clock import Clock
from bridge.router.inbound.context import Planned
from bridge.router.inbound.processor import EventProcessor
from bridge.router.inbound.queues import InboundQueues
from bridge.runtime.keyed_locks import KeyedLocks
from bridge.runtime.newest import Newest

_LONGEST = 0.5  # seconds that planning may take: the platform waits for its acknowledgement
_NO_ROW = 0  # ids of rows begin at 1
_REMEMBERED = 10_000  # messages: a platform sends again within minutes


class FastPath:
    """Takes posted messages whose channel is idle, which most are.

    A payload is otherwise kept in a transaction of its own, before anything is done with it. Here
    its message is planned while it is in memory alone, and the platform has its acknowledgement
    after the one transaction that keeps and admits it; a crash before that leaves it to the
    platform, or to catch-up, as one before the first transaction does. Whatever is not planned at
    once goes the ordinary way: other events, messages with files, those that came before, those
    whose plan fails or takes long. Of messages that came before, the newest are remembered; any
    other one is planned in vain, and its transaction finds that it is a repeat.
    """

    def __init__(
        self,
        processor: EventProcessor,
        queues: InboundQueues,
        clock: Clock,
    ) -> None:
        self._processor = processor
        self._queues = queues
        self._clock = clock
        self._taken = Newest[MessageId](_REMEMBERED)
        self._planning = KeyedLocks[str]()  # channels one of whose messages is being planned

    async def take(self, raw: Raw, *, late: bool, advance: bool) -> bool | None:
        """Keep a payload with what it changes. Returns False for a repeat; None where it was not
        kept: then the caller keeps it without giving way to another task, so that the payloads of
        a channel keep their order. `late`: the message may be deleted by now; `advance`: as for
        `InboxStore.accept`."""
        if raw.channel is None:
            return None
        key = raw.channel.key
        if key in self._planning:
            async with self._planning.hold(key):
                return None
        if late or not self._queues.is_free(raw):
            return None
        self._queues.take(raw)
        rest: Callable[[], Awaitable[None]] | None = None
        try:
            began = self._clock.time()
            async with self._planning.hold(key):
                found = await self._plan(raw)
            if found is None:
                return None
            # Nobody who waited for the plan runs before the transaction is under way.
            event, planned = found
            received = await self._processor.receive(raw, planned.admission, advance=advance)
            self._taken.add(_own_id(event))
            if received is not None:
                rest = partial(self._processor.follow, received, event, planned, began)
        except Exception:  # noqa: BLE001 - the ordinary way finds the same, and says what it is
            return None
        else:
            return received is not None
        finally:
            self._queues.give_back(raw, rest)

    async def _plan(self, raw: Raw) -> tuple[MessagePosted, Planned] | None:
        """The only event of a payload, and its plan; None where it is to be kept first."""
        events = self._processor.decoded(raw)
        event = events[0] if len(events) == 1 else None
        if not isinstance(event, MessagePosted) or may_hold_files(event.message):
            return None
        if _own_id(event) in self._taken:
            return None
        async with asyncio.timeout(_LONGEST):
            planned = await self._processor.plan(InboxRow(_NO_ROW, raw), event, is_new=True)
        return None if planned.needs_row else (event, planned)


def _own_id(event: MessagePosted) -> MessageId:
    return message_id_of(event.place.channel, event.native_id)
