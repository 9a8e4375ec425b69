"""Events that a platform wants answered now, and our answers; durable first, then answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from bridge.model.refs import AccountId, ActorId, Place


class _Request(BaseModel):
    """`deadline` is when the platform gives up on us."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    account: AccountId
    place: Place
    actor: ActorId
    deadline: AwareDatetime
    token: str


class ModalWanted(_Request):
    """A press that opens a modal."""

    type: Literal["modal_wanted"] = "modal_wanted"


class SubmissionGiven(_Request):
    """A modal's or a card's inputs, to be validated before it closes."""

    type: Literal["submission_given"] = "submission_given"
    values: dict[str, JsonValue]


class OptionsWanted(_Request):
    """A menu that asks for its options while somebody types."""

    type: Literal["options_wanted"] = "options_wanted"
    typed: str


Request = Annotated[ModalWanted | SubmissionGiven | OptionsWanted, Field(discriminator="type")]


class Answer(BaseModel):
    """What goes back at once; `body` is in the platform's own shape."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: int = 200
    body: JsonValue = None
