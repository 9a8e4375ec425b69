"""Where it is kept who is who."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId, Person, PersonId, RoomId
from bridge.model.people_records import CodeUse, HowLinked, LinkedAccount, ShownName


class PeopleStore(Protocol):
    """Who is who: accounts of one person, and names that look alike."""

    async def people_named(self, name: str) -> Sequence[Person]:
        """Known people whose name looks like this one; at most 50."""
        ...

    async def shown_name(self, room: RoomId, actor: ActorId) -> ShownName | None: ...

    async def names_like(self, room: RoomId, name: str) -> Sequence[ShownName]:
        """Those of the room whose own name, or whose name as it is shown, looks like this one."""
        ...

    async def save_names(self, names: Sequence[ShownName]) -> None: ...

    async def accounts_of(self, actor: ActorId) -> Sequence[LinkedAccount]:
        """All accounts of the same person, this one among them; none where it is not linked."""
        ...

    async def linked_accounts(self) -> Sequence[LinkedAccount]:
        """All of them, person by person."""
        ...

    async def link_people(self, first: ActorId, second: ActorId, how: HowLinked) -> PersonId:
        """These two, and all that each is linked to, are one person from now on. Their names in
        rooms are forgotten, to be decided anew."""
        ...

    async def unlink_person(self, actor: ActorId) -> bool:
        """This account is nobody else's any more. False: it was not linked."""
        ...

    async def same_email(self, actor: ActorId, digest: str) -> Sequence[ActorId]:
        """Note the digest of the account's e-mail address; the others that have the same. None
        where it was noted before: whom a person has unlinked stays so."""
        ...

    async def put_link_code(self, digest: str, actor: ActorId, expires: float) -> None:
        """In place of the account's code before; `expires` is seconds since 1970."""
        ...

    async def use_link_code(self, digest: str, actor: ActorId) -> CodeUse:
        """Link the account to the one that the code was made for; a code is good once. After
        CODE_TRIES wrong ones within CODE_WINDOW seconds no code is looked at."""
        ...
