"""Port: erasing messages and people for good, and legal holds that forbid it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ActorId
from bridge.model.erasure_records import (
    Erasure,
    ErasureRecord,
    LegalHold,
    Pruned,
    Retention,
)


class ErasureStore(Protocol):
    """Erases from every table in one transaction, and overwrites what that frees."""

    async def erase(self, erasure: Erasure, *, dry_run: bool = False) -> ErasureRecord:
        """Erase a message, or a person with all messages, reactions, names and mentions.

        An erased message keeps its id, so that no import and no platform brings it back. A former
        reader of the store finds its text nowhere in the database once `overwrite_freed` succeeded
        and the files of `files_to_remove` are removed.

        Args:
            erasure: what, by whom, and why.
            dry_run: change nothing; return what would be erased.

        Raises:
            ErasureForbidden: a legal hold protects one of the messages; nothing is erased.
            StoreError: there is no such message or person. Nothing of a workspace is no error.
        """
        ...

    async def actors_of(self, workspace: str) -> Sequence[ActorId]:
        """Return everybody of a workspace whom the store knows; `workspace` is as keys begin:
        `platform:workspace`."""
        ...

    async def erasures(self) -> Sequence[ErasureRecord]:
        """Return all erasures, oldest first."""
        ...

    async def files_to_remove(self) -> Sequence[str]:
        """Return the ids of the files of erased messages that have not been removed yet. Other
        messages may use them, too."""
        ...

    async def overwrite_freed(self, *, alone: bool) -> bool:
        """Overwrite freed space in the database, its search index and its write-ahead log.

        Args:
            alone: no bridge runs with the store, so that the database may be written anew where
                earlier versions left freed space as it was.

        Returns:
            False if that could not be finished now: a reader is in the way, or the store has to be
            `alone`. It has to be called again.
        """
        ...

    async def set_cleaned(self) -> None:
        """Note that the files of all erasures are removed and freed space is overwritten."""
        ...

    async def prune_messages(
        self, policy: Retention, after: int | None, *, dry_run: bool = False
    ) -> Pruned:
        """Erase the next messages whose time is over, without those under a legal hold; `after` is
        the `last` of the step before. Each step is short, and an erasure of its own. A dry run only
        counts them."""
        ...

    async def prune_payloads(
        self, policy: Retention, after: int | None, *, imported: bool, dry_run: bool = False
    ) -> Pruned:
        """Remove the next native payloads whose time is over: of live events that are processed,
        or of imports. `after` is the `last` of the step before. A dry run only counts them."""
        ...

    async def files_in_use(self) -> frozenset[str]:
        """Return the ids of the stored files that anything names, but for deleted messages."""
        ...

    async def files_over(self, policy: Retention) -> frozenset[str]:
        """Return the ids of the stored files whose time is over in every message that names them,
        and that nothing else uses. Messages under a legal hold keep their files."""
        ...

    async def add_hold(self, hold: LegalHold) -> None:
        """Forbid erasing.

        Raises:
            StoreError: there is a hold of this name.
        """
        ...

    async def holds(self) -> Sequence[LegalHold]:
        """Return all legal holds, by name."""
        ...

    async def remove_hold(self, name: str) -> bool:
        """End a legal hold. Returns False if there is none of this name."""
        ...
