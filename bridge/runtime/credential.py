"""Whether a platform takes an account's token now, as its answers tell."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from bridge.errors import Refused, TokenRefused
from bridge.ports.abilities.health import Health


class Credential:
    """`refused` is why the token is not taken; empty while it is, or while nobody has asked."""

    def __init__(self) -> None:
        self.refused = ""

    @contextmanager
    def watched(self) -> Generator[None]:
        """Around each request that bears the token. A token that is taken again is good again."""
        try:
            yield
        except TokenRefused as error:
            self.refused = str(error)
            raise
        except Refused:  # what it refuses is something else
            self.refused = ""
            raise
        self.refused = ""

    def health(self, health: Health) -> Health:
        """An open connection is of no use where nothing can be sent."""
        if not self.refused or health.state not in ("connected", "listening"):
            return health
        return replace(health, state="failed", note=self.refused)
