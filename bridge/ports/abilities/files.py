"""Files of the platform can be fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bridge.content.cards.tree import Asset
from bridge.model import Raw
from bridge.ports.fetch import Bearer


@dataclass(frozen=True)
class FileAddress:
    """Where the bytes of a file are now, and the token that its host may see."""

    url: str
    bearer: Bearer | None = None


@runtime_checkable
class OwnsFiles(Protocol):
    """Files that people post here need a token, or have addresses that expire: they are fetched
    when their message is admitted."""

    async def file_address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """None for what is none of this platform's: an open address that everybody may go on
        using. `raw` is what the message came in, with its credentials where they are still kept:
        an address that opens the file for whoever has it is one. Raises PlatformError."""
        ...
