"""Port: files on the network. A URL in, a stored file out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from bridge.ports.blobs import BlobRef


@dataclass(frozen=True)
class Bearer:
    """A platform's token, and the only hosts that may receive it.

    `hosts` are names or patterns such as `*.example.org`, which does not match `example.org`
    itself.
    """

    token: str = field(repr=False)
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Fetched:
    """A stored file and its media type: the declared type, unless the bytes contradict it."""

    blob: BlobRef
    media_type: str


class Fetcher(Protocol):
    """Fetches URLs of untrusted origin safely: no private addresses, bounded size and time."""

    async def fetch(
        self,
        url: str,
        *,
        media_type: str = "",
        bearer: Bearer | None = None,
        limit: int | None = None,
    ) -> Fetched:
        """Fetch and store the file at a URL.

        Args:
            url: the address; `http` or `https`.
            media_type: the type that the platform declares.
            bearer: the token to send, to the hosts that may receive it.
            limit: maximum number of bytes; the configured limit where that is less.

        Raises:
            FileRefused: the address is private, not HTTP, or redirects too often. Final.
            FileGone: the server does not give the file. Final.
            FileTooLarge: the file exceeds the limit. Final.
            FileUnavailable: another attempt may succeed, after `retry_after` seconds if given.
            StoreError: the file cannot be stored.
        """
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...
