"""Who speaks: people, bots and agents as the platforms present them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from bridge.model.refs import ActorId


class Person(BaseModel):
    """A participant as one platform shows them. `picture` is an https URL anyone can open."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: ActorId
    name: str
    picture: str | None = None
    bot: bool = False


class Byline(BaseModel):
    """How a message's author is shown where the message is carried to. `color` (0 to 7) tells
    apart who has no picture, on platforms with stand-ins of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    picture: str | None = None
    agent: bool = False
    color: int | None = None
