"""Models of the API's bodies besides UACS, which the OpenAPI document describes."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bridge.model.api_records import Role, Scope

LONGEST_TEXT = 100_000  # characters per post
MOST_PARTS = 100  # per post


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Channel(_Shape):
    """A channel of a room."""

    platform: str
    name: str = Field(description="The channel's name with its platform.")


class Room(_Shape):
    """A room that the token may see."""

    id: str
    conversation_id: str
    channels: list[Channel]
    agents: list[str] = Field(
        description="The bridge's agents in the room; write @NAME to address one."
    )
    position: str = Field(description="After the newest event: for `after` of /events.")


class You(_Shape):
    """The token's identity."""

    name: str = Field(description="People write @NAME to mention you.")
    actor_id: str
    role: Role
    scopes: list[Scope]
    expires: str | None = Field(description="RFC 3339; null: it never expires.")


class RoomList(_Shape):
    """The token's identity, and the rooms that it may see."""

    you: You
    rooms: list[Room]


class Post(BaseModel):
    """A message to post: `text`, or the `content` of a UACS Message. It may have the other fields
    of a UACS Message. The bridge sets `timestamp`. `actor` may be one below the token's own
    (`actor_id/NAME`), if the token may speak for it; the bridge refuses all others."""

    model_config = ConfigDict(frozen=True, extra="allow")

    text: str | None = Field(default=None, max_length=LONGEST_TEXT, min_length=1)
    format: Literal["markdown", "plain"] | None = Field(
        default=None, description="The format of `text`; markdown if absent."
    )
    content: list[dict[str, JsonValue]] | None = Field(
        default=None, min_length=1, max_length=MOST_PARTS, description="UACS content parts."
    )
    message_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Makes the request idempotent: an id is posted once, as with the header "
        "Idempotency-Key.",
    )
    reply_to: str | None = Field(default=None, description="The message that it replies to.")
    thread: str | None = Field(default=None, description="A message of the thread to post in.")
    metadata: dict[str, JsonValue] | None = None
    actor: dict[str, Any] | None = None
    timestamp: str | None = None


class Posted(_Shape):
    """The message is stored and will be delivered. `repeat`: it was posted before, and not
    again."""

    message_id: str
    room: str
    goes_to: list[Channel]
    repeat: bool = False


class Changed(_Shape):
    """The outcome of an edit or a deletion."""

    message_id: str
    outcome: str


class Press(_Shape):
    """A press of a button, a choice or a submitted form on the card of a message."""

    message_id: str = Field(description="The message that has the card.")
    action: str = Field(
        min_length=1, max_length=2000, description="The id or the token of the button or input."
    )
    values: dict[str, JsonValue] = Field(
        default={}, description="The values of inputs, by their ids."
    )


class Pressed(_Shape):
    """The press is stored and sent to the card's author. `message_id` is the message of the press;
    null if the bridge itself handled the press."""

    message_id: str | None
    outcome: str
    repeat: bool = False


class MessageView(_Shape):
    """A message with its state in the room."""

    room: str
    message: dict[str, Any] = Field(description="A UACS Message.")
    state: Literal["streaming", "complete", "edited", "interrupted"]
    thread: str | None = Field(description="The root message of its thread.")
    yours: bool
    mentions_you: bool


class Hit(_Shape):
    """A message that a search found; pages with `before` its `number` show earlier messages."""

    room: str
    number: int
    message: dict[str, Any] = Field(description="A UACS Message.")
    before: list[dict[str, Any]] | None = Field(
        default=None, description="With `context`: the messages before it, oldest first."
    )
    behind: list[dict[str, Any]] | None = Field(
        default=None, description="With `context`: the messages behind it."
    )


class Hits(_Shape):
    """The messages that a search found, newest first. `next` is the `before` of the next page, null
    at the end."""

    hits: list[Hit]
    next: int | None


class ProblemBody(BaseModel):
    """An error (RFC 9457): the detail, the invalid value, and what to do."""

    type: str
    title: str
    status: int
    detail: str
    value: str | None = None
    todo: str | None = None
