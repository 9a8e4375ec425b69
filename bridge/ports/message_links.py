"""Optional port: how a platform writes ids in the links that people copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class WritesIdsOtherwise(Protocol):
    """A connector type whose platform writes ids in links in another form than in its API."""

    def ids_in(self, word: str) -> Sequence[str]:
        """Return the API ids that a word may stand for. Pure.

        Args:
            word: one step of a link's path, or a word that somebody pasted.

        Returns:
            Possible ids; empty when the word is no id.
        """
        ...
