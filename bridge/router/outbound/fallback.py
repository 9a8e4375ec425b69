"""Other ways to send what a platform refuses: without a stream, outside of a thread, as plain
words, without its files, or as the beginning of a new thread. Nothing is sent here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

import structlog

from bridge.errors import FormRefused, Refused, ThreadClosed
from bridge.model import Call, Delivery, Loss
from bridge.model.outbox_records import OutboxItem
from bridge.ports.abilities.streams import Streams
from bridge.ports.connector import Connector
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.outcomes import Attempt

log = structlog.get_logger()


@dataclass(frozen=True)
class Fallback:
    """One other way to send a call. `kind` and `shown_as` describe what is lost by it; `rewrite`
    returns the call that may be accepted, or None where this way does not apply."""

    kind: str
    shown_as: str
    rewrite: Callable[[Call], Awaitable[Call | None]]

    def loss(self, error: Refused) -> Loss:
        """What the recipients lose because the platform raised `error`."""
        return Loss(path="", kind=self.kind, what=str(error), shown_as=self.shown_as)


def fallbacks(
    encoding: Encoding, delivery: Delivery, connector: Connector, error: Refused
) -> Iterator[Fallback]:
    """The ways to send what the platform refused with `error`, in the order to try them: each is
    applied to the call that the one before it returned."""
    abilities = connector.abilities
    if (streams := abilities.streams) is not None:
        unstreamed = _unstreamed(encoding, delivery, streams)
        yield Fallback("no_stream", "a post that is edited", unstreamed)
    if isinstance(error, ThreadClosed):
        in_channel = _in_channel(encoding, delivery, connector)
        yield Fallback("thread_closed", "a post in the channel", in_channel)
    if (simpler := abilities.simpler_forms) is None:
        return
    if isinstance(error, FormRefused):
        yield Fallback("form_refused", "its words", _asynchronous(simpler.in_words))
    yield Fallback("files_refused", "their names", _asynchronous(simpler.without_files))


async def in_new_thread(attempt: Attempt, call: Call) -> OutboxItem | None:
    """The operation as a post that begins its thread anew, because the platform does not find the
    thread; None for a call that is in no thread.

    The store is read again: it may hold receipts of earlier calls by now.
    """
    thread = attempt.item.delivery.thread
    if call.kind != "post" or thread is None:
        return None
    now = await attempt.read_again()
    if now is None:
        return None
    log.info("thread_gone", operation=attempt.operation.id, thread=thread)
    return replace(now, delivery=out_of_thread(now.delivery), thread_missing=True)


def out_of_thread(delivery: Delivery) -> Delivery:
    """The delivery as a post in the channel itself."""
    return delivery.model_copy(update={"thread": None})


def _unstreamed(
    encoding: Encoding, delivery: Delivery, streams: Streams
) -> Callable[[Call], Awaitable[Call | None]]:
    async def rewrite(call: Call) -> Call | None:
        return await encoding.unstreamed(delivery, call, streams)

    return rewrite


def _in_channel(
    encoding: Encoding, delivery: Delivery, connector: Connector
) -> Callable[[Call], Awaitable[Call | None]]:
    async def rewrite(call: Call) -> Call | None:
        """The same part of the message as a post in the channel."""
        if call.thread is None:
            return None
        calls = (await encoding.to_send(out_of_thread(delivery), connector)).calls
        return next((other for other in calls if other.slot == call.slot), None)

    return rewrite


def _asynchronous(
    rewrite: Callable[[Call], Call | None],
) -> Callable[[Call], Awaitable[Call | None]]:
    async def rewritten(call: Call) -> Call | None:
        return rewrite(call)

    return rewritten
