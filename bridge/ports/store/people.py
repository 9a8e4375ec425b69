"""Port: linked accounts and similar names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId, Person, PersonId, RoomId
from bridge.model.people_records import CodeUse, DisplayName, LinkedAccount, LinkMethod


class PeopleStore(Protocol):
    """Accounts that belong to one person, and names that look alike."""

    async def people_named(self, name: str) -> Sequence[Person]:
        """Return at most 50 known people whose name looks like this one."""
        ...

    async def shown_name(self, room: RoomId, actor: ActorId) -> DisplayName | None:
        """Return the name under which a room shows an actor; None before the first decision."""
        ...

    async def names_like(self, room: RoomId, name: str) -> Sequence[DisplayName]:
        """Return the room's actors whose own or shown name looks like this one."""
        ...

    async def save_names(self, names: Sequence[DisplayName]) -> None:
        """Save the names under which rooms show actors."""
        ...

    async def accounts_of(self, actor: ActorId) -> Sequence[LinkedAccount]:
        """Return all accounts of the actor's person, the actor included; empty when it is not
        linked."""
        ...

    async def linked_accounts(self) -> Sequence[LinkedAccount]:
        """Return all linked accounts, grouped by person."""
        ...

    async def link_people(self, first: ActorId, second: ActorId, how: LinkMethod) -> PersonId:
        """Join two actors, and all actors linked to either, into one person.

        Their shown names are deleted, so that rooms decide them anew.
        """
        ...

    async def unlink_person(self, actor: ActorId) -> bool:
        """Separate an account from its person. Returns False when it was not linked."""
        ...

    async def same_email(self, actor: ActorId, digest: str) -> Sequence[ActorId]:
        """Save the digest of an account's e-mail address and find the other accounts that have it.

        Returns:
            The other accounts. Empty when the digest was saved before, so that accounts which a
            person has unlinked stay unlinked.
        """
        ...

    async def put_link_code(self, digest: str, actor: ActorId, expires: float) -> None:
        """Save a code; replaces the account's former one. `expires` is seconds since 1970."""
        ...

    async def use_link_code(self, digest: str, actor: ActorId) -> CodeUse:
        """Link an account to the account that issued the code; a code works once.

        Args:
            digest: hash of the code that the account entered.
            actor: the account.

        Returns:
            `too_many` after CODE_TRIES wrong codes within CODE_WINDOW seconds; the store then
            compares no code. `own`: the account issued the code itself.
        """
        ...
