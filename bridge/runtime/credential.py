"""Tells from a platform's answers whether it accepts an account's token."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from bridge.errors import Refused, TokenRefused
from bridge.ports.abilities.health import Health


class Credential:
    """Whether the platform accepts the account's token.

    `refused` is the platform's reason for refusing it; empty while it is accepted or untested.
    """

    def __init__(self) -> None:
        self.refused = ""

    @contextmanager
    def watched(self) -> Generator[None]:
        """Watch a request that bears the token; any answer but TokenRefused shows that it is
        accepted.

        Raises:
            TokenRefused: passed through from the request, as are all its exceptions.
        """
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
        """Return the account's health, `failed` when the token is refused although a connection is
        open."""
        if not self.refused or health.state not in ("connected", "listening"):
            return health
        return replace(health, state="failed", note=self.refused)
