"""Where it is kept how platforms present people."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId, Person


class AuthorStore(Protocol):
    """People as the platforms present them."""

    async def person(self, actor: ActorId) -> Person | None: ...

    async def save_person(self, person: Person) -> None: ...
