"""All effects of one event, for one transaction."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model.archive_records import Change, DeletedCopy, NewMessage, Orphan, Timeline
from bridge.model.inbox_records import InboxRow
from bridge.model.operations import DeleteMessage, Operation
from bridge.model.outbox_records import Settlement
from bridge.model.people import Person
from bridge.model.reaction_records import PinChange, ReactionChange
from bridge.model.refs import OperationId
from bridge.model.turn_records import MessageRating, NewTurn


@dataclass(frozen=True)
class Admission:
    """All effects of one event, stored in one transaction. `row` is None for a message of an agent.

    - `begun`: the operations that are `sending` from the start: their lane is free, and its worker
      sends them as soon as they are durable, without another `begin`.
    - `removals`: they delete copies and leave the message as it is; one cancels a post that was not
      sent, as in `change_message`.
    - If `message` is already archived, nothing changes except the row, which is done as a
      repetition.
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
    feedback: tuple[MessageRating, ...] = ()
    gone: tuple[DeletedCopy, ...] = ()
    removals: tuple[DeleteMessage, ...] = ()
    orphans: tuple[Orphan, ...] = ()


@dataclass(frozen=True)
class AdmittedRow:
    """A payload that was kept with what it changes; `repeat`: its message was archived before, and
    nothing was added but the row, which is done."""

    row: InboxRow
    repeat: bool = False


@dataclass(frozen=True)
class Admitted:
    """The result of an admission; `repeat`: the message was archived before, and nothing was
    added."""

    repeat: bool = False
