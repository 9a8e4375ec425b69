"""Reactions and pins, as the store keeps them."""

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
    """What an event did to the reactions on a message, seen on its native copy `target`.

    - `actor` None: everybody's were cleared, or of `emoji` alone where it is not None; what is
      added there later but happened earlier counts for nothing. The single reactions that went
      with it are changes of their own.
    - `operations`: an AddReaction or RemoveReaction for each place that shall show it is queued
      when the first elsewhere reacts so, or nobody does any more; one that waits for the opposite
      is cancelled instead. NoteReactions are queued with every change.
    - A change that is not later than the last one of the same reaction changes nothing.
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
    """A message was pinned, or its pin was taken away; `operations` are queued where that is news.
    The latest event wins."""

    message: MessageId
    pinned: bool
    actor: ActorId
    time: float
    operations: tuple[PinMessage | UnpinMessage, ...] = ()


@dataclass(frozen=True)
class Reacted:
    """One person's reaction that stands, on the native message `target` of the channel."""

    emoji: str
    actor: ActorId
    channel: ChannelRef
    target: str
    time: float
