"""UACS as JSON lines: `{"person": ...}`, then for each channel `{"conversation": ...}` and a line
`{"message": ...}` for each of its messages. Streams both ways, whatever its size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from pydantic import JsonValue, TypeAdapter, ValidationError

from bridge.archive.additions import message_bytes
from bridge.archive.formats.files import file_fingerprint
from bridge.archive.formats.uacs_objects import (
    conversation_json,
    exported_message,
    person_json,
    read_conversation,
    read_person,
)
from bridge.errors import InvalidData
from bridge.model import ChannelRef, Person
from bridge.model.export_records import (
    ROOMS,
    ArchivedMessage,
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotUnderstood,
    NotWritten,
)
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions

_LONGEST = 64 * 1024 * 1024  # bytes of one line
_HEAD = 4096
NO_ROOM = ChannelRef(platform=ROOMS[0], workspace=ROOMS[1], channel="")
_ANY: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class UacsLines:
    """The format."""

    name = "uacs-lines"
    title = "UACS, JSON lines"
    platform = ""
    reads = True
    writes = True
    payloads = frozenset((name,))

    def recognises(self, path: Path) -> bool:
        """Whether the first line is one of ours."""
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return head.startswith((b'{"person":', b'{"conversation":', b'{"message":'))

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Open a file of JSON lines."""
        return _Reader(path)

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a file of JSON lines."""
        return _Writer(path.open("wb"))


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path

    def units(self) -> Sequence[ExportUnit]:
        size = self._path.stat().st_size
        return [ExportUnit(self._path.name, file_fingerprint(self._path), size)]

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        state = _State()
        with self._path.open("rb") as file:
            for number, line in enumerate(_lines(file), 1):
                where = f"{unit.key}, line {number}"
                if line is None:
                    yield NotUnderstood(where, f"line of more than {_LONGEST:,} bytes")
                elif line:
                    yield from _items(line, where, state)

    def close(self) -> None:
        """Nothing is held open."""


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None for one that is too long."""
    while line := file.readline(_LONGEST):
        if line.endswith(b"\n") or len(line) < _LONGEST:
            yield line.strip()
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(_LONGEST)
        yield None


@dataclass
class _State:
    """What the lines so far have said."""

    people: dict[str, Person] = field(default_factory=dict[str, Person])
    channels: set[str] = field(default_factory=set[str])
    room: ChannelRef = NO_ROOM


def _items(line: bytes, where: str, state: _State) -> Iterator[ExportItem]:
    try:
        match _parsed(line):
            case {"person": dict(about)}:
                exported = read_person(about)
                state.people[exported.person.id] = exported.person
                yield exported
            case {"conversation": dict(about)}:
                channel = read_conversation(about)
                state.room = channel.channel
                if channel.kind != "room":
                    state.channels.add(channel.channel.key)
                    yield channel
            case {"message": dict(about)}:
                message = exported_message(about, state.people, state.room, line)
                yield from _unknown(message, state)
                yield message
            case _:
                yield NotUnderstood(where, "line that is no person, conversation or message")
    except (ValueError, RecursionError, InvalidData) as error:
        yield NotUnderstood(where, "line that breaks the schema", _reason(error))


def _unknown(message: ExportedMessage, state: _State) -> Iterator[ExportItem]:
    """The author and the channel, where no line before has named them."""
    author, channel = message.posted.author, message.posted.place.channel
    if author.id not in state.people:
        state.people[author.id] = author
        yield ExportedPerson(author)
    if channel.key not in state.channels:
        state.channels.add(channel.key)
        yield ExportedChannel(channel, channel.channel)


def _parsed(line: bytes) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _ANY.validate_python(json.loads(line))  # integers beyond 64 bits


def _reason(error: Exception) -> str:
    """Without the values, which may be text of people."""
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    path, rule = getattr(error, "path", ""), getattr(error, "rule", "")
    return f"{path}: {rule}" if path else type(error).__name__


class _Writer:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def person(self, person: ExportedPerson) -> None:
        self._line({"person": person_json(person)})

    def channel(self, channel: ExportedChannel) -> None:
        self._line({"conversation": conversation_json(channel)})

    def message(self, message: ArchivedMessage) -> None:
        if message.payload_kind == UacsLines.name and message.payload is not None:
            self._file.write(message.payload + b"\n")
            return
        self._file.write(b'{"message":%b}\n' % message_bytes(message))

    def finish(self) -> Sequence[NotWritten]:
        self.close()
        return ()

    def close(self) -> None:
        self._file.close()

    def _line(self, value: dict[str, Any]) -> None:
        try:
            self._file.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
        except TypeError:  # integers beyond 64 bits
            self._file.write(json.dumps(value, ensure_ascii=False).encode() + b"\n")
