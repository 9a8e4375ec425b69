"""Pictures for authors who have none of their own: those of the configuration, drawn ones."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId


class Pictures(Protocol):
    """Addresses that platforms can fetch from outside; the same for the same author."""

    def of_agent(self, agent: str) -> str | None:
        """The picture that is configured, else a drawn one; None where no address can be given."""
        ...

    def drawn(self, actor: ActorId, name: str) -> str | None:
        """The initials of a name on the actor's colour; None where no address can be given."""
        ...
