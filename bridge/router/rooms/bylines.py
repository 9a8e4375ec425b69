"""Name and picture of an author, as copies show them."""

from __future__ import annotations

from bridge.content.media.initials import color_of
from bridge.model import ActorId, Byline, Person
from bridge.ports.pictures import NoPictures, Pictures


class Bylines:
    """Nobody is without a picture: who has none of their own gets a drawn one, or a colour for the
    platform's own stand-ins where no address can be given."""

    def __init__(self, pictures: Pictures | None = None) -> None:
        self.pictures: Pictures = pictures or NoPictures()

    def of_agent(self, agent: str) -> Byline:
        picture = self.pictures.of_agent(agent)
        return Byline(name=agent, picture=picture, agent=True, color=_color(f"agent:{agent}"))

    def of_person(self, person: Person, shown: str) -> Byline:
        """`shown` is what they are called there; the initials are those of their own name."""
        picture = person.picture or self.pictures.drawn(person.id, person.name)
        return Byline(name=shown, picture=picture, color=_color(person.id))


def _color(actor: ActorId | str) -> int:
    return color_of(actor)
