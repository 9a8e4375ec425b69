"""Files that stand somewhere on the network: an address in, a kept file out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from bridge.ports.blobs import BlobRef


@dataclass(frozen=True)
class Bearer:
    """A platform's token, and the only hosts that may see it: names, or `*.` and what they end
    with (`*.example.org` is not `example.org` itself)."""

    token: str = field(repr=False)
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Fetched:
    """A kept file, and the type to go by: what was said of it, unless its bytes contradict."""

    blob: BlobRef
    media_type: str


class Fetcher(Protocol):
    """Fetches what strangers name, so that it can do no harm."""

    async def fetch(
        self,
        url: str,
        *,
        media_type: str = "",
        bearer: Bearer | None = None,
        limit: int | None = None,
    ) -> Fetched:
        """The file at this address, at most `limit` bytes (the configured limit where that is
        less). `media_type` is what the platform says that it is.

        Raises FileError: FileRefused, FileGone and FileTooLarge are final, FileUnavailable is not.
        And StoreError when it cannot be kept.
        """
        ...

    async def close(self) -> None: ...
