"""What the API takes and gives beside UACS itself; the OpenAPI document is made of these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from bridge.model.api_records import Role, Scope

LONGEST_TEXT = 100_000  # characters of a post
MOST_PARTS = 100  # of a post


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Channel(_Shape):
    """A channel of a room."""

    platform: str
    name: str = Field(description="What people call it, with its platform.")


class Room(_Shape):
    """A room that the token may see."""

    id: str
    conversation_id: str
    channels: list[Channel]
    agents: list[str] = Field(description="Agents of the bridge that sit in it: write @NAME.")
    position: str = Field(description="Behind its newest event: for `after` of /events.")


class You(_Shape):
    """Who the token is."""

    name: str = Field(description="People write @NAME to mention you.")
    actor_id: str
    role: Role
    scopes: list[Scope]
    expires: str | None = Field(description="RFC 3339; null: never.")


class RoomList(_Shape):
    """Who the token is, and the rooms that it may see."""

    you: You
    rooms: list[Room]


class Post(BaseModel):
    """A message to say: `text`, or the `content` of a UACS Message. The other fields of a UACS
    Message may stand beside it; the bridge sets `timestamp` and `actor` itself, and an `actor` that
    is not the token's own is refused."""

    model_config = ConfigDict(frozen=True, extra="allow")

    text: str | None = Field(default=None, max_length=LONGEST_TEXT, min_length=1)
    format: Literal["markdown", "plain"] | None = Field(
        default=None, description="Of `text`; markdown where it is absent."
    )
    content: list[dict[str, JsonValue]] | None = Field(
        default=None, min_length=1, max_length=MOST_PARTS, description="UACS content parts."
    )
    message_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Your own id of it: said twice, it is taken once. Idempotency-Key does the "
        "same.",
    )
    reply_to: str | None = Field(default=None, description="The message that it answers.")
    thread: str | None = Field(
        default=None, description="A message of the thread in which it is said."
    )
    metadata: dict[str, JsonValue] | None = None
    actor: dict[str, Any] | None = None
    timestamp: str | None = None


class Posted(_Shape):
    """It is kept, and on its way. `repeat`: it was there before, and nothing was said twice."""

    message_id: str
    room: str
    goes_to: list[Channel]
    repeat: bool = False


class Changed(_Shape):
    """What became of an edit or a deletion."""

    message_id: str
    outcome: str


class Press(_Shape):
    """A button pressed, a choice made or a form submitted on the card of a message."""

    message_id: str = Field(description="The message that has the card.")
    action: str = Field(
        min_length=1, max_length=2000, description="The id of the button or input; or its token."
    )
    values: dict[str, JsonValue] = Field(
        default={}, description="What is filled in, by the ids of the inputs."
    )


class Pressed(_Shape):
    """The press is kept and told to the card's author. `message_id` is what it stands in the room
    as; null where the bridge itself did what was asked."""

    message_id: str | None
    outcome: str
    repeat: bool = False


class Said(_Shape):
    """A message with what UACS has no field for."""

    room: str
    message: dict[str, Any] = Field(description="A UACS Message.")
    state: Literal["streaming", "complete", "edited", "interrupted"]
    thread: str | None = Field(description="The message that its thread hangs on.")
    yours: bool
    mentions_you: bool


class Hit(_Shape):
    """A message that a search found; read on from `before` its `number`."""

    room: str
    number: int
    message: dict[str, Any] = Field(description="A UACS Message.")


class Hits(_Shape):
    """What a search found, newest first. `whole` false: there may be more than was looked at."""

    hits: list[Hit]
    looked_at: int
    whole: bool


class ProblemBody(BaseModel):
    """What is wrong (RFC 9457): what, which value, what to do."""

    type: str
    title: str
    status: int
    detail: str
    value: str | None = None
    todo: str | None = None
