"""Puts reactions and pins on the copies of a message, and takes them away."""

from __future__ import annotations

from bridge.errors import BridgeError, FormRefused, StoreError, Unsettled
from bridge.model import Loss, Mark, NoteReactions, PinMessage, UnpinMessage
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.encoding import Encoding
from bridge.router.outbound.in_flight import InFlightCalls
from bridge.router.outbound.outcomes import Attempt, Done, Failed, Outcome, Retry, cancelled
from bridge.router.outbound.rate_limits import Priority, RateLimits
from bridge.router.runtime.timeouts import Policy
from bridge.router.signals import Signal


class MarkSender:
    """Sends marks. A mark changes nothing when it is put on twice, so the lane sends one whose
    outcome is unknown again.

    `not_shown` is emitted for a mark that the platform does not show.
    """

    def __init__(
        self,
        store: OutboxStore,
        encoding: Encoding,
        rate_limits: RateLimits,
        in_flight: InFlightCalls,
        timeouts: Policy,
        not_shown: Signal[Mark],
    ) -> None:
        self._store = store
        self._encoding = encoding
        self._rate_limits = rate_limits
        self._in_flight = in_flight
        self._timeouts = timeouts
        self._not_shown = not_shown

    async def send(self, attempt: Attempt, mark: Mark) -> Outcome:
        """Put the mark on the copy in its channel. Raises StoreError, and NotEncodable."""
        if isinstance(mark, NoteReactions):
            await self._store.begin(mark.id)  # a reaction from here on is another note's
            await self._not_shown.emit(mark)
            return Done(attempt.item)
        if not attempt.item.delivery.copies:
            return cancelled(attempt.item, "the message does not stand there")
        encoded = await self._encoding.encode(attempt.item.delivery, attempt.connector)
        losses = [*encoded.losses]
        for call in encoded.calls:
            async with self._rate_limits.permission(mark.account, call.budgets, Priority.REACTION):
                if attempt.is_closing() or await self._is_obsolete(attempt):
                    return None
                await self._store.begin(mark.id)
                try:
                    await self._in_flight.make(attempt.connector, call, self._timeouts)
                except FormRefused as error:
                    losses.append(
                        Loss(path="", kind="mark_refused", what=str(error), shown_as="a note")
                    )
                except StoreError:
                    raise
                except Unsettled as error:
                    return Retry(error, "unsettled", attempt.item.attempts)
                except BridgeError as error:
                    return Failed(attempt.item, call, error)
        if losses and isinstance(mark, PinMessage | UnpinMessage):
            await self._not_shown.emit(mark)
        return Done(attempt.item, losses=tuple(losses), accepted=bool(encoded.calls))

    async def _is_obsolete(self, attempt: Attempt) -> bool:
        """Whether somebody took the mark back while the sender waited for permission."""
        return attempt.wake.is_set() and await attempt.read_again() is None
