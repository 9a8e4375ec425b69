"""Where the files of messages are kept, and how they are fetched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bridge.content.cards.rendering import public_url as open_url
from bridge.content.cards.tree import Asset
from bridge.ports.blobs import Blobs
from bridge.ports.fetch import Fetcher


@dataclass(frozen=True)
class Files:
    """Pictures, films, sounds and files: where they are kept, how they are fetched, and where
    anybody may fetch them again (`url_of`, for `Rendering`)."""

    blobs: Blobs
    fetcher: Fetcher
    url_of: Callable[[Asset], str] = open_url
