"""Platform events that need an immediate answer, and the answers; stored first, then answered."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from bridge.model.refs import AccountId, ActorId, Place


class _Request(BaseModel):
    """`deadline` is the time after which the platform ignores the answer."""

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
    """The inputs of a modal or a card, to be validated before it closes."""

    type: Literal["submission_given"] = "submission_given"
    values: dict[str, JsonValue]


class OptionsWanted(_Request):
    """A menu that asks for its options while a person types."""

    type: Literal["options_wanted"] = "options_wanted"
    typed: str


Request = Annotated[ModalWanted | SubmissionGiven | OptionsWanted, Field(discriminator="type")]


class Answer(BaseModel):
    """The immediate answer; `body` is in the platform's own format."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: int = 200
    body: JsonValue = None
