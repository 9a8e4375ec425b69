"""Authors: people, bots and agents as the platforms show them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from bridge.model.refs import ActorId


class Person(BaseModel):
    """A participant as one platform shows them; `picture` is an https URL that anybody can open."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: ActorId
    name: str
    picture: str | None = None
    bot: bool = False


class Byline(BaseModel):
    """An author as the copies of a message show them; `color` (0 to 7) distinguishes authors
    without a picture, on platforms with placeholders of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    picture: str | None = None
    agent: bool = False
    color: int | None = None
