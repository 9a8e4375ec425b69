"""Files of the platform can be fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bridge.content.cards.tree import Asset
from bridge.model import Raw
from bridge.ports.fetch import Bearer


@dataclass(frozen=True)
class FileAddress:
    """Where the bytes of a file are now, and the token that its host may see."""

    url: str
    bearer: Bearer | None = None


class PlatformFiles(Protocol):
    """Files that people post here need a token, or have addresses that expire: the bridge fetches
    them when it admits their message."""

    async def address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """Where the file is now; None where it is not this platform's: an open address that
        everybody may go on using. `raw` is what the message came in, with its credentials where
        they are still kept: an address that opens the file for whoever has it is one. Raises
        PlatformError."""
        ...
