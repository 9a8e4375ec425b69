"""Reactions and pins, as the store has them."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model.operations import (
    AddReaction,
    NoteReactions,
    PinMessage,
    RemoveReaction,
    UnpinMessage,
)
from bridge.model.refs import ActorId, ChannelRef, MessageId


@dataclass(frozen=True)
class ReactionChange:
    """The effect of an event on the reactions of a message, seen on its native copy `target`.

    - `actor` None: all reactions were cleared, or those of `emoji` if it is not None; reactions
      that are added later but happened earlier do not count. The single reactions that were removed
      are changes of their own.
    - `operations`: an AddReaction or RemoveReaction for each other place, queued when the first
      person elsewhere reacts with this emoji, or the last one removes it; a waiting opposite is
      cancelled instead. NoteReactions are queued with every change.
    - A change that is not later than the last one of the same reaction has no effect.
    """

    message: MessageId
    channel: ChannelRef
    target: str
    time: float
    present: bool
    actor: ActorId | None = None
    emoji: str | None = None
    operations: tuple[AddReaction | RemoveReaction | NoteReactions, ...] = ()


@dataclass(frozen=True)
class PinChange:
    """A message was pinned or unpinned; `operations` are queued if that changes its state. The
    latest event wins."""

    message: MessageId
    pinned: bool
    actor: ActorId
    time: float
    operations: tuple[PinMessage | UnpinMessage, ...] = ()


@dataclass(frozen=True)
class CurrentReaction:
    """One person's current reaction, on the native message `target` of the channel."""

    emoji: str
    actor: ActorId
    channel: ChannelRef
    target: str
    time: float
