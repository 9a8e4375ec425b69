"""HTML: a folder with a static site of the archive, with search, that opens from the disk.

It loads nothing from elsewhere and needs no server. Pages work without scripts; search and the
list of channels beside a page need them.
"""

from __future__ import annotations

from pathlib import Path

from bridge.archive.formats.html.site import Site
from bridge.errors import ExportUnreadable
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions


class Html:
    """The format; it can only be written."""

    name = "html"
    title = "Web site (static HTML with search)"
    platform = ""
    reads = False
    writes = True
    payloads = frozenset[str]()

    def recognises(self, path: Path) -> bool:
        """Nothing: pages are for people."""
        del path
        return False

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Raises ExportUnreadable."""
        raise ExportUnreadable(f"{path}: a web site can only be written")

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a folder."""
        path.mkdir(parents=True)
        return Site(path, options)
