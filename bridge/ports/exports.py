"""Optional port: the export formats of a platform, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotWritten,
)


@dataclass(frozen=True)
class ReadOptions:
    """What an export does not say itself.

    - `workspace`: the platform's id of the workspace, guild, tenant or network.
    - `timezone`: of times without an offset.
    """

    workspace: str | None = None
    timezone: tzinfo | None = None


@dataclass(frozen=True)
class WriteOptions:
    """What a writer may use.

    - `files`: opens a stored file by its id (`blob:sha256-...`), and returns None where its bytes
      are not there, or the export is to have no files.
    - `cards`: reads the rich payloads of all platforms, for exports in a format of another one.
    """

    files: Callable[[str], BinaryIO | None] = field(default=lambda _file_id: None)
    cards: Cards = NO_CARDS


class ExportReader(Protocol):
    """One export that is open for reading. Nothing is read twice, and memory stays flat."""

    def units(self) -> Sequence[ExportUnit]:
        """Return the parts of the export, in the order in which they are to be read: people and
        channels before messages."""
        ...

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        """Yield what a part contains, messages in its own order. The same part yields the same
        items in the same order each time.

        What cannot be read is yielded as `NotUnderstood`; the rest goes on.

        Raises:
            ExportUnreadable: the part as a whole cannot be read (truncated, no JSON, too large).
        """
        ...

    def close(self) -> None:
        """Close files."""
        ...


class ExportWriter(Protocol):
    """One export that is being written, to a file or a folder that did not exist before."""

    def person(self, person: ExportedPerson) -> None:
        """Add a person; all people come before the first channel."""
        ...

    def channel(self, channel: ExportedChannel) -> None:
        """Begin a channel; the messages that follow are of it."""
        ...

    def message(self, message: ArchivedMessage) -> None:
        """Add a message of the current channel; they come by their time, threads included."""
        ...

    def finish(self) -> Sequence[NotWritten]:
        """Write the rest and close. Returns what the format could not say."""
        ...

    def close(self) -> None:
        """Close files, also of an export that is not finished; closing twice does nothing."""
        ...


class ExportFormat(Protocol):
    """A format; `name` is what commands call it ("uacs-lines"), `title` what people call it.

    `platform` is "" where it is of no platform; `reads` and `writes` say
    what it can be.
    """

    name: str
    title: str
    platform: str
    reads: bool
    writes: bool

    def recognises(self, path: Path) -> bool:
        """Whether the file or folder is of this format. Cheap: looks at names and first bytes."""
        ...

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Open an export.

        Raises:
            ExportUnreadable: it is not of this format, or an option is missing; the error names
                the option.
        """
        ...

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter | None:
        """Begin an export; None if the format can only be read.

        Returns:
            The writer. It writes to `path`, which does not exist: a file, or a folder that it
            makes.
        """
        ...


@runtime_checkable
class NamesPayloads(Protocol):
    """A format whose writer reads native payloads of these kinds alone, which saves reading the
    others."""

    payloads: frozenset[str]


@runtime_checkable
class HasExports(Protocol):
    """A connector type whose platform has export formats."""

    def export_formats(self) -> Sequence[ExportFormat]:
        """Return the formats, the most particular first. Cheap: imports nothing but the formats."""
        ...
