"""Reactions and pins of the in-memory twin: the same rules as `marks`, over dicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from bridge.model import (
    ActorId,
    AddReaction,
    ChannelRef,
    Mark,
    MessageId,
    NoteReactions,
    RemoveReaction,
)
from bridge.ports.store import PinChange, Reacted, ReactionChange
from bridge.store.marks import as_metadata

_Key = tuple[MessageId, str, ChannelRef, str, str]  # message, emoji, channel, target, actor


@dataclass
class Marks:
    """`queue` takes an operation that is news."""

    queue: Callable[[Mark], None]
    _reactions: dict[_Key, tuple[bool, float]] = field(
        default_factory=dict[_Key, tuple[bool, float]]
    )
    _pins: dict[MessageId, tuple[bool, ActorId, float]] = field(
        default_factory=dict[MessageId, tuple[bool, ActorId, float]]
    )

    def react(self, change: ReactionChange) -> bool:
        """Whether a reaction stands now that did not before, or the other way round."""
        if not self._happened(change):
            return False
        for operation in change.operations:
            if isinstance(operation, NoteReactions) or self._is_news(change, operation):
                self.queue(operation)
        return True

    def _happened(self, change: ReactionChange) -> bool:
        emoji = change.emoji or ""
        place = (change.channel, change.target)
        for cleared in ("", emoji) if change.present else ():
            _, until = self._reactions.get((change.message, cleared, *place, ""), (False, -1.0))
            if until >= change.time:
                return False
        key = (change.message, emoji, *place, change.actor or "")
        stood, at = self._reactions.get(key, (False, float("-inf")))
        if change.time <= at:
            return False
        self._reactions[key] = (change.present, change.time)
        return stood != change.present

    def _is_news(self, change: ReactionChange, operation: AddReaction | RemoveReaction) -> bool:
        standing = self.standing(change.message)
        elsewhere = [
            one
            for one in standing
            if one.emoji == change.emoji and one.channel != operation.channel
        ]
        return min(len(elsewhere), 2) == (1 if change.present else 0)

    def pin(self, change: PinChange) -> None:
        pinned, _, at = self._pins.get(change.message, (False, "", float("-inf")))
        if change.time <= at:
            return
        self._pins[change.message] = (change.pinned, change.actor, change.time)
        if pinned != change.pinned:
            for operation in change.operations:
                self.queue(operation)

    def standing(self, message: MessageId) -> Sequence[Reacted]:
        found = [
            Reacted(emoji, ActorId(actor), channel, target, at)
            for (of, emoji, channel, target, actor), (present, at) in self._reactions.items()
            if of == message and present
        ]
        return sorted(
            found, key=lambda one: (one.time, one.emoji, one.actor, one.channel.key, one.target)
        )

    def pin_of(self, message: MessageId) -> tuple[bool, ActorId, float] | None:
        """Whether it is pinned, by whom, since when; None where it never was."""
        return self._pins.get(message)

    def pinned_by(self, message: MessageId) -> ActorId | None:
        pinned, actor, _ = self._pins.get(message, (False, ActorId(""), 0.0))
        return actor if pinned else None

    def shown(self, message: MessageId) -> list[JsonValue]:
        return as_metadata((one.emoji, one.actor) for one in self.standing(message))
