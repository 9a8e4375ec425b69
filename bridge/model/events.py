"""What happened on a platform, in the past tense; what `decode` gives and the router takes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from bridge.model.people import Person
from bridge.model.refs import AccountId, ActorId, MessageId, OperationId, Place, message_id_of
from bridge.uacs import Message

Sense = Literal["good", "bad"]


class _Event(BaseModel):
    """Every event names the account that heard it, where and when it happened, and for whom.

    `audience` is None for everybody in the place, else the only actors who may see it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    account: AccountId
    place: Place
    time: AwareDatetime
    audience: tuple[ActorId, ...] | None = None


class _ByActor(_Event):
    actor: ActorId


class _OnMessage(_ByActor):
    """`target` is the platform's id of the message that it happened to."""

    target: str

    @property
    def target_id(self) -> MessageId:
        return message_id_of(self.place.channel, self.target)


class MessagePosted(_Event):
    """Somebody said something.

    - `native_id` is the platform's id; `message.message_id` derives from it.
    - `author` is what the payload itself says of the author; `name_the_actor` completes it.
    - `reply_to` is the platform's id of the message that it answers (not its thread root).
    - `broadcast`: it is said in a thread, and to the whole channel, too.
    - `addresses_us`: it mentions our bot, or is said to it alone.
    - `edited_at`: it came already edited; then `message` is what it says since.
    - `own`: one of our own posts came back; `operation` and `slot` tell which where known.
    """

    type: Literal["message_posted"] = "message_posted"
    native_id: str
    message: Message
    author: Person
    reply_to: str | None = None
    broadcast: bool = False
    addresses_us: bool = False
    edited_at: datetime | None = None
    own: bool = False
    operation: OperationId | None = None
    slot: int = 0


class MessageEdited(_OnMessage):
    """`message` is the whole new state; `edited_at` decides between two edits."""

    type: Literal["message_edited"] = "message_edited"
    message: Message
    edited_at: datetime
    own: bool = False


class FilesAwaited(_OnMessage):
    """Files that could not be had when a message was posted, or edited, were tried again; `message`
    is what it said then, `edited_at` when it was edited, if at all, and `row` the row of the inbox
    that it came in. The bridge itself keeps these."""

    type: Literal["files_awaited"] = "files_awaited"
    message: Message
    edited_at: datetime | None = None
    row: int


class MessageDeleted(_OnMessage):
    """A message is gone for good."""

    type: Literal["message_deleted"] = "message_deleted"


class MessagesBulkDeleted(_ByActor):
    """Many messages are gone at once."""

    type: Literal["messages_bulk_deleted"] = "messages_bulk_deleted"
    targets: tuple[str, ...]


class ThreadDeleted(_ByActor):
    """A thread (that of `place`) is gone with all that was said in it."""

    type: Literal["thread_deleted"] = "thread_deleted"


Said: TypeAlias = MessagePosted | MessageEdited | FilesAwaited
Deletion: TypeAlias = MessageDeleted | MessagesBulkDeleted | ThreadDeleted


class ReactionAdded(_OnMessage):
    """`emoji` is the Unicode emoji, or `:name:` of a custom one; `own`: our bot's."""

    type: Literal["reaction_added"] = "reaction_added"
    emoji: str
    own: bool = False


class ReactionRemoved(_OnMessage):
    """One person took one reaction back."""

    type: Literal["reaction_removed"] = "reaction_removed"
    emoji: str
    own: bool = False


class ReactionsCleared(_OnMessage):
    """All reactions are gone, or all with one emoji."""

    type: Literal["reactions_cleared"] = "reactions_cleared"
    emoji: str | None = None


class ThreadStarted(_ByActor):
    """A thread exists from now on; `root` is the platform's id of its first message, if any."""

    type: Literal["thread_started"] = "thread_started"
    name: str = ""
    root: str | None = None
    own: bool = False


class MessagePinned(_OnMessage):
    """A message was pinned to its channel."""

    type: Literal["message_pinned"] = "message_pinned"
    own: bool = False


class MessageUnpinned(_OnMessage):
    """A pin was taken away."""

    type: Literal["message_unpinned"] = "message_unpinned"
    own: bool = False


class TypingStarted(_ByActor):
    """Somebody began to write; never stored."""

    type: Literal["typing_started"] = "typing_started"
    own: bool = False


class PollEnded(_OnMessage):
    """A poll closed; `counts` are its answers with their votes, in the poll's order."""

    type: Literal["poll_ended"] = "poll_ended"
    counts: tuple[tuple[str, int], ...]


class MemberJoined(_ByActor):
    """Somebody joined the channel."""

    type: Literal["member_joined"] = "member_joined"
    person: Person | None = None


class MemberLeft(_ByActor):
    """Somebody left the channel."""

    type: Literal["member_left"] = "member_left"


class ChannelCreated(_Event):
    """There is a new channel."""

    type: Literal["channel_created"] = "channel_created"
    name: str


class ChannelRenamed(_Event):
    """A channel has a new name."""

    type: Literal["channel_renamed"] = "channel_renamed"
    name: str


class TopicChanged(_Event):
    """A channel has a new topic, in UACS Markdown."""

    type: Literal["topic_changed"] = "topic_changed"
    topic: str


class ChannelClosed(_Event):
    """A channel was archived or deleted, or we were removed from it."""

    type: Literal["channel_closed"] = "channel_closed"
    reason: str = ""


class ActionPressed(_OnMessage):
    """Somebody pressed a button, chose from a menu or sent a form; `values` are all inputs beside
    it, or in it; None is one that was left empty. `answers` is what an answer for them alone must
    name (`PostMessage.answers`), where there can be one."""

    type: Literal["action_pressed"] = "action_pressed"
    token: str
    native: JsonValue
    values: dict[str, JsonValue] = {}
    answers: str | None = None


class FeedbackGiven(_OnMessage):
    """Somebody said by the platform's own means whether an answer is good; `comment` is what they
    wrote beside it. The latest word of a person holds."""

    type: Literal["feedback_given"] = "feedback_given"
    sense: Sense
    comment: str = ""


class AnswerStopped(_ByActor):
    """Somebody pressed the platform's own Stop: on these messages while they grew (`targets`), or,
    where there is none yet, on what is being answered in the thread."""

    type: Literal["answer_stopped"] = "answer_stopped"
    targets: tuple[str, ...] = ()


class CommandGiven(_ByActor):
    """Somebody gave us a command (`/bridge status`); `text` is UACS Markdown. `answers` is what an
    answer must name (`PostMessage.answers`), where the platform waits for one."""

    type: Literal["command_given"] = "command_given"
    command: str
    text: str = ""
    answers: str | None = None


class AccountRevoked(_Event):
    """The platform took our installation away."""

    type: Literal["account_revoked"] = "account_revoked"
    reason: str = ""


class Ignored(_Event):
    """Understood, and nothing that anybody needs (a ping, our own join); not archived."""

    type: Literal["ignored"] = "ignored"
    reason: str


class Unknown(_Event):
    """Nobody understood it yet; archived as it came."""

    type: Literal["unknown"] = "unknown"
    kind: str


Event = Annotated[
    MessagePosted
    | MessageEdited
    | FilesAwaited
    | MessageDeleted
    | MessagesBulkDeleted
    | ThreadDeleted
    | ReactionAdded
    | ReactionRemoved
    | ReactionsCleared
    | ThreadStarted
    | MessagePinned
    | MessageUnpinned
    | TypingStarted
    | PollEnded
    | MemberJoined
    | MemberLeft
    | ChannelCreated
    | ChannelRenamed
    | TopicChanged
    | ChannelClosed
    | ActionPressed
    | FeedbackGiven
    | AnswerStopped
    | CommandGiven
    | AccountRevoked
    | Ignored
    | Unknown,
    Field(discriminator="type"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
