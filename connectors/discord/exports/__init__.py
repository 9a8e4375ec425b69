"""DiscordChatExporter's JSON: the export format `discord-chat-exporter`.

One JSON document holds the messages of one channel or thread (`guild`, `channel`, `messages`); an
export is one document, or a folder with any number of them. Long channels are split into
partitions (`... [part 2].json`), and pictures and files may be beside a document in `<name>_Files`.
No version is named: the reader takes every field that a document of 2019 to 2026 may have.

Source: Tyrrrz/DiscordChatExporter, `JsonMessageWriter` (2.0 of 2019 to 2.47 of 2026).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from connectors.discord.exports.documents import documents_in, is_document
from connectors.discord.ids import PLATFORM

if TYPE_CHECKING:
    from bridge.ports.exports import ReadOptions, WriteOptions
    from connectors.discord.exports.reader import Reader
    from connectors.discord.exports.writer import Writer

NAME = "discord-chat-exporter"
_TRIED = 20  # documents of a folder that are looked into to recognise it


class DiscordChatExporter:
    """The export format."""

    name: str = NAME
    title: str = "DiscordChatExporter (JSON)"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = True

    def recognises(self, path: Path) -> bool:
        if path.is_file():
            return path.suffix.lower() == ".json" and is_document(path)
        if not path.is_dir():
            return False
        tried = zip(range(_TRIED), documents_in(path), strict=False)
        return any(is_document(document) for _, document in tried)

    def reader(self, path: Path, options: ReadOptions) -> Reader:
        """Open an export. Raises ExportUnreadable if the path holds no document."""
        from connectors.discord.exports.reader import Reader  # loads the decoder

        return Reader(path, options)

    def writer(self, path: Path, options: WriteOptions) -> Writer:
        """Begin an export in a new folder `path`: a document for each channel and thread."""
        from connectors.discord.exports.writer import Writer  # loads the encoder

        return Writer(path, options)


FORMATS = (DiscordChatExporter(),)
