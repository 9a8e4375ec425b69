"""The command `why`: why an agent answered as it did, for an answer that is replied to or stands in
the thread; elsewhere what did not arrive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bridge.model import MessageId, message_id_of
from bridge.model.turn_records import StoredTurn
from bridge.ports.clock import Clock
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.router.commands.command import Command, CommandCall
from bridge.router.outbound.failures import DeliveryFailures
from bridge.router.rooms.people import People
from bridge.router.turns.reasons import lines_of, reasons_of, turn_of_answer

_MOST_LINES = 5  # messages that one answer lists
_MOST_TURNS = 50  # of a room, that are looked at for those of a thread
_BACK = 30 * 86_400.0  # seconds


class _WhyStore(ApprovalStore, MessageStore, TurnStore, Protocol):
    """What `WhyCommand` needs of the store."""


@dataclass(frozen=True)
class WhyCommand:
    """Answers `why`."""

    store: _WhyStore
    failures: DeliveryFailures
    people: People
    clock: Clock

    def command(self) -> Command:
        return Command(
            "why",
            "as a reply to an agent's answer: why it answered so; else what did not arrive",
            self._why,
            everybody=True,
            whispered=True,
        )

    async def _why(self, call: CommandCall) -> str:
        turn = await self._turn(call)
        if turn is None:
            return await self._undelivered(call)
        return "\n".join(lines_of(await reasons_of(self.store, turn, self.people.stored_name)))

    async def _turn(self, call: CommandCall) -> StoredTurn | None:
        """The turn of the answer that is meant; None where none is."""
        channel = call.place.channel
        if call.replies_to is not None:
            meant = await self.store.resolve(channel, call.replies_to)
            turn = turn_of_answer(meant) if meant else None
            return None if turn is None else self._in_room(call, await self.store.turn(turn))
        if call.place.thread is None:
            return None
        root = await self.store.resolve(channel, call.place.thread)
        root = root or message_id_of(channel, call.place.thread)
        own = turn_of_answer(root)
        if own is not None:  # the thread hangs on the answer itself
            return self._in_room(call, await self.store.turn(own))
        return await self._newest_in_thread(call, root)

    async def _newest_in_thread(self, call: CommandCall, root: MessageId) -> StoredTurn | None:
        turns = await self.store.turns_of_room(
            call.room.id, since=self.clock.time() - _BACK, limit=_MOST_TURNS
        )
        for turn in reversed(turns):
            question = await self.store.message(turn.origin or turn.trigger)
            if question is not None and root in (question.root, question.message.message_id):
                return turn
        return None

    def _in_room(self, call: CommandCall, turn: StoredTurn | None) -> StoredTurn | None:
        return turn if turn is not None and turn.room == call.room.id else None

    async def _undelivered(self, call: CommandCall) -> str:
        undelivered = await self.failures.undelivered_in(call.room, call.place.channel)
        lines = [line for _, line in undelivered[:_MOST_LINES]]
        if more := len(undelivered) - len(lines):
            lines.append(f"And {more} more.")
        return "\n".join(lines) or "All messages of this channel have arrived, or are on their way."
