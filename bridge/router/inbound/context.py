"""What is known of one event between the stages of the pipeline, and what it changes in the end.

`Received -> Admitted -> Authored -> Placed -> Planned`; a stage may end the way of an event early
by returning `Planned`. All are values: a stage returns a new one. The fields of the first four have
no defaults, so that a stage that makes the next one forgets none.
"""

from __future__ import annotations

from dataclasses import dataclass

from bridge.content.cards.interactions import Interaction
from bridge.model import ActorId, Event, MessageId, MessagePosted, Person
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline
from bridge.model.inbox_records import InboxRow
from bridge.router.rooms.rooms import Room
from bridge.router.runtime.kept_files import KeptFiles


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
    - `direct`: the room of two people to whom alone it belongs.
    - `kept_files`: files that were fetched after their message had come.
    """

    row: InboxRow
    event: Event
    rooms: tuple[Room, ...]
    direct: Room | None
    kept_files: KeptFiles

    @property
    def key(self) -> str:
        """Names the delivery: the same event has the same key."""
        return self.row.raw.dedupe_key


@dataclass(frozen=True, kw_only=True)
class Admitted(Received):
    """An event that its `rooms` let in.

    - `buried`: the message was deleted before it came: it is kept, and shown to nobody.
    - `press`: the event was a press, and goes on as a message.
    """

    buried: bool
    press: Press | None


@dataclass(frozen=True, kw_only=True)
class Authored(Admitted):
    """A message as it is archived. `people` are those of whom something is news."""

    event: MessagePosted
    message: NewMessage
    people: tuple[Person, ...]


@dataclass(frozen=True, kw_only=True)
class Placed(Authored):
    """A message with the conversations that it belongs to."""

    timelines: tuple[Timeline, ...]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The end of an event's way: what one transaction changes, and what follows it.

    - `admission` names no row yet.
    - `stops`: sessions of agents, each with whoever stops it; `stopped_answers` and
      `stopped_threads` likewise, by answer and by root of a thread.
    - `waits_for`: the native id of the unknown message that the event happened to. The row may be
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


def ended(outcome: str) -> Planned:
    """Return the plan of an event that changes nothing."""
    return Planned(admission=Admission(outcome))
