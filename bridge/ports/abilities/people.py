"""Looks up names, pictures and e-mail addresses of people."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId, Person


class People(Protocol):
    """Looks up names and pictures of people."""

    @property
    def own_name(self) -> str:
        """The name under which people see our bot; empty until the platform has told it. Makes no
        request."""
        ...

    async def person(self, actor: ActorId) -> Person | None:
        """Return the person; None if the platform does not know them.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...


class Emails(Protocol):
    """Looks up e-mail addresses, if the installation has the permission."""

    async def email(self, actor: ActorId) -> str | None:
        """Return an address that the workspace has verified; None if the platform does not tell it.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...
