"""Finds where the bytes of a posted file can be fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bridge.content.cards.tree import Asset
from bridge.model import Raw
from bridge.ports.fetch import Bearer


@dataclass(frozen=True)
class FileAddress:
    """Where the bytes of a file are now, and the token to send to that host."""

    url: str
    bearer: Bearer | None = None


class PlatformFiles(Protocol):
    """Finds the addresses of files that need a token or that expire. The bridge fetches such a file
    when it admits the message."""

    async def address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """Return where the file is now.

        Args:
            asset: the file, as the decoder wrote it.
            raw: the event that contained the message. It may contain credentials, such as an
                address that opens the file for everybody who has it.

        Returns:
            None if the file is not on this platform: its address is public and stays valid.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...
