"""Events of a platform, in the past tense: the output of `decode` and the input of the router."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from bridge.model.people import Person
from bridge.model.refs import AccountId, ActorId, MessageId, OperationId, Place, message_id_of
from bridge.uacs import Message

Sense = Literal["good", "bad"]


class _Event(BaseModel):
    """The account that received the event, its place, its time, and its audience.

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
    """`target` is the platform's id of the message that the event is about."""

    target: str

    @property
    def target_id(self) -> MessageId:
        """The canonical id of that message."""
        return message_id_of(self.place.channel, self.target)


class MessagePosted(_Event):
    """A new message.

    - `native_id`: the platform's id, from which `message.message_id` derives.
    - `author`: the author as the payload describes them; `name_the_actor` completes it.
    - `reply_to`: the platform's id of the message that it answers (not its thread root).
    - `broadcast`: it is in a thread, and the channel shows it, too.
    - `addresses_us`: it mentions our bot, or is in a direct chat with it.
    - `edited_at`: it was edited before it arrived; `message` is then the edited message.
    - `own`: it is one of our own posts; `operation` and `slot` identify the post if known.
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
    """An edit; `message` is the whole new state, and the later `edited_at` of two edits wins."""

    type: Literal["message_edited"] = "message_edited"
    message: Message
    edited_at: datetime
    own: bool = False


class FilesAwaited(_OnMessage):
    """A new attempt to fetch files that were not available when the message was posted or edited.

    `message` is its content at that time, `edited_at` the time of that edit, if any, and `row` its
    row in the inbox. The bridge itself creates these events.
    """

    type: Literal["files_awaited"] = "files_awaited"
    message: Message
    edited_at: datetime | None = None
    row: int


class MessageDeleted(_OnMessage):
    """A message was deleted."""

    type: Literal["message_deleted"] = "message_deleted"


class MessagesBulkDeleted(_ByActor):
    """Many messages were deleted at once."""

    type: Literal["messages_bulk_deleted"] = "messages_bulk_deleted"
    targets: tuple[str, ...]


class ThreadDeleted(_ByActor):
    """The thread of `place` was deleted with all its messages."""

    type: Literal["thread_deleted"] = "thread_deleted"


ContentEvent: TypeAlias = MessagePosted | MessageEdited | FilesAwaited
Deletion: TypeAlias = MessageDeleted | MessagesBulkDeleted | ThreadDeleted


class ReactionAdded(_OnMessage):
    """A reaction was added; `emoji` is Unicode, or `:name:` of a custom emoji; `own`: by our
    bot."""

    type: Literal["reaction_added"] = "reaction_added"
    emoji: str
    own: bool = False


class ReactionRemoved(_OnMessage):
    """One person removed one reaction."""

    type: Literal["reaction_removed"] = "reaction_removed"
    emoji: str
    own: bool = False


class ReactionsCleared(_OnMessage):
    """All reactions were removed, or all with one emoji."""

    type: Literal["reactions_cleared"] = "reactions_cleared"
    emoji: str | None = None


class ThreadStarted(_ByActor):
    """A thread was created; `root` is the platform's id of its first message, if any."""

    type: Literal["thread_started"] = "thread_started"
    name: str = ""
    root: str | None = None
    own: bool = False


class MessagePinned(_OnMessage):
    """A message was pinned in its channel."""

    type: Literal["message_pinned"] = "message_pinned"
    own: bool = False


class MessageUnpinned(_OnMessage):
    """A pin was removed."""

    type: Literal["message_unpinned"] = "message_unpinned"
    own: bool = False


class TypingStarted(_ByActor):
    """A person began to type; never stored."""

    type: Literal["typing_started"] = "typing_started"
    own: bool = False


class PollEnded(_OnMessage):
    """A poll closed; `counts` are its answers with their votes, in the poll's order."""

    type: Literal["poll_ended"] = "poll_ended"
    counts: tuple[tuple[str, int], ...]


class MemberJoined(_ByActor):
    """A person joined the channel."""

    type: Literal["member_joined"] = "member_joined"
    person: Person | None = None


class MemberLeft(_ByActor):
    """A person left the channel."""

    type: Literal["member_left"] = "member_left"


class ChannelCreated(_Event):
    """A channel was created, or the bot came into it; `name` is empty where it is not told."""

    type: Literal["channel_created"] = "channel_created"
    name: str


class ChannelRenamed(_Event):
    """A channel was renamed."""

    type: Literal["channel_renamed"] = "channel_renamed"
    name: str


class TopicChanged(_Event):
    """A channel's topic changed; the topic is UACS Markdown."""

    type: Literal["topic_changed"] = "topic_changed"
    topic: str


class ChannelClosed(_Event):
    """A channel was archived or deleted, or our bot was removed from it."""

    type: Literal["channel_closed"] = "channel_closed"
    reason: str = ""


class ActionPressed(_OnMessage):
    """A person pressed a button, chose from a menu or submitted a form.

    `values` are the values of all inputs beside it or in it; None is an empty one. `answers` is the
    reference that a private answer needs (`PostMessage.answers`), if one is possible.
    """

    type: Literal["action_pressed"] = "action_pressed"
    token: str
    native: JsonValue
    values: dict[str, JsonValue] = {}
    answers: str | None = None


class FeedbackGiven(_OnMessage):
    """A person rated an answer by the platform's own means, with an optional `comment`; a person's
    latest rating counts."""

    type: Literal["feedback_given"] = "feedback_given"
    sense: Sense
    comment: str = ""


class AnswerStopped(_ByActor):
    """A person pressed the platform's own stop button.

    It stops the growing messages `targets` or, if there is none yet, the answer in the thread.
    """

    type: Literal["answer_stopped"] = "answer_stopped"
    targets: tuple[str, ...] = ()


class CommandGiven(_ByActor):
    """A person sent us a command (`/bridge status`); `text` is UACS Markdown.

    `answers` is the reference that an answer needs (`PostMessage.answers`), if the platform waits
    for one.
    """

    type: Literal["command_given"] = "command_given"
    command: str
    text: str = ""
    answers: str | None = None


class AccountRevoked(_Event):
    """The platform revoked our installation."""

    type: Literal["account_revoked"] = "account_revoked"
    reason: str = ""


class Ignored(_Event):
    """An event that the connector understands and nobody needs (a ping, our own join); not
    archived."""

    type: Literal["ignored"] = "ignored"
    reason: str


class Unknown(_Event):
    """An event that the connector does not understand; archived unchanged."""

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
