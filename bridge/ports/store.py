"""What keeps everything: inbox, archive, timelines, outbox, links, turns. Each method is one
transaction; when it returns, its effect is durable."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol
from uuid import UUID

from bridge.model import (
    AccountId,
    ActorId,
    AddReaction,
    ChannelRef,
    DeleteMessage,
    Delivery,
    LaneId,
    Loss,
    MessageId,
    NoteReactions,
    Operation,
    OperationId,
    Person,
    PersonId,
    PinMessage,
    Place,
    PostMessage,
    Raw,
    Receipt,
    RemoveReaction,
    RoomId,
    TurnId,
    UnpinMessage,
)
from bridge.model.turns import TurnState
from bridge.ports.agent_store import AgentStore
from bridge.ports.approval_store import ApprovalStore
from bridge.ports.catch_up_store import CatchUpStore, Orphan
from bridge.ports.direct_store import DirectStore
from bridge.ports.feedback_store import FeedbackStore, GivenFeedback
from bridge.ports.reading_store import Position, ReadingStore
from bridge.uacs import Conversation, Message

InboxState = Literal["waiting", "done", "failed"]
OutboxState = Literal["waiting", "sending", "done", "dead", "unproved", "cancelled"]
MessageState = Literal["streaming", "complete", "edited", "deleted", "interrupted"]
HowLinked = Literal["email", "command", "code"]
CalledBy = Literal["person", "agent", "bot"]
CodeUse = Literal["linked", "wrong", "own", "too_many"]

CODE_TRIES = 5  # wrong codes that one account may give ...
CODE_WINDOW = 600.0  # ... within so many seconds


@dataclass(frozen=True)
class InboxRow:
    """A kept payload; ids rise in the order in which they were kept. Credentials stay sealed."""

    id: int
    raw: Raw


@dataclass(frozen=True)
class NewMessage:
    """A message to be archived under the place where it was said.

    `root` is the canonical message that its thread hangs on. `native_id` is None for what
    agents say: they stand on no platform. `time` is the platform's, in seconds since 1970, and so
    is `changed`, where it came already edited.
    """

    message: Message
    author: Person
    time: float
    place: Place | None = None
    native_id: str | None = None
    root: MessageId | None = None
    reply_to: MessageId | None = None
    audience: tuple[ActorId, ...] | None = None
    state: MessageState = "complete"
    changed: float = 0.0

    @property
    def id(self) -> MessageId:
        return MessageId(self.message.message_id)


@dataclass(frozen=True)
class Timeline:
    """A Conversation that a message is placed in; made when it is not there yet. `epoch`: the
    number of the room's configuration under which the message came in."""

    id: UUID
    kind: Literal["channel", "thread", "room"]
    name: str
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    epoch: int | None = None


@dataclass(frozen=True)
class NewTurn:
    """A turn to be queued for an agent; those of one `session` are answered in their order.

    `origin` is what a person or a bot said, where it was an agent's answer to it that called this
    one; it is the trigger itself elsewhere.
    """

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    session: str = ""
    origin: MessageId | None = None
    called_by: CalledBy = "person"


@dataclass(frozen=True)
class View:
    """The part of a conversation that somebody is shown: what was said in this channel, in the
    thread of this message, or by this person, and the answers to it. All of it where none is set.

    - `member`: of a room, only what came into it while this channel (its key) or agent
      (`agent:NAME`) was in it.
    - `readers`: what was said to one of them alone is in it, too; it is in nobody else's.
    """

    channel: ChannelRef | None = None
    thread: MessageId | None = None
    person: ActorId | None = None
    member: str | None = None
    readers: tuple[ActorId, ...] = ()


@dataclass(frozen=True)
class Settlement:
    """How an operation ended. `receipts` are all native copies that it made, changed or removed.

    `thread_of` says that this post stands in the destination for a thread root that never came
    there, or is gone: later messages of that root's thread go below it. `then` is queued with it,
    behind all that waits.
    """

    operation: OperationId
    state: Literal["done", "dead", "unproved", "cancelled"]
    receipts: tuple[Receipt, ...] = ()
    losses: tuple[Loss, ...] = ()
    error: str = ""
    thread_of: MessageId | None = None
    then: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class Change:
    """What an event did to an archived message: its whole new state, or that it is gone.

    `time` is the platform's, in seconds since 1970: an edit that is not later than the last one
    changes nothing; a deletion always holds, and what is deleted stays so; marks that wait for it
    are cancelled.
    """

    message: Message
    state: Literal["edited", "deleted"]
    time: float
    operations: tuple[Operation, ...] = ()


BarredWhy = Literal["blocked", "opted_out"]


@dataclass(frozen=True)
class Barred:
    """Somebody who is not admitted, in one room or (None) in all; `at` is seconds since 1970."""

    actor: ActorId
    why: BarredWhy
    by: str
    at: float
    room: RoomId | None = None


@dataclass(frozen=True)
class Paused:
    """A room that carries nothing, until it is resumed or `until` (seconds since 1970)."""

    room: RoomId
    why: str
    by: str
    at: float
    until: float | None = None


@dataclass(frozen=True)
class RoomLink:
    """A channel that was linked to a room, or unlinked from it, whatever the file says."""

    room: RoomId
    account: AccountId
    channel: ChannelRef
    linked: bool
    by: str
    at: float


@dataclass(frozen=True)
class RoomForm:
    """A room as it is configured: a digest of its settings, and the names of all who are in it."""

    room: RoomId
    digest: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class RoomStanding:
    """The number of a room's configuration, from 1, and since when each member is in it; 0 for
    those who were there first."""

    epoch: int
    joined: Mapping[str, float]


@dataclass(frozen=True)
class Gone:
    """A native copy of ours that a person took away."""

    channel: ChannelRef
    native_id: str


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


@dataclass(frozen=True)
class StoredMessage:
    """An archived message with what the router needs to know of it."""

    message: Message
    author: Person
    time: float
    place: Place | None
    native_id: str | None
    root: MessageId | None
    state: MessageState
    changed: float = 0.0


@dataclass(frozen=True)
class Relation:
    """Where a message belongs: the root of its thread, and what it answers."""

    root: MessageId | None = None
    reply_to: MessageId | None = None


@dataclass(frozen=True)
class Past:
    """A piece of a conversation, newest first. `first` is the number of the oldest place that was
    looked at, None where nothing stands before it; `looked_at` are how many places that were."""

    messages: tuple[Message, ...]
    first: int | None
    looked_at: int


@dataclass(frozen=True)
class LinkedAccount:
    """One of a person's accounts, how and when (seconds since 1970) it was linked."""

    actor: ActorId
    person: PersonId
    how: HowLinked
    linked: float


@dataclass(frozen=True)
class ShownName:
    """An author's own name, and what they are called in a room, where names are told apart."""

    room: RoomId
    actor: ActorId
    name: str
    shown: str


@dataclass(frozen=True)
class OutboxItem:
    """The oldest open operation of a lane, ready for `encode`.

    - `delivery` holds the message as it stands now, the thread's native root, the quoted message
      and the native copies. `thread_missing` says that it belongs to a thread whose root has no
      copy in this channel. `post_open`: the post that a mark waits for is not done yet.
    - `due` and `began` are seconds since 1970; `after` is the native id of the lane's last
      settled post.
    """

    delivery: Delivery
    state: Literal["waiting", "sending"]
    attempts: int
    due: float
    created: float
    began: float | None = None
    after: str | None = None
    thread_missing: bool = False
    post_open: bool = False
    message_state: MessageState = "complete"


@dataclass(frozen=True)
class DeadLetter:
    """An operation that nobody works on any more: refused, given up, or unproved. What became of
    its message since (`message_state`: edited, deleted) did not reach its copy either, should
    that stand. Or one that is held up: it is tried again (`waiting`), or its outcome is not known
    yet (`sending`)."""

    operation: Operation
    state: Literal["dead", "unproved", "waiting", "sending"]
    error: str
    attempts: int
    time: float
    excerpt: str
    message_state: MessageState = "complete"


@dataclass(frozen=True)
class StoredTurn:
    """A turn and how far it came."""

    id: TurnId
    agent: str
    room: RoomId
    trigger: MessageId
    state: TurnState
    attempts: int
    asked: float
    tool_called: bool = False
    answer: MessageId | None = None
    session: str = ""
    origin: MessageId | None = None
    called_by: CalledBy = "person"


@dataclass(frozen=True)
class LaneStatus:
    """What waits in one lane; `oldest` is seconds since 1970."""

    lane: LaneId
    account: AccountId
    waiting: int
    oldest: float
    state: OutboxState
    error: str = ""


@dataclass(frozen=True)
class StorePulse:
    """How many messages there are, and how many operations are `open`, `dead` and `unproved`: of
    each at most MOST_COUNTED."""

    messages: int
    outbox: Mapping[str, int]


MOST_COUNTED = 1000


@dataclass(frozen=True)
class StoreStatus:
    """The counts that `status` and `/metrics` show."""

    inbox: Mapping[str, int]
    outbox: Mapping[str, int]
    turns: Mapping[str, int]
    messages: int
    lanes: Sequence[LaneStatus]


@dataclass(frozen=True)
class OperationRecord:
    """One operation of a message as `explain` shows it."""

    operation: Operation
    state: OutboxState
    attempts: int
    error: str
    created: float
    began: float | None
    ended: float | None
    losses: tuple[Loss, ...]
    receipts: tuple[Receipt, ...]


@dataclass(frozen=True)
class Explanation:
    """Everything that is known of one message."""

    stored: StoredMessage
    raw: Raw | None
    kept_at: float | None
    outcome: str
    timelines: Sequence[tuple[Timeline, int]]
    operations: Sequence[OperationRecord]


class InboxStore(Protocol):
    """Payloads as they came."""

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        """Keep a payload; None when its dedupe key was kept before for this account.

        `advance` moves the channel's cursor on to the raw's `order_key` in the same transaction,
        for a repeat, too: it was read once more. Raises StoreFull when there is no room.
        """
        ...

    async def waiting_rows(self) -> Sequence[InboxRow]:
        """All rows not worked on yet, oldest first."""
        ...

    async def failed_rows(self, limit: int = 100) -> Sequence[tuple[InboxRow, str]]: ...

    async def retry_failed_rows(self) -> int:
        """Set failed rows waiting again (a decoder was mended); how many."""
        ...

    async def fail_row(self, row: int, error: str) -> None: ...

    async def cursor(self, account: AccountId, channel: ChannelRef) -> str | None: ...

    async def set_cursor(self, account: AccountId, channel: ChannelRef, cursor: str) -> None:
        """Move it on; an earlier value than the stored one changes nothing."""
        ...


class ArchiveStore(Protocol):
    """Messages, people and timelines."""

    async def admit(self, admission: Admission) -> Admitted: ...

    async def message(self, message: MessageId) -> StoredMessage | None: ...

    async def change_message(
        self,
        message: Message,
        state: MessageState,
        operations: Sequence[Operation] = (),
        turns: Sequence[NewTurn] = (),
    ) -> None:
        """Replace the archived message, and queue operations and turns in the same transaction;
        turns that are there already are left out. What is put to deletion loses its reactions and
        pins that still wait.

        An EditMessage is left out where the PostMessage of the same message still waits in that
        lane with no copy recorded, or another of its EditMessages does: that says the new state.
        A DeleteMessage cancels such a PostMessage, and is left out then: nobody ever sees it.
        """
        ...

    async def posts_of(self, message: MessageId) -> Sequence[PostMessage]:
        """The posts that carry it, or may: all but those that were given up, and those whose copies
        are all gone, in their order."""
        ...

    async def resolve(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        """The canonical message that this native id shows: said there, or our copy, or a post
        that stands for a thread root."""
        ...

    async def took_away(self, message: MessageId, channel: ChannelRef, native_id: str) -> bool:
        """Whether this copy's end is our own doing: it is known to be gone, or an operation of
        ours deletes or deleted the message there, or is just changing it."""
        ...

    async def copies(self, message: MessageId, channel: ChannelRef) -> Sequence[Receipt]:
        """The native copies of the message that stand in the channel, by rising slot."""
        ...

    async def person(self, actor: ActorId) -> Person | None: ...

    async def save_person(self, person: Person) -> None: ...

    async def room_ids(self, rooms: Sequence[RoomId]) -> Mapping[RoomId, UUID]:
        """The Conversation id of each room, made at its first use and kept for ever."""
        ...

    async def conversation(
        self, conversation: UUID, *, newest: int | None = None, view: View | None = None
    ) -> Conversation:
        """The timeline as a UACS Conversation, oldest first; at most the `newest` messages, and of
        these only what is in the `view`.
        Deleted messages are absent, and so is what was said to others than its `readers` alone.
        Raises StoreError when there is no such conversation."""
        ...

    async def past(
        self, conversation: UUID, *, rows: int, before: int | None = None, view: View | None = None
    ) -> Past:
        """What stands in the `rows` places before this number, or in the newest, as far as it is in
        the `view`; absent is what is absent from `conversation`. It costs the same however long the
        conversation is. Nothing where there is no such conversation."""
        ...

    async def number_of(self, conversation: UUID, message: MessageId) -> int | None:
        """The number of the message's place in the conversation, from 1."""
        ...

    async def relations(self, messages: Collection[MessageId]) -> Mapping[MessageId, Relation]:
        """Of each message that is kept."""
        ...

    async def changed_since(self, room: UUID, known: Position, author: str) -> bool:
        """Whether anything up to that position, or anything of this author (an actor's id), was
        edited or deleted after it."""
        ...

    async def came_to(self, room: RoomId, member: str, message: MessageId) -> bool:
        """Whether the message came into the room while this channel or agent was in it."""
        ...

    async def conversations(self) -> Sequence[tuple[Timeline, int]]:
        """All timelines with their number of messages."""
        ...

    async def live_threads(self, channel: ChannelRef, since: float) -> Sequence[str]:
        """Native ids of threads of the channel in which something was said since then, and of
        recent messages that could have become roots, newest first, at most 200. Those that are
        gone are among them: somebody may have answered just before."""
        ...

    async def explain(self, message: MessageId) -> Explanation | None: ...


class RoomStore(Protocol):
    """What is decided about rooms while the bridge runs."""

    async def bar(self, barred: Barred) -> None: ...

    async def unbar(self, room: RoomId | None, actor: ActorId, why: BarredWhy) -> bool:
        """Whether they were barred so."""
        ...

    async def barred(self) -> Sequence[Barred]: ...

    async def pause_room(self, paused: Paused) -> None: ...

    async def resume_room(self, room: RoomId) -> bool:
        """Whether it was paused."""
        ...

    async def paused_rooms(self) -> Sequence[Paused]: ...

    async def link_channel(self, link: RoomLink) -> None:
        """The last word on a channel of a room counts."""
        ...

    async def room_links(self) -> Sequence[RoomLink]:
        """In the order in which they were decided."""
        ...

    async def stand_rooms(self, forms: Sequence[RoomForm]) -> Sequence[RoomStanding]:
        """Each room as it is configured now; a digest other than the last one begins an epoch."""
        ...


class PeopleStore(Protocol):
    """Who is who: accounts of one person, and names that look alike (`bridge.content.text.look_alikes`)."""

    async def people_named(self, name: str) -> Sequence[Person]:
        """Known people whose name looks like this one; at most 50."""
        ...

    async def shown_name(self, room: RoomId, actor: ActorId) -> ShownName | None: ...

    async def names_like(self, room: RoomId, name: str) -> Sequence[ShownName]:
        """Those of the room whose own name, or whose name as it is shown, looks like this one."""
        ...

    async def save_names(self, names: Sequence[ShownName]) -> None: ...

    async def accounts_of(self, actor: ActorId) -> Sequence[LinkedAccount]:
        """All accounts of the same person, this one among them; none where it is not linked."""
        ...

    async def linked_accounts(self) -> Sequence[LinkedAccount]:
        """All of them, person by person."""
        ...

    async def link_people(self, one: ActorId, other: ActorId, how: HowLinked) -> PersonId:
        """These two, and all that each is linked to, are one person from now on. Their names in
        rooms are forgotten, to be decided anew."""
        ...

    async def unlink_person(self, actor: ActorId) -> bool:
        """This account is nobody else's any more. False: it was not linked."""
        ...

    async def same_email(self, actor: ActorId, digest: str) -> Sequence[ActorId]:
        """Note the digest of the account's e-mail address; the others that have the same. None
        where it was noted before: whom a person has unlinked stays so."""
        ...

    async def put_link_code(self, digest: str, actor: ActorId, expires: float) -> None:
        """In place of the account's code before; `expires` is seconds since 1970."""
        ...

    async def use_link_code(self, digest: str, actor: ActorId) -> CodeUse:
        """Link the account to the one that the code was made for; a code is good once. After
        CODE_TRIES wrong ones within CODE_WINDOW seconds no code is looked at."""
        ...


class OutboxStore(Protocol):
    """Operations in their lanes."""

    async def open_lanes(self) -> Sequence[LaneId]:
        """Lanes with an operation waiting or sending."""
        ...

    async def lanes_waiting(self) -> Sequence[LaneStatus]:
        """What waits in each lane that has something to send, the longest waiting first."""
        ...

    async def head(self, lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        """The oldest open operation of the lane, leaving out those of some messages."""
        ...

    async def notice(self, lane: LaneId) -> OutboxItem | None:
        """The oldest open operation of the lane that shows what the bridge itself says."""
        ...

    async def knows_operation(self, operation: OperationId) -> bool:
        """Whether it was ever queued here."""
        ...

    async def begin(self, operation: OperationId) -> None:
        """Mark it `sending`, one attempt more. Durable before the first byte goes out.

        Raises NotOpen when it is over (an echo settled it, a deletion cancelled it): nothing may
        be sent.
        """
        ...

    async def record(self, operation: OperationId, receipts: Sequence[Receipt]) -> None:
        """Note copies that stand while more calls of the same operation are still to come.

        They are linked at once: `resolve` knows them. A slot noted before keeps its first receipt;
        an operation that is settled already, or that nobody knows, changes nothing.
        """
        ...

    async def settle(self, settlement: Settlement) -> bool:
        """End an operation, link its copies. False: it was settled before (an echo was faster), or
        nobody knows it; then nothing changes.

        `done` with receipts is proof: it also ends what was `dead` or `unproved` (True).
        """
        ...

    async def postpone(self, operation: OperationId, until: float, error: str) -> None:
        """Back to `waiting`, not before `until` (seconds since 1970); nothing if it is settled."""
        ...

    async def dead_letters(self) -> Sequence[DeadLetter]: ...

    async def held_up(self) -> Sequence[DeadLetter]:
        """The operations that have failed and are tried again, and those whose request has had no
        known outcome for some time, lane by lane; `time` is when they were queued."""
        ...

    async def hasten(self, operation: OperationId) -> LaneId:
        """Make a waiting operation due now; what is under way is left alone. Raises StoreError
        where it is not open."""
        ...

    async def replay(self, operation: OperationId) -> LaneId:
        """Set a dead letter waiting again, at the end of its lane, as if it were new: no attempts,
        `created` now. Copies recorded before stand. Raises StoreError if unknown."""
        ...


class MarkStore(Protocol):
    """Reactions and pins."""

    async def reactions(self, message: MessageId) -> Sequence[Reacted]:
        """All that stand, in the order in which they were given."""
        ...

    async def pinned_by(self, message: MessageId) -> ActorId | None:
        """Who pinned it; None where it is not pinned."""
        ...

    async def unshown_emoji(self, message: MessageId, channel: ChannelRef) -> Collection[str]:
        """Emoji that the platform did not take on the message's copy: their last AddReaction there
        ended with a loss, or is a dead letter."""
        ...


class TurnStore(Protocol):
    """Agents' turns."""

    async def was_called(self, agent: str, root: MessageId) -> bool:
        """Whether a turn of the agent was triggered by this message or in its thread."""
        ...

    async def last_answer(self, session: str, *, before: TurnId) -> MessageId | None:
        """What was said last in the session, before this turn, and stands still."""
        ...

    async def open_turns(self) -> Sequence[StoredTurn]:
        """Queued, running and waiting turns, oldest first."""
        ...

    async def set_turn(
        self,
        turn: TurnId,
        state: TurnState,
        *,
        tool_called: bool = False,
        answer: MessageId | None = None,
        error: str = "",
    ) -> None:
        """Entering `running` counts an attempt; `tool_called` and `answer` are never unset."""
        ...


OWN_SHELF = AccountId("")
"""No account has this name: the shelf of the router itself."""


class SecretStore(Protocol):
    """Values of connectors, and sealed credentials."""

    async def shelf_get(self, account: AccountId, key: str) -> str | None: ...

    async def shelf_put(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None: ...

    async def shelf_remove(self, account: AccountId, key: str) -> None: ...

    async def credential(self, name: str) -> str | None: ...

    async def put_credential(self, name: str, value: str) -> None: ...

    async def payload_credentials(self, row: int) -> Mapping[str, str]:
        """What stood at the credential paths of a kept payload; empty when its time is over."""
        ...

    async def forget_expired(self) -> int:
        """Drop sealed payload credentials whose time is over; how many."""
        ...


class Store(
    InboxStore,
    ArchiveStore,
    PeopleStore,
    RoomStore,
    OutboxStore,
    MarkStore,
    TurnStore,
    AgentStore,
    SecretStore,
    CatchUpStore,
    ReadingStore,
    ApprovalStore,
    FeedbackStore,
    DirectStore,
    Protocol,
):
    """All of it."""

    async def status(self) -> StoreStatus: ...

    async def pulse(self) -> StorePulse:
        """The little that a health check tells; takes no longer in a large store."""
        ...

    async def prove_writable(self) -> None:
        """Write something small; after a disk that was full, as much as a batch of messages.
        Raises StoreError."""
        ...

    async def backup(self, target: Path) -> None:
        """A consistent copy of the whole store while it is in use."""
        ...

    async def close(self) -> None: ...
