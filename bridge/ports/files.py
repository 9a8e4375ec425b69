"""The files of messages: where they are stored, how they are fetched, at which URL they are
served."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bridge.content.cards.rendering import public_url as open_url
from bridge.content.cards.tree import Asset
from bridge.ports.blobs import Blobs
from bridge.ports.fetch import Fetcher


@dataclass(frozen=True)
class Files:
    """Stores, fetches and serves pictures, videos, audio and other files.

    `url_of` returns the public URL of an asset, for `Rendering`; empty when it has none.
    """

    blobs: Blobs
    fetcher: Fetcher
    url_of: Callable[[Asset], str] = open_url
