"""Names, pictures and e-mail addresses of people, and the name of our bot."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId, Person


class People(Protocol):
    """Names and pictures of people can be looked up, and the name of our bot."""

    @property
    def own_name(self) -> str:
        """What people of the platform see our bot called; empty until the platform has told it. No
        network."""
        ...

    async def person(self, actor: ActorId) -> Person | None:
        """None when the platform does not know them. Raises PlatformError."""
        ...


class Emails(Protocol):
    """People's e-mail addresses can be asked for, where the installation may know them."""

    async def email(self, actor: ActorId) -> str | None:
        """An address that the workspace vouches for; None where it may not be known. Raises
        PlatformError."""
        ...
