"""Operations for a platform, as commands, and the native calls that result from them."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SkipValidation, TypeAdapter

from bridge.model.loss import Loss
from bridge.model.people import Byline, Person
from bridge.model.receipts import Receipt
from bridge.model.refs import (
    AccountId,
    ActorId,
    ChannelRef,
    LaneId,
    MessageId,
    OperationId,
    RoomId,
)
from bridge.model.turns import PlanStep
from bridge.uacs import Message


class _Operation(BaseModel):
    """One command for one channel, sent through one account; its id never changes.

    It refers to the canonical message and not to its text: the bridge sends the message as it is at
    that time, so that an earlier edit needs no operation of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: OperationId
    account: AccountId
    channel: ChannelRef
    room: RoomId
    message: MessageId

    @property
    def lane(self) -> LaneId:
        """The queue of the operation."""
        return self.channel.lane

    @property
    def grows(self) -> bool:
        """Whether more text of the message will follow."""
        return False


REPLAY = "replay "  # how the ids of replayed posts begin


def is_replay(operation: OperationId) -> bool:
    """Tell whether an operation replays a message of the archive: nobody is pinged or notified."""
    return operation.startswith(REPLAY)


class PostMessage(_Operation):
    """Posts the message in the channel, in the thread of `root` if there is one.

    - `reply_to`: the message that it answers.
    - `broadcast`: the channel shows it beside its thread, too.
    - `stream`: more text will follow; `asker` is the person who waits for it.
    - `to`: the only person who may see it, on platforms with the feature `whispers`; on others it
      `answers` a command or press of that person (`CommandGiven.answers`, `ActionPressed.answers`).
    """

    type: Literal["post_message"] = "post_message"
    byline: Byline
    root: MessageId | None = None
    reply_to: MessageId | None = None
    broadcast: bool = False
    stream: bool = False
    asker: ActorId | None = None
    to: ActorId | None = None
    answers: str | None = None

    @property
    def grows(self) -> bool:
        """Whether more text of the message will follow."""
        return self.stream


class EditMessage(_Operation):
    """Updates the native copies to the current message.

    `files_changed`: its files differ from those of the copies. `stream`, `asker`: as in a post.
    """

    type: Literal["edit_message"] = "edit_message"
    byline: Byline
    root: MessageId | None = None
    reply_to: MessageId | None = None
    files_changed: bool = False
    stream: bool = False
    asker: ActorId | None = None
    to: ActorId | None = None

    @property
    def grows(self) -> bool:
        """Whether more text of the message will follow."""
        return self.stream


class DeleteMessage(_Operation):
    """Deletes the native copies; `original`: deletes a person's own message, which only some
    platforms allow (the feature `delete_others`)."""

    type: Literal["delete_message"] = "delete_message"
    original: bool = False


class _ReactionOrPin(_Operation):
    """A reaction or a pin on an existing message. Platforms limit them strictly, so they have a
    lane of their own beside the channel's, and no post waits for them."""

    @property
    def lane(self) -> LaneId:
        return self.channel.reaction_lane


class AddReaction(_ReactionOrPin):
    """Our bot reacts to the native copy; `emoji` is Unicode, or `:name:` of a custom emoji."""

    type: Literal["add_reaction"] = "add_reaction"
    emoji: str


class RemoveReaction(_ReactionOrPin):
    """Our bot removes its reaction."""

    type: Literal["remove_reaction"] = "remove_reaction"
    emoji: str


class NoteReactions(_ReactionOrPin):
    """Updates the note below the message that lists reactions from other platforms; a feature of
    the bridge, not of a platform."""

    type: Literal["note_reactions"] = "note_reactions"


class PinMessage(_ReactionOrPin):
    """Pins the native copy."""

    type: Literal["pin_message"] = "pin_message"


class UnpinMessage(_ReactionOrPin):
    """Removes the pin."""

    type: Literal["unpin_message"] = "unpin_message"


Operation = Annotated[
    PostMessage
    | EditMessage
    | DeleteMessage
    | AddReaction
    | RemoveReaction
    | NoteReactions
    | PinMessage
    | UnpinMessage,
    Field(discriminator="type"),
]
OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)
ReactionOrPin = AddReaction | RemoveReaction | NoteReactions | PinMessage | UnpinMessage


def edit_of(
    post: PostMessage, own_id: OperationId, *, files_changed: bool = False, stream: bool = False
) -> EditMessage:
    """Returns the edit that updates the copies of a post.

    Args:
        post: The operation that made the copies.
        own_id: The id of the edit.
        files_changed: Whether its files differ from those of the copies.
        stream: Whether more text of the message will follow.
    """
    return EditMessage(
        id=own_id,
        account=post.account,
        channel=post.channel,
        room=post.room,
        message=post.message,
        byline=post.byline,
        root=post.root,
        reply_to=post.reply_to,
        files_changed=files_changed,
        stream=stream,
        asker=post.asker if stream else None,
        to=post.to,
    )


def deletion_of(post: PostMessage, own_id: OperationId) -> DeleteMessage:
    """Returns the deletion of the copies of a post.

    Args:
        post: The operation that made the copies.
        own_id: The id of the deletion.
    """
    return DeleteMessage(
        id=own_id,
        account=post.account,
        channel=post.channel,
        room=post.room,
        message=post.message,
    )


class QuotedMessage(BaseModel):
    """The message that a reply answers, as far as the destination may see it.

    `native_id` is its id in the destination's channel, None if it has no copy there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    author: str
    excerpt: str
    native_id: str | None = None


CITED = "\ue000{}\ue001"
"""How the words of a delivery with `sources` cite the one with a number."""


class Source(NamedTuple):
    """A source that an answer cites: its number in the text, its title or address or both, and the
    quote."""

    number: int
    title: str
    url: str
    quote: str = ""


class Counterparts(BaseModel):
    """What the references of a message become at its destination. Any other reference is readable
    text there, without a ping or a link.

    - `people`: mentioned actor -> the same person's account there; no two have the same name.
    - `groups`: roles and user groups -> those there; `channels`: keys of channels -> those there;
      `links`: addresses of messages -> those of their copies.
    - `everyone`: `@everyone`, `@channel` and `@here` ping there, too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    people: dict[ActorId, Person] = {}
    groups: dict[str, str] = {}
    channels: dict[str, str] = {}
    links: dict[str, str] = {}
    everyone: bool = False


NO_COUNTERPARTS = Counterparts()


class Delivery(BaseModel):
    """An operation with everything that `encode` needs: the same delivery always gives the same
    calls.

    - `message`: the current canonical message.
    - `thread`: the destination's id of the thread root, None for a message in the channel itself.
    - `copies`: the existing native copies, by increasing slot.
    - `steps`: an agent's steps of work, on platforms that show them separately.
    - `sources`: the sources that its text cites as `CITED`, on platforms with native citations.
    - `feedback`: whether the platform asks people to rate it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: Operation
    message: Message
    thread: str | None = None
    quoted: QuotedMessage | None = None
    copies: tuple[Receipt, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    sources: tuple[Source, ...] = ()
    feedback: bool = False
    # A factory: pydantic would make a deep copy of a default for each delivery.
    counterparts: Counterparts = Field(default_factory=lambda: NO_COUNTERPARTS)


class RateLimitKey(BaseModel):
    """One limit that a call counts against: a rule of the connector's `rate_limits`, and the object
    that it applies to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    of: str


class Upload(BaseModel):
    """A stored file that travels with a call; `size` in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file_id: str
    name: str
    media_type: str
    size: int
    alt: str = ""
    spoiler: bool = False


class Call(BaseModel):
    """One native request.

    - `slot`: the copy of the message that it makes or changes (0, 1, ...; from
      `FIRST_SLOT_OF_FILES` on for copies with files alone).
    - `body`: the request in the platform's own format. Calls that show the same content share parts
      of it: nobody changes it.
    - `native_id`: the copy that is edited or deleted.
    - `files`: uploaded before the call.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["post", "edit", "delete", "other"]
    method: str
    operation: OperationId
    channel: ChannelRef
    slot: int = 0
    thread: str | None = None
    native_id: str | None = None
    rate_limits: tuple[RateLimitKey, ...] = ()
    body: SkipValidation[dict[str, JsonValue]]
    files: tuple[Upload, ...] = ()


class Encoded(BaseModel):
    """The calls of one delivery in order, and a Loss for everything that they could not carry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: tuple[Call, ...]
    losses: tuple[Loss, ...] = ()
