"""Names, pictures and e-mail addresses of people, and the name of our bot."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bridge.model import ActorId, Person


@runtime_checkable
class KnowsPeople(Protocol):
    """Names and pictures of people can be looked up."""

    async def person(self, actor: ActorId) -> Person | None:
        """None when the platform does not know them."""
        ...


@runtime_checkable
class KnowsOwnName(Protocol):
    """What people of the platform see our bot called is known."""

    @property
    def own_name(self) -> str:
        """Empty until the platform has told it. No network."""
        ...


@runtime_checkable
class KnowsEmails(Protocol):
    """People's e-mail addresses can be asked for, where the installation may know them."""

    async def email(self, actor: ActorId) -> str | None:
        """An address that the workspace vouches for; None where it may not be known. Raises
        PlatformError."""
        ...
