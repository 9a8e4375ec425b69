"""Marks a message that did not reach every channel: our bot reacts to the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from bridge.model import (
    AccountId,
    AddReaction,
    ChannelRef,
    LaneId,
    MessageId,
    OperationId,
    RemoveReaction,
    RoomId,
)
from bridge.model.admission import Admission
from bridge.ports.connector import Connector
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reactions import ReactionStore
from bridge.router.rooms.rooms import Member

MARK = "❌"  # among the few that all platforms have


class _FailureMarksStore(AdmissionStore, ReactionStore, MessageStore, Protocol):
    """What `FailureMarks` needs of the store."""


class FailureMarks:
    """Adds the mark once and removes it once; the store knows whether it is there."""

    def __init__(
        self,
        store: _FailureMarksStore,
        connectors: Mapping[AccountId, Connector],
        new_id: Callable[[], str],
        wake_lane: Callable[[LaneId], None],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._new_id = new_id
        self._wake_lane = wake_lane

    async def put(self, message: MessageId, room: RoomId, home: Member) -> bool:
        """Add the mark to the message in its channel. Returns False where the platform does not
        take it."""
        reactions = self._connectors[home.account].abilities.reactions
        takes = reactions is not None and reactions.takes_reaction(MARK)
        if not takes or MARK in await self._store.unshown_emoji(message, home.channel):
            return False
        if await self._standing(message, home.channel) is None:
            mark = AddReaction(
                id=OperationId(self._new_id()), account=home.account, channel=home.channel,
                room=room, message=message, emoji=MARK,
            )  # fmt: skip
            await self._queue(mark)
        return True

    async def take_back(self, message: MessageId, channel: ChannelRef) -> None:
        """Remove the mark, unless a person elsewhere reacts with the same emoji."""
        mark = await self._standing(message, channel)
        reacted = await self._store.reactions(message) if mark else ()
        if mark is None or any(
            reaction.emoji == MARK and reaction.channel != channel for reaction in reacted
        ):
            return
        named = mark.model_dump(exclude={"type", "id"})
        await self._queue(RemoveReaction(id=OperationId(self._new_id()), **named))

    async def _standing(self, message: MessageId, channel: ChannelRef) -> AddReaction | None:
        explanation = await self._store.explain(message)
        for record in reversed(explanation.operations if explanation else ()):
            mark = record.operation
            ours = isinstance(mark, AddReaction | RemoveReaction) and mark.emoji == MARK
            if ours and mark.channel == channel and record.state not in ("dead", "cancelled"):
                return mark if isinstance(mark, AddReaction) else None
        return None

    async def _queue(self, mark: AddReaction | RemoveReaction) -> None:
        await self._store.admit(Admission("marked", operations=(mark,)))
        self._wake_lane(mark.lane)
