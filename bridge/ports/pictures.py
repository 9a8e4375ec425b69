"""Port: pictures of authors who have none: configured or drawn ones."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ActorId


class Pictures(Protocol):
    """Gives public URLs of authors' pictures; the same author always has the same URL."""

    def of_agent(self, agent: str) -> str | None:
        """Return the URL of an agent's configured picture, or of a drawn one; None without a public
        URL."""
        ...

    def drawn(self, actor: ActorId, name: str) -> str | None:
        """Return the URL of a name's initials on the actor's colour; None without a public URL."""
        ...
