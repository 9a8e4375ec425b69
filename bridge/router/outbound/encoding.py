"""The calls that show a channel a message: as its room wants it, in the form of its platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import structlog

from bridge.content.markdown.close_open import healed, settled
from bridge.content.text.patterns import words_that_stand
from bridge.errors import StoreError
from bridge.model import AccountId, Call, Delivery, EditMessage, Encoded, Loss
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, Streams
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.router.outbound.presentation import (
    UrlOf,
    as_meant,
    as_shown,
    asking_for_feedback,
    with_sources_numbered,
    with_tools_as_steps,
)
from bridge.router.outbound.rate_limits import RateLimits
from bridge.router.outbound.references import References
from bridge.router.outbound.streams import LastEdits, as_streams, streams_of, while_growing
from bridge.router.rooms.rooms import Rooms
from bridge.router.rooms.visibility import without_older_words

log = structlog.get_logger()


class NotEncodable(Exception):
    """No encoder takes the message; `reason` is the encoder's error."""

    def __init__(self, reason: Exception) -> None:
        self.reason = reason
        super().__init__(str(reason))


class _EncodingStore(ConversationStore, MessageStore, Protocol):
    """What `Encoding` needs of the store."""


class Encoding:
    """What of a message each channel is to be shown. Nothing is sent here."""

    def __init__(
        self,
        store: _EncodingStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        budgets: RateLimits,
        clock: Clock,
        url_of: UrlOf,
        references: References,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._budgets = budgets
        self._clock = clock
        self._url_of = url_of
        self._references = references
        self.edits = LastEdits()

    async def encode(self, delivery: Delivery, connector: Connector) -> Encoded:
        """The same as `to_send`, for the first attempt: logs a message that cannot be encoded.
        Raises StoreError, and NotEncodable."""
        try:
            return await self.to_send(delivery, connector)
        except StoreError:
            raise
        except Exception as error:
            operation = delivery.operation
            log.exception("message_not_encoded", lane=operation.lane, operation=operation.id)
            raise NotEncodable(error) from error

    async def to_send(self, delivery: Delivery, connector: Connector) -> Encoded:
        """Return the calls that are still to be made: none that changes nothing, and streams where
        the platform has its own. Raises what the encoder raises."""
        delivery = await self._whole_or_growing(delivery)
        encoded = await self._in_full(delivery, connector)
        calls = self.edits.changed_by(delivery.operation.account, encoded.calls)
        if streams := streams_of(connector):
            grown = await self.grown(delivery, streams) if delivery.operation.grows else delivery
            calls = as_streams(streams, grown, calls, self._budgets)
        return encoded.model_copy(update={"calls": calls})

    def forget_edits(self, delivery: Delivery) -> None:
        """A whole message was sent: later edits of its copies are compared with nothing."""
        operation = delivery.operation
        if isinstance(operation, EditMessage) and not operation.stream:
            self.edits.forget(operation.account, operation.channel, delivery.copies)

    async def unstreamed(self, delivery: Delivery, call: Call, streams: Streams) -> Call | None:
        """An ordinary call in place of one to a stream; None for what is none."""
        shown, _ = await self._shown(self._healed(delivery))
        return streams.unstreamed(shown, call)

    async def growing_calls(self, delivery: Delivery, connector: Connector) -> Sequence[Call]:
        """The calls of a message that is being written, for whoever shows it outside of lanes."""
        return (await self._in_full(delivery, connector)).calls

    async def grown(self, delivery: Delivery, streams: Streams) -> Delivery:
        """As this channel is to be shown what of a growing message changes no more."""
        delivery = while_growing(delivery, lambda text: settled(self._standing(delivery, text)))
        if streams.shows_steps:
            shown = self._rooms.tools_shown(delivery.operation.room)
            delivery = with_tools_as_steps(delivery, shown)
        return (await self._shown(delivery))[0]

    async def _whole_or_growing(self, delivery: Delivery) -> Delivery:
        """What was queued while the message grew may find it whole when its turn comes."""
        if not delivery.operation.grows:
            return delivery
        operation = delivery.operation
        stored = await self._store.message(operation.message)
        if stored is not None and stored.state == "streaming":
            return delivery
        whole = operation.model_copy(update={"stream": False})
        return delivery.model_copy(update={"operation": whole})

    async def _in_full(self, delivery: Delivery, connector: Connector) -> Encoded:
        shown, losses = await self._shown(self._healed(delivery))
        encoded = connector.encode(shown)
        if not losses:
            return encoded
        return encoded.model_copy(update={"losses": (*losses, *encoded.losses)})

    def _healed(self, delivery: Delivery) -> Delivery:
        """What may be shown of it where it is edited: all, unless it grows."""
        if not delivery.operation.grows:
            return delivery
        return while_growing(delivery, lambda text: healed(self._standing(delivery, text)) or "…")

    def _standing(self, delivery: Delivery, text: str) -> str:
        """What of the text the channel's replacements find the same in, whatever follows."""
        operation = delivery.operation
        options = self._rooms.altering(operation.room, operation.channel)
        replace = options.replace if options is not None else ()
        return words_that_stand(text, replace) if replace else text

    async def _shown(self, delivery: Delivery) -> tuple[Delivery, tuple[Loss, ...]]:
        """The delivery as the room and the channel want it shown, and what it leaves out."""
        operation = delivery.operation
        connector = self._connectors.get(operation.account)
        most = connector.capabilities.citations if connector else 0
        delivery, unquoted = with_sources_numbered(delivery, most)
        delivery = as_meant(delivery, self._rooms.tools_shown(operation.room))
        if self._rooms.asks_for_feedback(operation.room):
            delivery = asking_for_feedback(delivery)
        options = self._rooms.altering(operation.room, operation.channel)
        delivery = await without_older_words(delivery, self._rooms, self._store)
        delivery = await self._references.resolved(delivery)
        if options is None:
            return delivery, unquoted
        shown, losses = as_shown(delivery, options, now=self._clock.time(), url_of=self._url_of)
        return shown, (*unquoted, *losses)
