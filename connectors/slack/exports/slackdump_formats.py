"""The formats of slackdump (github.com/rusq/slackdump, v3), read only."""

from __future__ import annotations

from pathlib import Path

from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions
from connectors.slack.exports.kinds import (
    SLACKDUMP_CHUNK,
    SLACKDUMP_DUMP,
    SLACKDUMP_SQLITE,
    kind_of,
)
from connectors.slack.ids import PLATFORM


class SlackdumpSqlite:
    """An SQLite archive, or the folder with it and its files (`slackdump archive`)."""

    name: str = SLACKDUMP_SQLITE
    title: str = "slackdump archive (SQLite)"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = False

    def recognises(self, path: Path) -> bool:
        return kind_of(path) == self.name

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        from connectors.slack.exports.sqlite_reader import SqliteReader  # brings the decoder

        return SqliteReader(path, options)

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter | None:
        return None


class SlackdumpDump:
    """One JSON file for each conversation, in a folder, a zip, or alone (`slackdump dump`)."""

    name: str = SLACKDUMP_DUMP
    title: str = "slackdump dump (JSON)"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = False

    def recognises(self, path: Path) -> bool:
        return kind_of(path) == self.name

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        from bridge.runtime.export_tree import open_tree
        from connectors.slack.exports.dump_reader import DumpReader  # brings the decoder

        tree = open_tree(path)
        try:
            return DumpReader(tree, options)
        except BaseException:
            tree.close()
            raise

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter | None:
        return None


class SlackdumpChunk:
    """A folder of gzipped JSON lines (`slackdump archive` of v3.0)."""

    name: str = SLACKDUMP_CHUNK
    title: str = "slackdump chunks"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = False

    def recognises(self, path: Path) -> bool:
        return kind_of(path) == self.name

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        from bridge.runtime.export_tree import open_tree
        from connectors.slack.exports.chunk_reader import ChunkReader  # brings the decoder

        tree = open_tree(path)
        try:
            return ChunkReader(tree, options)
        except BaseException:
            tree.close()
            raise

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter | None:
        return None
