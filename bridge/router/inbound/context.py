"""The values that the stages of the pipeline pass on: what is known of one event, and its plan.

`Received -> Admitted -> Authored -> Placed -> Planned`; a stage may end the way of an event early
by returning `Planned`. All are frozen: a stage returns a new one. The fields of the first four have
no defaults, so that a stage that makes the next one forgets none.
"""

from __future__ import annotations

from dataclasses import dataclass

from bridge.content.cards.interactions import Interaction
from bridge.content.messages.stored_files import KeptFiles
from bridge.model import ActorId, Event, MessageId, MessagePosted, Person
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline
from bridge.model.inbox_records import InboxRow
from bridge.router.rooms.rooms import Room


@dataclass(frozen=True)
class Press:
    """The interaction of a pressed button, and the agent whose card it is; None: a program's."""

    interaction: Interaction
    agent: str | None


@dataclass(frozen=True, kw_only=True)
class Received:
    """An event of a row of the inbox.

    - `rooms`: the rooms that are known to concern it; empty before admission, but for those of
      direct messages.
    - `direct`: the room of two people that alone shows it.
    - `kept_files`: files that were fetched after their message had come.
    - `is_new`: the message is known not to be archived.
    """

    row: InboxRow
    event: Event
    rooms: tuple[Room, ...]
    direct: Room | None
    kept_files: KeptFiles
    is_new: bool = False

    @property
    def key(self) -> str:
        """Names the delivery: the same event has the same key."""
        return self.row.raw.dedupe_key

    @property
    def is_whisper(self) -> bool:
        """Whether the event is for named actors alone. No room shows it, remembers it, or lets an
        agent answer it. Direct messages are no whispers: the room of two people shows them."""
        return self.event.audience is not None and self.direct is None


@dataclass(frozen=True, kw_only=True)
class Admitted(Received):
    """An event that its `rooms` let in.

    - `buried`: the message was deleted before it came: it is archived, and no channel shows it.
    - `press`: the event was a press, and goes on as a message.
    """

    buried: bool
    press: Press | None


@dataclass(frozen=True, kw_only=True)
class Authored(Admitted):
    """A message as it is archived. `people` are those whose stored names change."""

    event: MessagePosted
    message: NewMessage
    people: tuple[Person, ...]


@dataclass(frozen=True, kw_only=True)
class Placed(Authored):
    """A message with the conversations that it belongs to."""

    timelines: tuple[Timeline, ...]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The plan of an event: what one transaction changes, and what follows it.

    - `admission` names no row yet.
    - `stops`: sessions of agents, each with the actor who stops it; `stopped_answers` and
      `stopped_threads` likewise, by answer and by root of a thread.
    - `waits_for`: the native id of the unknown message that the event refers to. The row may be
      kept until that message comes.
    - `put_aside`: the row waits elsewhere, and comes again: nothing is committed.
    - `misses_files`: the missing files are to be fetched later.
    """

    admission: Admission
    stops: tuple[tuple[str, ActorId], ...] = ()
    stopped_answers: tuple[tuple[MessageId, ActorId], ...] = ()
    stopped_threads: tuple[tuple[MessageId, ActorId], ...] = ()
    waits_for: str | None = None
    put_aside: bool = False
    misses_files: bool = False

    @property
    def needs_row(self) -> bool:
        """Whether the row of the event waits somewhere, so that it must be in the inbox first."""
        return self.waits_for is not None or self.put_aside or self.misses_files


def ended(outcome: str) -> Planned:
    """Return the plan of an event that changes nothing."""
    return Planned(admission=Admission(outcome))
