"""The export formats of Teams.

- `teams-graph`: saved answers of Microsoft Graph, one file or a folder of them: lists
  (`{"value": [...]}`) of chatMessage objects, or single ones; channels, chats, members and users
  beside them give names. Source: learn.microsoft.com, Graph v1.0 "chatMessage resource type"
  (2025), and files of its documentation.
- `teams-export-tool`: the folders `users/` and `teams/` of Microsoft's export, with the same
  objects in PascalCase; it is only read. Source: the importer of Zulip
  (`zerver/data_import/microsoft_teams.py`, 2025), and a file of its tests.

Both name people by their ids in the directory, and bots by their app ids. The Bot Framework names
people by ids that only one bot knows, and personal chats by ids of their own: there, imported and
live authors differ. Messages of channels and group chats have the same ids in both.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from connectors.teams.exports.documents import (
    is_export_folder,
    is_graph_document,
    json_files,
    tool_files,
)
from connectors.teams.ids import PLATFORM

if TYPE_CHECKING:
    from bridge.ports.exports import ExportFormat, ReadOptions, WriteOptions
    from connectors.teams.exports.reader import Reader
    from connectors.teams.exports.writer import Writer

_TRIED = 20  # files of a folder that are looked into to recognise it


class TeamsGraph:
    """Saved answers of Microsoft Graph."""

    name: str = "teams-graph"
    title: str = "Microsoft Graph answers on Teams (JSON)"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = True

    def recognises(self, path: Path) -> bool:
        """Whether it is a file with chatMessage objects, or a folder with such a file."""
        if path.is_file():
            return path.suffix.lower() == ".json" and is_graph_document(path)
        if not path.is_dir() or is_export_folder(path):
            return False
        tried = zip(range(_TRIED), json_files(path), strict=False)
        return any(is_graph_document(file) for _, file in tried)

    def reader(self, path: Path, options: ReadOptions) -> Reader:
        """Open an export. Raises ExportUnreadable if it has no JSON files, or names no tenant."""
        from connectors.teams.exports.reader import Reader  # loads the decoder

        return Reader(path, [path] if path.is_file() else list(json_files(path)), options)

    def writer(self, path: Path, options: WriteOptions) -> Writer:
        """Begin an export in a new folder `path`."""
        from connectors.teams.exports.writer import Writer  # loads the codec of texts

        return Writer(path, options)


class TeamsExportTool:
    """Microsoft's export of users and teams."""

    name: str = "teams-export-tool"
    title: str = "Microsoft Teams export of users and teams (JSON)"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = False

    def recognises(self, path: Path) -> bool:
        """Whether it is a folder with `users/` or `teams/` as the export has them."""
        return path.is_dir() and is_export_folder(path)

    def reader(self, path: Path, options: ReadOptions) -> Reader:
        """Open an export. Raises ExportUnreadable if it has no JSON files, or names no tenant."""
        from connectors.teams.exports.reader import Reader  # loads the decoder

        return Reader(path, list(tool_files(path)), options)

    def writer(self, path: Path, options: WriteOptions) -> None:
        """Return None: the format is only read."""


FORMATS: tuple[ExportFormat, ...] = (TeamsExportTool(), TeamsGraph())
