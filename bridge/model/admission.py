"""All that one event changes, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model.archive_records import Change, Gone, NewMessage, Orphan, Timeline
from bridge.model.operations import DeleteMessage, Operation
from bridge.model.outbox_records import Settlement
from bridge.model.people import Person
from bridge.model.reaction_records import PinChange, ReactionChange
from bridge.model.refs import OperationId
from bridge.model.turn_records import GivenFeedback, NewTurn


@dataclass(frozen=True)
class Admission:
    """All that one event changes, in one transaction. `row` is None for what agents say.

    `begun` are those operations that are `sending` from the first: their lane is free, and its
    worker sends them as soon as they are durable, without another `begin`.
    `removals` take copies away and leave the message as it is; one cancels a post that was not
    sent, as in `change_message`.
    If `message` is already archived nothing changes but the row, which is done as a repeat.
    """

    outcome: str
    row: int | None = None
    message: NewMessage | None = None
    people: tuple[Person, ...] = ()
    timelines: tuple[Timeline, ...] = ()
    operations: tuple[Operation, ...] = ()
    begun: frozenset[OperationId] = frozenset()
    turns: tuple[NewTurn, ...] = ()
    settles: tuple[Settlement, ...] = ()
    changes: tuple[Change, ...] = ()
    reactions: tuple[ReactionChange, ...] = ()
    pins: tuple[PinChange, ...] = ()
    feedback: tuple[GivenFeedback, ...] = ()
    gone: tuple[Gone, ...] = ()
    removals: tuple[DeleteMessage, ...] = ()
    orphans: tuple[Orphan, ...] = ()


@dataclass(frozen=True)
class Admitted:
    """`repeat`: the message was there before, nothing was added."""

    repeat: bool = False
