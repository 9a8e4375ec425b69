"""What we want a platform to do: commands, and the native calls that they become."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

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
    """One wish for one channel, done through one account; its id never changes.

    It names the canonical message and not its words: what is sent is the message as it stands
    when its turn comes, so an edit made before that needs no operation of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: OperationId
    account: AccountId
    channel: ChannelRef
    room: RoomId
    message: MessageId

    @property
    def lane(self) -> LaneId:
        """The queue in which it waits its turn."""
        return self.channel.lane

    @property
    def grows(self) -> bool:
        """Whether more text is to come."""
        return False


class PostMessage(_Operation):
    """Show the message in the channel, in the thread of `root` where there is one.

    `reply_to` is the message that it answers; `broadcast`: the channel shows it beside its thread,
    too; `stream` says that more text is to come, and `asker` who waits for it; `to` is the only
    person who shall see it, on platforms whose features have `whispers`; elsewhere it `answers` a
    command or a press of theirs (`CommandGiven.answers`, `ActionPressed.answers`).
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
        return self.stream


class EditMessage(_Operation):
    """Make the native copies say what the message says now.

    `files_changed`: its files are not those that the copies show. `stream`, `asker`: as in a post.
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
        return self.stream


class DeleteMessage(_Operation):
    """Take the native copies away; `original`: what a person said there, which only some platforms
    let us do (the feature `delete_others`)."""

    type: Literal["delete_message"] = "delete_message"
    original: bool = False


class _Mark(_Operation):
    """Something put on a message that stands there already. The limits of marks are narrow, and no
    post shall wait for them: they have a lane of their own beside the channel's."""

    @property
    def lane(self) -> LaneId:
        return self.channel.marks_lane


class AddReaction(_Mark):
    """Our bot reacts to the native copy. `emoji` is Unicode, or `:name:` of a custom one."""

    type: Literal["add_reaction"] = "add_reaction"
    emoji: str


class RemoveReaction(_Mark):
    """Our bot takes its reaction back."""

    type: Literal["remove_reaction"] = "remove_reaction"
    emoji: str


class NoteReactions(_Mark):
    """The note below the message says who reacts elsewhere; the bridge's own, no platform's."""

    type: Literal["note_reactions"] = "note_reactions"


class PinMessage(_Mark):
    """Pin the native copy."""

    type: Literal["pin_message"] = "pin_message"


class UnpinMessage(_Mark):
    """Take the pin away."""

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
Mark = AddReaction | RemoveReaction | NoteReactions | PinMessage | UnpinMessage


def edit_of(
    post: PostMessage, own_id: OperationId, *, files_changed: bool = False, stream: bool = False
) -> EditMessage:
    """What brings the copies that a post made up to date."""
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
    """What takes the copies that a post made away."""
    return DeleteMessage(
        id=own_id,
        account=post.account,
        channel=post.channel,
        room=post.room,
        message=post.message,
    )


class Quoted(BaseModel):
    """The message that a reply answers, as far as the destination can know it.

    `native_id` is its id in the destination's channel, None where it never came there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    author: str
    excerpt: str
    native_id: str | None = None


CITED = "\ue000{}\ue001"
"""How the words of a delivery with `sources` cite the one with a number."""


class Source(NamedTuple):
    """What an answer cites: its number in the text, its title or address or both, and what was
    quoted of it."""

    number: int
    title: str
    url: str
    quote: str = ""


class Counterparts(BaseModel):
    """What a message refers to, as its destination knows it. What is not here is readable text
    there, which pings nobody and leads nowhere.

    - `people`: who is mentioned -> the account there of the same person; no two have one name.
    - `groups`: roles and user groups -> those there; `channels`: keys of channels -> those there;
      `links`: addresses of messages -> those of their copies.
    - `everyone`: `@everyone`, `@channel` and `@here` ring there, too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    people: dict[ActorId, Person] = {}
    groups: dict[str, str] = {}
    channels: dict[str, str] = {}
    links: dict[str, str] = {}
    everyone: bool = False


NO_COUNTERPARTS = Counterparts()


class Delivery(BaseModel):
    """An operation with all that `encode` needs: the same delivery always gives the same calls.

    - `message`: the canonical message as it stands now.
    - `thread`: the destination's id of the thread root, None when it goes into the channel.
    - `copies`: the native copies that stand there already, by rising slot.
    - `steps`: what an agent does beside saying it, where that is shown in a place of its own.
    - `sources`: what its words cite as `CITED`, on platforms with citations of their own.
    - `feedback`: people are asked what they think of it, by the platform's own means.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    operation: Operation
    message: Message
    thread: str | None = None
    quoted: Quoted | None = None
    copies: tuple[Receipt, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    sources: tuple[Source, ...] = ()
    feedback: bool = False
    # A factory: pydantic would make a deep copy of a default for each delivery.
    counterparts: Counterparts = Field(default_factory=lambda: NO_COUNTERPARTS)


class RateLimitKey(BaseModel):
    """One limit that a call counts against: a rule of the connector's `budgets`, and of what."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    of: str


class Upload(BaseModel):
    """A file that we hold and that goes along with a call; `size` in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file_id: str
    name: str
    media_type: str
    size: int
    alt: str = ""
    spoiler: bool = False


class Call(BaseModel):
    """One native request. `slot` is which copy of the message it makes or changes (0, 1, ...,
    and from `FIRST_SLOT_OF_FILES` on those that hold files alone).

    `body` is in the platform's own shape; `native_id` is the copy that is edited or deleted;
    `files` are staged before the call is made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["post", "edit", "delete", "other"]
    method: str
    operation: OperationId
    channel: ChannelRef
    slot: int = 0
    thread: str | None = None
    native_id: str | None = None
    budgets: tuple[RateLimitKey, ...] = ()
    body: dict[str, JsonValue]
    files: tuple[Upload, ...] = ()


class Encoded(BaseModel):
    """The calls of one delivery in their order, and all that they could not carry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: tuple[Call, ...]
    losses: tuple[Loss, ...] = ()
