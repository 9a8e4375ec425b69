"""Port: people as the platforms describe them."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId, Person


class AuthorStore(Protocol):
    """Names and pictures of people, as the platforms last reported them."""

    async def person(self, actor: ActorId) -> Person | None:
        """Return what is known about an actor; None for an unknown actor."""
        ...

    async def save_person(self, person: Person) -> None:
        """Save a person; replaces what was known about the actor."""
        ...
