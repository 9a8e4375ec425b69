"""Markdown: a folder with a file for each month of each channel, for people and for search engines.

Replies stand below the root of their thread where it is in the same month, else with a link to it.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.parts import message_text
from bridge.content.text.cut_points import close_fence
from bridge.errors import ExportUnreadable
from bridge.model import MessageId
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions

_INDENT = "    "
_FILES = "files"
_LONGEST_NAME = 80  # characters of a folder's name
# Mentions and other references of UACS Markdown, which no reader of Markdown can follow.
_REFERENCE = re.compile(r"\[((?:\\.|[^\]\\])*)\]\(uacs:([^)\s]*)\)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


class Markdown:
    """The format; it can only be written."""

    name = "markdown"
    title = "Markdown files"
    platform = ""
    reads = False
    writes = True
    payloads = frozenset[str]()

    def recognises(self, path: Path) -> bool:
        """Nothing: Markdown does not say who wrote what."""
        return False

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Raises ExportUnreadable."""
        raise ExportUnreadable(f"{path}: Markdown can only be written")

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a folder."""
        path.mkdir(parents=True)
        return _Writer(path, options)


@dataclass
class _Month:
    """The messages of one month of a channel, until they are written."""

    name: str
    roots: list[ArchivedMessage] = field(default_factory=list[ArchivedMessage])
    replies: dict[MessageId, list[ArchivedMessage]] = field(
        default_factory=dict[MessageId, list[ArchivedMessage]]
    )
    known: set[str] = field(default_factory=set[str])

    def add(self, message: ArchivedMessage, own_id: str) -> None:
        if message.root and message.root != own_id and message.root in self.known:
            self.replies.setdefault(message.root, []).append(message)
            return
        self.known.add(own_id)
        self.roots.append(message)


class _Writer:
    def __init__(self, path: Path, options: WriteOptions) -> None:
        self._path = path
        self._options = options
        self._folders: set[str] = set()
        self._folder = path
        self._title = ""
        self._month: _Month | None = None
        self._months: list[str] = []
        self._index: list[str] = ["# Archive", ""]
        self._missing_files = 0
        self._names: dict[str, str] = {}

    def person(self, person: ExportedPerson) -> None:
        self._names[person.person.id] = person.person.name

    def channel(self, channel: ExportedChannel) -> None:
        self._end_channel()
        name = _unique(_folder_name(channel.name), self._folders)
        self._folder = self._path / name
        self._folder.mkdir()
        self._title = channel.name
        self._index += [f"## {_escaped(channel.name)}", ""]
        if channel.topic:
            self._index += [_one_line(channel.topic), ""]

    def message(self, message: ArchivedMessage) -> None:
        name = datetime.fromtimestamp(message.time, UTC).strftime("%Y-%m")
        if self._month is None or self._month.name != name:
            self._end_month()
            self._month = _Month(name)
        self._month.add(message, message.message.message_id)

    def finish(self) -> Sequence[NotWritten]:
        self._end_channel()
        (self._path / "README.md").write_text("\n".join(self._index), "utf-8")
        return [NotWritten(None, "file whose bytes are not in the archive")] * self._missing_files

    def close(self) -> None:
        """Each file is closed as soon as it is written."""

    # --- one month ------------------------------------------------------------------------------

    def _end_channel(self) -> None:
        self._end_month()
        self._index += [""] if self._months else []
        self._months = []

    def _end_month(self) -> None:
        month, self._month = self._month, None
        if month is None:
            return
        day, lines = "", [f"# {_escaped(self._title)}, {month.name}", ""]
        for root in month.roots:
            own_day = datetime.fromtimestamp(root.time, UTC).strftime("%Y-%m-%d")
            if own_day != day:
                day = own_day
                lines += [f"## {day}", ""]
            lines += self._lines(root)
            for reply in month.replies.get(MessageId(root.message.message_id), ()):
                lines += _indented(self._lines(reply, below=True))
        path = self._folder / f"{month.name}.md"
        path.write_text("\n".join(lines), "utf-8")
        self._months.append(month.name)
        target = path.relative_to(self._path).as_posix()
        self._index.append(f"- [{month.name}](<{target}>)")

    def _lines(self, message: ArchivedMessage, *, below: bool = False) -> list[str]:
        """A list item: who and when, then the text below it; `below`: it stands below its root."""
        time = datetime.fromtimestamp(message.time, UTC).strftime("%H:%M")
        notes = [
            *(["edited"] if message.edited_at and not message.deleted else []),
            *(["deleted"] if message.deleted else []),
            *(["pinned"] if message.pinned else []),
        ]
        note = f" *({', '.join(notes)})*" if notes else ""
        lines = [f"- **{_escaped(message.author.name)}** {time}{note}", ""]
        if message.root and not below and message.root != message.message.message_id:
            lines += [f"{_INDENT}*In the thread of `{_code(message.root)}`*", ""]
        text = close_fence(message_text(message.message)[0])
        lines += _indented(_REFERENCE.sub(self._plain_reference, text).splitlines())
        lines += self._files(message)
        if message.reactions:
            counts: dict[str, int] = {}
            for reaction in message.reactions:
                counts[reaction.emoji] = counts.get(reaction.emoji, 0) + 1
            reactions = (f"{_escaped(emoji)} {count}" for emoji, count in counts.items())
            lines += ["", f"{_INDENT}{'  '.join(reactions)}"]
        return [*lines, ""]

    def _plain_reference(self, reference: re.Match[str]) -> str:
        """A mentioned person by name, anything else by its label."""
        label, target = reference.groups()
        name = self._names.get(unquote(target.removeprefix("actor/")))
        return label if name is None else f"@{_escaped(name)}"

    def _files(self, message: ArchivedMessage) -> list[str]:
        """Links to the files whose bytes the archive has."""
        links: list[str] = []
        details = read_bridge_metadata(message.message)[0].parts
        for index, part in enumerate(message.message.content):
            source = getattr(part, "source", None)
            file_id = None if source is None else source.file_id
            if file_id is None:
                continue
            stream = self._options.files(file_id)
            if stream is None:
                self._missing_files += 1
                continue
            about = details.get(str(index))
            media_type: str = getattr(part, "media_type", "")
            name = safe_file_name((about.name if about else None) or "", media_type)
            target = self._path / _FILES / f"{file_id.rpartition('-')[2][:16]}-{name}"
            target.parent.mkdir(exist_ok=True)
            if not target.exists():
                with stream, target.open("wb") as file:
                    shutil.copyfileobj(stream, file)
            else:
                stream.close()
            links += ["", f"{_INDENT}[{_escaped(name)}](<../{_FILES}/{target.name}>)"]
        return links


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{_INDENT}{line}" if line.strip() else "" for line in lines]


def _folder_name(name: str) -> str:
    """Letters, digits, dots, dashes and underscores of any script."""
    kept = "".join(
        char if char.isalnum() or char in "-_." else "-"
        for char in unicodedata.normalize("NFC", name)
    )
    return kept.strip("-.")[:_LONGEST_NAME] or "channel"


def _unique(name: str, taken: set[str]) -> str:
    """File systems may not tell upper from lower case."""
    number, candidate = 1, name
    while candidate.casefold() in taken or candidate.casefold() == _FILES:
        number += 1
        candidate = f"{name}-{number}"
    taken.add(candidate.casefold())
    return candidate


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _code(text: str) -> str:
    return text.replace("`", "'")
