"""Name and picture of an author, as copies show them."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.content.media.initials import color_of
from bridge.model import AccountId, ActorId, Byline, Person
from bridge.model.refs import BRIDGE
from bridge.ports.pictures import Pictures
from bridge.router.rooms.display_names import DisplayNames, in_form
from bridge.router.rooms.rooms import Member, Room


class Bylines:
    """Makes bylines. An author without a picture gets a drawn one, or a colour for the platform's
    own stand-in where no address can be given."""

    def __init__(self, pictures: Pictures | None = None) -> None:
        self.pictures: Pictures = pictures or NoPictures()

    def of_agent(self, agent: str) -> Byline:
        """Return the byline of an agent."""
        picture = self.pictures.of_agent(agent)
        return Byline(name=agent, picture=picture, agent=True, color=color_of(f"agent:{agent}"))

    def of_person(self, person: Person, display_name: str) -> Byline:
        """Return the byline of a person; `display_name` is the name in the room, the initials come
        from the person's own name."""
        picture = person.picture or self.pictures.drawn(person.id, person.name)
        return Byline(name=display_name, picture=picture, color=color_of(person.id))


@dataclass(frozen=True)
class AuthorBylines:
    """Bylines of people with the names that a room shows."""

    names: DisplayNames
    bylines: Bylines

    async def for_member(
        self, author: Person, room: Room, member: Member, platform: str, account: AccountId
    ) -> Byline:
        """Return what a channel of the room shows of an author; `platform` and `account` are those
        that its `names` option puts into the name. Raises StoreError."""
        if author.id == BRIDGE:
            return Byline(name=author.name)
        name = await self.names.name_in(room, author)
        if (template := member.options.names) is not None:
            name = in_form(template, name, author, self.names.platform_name(platform), account)
        return self.bylines.of_person(author, name)


class NoPictures:
    """The pictures of a bridge that serves none."""

    def of_agent(self, agent: str) -> str | None:
        del agent
        return None

    def drawn(self, actor: ActorId, name: str) -> str | None:
        del actor, name
        return None
