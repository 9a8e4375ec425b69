"""The calls that show a channel a message: dressed as its room wants it, in its platform's form."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from bridge.content.markdown.close_open import close_open_markup, settled_markdown
from bridge.content.text.patterns import settled_words
from bridge.errors import StoreError
from bridge.model import (
    AccountId,
    Call,
    ChannelRef,
    Delivery,
    EditMessage,
    Encoded,
    Receipt,
)
from bridge.ports.abilities.streams import Streams
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.presentation import (
    PresentationContext,
    UrlOf,
    present,
    with_tools_as_steps,
)
from bridge.router.outbound.rate_limits import RateLimits
from bridge.router.outbound.references import References
from bridge.router.outbound.translations import Translations
from bridge.router.rooms.rooms import Rooms
from bridge.uacs import TextPart

log = structlog.get_logger()

_REMEMBERED = 8192  # edits


class NotEncodable(Exception):
    """No encoder takes the message; `reason` is the encoder's error."""

    def __init__(self, reason: Exception) -> None:
        self.reason = reason
        super().__init__(str(reason))


class _EncodingStore(ConversationStore, MessageStore, OutboxStore, Protocol):
    """What `Encoding` needs of the store."""


class Encoding:
    """Turns deliveries into calls. Nothing is sent here."""

    def __init__(
        self,
        store: _EncodingStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        rate_limits: RateLimits,
        clock: Clock,
        url_of: UrlOf,
        references: References,
        translations: Translations,
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._rate_limits = rate_limits
        self._context = PresentationContext(
            store, connectors, rooms, references, clock, url_of, translations
        )
        self.edits = LastEdits()

    # --- for the lanes ----------------------------------------------------------------------------

    async def encode(self, delivery: Delivery, connector: Connector) -> Encoded:
        """The same as `to_send`, for the first attempt: logs a message that cannot be encoded.
        Raises StoreError, and NotEncodable."""
        try:
            return await self.to_send(delivery, connector)
        except StoreError:
            raise
        except Exception as error:
            operation = delivery.operation
            log.exception("message_encode_failed", lane=operation.lane, operation=operation.id)
            raise NotEncodable(error) from error

    async def to_send(self, delivery: Delivery, connector: Connector) -> Encoded:
        """Return the calls that are still to be made: none that changes nothing, and streams where
        the platform has its own. Raises what the encoder raises."""
        delivery = await self._whole_or_growing(delivery)
        encoded = await self._in_full(delivery, connector)
        calls = self.edits.changed_by(delivery.operation.account, encoded.calls)
        if (streams := connector.abilities.streams) is not None:
            grown = await self.grown(delivery, streams) if delivery.operation.grows else delivery
            calls = _as_streams(streams, grown, calls, self._rate_limits)
        return encoded.model_copy(update={"calls": calls})

    async def unstreamed(self, delivery: Delivery, call: Call, streams: Streams) -> Call | None:
        """Return an ordinary call in place of one to a stream; None where it is not to a stream."""
        dressed = await present(self._visible_part(delivery), self._context)
        return streams.unstreamed(dressed.delivery, call)

    def forget_edits(self, delivery: Delivery) -> None:
        """A whole message was sent: later edits of its copies are compared with nothing."""
        operation = delivery.operation
        if isinstance(operation, EditMessage) and not operation.stream:
            self.edits.forget(operation.account, operation.channel, delivery.copies)

    # --- for the stream renderer, which edits growing messages outside of the lanes -------------

    async def growing_calls(self, delivery: Delivery, connector: Connector) -> Sequence[Call]:
        """Return the calls of a message that is being written."""
        return (await self._in_full(delivery, connector)).calls

    async def grown(self, delivery: Delivery, streams: Streams) -> Delivery:
        """Return the delivery, dressed for its channel, with the part of a growing message that
        does not change any more."""
        delivery = _while_growing(
            delivery, lambda text: settled_markdown(self._standing(delivery, text))
        )
        if streams.shows_steps:
            visible = self._rooms.tools_shown(delivery.operation.room)
            delivery = with_tools_as_steps(delivery, visible)
        return (await present(delivery, self._context)).delivery

    # --- one delivery -----------------------------------------------------------------------------

    async def _whole_or_growing(self, delivery: Delivery) -> Delivery:
        """An operation that was queued while the message grew may find the message whole."""
        if not delivery.operation.grows:
            return delivery
        operation = delivery.operation
        stored = await self._store.message(operation.message)
        if stored is not None and stored.state == "streaming":
            return delivery
        whole = operation.model_copy(update={"stream": False})
        return delivery.model_copy(update={"operation": whole})

    async def _in_full(self, delivery: Delivery, connector: Connector) -> Encoded:
        dressed = await present(self._visible_part(delivery), self._context)
        encoded = connector.encode(dressed.delivery)
        if isinstance(delivery.operation, EditMessage):
            encoded = await self._without_doubles(delivery.operation, encoded)
        if not dressed.losses:
            return encoded
        return encoded.model_copy(update={"losses": (*dressed.losses, *encoded.losses)})

    async def _without_doubles(self, edit: EditMessage, encoded: Encoded) -> Encoded:
        """An edit also posts the copies that its channel does not have yet, but none that may stand
        there unseen: the dead letter of that post is the operator's to judge."""
        known = tuple(call for call in encoded.calls if call.kind != "post")
        if len(known) == len(encoded.calls) or not await self._store.has_unproved_post(
            edit.message, edit.lane
        ):
            return encoded
        return encoded.model_copy(update={"calls": known})

    def _visible_part(self, delivery: Delivery) -> Delivery:
        """The part of the message that an edit may show: all of it, unless it grows."""
        if not delivery.operation.grows:
            return delivery
        return _while_growing(
            delivery, lambda text: close_open_markup(self._standing(delivery, text)) or "…"
        )

    def _standing(self, delivery: Delivery, text: str) -> str:
        """The part of the text in which the channel's replacements find the same, whatever
        follows."""
        operation = delivery.operation
        options = self._rooms.altering(operation.room, operation.channel)
        replace = options.replace if options is not None else ()
        return settled_words(text, replace) if replace else text


def _while_growing(delivery: Delivery, visible_text: Callable[[str], str]) -> Delivery:
    """The part of an unfinished message that may be shown. `visible_text` is applied before any
    other step: afterwards, unfinished markup could not be distinguished from intended text."""
    message = delivery.message
    last = message.content[-1] if message.content else None
    if not isinstance(last, TextPart) or not last.is_markdown:
        return delivery
    visible = last.model_copy(update={"text": visible_text(last.text)})
    content = (*message.content[:-1], visible)
    return delivery.model_copy(update={"message": message.model_copy(update={"content": content})})


# --- growing messages ---------------------------------------------------------------------------


class LastEdits:
    """The last edit of each copy of a growing message, so that no edit is made twice: of a long
    answer only the last part still changes."""

    def __init__(self) -> None:
        self._bodies: OrderedDict[tuple[AccountId, str, str], object] = OrderedDict()

    def note(self, account: AccountId, call: Call) -> None:
        """The platform took this call."""
        if call.kind != "edit" or call.native_id is None:
            return
        key = (account, call.channel.key, call.native_id)
        self._bodies[key] = (call.method, call.body)
        self._bodies.move_to_end(key)
        if len(self._bodies) > _REMEMBERED:
            self._bodies.popitem(last=False)

    def changed_by(self, account: AccountId, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Return the calls without those that would change nothing."""
        return tuple(call for call in calls if not self._is_last(account, call))

    def forget(self, account: AccountId, channel: ChannelRef, copies: Sequence[Receipt]) -> None:
        """The message is whole: who edits its copies from now on must see them restored."""
        for copy in copies:
            self._bodies.pop((account, channel.key, copy.native_id), None)

    def _is_last(self, account: AccountId, call: Call) -> bool:
        key = (account, call.channel.key, call.native_id or "")
        return call.kind == "edit" and self._bodies.get(key) == (call.method, call.body)


def _as_streams(
    streams: Streams, delivery: Delivery, calls: Sequence[Call], rate_limits: RateLimits
) -> tuple[Call, ...]:
    """The calls as the platform's own streams want them: a growing post begins a stream where the
    rate limits have room for it, any edit ends one. `delivery` is settled where the message
    grows."""
    return tuple(
        stream_call
        for call in calls
        for stream_call in _as_stream(streams, delivery, call, rate_limits) or (call,)
    )


def _as_stream(
    streams: Streams, delivery: Delivery, call: Call, rate_limits: RateLimits
) -> Sequence[Call]:
    operation = delivery.operation
    if call.kind == "edit":
        return streams.ending(delivery, call)
    if call.kind != "post" or not operation.grows:
        return ()
    opening = streams.opening(delivery, call)
    if opening is None:
        return ()
    own = [key for key in opening.rate_limits if key not in call.rate_limits]
    return (opening,) if rate_limits.has_room(operation.account, own) else ()
