"""The format of Slack's own exports, read and written."""

from __future__ import annotations

from pathlib import Path

from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions
from connectors.slack.exports.kinds import SLACK_ZIP, kind_of
from connectors.slack.ids import PLATFORM


class SlackZip:
    """Slack's export, as a zip or a folder."""

    name: str = SLACK_ZIP
    title: str = "Slack export"
    platform: str = PLATFORM
    reads: bool = True
    writes: bool = True

    def recognises(self, path: Path) -> bool:
        return kind_of(path) == self.name

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        from bridge.runtime.export_tree import open_tree
        from connectors.slack.exports.zip_reader import ZipReader  # brings the decoder

        tree = open_tree(path)
        try:
            return ZipReader(tree, options)
        except BaseException:
            tree.close()
            raise

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter | None:
        from connectors.slack.exports.zip_writer import ZipWriter  # brings the card writer

        return ZipWriter(path, options)
