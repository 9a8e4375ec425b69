"""The in-memory twin of the store: plain dicts, the same promises, nothing durable. For tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, cast
from uuid import UUID, uuid4

from bridge.content.additions import with_marks
from bridge.errors import NotOpen, StoreError
from bridge.model import (
    ActorId,
    AddReaction,
    ChannelRef,
    DeleteMessage,
    Delivery,
    EditMessage,
    LaneId,
    Loss,
    Mark,
    MessageId,
    NoteReactions,
    Operation,
    OperationId,
    Person,
    PostMessage,
    Quoted,
    Receipt,
    RoomId,
    TurnId,
)
from bridge.model.refs import BRIDGE
from bridge.model.turns import TurnState
from bridge.ports.catch_up_store import Held, HeldPin, Orphan
from bridge.ports.clock import Clock
from bridge.ports.reading_store import Position
from bridge.ports.store import (
    MOST_COUNTED,
    Admission,
    Admitted,
    Change,
    DeadLetter,
    Explanation,
    LaneStatus,
    MessageState,
    NewMessage,
    NewTurn,
    OperationRecord,
    OutboxItem,
    OutboxState,
    Past,
    Reacted,
    Relation,
    Settlement,
    StoredMessage,
    StoredTurn,
    StorePulse,
    StoreStatus,
    Timeline,
    View,
)
from bridge.store.bodies import merge_receipts, new_receipts
from bridge.store.conversations import Described, conversation_of, excerpt_of, own_tools
from bridge.store.marks import makes_needless
from bridge.store.memory_agents import MemoryAgents
from bridge.store.memory_approvals import MemoryApprovals
from bridge.store.memory_catch_up import MemoryOrphans
from bridge.store.memory_directs import MemoryDirects
from bridge.store.memory_feedback import MemoryFeedback
from bridge.store.memory_inbox import MemoryInbox
from bridge.store.memory_links import COPY, SAID, STAND_IN, Link, Links
from bridge.store.memory_marks import Marks
from bridge.store.memory_people import MemoryPeople
from bridge.store.memory_reading import MemoryReading, ReadRoom
from bridge.store.memory_rooms import MemoryRooms
from bridge.store.memory_shelf import MemoryShelf
from bridge.store.outbox import UNSETTLED_FOR
from bridge.uacs import Conversation, Message


@dataclass
class _Kept:
    """A message, the row it came in, and its places by timeline."""

    new: NewMessage
    row: int | None
    outcome: str
    message: Message
    state: MessageState
    changed: float = 0.0
    seqs: dict[UUID, int] = field(default_factory=dict[UUID, int])
    epochs: dict[UUID, int | None] = field(default_factory=dict[UUID, int | None])


@dataclass
class _Op:
    operation: Operation
    due: float
    created: float
    state: OutboxState = "waiting"
    attempts: int = 0
    began: float | None = None
    ended: float | None = None
    error: str = ""
    receipts: tuple[Receipt, ...] = ()
    losses: tuple[Loss, ...] = ()

    @property
    def open(self) -> bool:
        return self.state in ("waiting", "sending")

    @property
    def lane(self) -> LaneId:
        return self.operation.lane


class MemoryStore(
    MemoryPeople,
    MemoryRooms,
    MemoryReading,
    MemoryAgents,
    MemoryApprovals,
    MemoryDirects,
    MemoryFeedback,
    MemoryInbox,
    MemoryShelf,
):
    """Held to the same contract as SQLite; what survives a restart is nothing."""

    def __init__(self, clock: Clock) -> None:
        MemoryPeople.__init__(self, clock)
        MemoryRooms.__init__(self)
        MemoryReading.__init__(self)
        MemoryAgents.__init__(self)
        MemoryApprovals.__init__(self)
        MemoryFeedback.__init__(self)
        MemoryDirects.__init__(self)
        MemoryInbox.__init__(self)
        MemoryShelf.__init__(self)
        self._closed = False
        self._messages: dict[MessageId, _Kept] = {}
        self._links = Links()
        self._timelines: dict[UUID, ReadRoom] = {}
        self._rooms: dict[RoomId, UUID] = {}
        self._operations: dict[OperationId, _Op] = {}  # in the order of their lanes
        self._last_posts: dict[LaneId, str] = {}
        self._turns: dict[TurnId, StoredTurn] = {}
        self._marks = Marks(self._queue_mark)
        self._orphans = MemoryOrphans()

    # --- archive ------------------------------------------------------------------------------

    async def admit(self, admission: Admission) -> Admitted:
        self._must_be_open()
        new = admission.message
        repeat = new is not None and new.id in self._messages
        self._check(admission, repeat)
        if not repeat:
            self._keep(admission)
        if admission.row is not None:
            kept = self._row(admission.row)
            kept.state, kept.error = "done", ""
            kept.outcome = "repeat" if repeat else admission.outcome
        return Admitted(repeat=repeat)

    def _check(self, admission: Admission, repeat: bool) -> None:
        """Everything that can be refused is refused before anything is changed."""
        if admission.row is not None:
            self._row(admission.row)
        if not repeat:
            new = None if admission.message is None else admission.message.id
            self._check_operations(admission.operations, new)
            for change in self._that_hold(admission.changes):
                self._check_operations(self._not_said_anyhow(change.operations))
            _check_turns(admission.turns, self._turns)

    def _check_operations(
        self, operations: Sequence[Operation], new: MessageId | None = None
    ) -> None:
        taken = set(self._operations)
        for operation in operations:
            known = operation.message == new or operation.message in self._messages
            if operation.id in taken or not known:
                raise StoreError(
                    f"Operation {operation.id!r} was not queued: its id is taken, or its message "
                    f"{operation.message!r} is not archived"
                )
            taken.add(operation.id)

    def _keep(self, admission: Admission) -> None:
        now = self._clock.time()
        if admission.message is not None:
            self._keep_message(admission.message, admission)
        for person in admission.people:
            self._people[person.id] = person
        for timeline in admission.timelines:
            self._place(timeline, admission.message, now)
        self._queue_all(admission)
        for turn in admission.turns:
            self._queue_turn(turn, now)
        for settlement in admission.settles:
            self._settle(settlement)
        self._keep_what_happened(admission, now)

    def _queue_turn(self, turn: NewTurn, now: float) -> None:
        self._turns[turn.id] = StoredTurn(
            turn.id, turn.agent, turn.room, turn.trigger, "queued", 0, now,
            session=turn.session, origin=turn.origin, called_by=turn.called_by,
        )  # fmt: skip

    def _keep_what_happened(self, admission: Admission, now: float) -> None:
        for change in self._that_hold(admission.changes):
            self._change(change.message, change.state, change.operations)
            self._messages[MessageId(change.message.message_id)].changed = change.time
        for reaction in admission.reactions:
            if self._stands(reaction.message) and self._marks.react(reaction):
                self._note_change(reaction.message, "reacted")
        for pin in admission.pins:
            if self._stands(pin.message):
                self._marks.pin(pin)
        for one in admission.feedback:
            if self._stands(one.message) and self._rate(one):
                self._note_change(one.message, "rated")
        for orphan in admission.orphans:
            self._orphans.note(orphan, now)

    def _queue_all(self, admission: Admission) -> None:
        for gone in admission.gone:
            self._links.note_gone(gone.channel.key, gone.native_id)
        for operation in admission.operations:
            self._queue(operation, begun=operation.id in admission.begun)
        for removal in admission.removals:
            if not self._cancel_unsent(removal):
                self._queue(removal)

    def _that_hold(self, changes: Sequence[Change]) -> list[Change]:
        """Those of messages that we have, later than all that happened to them."""
        found: list[Change] = []
        for change in changes:
            kept = self._messages.get(MessageId(change.message.message_id))
            if kept is None or kept.state == "deleted":
                continue
            if change.state == "deleted" or change.time > kept.changed:
                found.append(change)
        return found

    def _keep_message(self, new: NewMessage, admission: Admission) -> None:
        self._messages[new.id] = _Kept(
            new, admission.row, admission.outcome, new.message, new.state, new.changed
        )
        if new.place is not None and new.native_id is not None:
            place = new.place
            self._links.note(
                Link(place.channel.key, new.native_id, new.id, SAID, 0, place.thread, new.time)
            )

    def _place(self, timeline: Timeline, new: NewMessage | None, now: float) -> None:
        time = now if new is None else new.time
        known = self._timelines.setdefault(
            timeline.id, ReadRoom(replace(timeline, epoch=None), time, time)
        )
        if new is None or timeline.id in self._messages[new.id].seqs:
            return
        if not known.messages:
            known.created = known.updated = time
        known.created, known.updated = min(known.created, time), max(known.updated, time)
        known.messages.append(new.id)
        self._messages[new.id].seqs[timeline.id] = len(known.messages)
        self._messages[new.id].epochs[timeline.id] = timeline.epoch

    async def message(self, message: MessageId) -> StoredMessage | None:
        kept = self._messages.get(message)
        return None if kept is None else self._stored(kept)

    async def change_message(
        self,
        message: Message,
        state: MessageState,
        operations: Sequence[Operation] = (),
        turns: Sequence[NewTurn] = (),
    ) -> None:
        self._must_be_open()
        identity = MessageId(message.message_id)
        if identity not in self._messages:
            raise StoreError(f"Message {identity!r} is not archived")
        self._check_operations(self._not_said_anyhow(operations))
        self._change(message, state, operations)
        for turn in turns:
            if turn.id not in self._turns:
                self._queue_turn(turn, self._clock.time())

    def _change(
        self, message: Message, state: MessageState, operations: Sequence[Operation]
    ) -> None:
        kept = self._messages[MessageId(message.message_id)]
        kept.message, kept.state = with_marks(message), state
        self._note_change(kept.new.id, "changed")
        if state == "deleted":
            self._cancel_marks(MessageId(message.message_id))
        for operation in self._not_said_anyhow(operations):
            if not (isinstance(operation, DeleteMessage) and self._cancel_unsent(operation)):
                self._queue(operation)

    def _cancel_unsent(self, operation: DeleteMessage) -> bool:
        """Whether the post was not sent yet: then it never will be."""
        for op in self._operations.values():
            post = op.operation
            same = (post.message, post.channel) == (operation.message, operation.channel)
            if same and isinstance(post, PostMessage) and op.state == "waiting" and not op.receipts:
                op.state, op.error = "cancelled", "deleted before it was sent"
                op.ended = self._clock.time()
                return True
        return False

    async def posts_of(self, message: MessageId) -> Sequence[PostMessage]:
        return [
            op.operation
            for op in self._operations.values()
            if isinstance(op.operation, PostMessage)
            and op.operation.message == message
            and op.state not in ("dead", "unproved", "cancelled")
            and not (op.state == "done" and op.receipts and not self._has_copies(op))
        ]

    def _has_copies(self, op: _Op) -> bool:
        links = self._links.of_message(op.operation.message, op.lane)
        return any(link.kind == COPY and not link.gone for link in links)

    def _not_said_anyhow(self, operations: Sequence[Operation]) -> Sequence[Operation]:
        """Without edits whose message an unsent post or another edit that waits will show."""
        waiting = [op for op in self._operations.values() if op.state == "waiting"]
        saying = [
            op.operation
            for op in waiting
            if isinstance(op.operation, EditMessage)
            or (isinstance(op.operation, PostMessage) and not op.receipts)
        ]
        said = {(operation.message, operation.channel) for operation in saying}
        wanted: list[Operation] = []
        for operation in operations:
            key = (operation.message, operation.channel)
            edit = isinstance(operation, EditMessage) and not operation.files_changed
            if not (edit and key in said):
                wanted.append(operation)
            if isinstance(operation, EditMessage | PostMessage):
                said.add(key)
        return wanted

    async def person(self, actor: ActorId) -> Person | None:
        return self._people.get(actor)

    async def save_person(self, person: Person) -> None:
        self._must_be_open()
        self._people[person.id] = person

    async def room_ids(self, rooms: Sequence[RoomId]) -> Mapping[RoomId, UUID]:
        self._must_be_open()
        return {room: self._rooms.setdefault(room, uuid4()) for room in rooms}

    async def conversation(
        self, conversation: UUID, *, newest: int | None = None, view: View | None = None
    ) -> Conversation:
        known = self._timelines.get(conversation)
        if known is None:
            raise StoreError(f"There is no conversation {str(conversation)!r}")
        shown = self._seen(known, known.messages, view or View())
        if newest is not None:
            shown = shown[max(len(shown) - max(newest, 0), 0) :]
        tools = own_tools(self._tools_in(conversation), view or View())
        return conversation_of(known.timeline, known.created, known.updated, shown, tools)

    def _seen(self, known: ReadRoom, among: Sequence[MessageId], view: View) -> list[Message]:
        """Those of the messages that stand, and are in the view."""
        found = [self._messages[one] for one in among]
        found = [kept for kept in found if kept.state != "deleted" and self._is_in(view, kept.new)]
        if (member := view.member) is not None:
            room, own_id = known.timeline.name, known.timeline.id
            found = [one for one in found if self._was_member(room, member, one.epochs[own_id])]
        return [self._whole(kept) for kept in found]

    async def past(
        self, conversation: UUID, *, rows: int, before: int | None = None, view: View | None = None
    ) -> Past:
        known = self._timelines.get(conversation)
        if known is None:
            return Past((), None, 0)
        length = len(known.messages)
        end = length + 1 if before is None else min(before, length + 1)
        first = max(end - rows, 1)
        seen = self._seen(known, known.messages[first - 1 : end - 1], view or View())
        return Past(tuple(reversed(seen)), first if first > 1 else None, max(end - first, 0))

    async def number_of(self, conversation: UUID, message: MessageId) -> int | None:
        kept = self._messages.get(message)
        return None if kept is None else kept.seqs.get(conversation)

    async def relations(self, messages: Collection[MessageId]) -> Mapping[MessageId, Relation]:
        found = {one: self._messages[one].new for one in messages if one in self._messages}
        return {one: Relation(new.root, new.reply_to) for one, new in found.items()}

    async def changed_since(self, room: UUID, known: Position, author: str) -> bool:
        timeline = self._timelines.get(room)
        later = [] if timeline is None else timeline.changes[known.changed :]
        changed = [self._messages[message] for message, kind in later if kind == "changed"]
        return any(
            kept.state in ("edited", "deleted")
            and (kept.seqs[room] <= known.said or kept.new.author.id == author)
            for kept in changed
        )

    def _described_in(self, conversation: UUID) -> Mapping[str, Sequence[Described]]:
        return self._tools_in(conversation)

    def _note_change(self, message: MessageId, kind: str) -> None:
        for room in self._rooms_with(message):
            self._timelines[room].changes.append((message, kind))

    def _read_room(self, room: UUID) -> ReadRoom | None:
        return self._timelines.get(room)

    def _rooms_with(self, message: MessageId) -> list[UUID]:
        kept = self._messages.get(message)
        seqs = () if kept is None else kept.seqs
        return [one for one in seqs if self._timelines[one].timeline.kind == "room"]

    def _shown_to(self, viewer: ActorId, message: MessageId) -> StoredMessage | None:
        kept = self._messages.get(message)
        if kept is None or (kept.new.audience is not None and viewer not in kept.new.audience):
            return None
        return self._stored(kept)

    def _is_in(self, view: View, new: NewMessage) -> bool:
        answered = self._messages.get(new.reply_to) if new.place is None and new.reply_to else None
        said = [new] if answered is None else [new, answered.new]
        place = said[-1].place
        return (
            (view.channel is None or (place is not None and place.channel == view.channel))
            and (view.thread is None or any(view.thread in (one.id, one.root) for one in said))
            and (view.person is None or said[-1].author.id == view.person)
            and (new.audience is None or any(one in view.readers for one in new.audience))
        )

    async def came_to(self, room: RoomId, member: str, message: MessageId) -> bool:
        kept = self._messages.get(message)
        timelines = {} if kept is None else kept.epochs
        return any(
            self._timelines[one].timeline.kind == "room"
            and self._timelines[one].timeline.name == room
            and self._was_member(room, member, epoch)
            for one, epoch in timelines.items()
        )

    async def conversations(self) -> Sequence[tuple[Timeline, int]]:
        return [(known.timeline, len(known.messages)) for known in self._timelines.values()]

    async def explain(self, message: MessageId) -> Explanation | None:
        kept = self._messages.get(message)
        if kept is None:
            return None
        row = None if kept.row is None else self._rows[kept.row]
        of_message = [op for op in self._operations.values() if op.operation.message == message]
        return Explanation(
            stored=self._stored(kept),
            raw=None if row is None else row.row.raw,
            kept_at=None if row is None else row.kept,
            outcome=kept.outcome,
            timelines=[
                (replace(self._timelines[one].timeline, epoch=kept.epochs[one]), seq)
                for one, seq in kept.seqs.items()
            ],
            operations=[_record(op) for op in of_message],
        )

    # --- links --------------------------------------------------------------------------------

    async def resolve(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        return self._links.message_of(channel.key, native_id)

    async def copies(self, message: MessageId, channel: ChannelRef) -> Sequence[Receipt]:
        return self._links.copies(message, channel.key)

    async def live_threads(self, channel: ChannelRef, since: float) -> Sequence[str]:
        return self._links.live_threads(channel.key, since)

    async def took_away(self, message: MessageId, channel: ChannelRef, native_id: str) -> bool:
        if any(link.kind == COPY and link.gone and link.native_id == native_id
               for link in self._links.of_message(message, channel.key)):  # fmt: skip
            return True
        return any(
            (isinstance(op.operation, DeleteMessage) and op.state not in ("dead", "cancelled"))
            or (isinstance(op.operation, EditMessage) and op.state == "sending")
            for op in self._operations.values()
            if (op.operation.message, op.lane) == (message, channel.lane)
        )

    def _link_copies(self, op: _Op, receipts: Sequence[Receipt]) -> None:
        channel, now = op.operation.channel.key, self._clock.time()
        self._links.note_copies(channel, op.operation.message, receipts, now)

    # --- outbox -------------------------------------------------------------------------------

    def _queue(self, operation: Operation, *, begun: bool = False) -> None:
        now = self._clock.time()
        op = self._operations[operation.id] = _Op(operation, due=now, created=now)
        if begun:
            op.state, op.began, op.attempts = "sending", now, 1

    def _open(self) -> Iterator[_Op]:
        return (op for op in self._operations.values() if op.open)

    async def open_lanes(self) -> Sequence[LaneId]:
        return sorted({op.lane for op in self._open()})

    async def head(self, lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        waiting = (op for op in self._open() if op.lane == lane)
        op = next((op for op in waiting if op.operation.message not in besides), None)
        return None if op is None else self._item(op, lane)

    async def notice(self, lane: LaneId) -> OutboxItem | None:
        waiting = (op for op in self._open() if op.lane == lane)
        op = next((op for op in waiting if op.operation.message.startswith(f"{BRIDGE}:")), None)
        return None if op is None else self._item(op, lane)

    def _item(self, op: _Op, lane: LaneId) -> OutboxItem:
        operation = op.operation
        channel = operation.channel.lane
        root = operation.root if isinstance(operation, PostMessage | EditMessage) else None
        thread = None if root is None else self._links.root_in_channel(root, lane)
        kept = self._messages[operation.message]
        copies = self._links.copies(operation.message, channel)
        return OutboxItem(
            delivery=Delivery(
                operation=operation,
                message=kept.message,
                thread=thread,
                quoted=self._quoted(operation),
                copies=copies,
            ),
            state="sending" if op.state == "sending" else "waiting",
            attempts=op.attempts,
            due=op.due,
            created=op.created,
            began=op.began,
            after=self._last_posts.get(lane),
            thread_missing=root is not None and thread is None,
            post_open=lane != channel and not copies and self._is_to_be_posted(operation),
            message_state=kept.state,
        )

    def _is_to_be_posted(self, operation: Operation) -> bool:
        return any(
            isinstance(op.operation, PostMessage)
            and (op.operation.message, op.lane) == (operation.message, operation.channel.lane)
            for op in self._open()
        )

    def _quoted(self, operation: Operation) -> Quoted | None:
        if not isinstance(operation, PostMessage | EditMessage) or operation.reply_to is None:
            return None
        kept = self._messages.get(operation.reply_to)
        if kept is None:
            return None
        shown = kept.state != "deleted" and kept.new.audience is None
        copies = self._links.copies(operation.reply_to, operation.channel.lane)
        return Quoted(
            author=kept.new.author.name,
            excerpt=excerpt_of(kept.message) if shown else "",
            native_id=copies[0].native_id if copies else None,
        )

    async def knows_operation(self, operation: OperationId) -> bool:
        return operation in self._operations

    async def begin(self, operation: OperationId) -> None:
        self._must_be_open()
        op = self._operations.get(operation)
        if op is None or not op.open:
            raise NotOpen(
                f"Operation {operation!r} is not open any more; take the lane's head anew"
            )
        op.state, op.began, op.attempts = "sending", self._clock.time(), op.attempts + 1

    async def record(self, operation: OperationId, receipts: Sequence[Receipt]) -> None:
        self._must_be_open()
        op = self._operations.get(operation)
        if op is not None and op.open:
            fresh = new_receipts(op.receipts, receipts)
            self._link_copies(op, fresh)
            op.receipts += fresh

    async def settle(self, settlement: Settlement) -> bool:
        self._must_be_open()
        return self._settle(settlement)

    def _settle(self, settlement: Settlement) -> bool:
        op = self._operations.get(settlement.operation)
        if op is None:
            return False
        proof = settlement.state == "done" and bool(settlement.receipts)
        if not op.open and not (op.state in ("dead", "unproved") and proof):
            return False
        self._link_copies(op, settlement.receipts)
        op.state, op.error, op.losses = settlement.state, settlement.error, settlement.losses
        op.ended = self._clock.time()
        op.receipts = merge_receipts(op.receipts, settlement.receipts)
        self._note_standing(op, settlement)
        for operation in settlement.then:
            self._queue(operation)
        return True

    def _note_standing(self, op: _Op, settlement: Settlement) -> None:
        standing = [receipt for receipt in op.receipts if not receipt.deleted]
        if not standing:
            return
        if settlement.thread_of is not None:
            first, now = standing[0], self._clock.time()
            root = settlement.thread_of
            instead = any(link.kind < STAND_IN for link in self._links.of_message(root, op.lane))
            self._links.note(
                Link(op.lane, first.native_id, root, STAND_IN, 0, first.thread, now, instead)
            )
        if isinstance(op.operation, PostMessage) and settlement.state == "done":
            self._last_posts[op.lane] = standing[-1].native_id

    async def postpone(self, operation: OperationId, until: float, error: str) -> None:
        self._must_be_open()
        op = self._operations.get(operation)
        if op is not None and op.open:
            op.state, op.due, op.error = "waiting", until, error

    async def dead_letters(self) -> Sequence[DeadLetter]:
        dead = [op for op in self._operations.values() if op.state in ("dead", "unproved")]
        return [self._dead_letter(op) for op in sorted(dead, key=lambda op: op.ended or 0.0)]

    def _dead_letter(self, op: _Op) -> DeadLetter:
        kept = self._messages[op.operation.message]
        return DeadLetter(
            operation=op.operation,
            state=cast("Literal['dead', 'unproved', 'waiting', 'sending']", op.state),
            error=op.error,
            attempts=op.attempts,
            time=op.created if op.open else op.ended or 0.0,
            excerpt=excerpt_of(kept.message),
            message_state=kept.state,
        )

    async def held_up(self) -> Sequence[DeadLetter]:
        before = self._clock.time() - UNSETTLED_FOR
        found = [
            op
            for op in self._open()
            if op.error or (op.state == "sending" and (op.began or before) < before)
        ]
        return [self._dead_letter(op) for op in sorted(found, key=lambda op: op.lane)]

    async def hasten(self, operation: OperationId) -> LaneId:
        self._must_be_open()
        op = self._operations.get(operation)
        if op is None or not op.open:
            raise StoreError(
                f"Operation {operation!r} does not wait; see `uacs-bridge dead-letters list`"
            )
        if op.state == "waiting":
            op.due = 0.0
        return op.lane

    async def replay(self, operation: OperationId) -> LaneId:
        self._must_be_open()
        op = self._operations.get(operation)
        if op is None or op.state not in ("dead", "unproved"):
            raise StoreError(
                f"There is no dead letter {operation!r}; see `uacs-bridge dead-letters list`"
            )
        now = self._clock.time()
        del self._operations[operation]  # to the end of its lane
        self._operations[operation] = _Op(op.operation, due=now, created=now, receipts=op.receipts)
        return op.lane

    # --- reactions and pins -------------------------------------------------------------------

    async def reactions(self, message: MessageId) -> Sequence[Reacted]:
        return self._marks.standing(message)

    async def pinned_by(self, message: MessageId) -> ActorId | None:
        return self._marks.pinned_by(message)

    async def unshown_emoji(self, message: MessageId, channel: ChannelRef) -> Collection[str]:
        unshown: dict[str, bool] = {}
        for op in self._operations.values():
            one = op.operation
            if isinstance(one, AddReaction) and (one.message, one.channel) == (message, channel):
                unshown[one.emoji] = op.state == "dead" or bool(op.losses)
        return {emoji for emoji, lost in unshown.items() if lost}

    def _stands(self, message: MessageId) -> bool:
        return message in self._messages and self._messages[message].state != "deleted"

    def _stored(self, kept: _Kept) -> StoredMessage:
        new = kept.new
        return StoredMessage(
            self._whole(kept), new.author, new.time, new.place, new.native_id, new.root, kept.state,
            kept.changed,
        )  # fmt: skip

    def _whole(self, kept: _Kept) -> Message:
        reacted, rated = self._marks.shown(kept.new.id), self._rated(kept.new.id)
        if not (reacted or rated):
            return kept.message
        return with_marks(kept.message, reactions=reacted or None, feedback=rated or None)

    def _queue_mark(self, operation: Mark) -> None:
        for op in self._operations.values():
            other = op.operation
            fresh = op.state == "waiting" and not op.attempts and other.message == operation.message
            if fresh and op.lane == operation.lane and makes_needless(other, operation):
                if not isinstance(other, NoteReactions):
                    self._cancel(op, "taken back before it was done")
                return
        self._queue(operation)

    def _cancel_marks(self, message: MessageId) -> None:
        for op in self._operations.values():
            of_it = isinstance(op.operation, Mark) and op.operation.message == message
            if of_it and op.state == "waiting":
                self._cancel(op, "the message was deleted")

    def _cancel(self, op: _Op, why: str) -> None:
        op.state, op.error, op.ended = "cancelled", why, self._clock.time()

    # --- catch-up -----------------------------------------------------------------------------

    async def held(
        self, channel: ChannelRef, since: float, *, limit: int, thread: str | None = None
    ) -> Sequence[Held]:
        links = [
            link
            for link in self._links.of_channel(channel.key)
            if link.stands and link.at >= since and thread in (None, link.thread)
        ]
        links.sort(key=lambda link: link.at, reverse=True)
        found: list[Held] = []
        for link in links:
            kept = self._messages.get(link.message)
            if kept is not None and kept.state != "deleted":
                said = link.kind == SAID
                found.append(
                    Held(link.native_id, link.thread, link.message, said, link.at, kept.changed)
                )
        return found[:limit]

    async def pins(self, channel: ChannelRef) -> Sequence[HeldPin]:
        found = [
            HeldPin(link.native_id, link.thread, link.message, *pin)
            for link in self._links.of_channel(channel.key)
            if link.stands
            and link.native_id == self._links.copies(link.message, channel.key)[0].native_id
            and (pin := self._marks.pin_of(link.message)) is not None
            and self._messages[link.message].state != "deleted"
        ]
        return sorted(found, key=lambda one: one.native_id)

    async def orphans(self, since: float, *, limit: int) -> Sequence[Orphan]:
        return self._orphans.since(since, limit)

    async def forget_orphans(self, before: float) -> None:
        self._orphans.forget(before)

    # --- turns --------------------------------------------------------------------------------

    async def was_called(self, agent: str, root: MessageId) -> bool:
        for turn in self._turns.values():
            kept = self._messages.get(turn.origin or turn.trigger)
            thread = None if kept is None else kept.new.root
            if turn.agent == agent and root in (turn.trigger, turn.origin, thread):
                return True
        return False

    async def called_by_others(self, room: RoomId, since: float) -> int:
        here = [turn for turn in self._turns.values() if turn.room == room]
        people = [index for index, turn in enumerate(here) if turn.called_by == "person"]
        after = here[people[-1] + 1 :] if people else here
        return sum(turn.asked >= since for turn in after)

    async def last_answer(self, session: str, *, before: TurnId) -> MessageId | None:
        of_session = [one for one in self._turns.values() if one.session == session]
        for turn in reversed(of_session):
            kept = None if turn.answer is None else self._messages.get(turn.answer)
            if turn.id != before and kept is not None and kept.state != "deleted":
                return turn.answer
        return None

    async def open_turns(self) -> Sequence[StoredTurn]:
        return [
            one for one in self._turns.values() if one.state in ("queued", "running", "waiting")
        ]

    async def set_turn(
        self,
        turn: TurnId,
        state: TurnState,
        *,
        tool_called: bool = False,
        answer: MessageId | None = None,
        error: str = "",
    ) -> None:
        self._must_be_open()
        if turn not in self._turns:
            raise StoreError(f"There is no turn {turn!r}")
        before = self._turns[turn]
        entered = state == "running" and before.state != "running"
        self._turns[turn] = replace(
            before,
            state=state,
            attempts=before.attempts + entered,
            tool_called=before.tool_called or tool_called,
            answer=answer or before.answer,
        )

    # --- the whole ----------------------------------------------------------------------------

    async def pulse(self) -> StorePulse:
        states = _count(op.state for op in self._operations.values())
        found = {
            "open": states.get("waiting", 0) + states.get("sending", 0),
            "dead": states.get("dead", 0),
            "unproved": states.get("unproved", 0),
        }
        outbox = {name: min(count, MOST_COUNTED) for name, count in found.items()}
        return StorePulse(len(self._messages), outbox)

    async def prove_writable(self) -> None:
        """Memory takes anything."""

    async def status(self) -> StoreStatus:
        return StoreStatus(
            inbox=_count(row.state for row in self._rows.values()),
            outbox=_count(op.state for op in self._operations.values()),
            turns=_count(turn.state for turn in self._turns.values()),
            messages=len(self._messages),
            lanes=await self.lanes_waiting(),
        )

    async def lanes_waiting(self) -> Sequence[LaneStatus]:
        lanes: dict[LaneId, list[_Op]] = {}
        for op in self._open():
            lanes.setdefault(op.lane, []).append(op)
        found = [
            LaneStatus(
                lane=lane,
                account=ops[0].operation.account,
                waiting=len(ops),
                oldest=min(op.created for op in ops),
                state=ops[0].state,
                error=ops[0].error,
            )
            for lane, ops in lanes.items()
        ]
        return sorted(found, key=lambda status: (status.oldest, status.lane))

    async def backup(self, target: Path) -> None:
        raise StoreError(f"An in-memory store cannot be copied to {str(target)!r}")

    async def close(self) -> None:
        self._closed = True

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreError("The in-memory store is closed")


def _check_turns(wanted: Sequence[NewTurn], known: Mapping[TurnId, StoredTurn]) -> None:
    taken = set(known)
    for turn in wanted:
        if turn.id in taken:
            raise StoreError(f"Turn {turn.id!r} was not queued: its id is taken")
        taken.add(turn.id)


def _record(op: _Op) -> OperationRecord:
    return OperationRecord(
        operation=op.operation,
        state=op.state,
        attempts=op.attempts,
        error=op.error,
        created=op.created,
        began=op.began,
        ended=op.ended,
        losses=op.losses,
        receipts=op.receipts,
    )


def _count(states: Iterable[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for state in states:
        counts[state] = counts.get(state, 0) + 1
    return counts
