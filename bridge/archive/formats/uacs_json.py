"""UACS as one JSON document: a Conversation, or a list of Conversations if there are several
channels. Streams both ways, whatever its size.

Documents of other programs are read as well: a Conversation that names no channel is a channel of
its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from bridge.archive.additions import message_json
from bridge.archive.formats.files import file_fingerprint
from bridge.archive.formats.uacs_objects import (
    conversation_json,
    exported_message,
    person_json,
    read_conversation,
    read_person,
)
from bridge.content.messages.metadata import KEY
from bridge.errors import InvalidData
from bridge.model import ChannelRef, Person
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotUnderstood,
    NotWritten,
)
from bridge.ports.exports import ExportReader, ExportWriter, ReadOptions, WriteOptions
from bridge.runtime.json_stream import JsonStream, parsed

_HEAD = 4096
_OWN = ("uacs", "conversations")  # platform and workspace of a Conversation without a channel


class UacsJson:
    """The format."""

    name = "uacs-json"
    title = "UACS, one JSON document"
    platform = ""
    reads = True
    writes = True
    payloads = frozenset[str]()

    def recognises(self, path: Path) -> bool:
        """Whether a file begins as a Conversation, or as a list of them, does."""
        if not path.is_file():
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
        start = head.lstrip(b"[").lstrip()
        return start.startswith(b"{") and b'"conversation_id"' in head

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Open a document."""
        del options
        return _Reader(path)

    def writer(self, path: Path, options: WriteOptions) -> ExportWriter:
        """Begin a document."""
        del options
        return _Writer(path.open("wb"))


@dataclass
class _Head:
    """What a Conversation says before, between or after its messages."""

    members: dict[str, Any] = field(default_factory=dict[str, Any])

    def channel(self) -> ExportedChannel:
        """Raises ValueError and InvalidData if the metadata names a channel in no valid way."""
        metadata = self.members.get("metadata")
        about = metadata.get(KEY) if isinstance(metadata, dict) else None
        if isinstance(about, dict) and ("channel" in about or about.get("kind") == "room"):
            return read_conversation(self.members)
        own_id = str(self.members.get("conversation_id", "conversation"))
        title = about.get("name") if isinstance(about, dict) else None
        channel = ChannelRef(platform=_OWN[0], workspace=_OWN[1], channel=own_id)
        return ExportedChannel(channel, str(title or own_id), "group")

    def people(self) -> Iterator[ExportedPerson]:
        metadata = self.members.get("metadata")
        about = metadata.get(KEY) if isinstance(metadata, dict) else None
        people = about.get("people") if isinstance(about, dict) else None
        for person in people if isinstance(people, list) else ():
            yield read_person(person)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path

    def units(self) -> Sequence[ExportUnit]:
        size = self._path.stat().st_size
        return [ExportUnit(self._path.name, file_fingerprint(self._path), size)]

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        """First the heads of all Conversations, then their messages: a head may come last.

        Raises:
            ExportUnreadable: it is no JSON, or ends too early.
        """
        heads = self._heads(unit.key)
        people: dict[str, Person] = {}
        channels: list[ExportedChannel] = []
        for number, head in enumerate(heads):
            where = f"{unit.key}, conversation {number + 1}"
            try:
                for person in head.people():
                    people[person.person.id] = person.person
                    yield person
                channel = head.channel()
            except (ValueError, TypeError, InvalidData) as error:
                yield NotUnderstood(where, "conversation that breaks the schema", _reason(error))
                channel = _Head({"conversation_id": f"{unit.key}-{number + 1}"}).channel()
            channels.append(channel)
            if channel.kind != "room":
                yield channel
        yield from self._messages(unit.key, channels, people)

    def close(self) -> None:
        """Nothing is held open."""

    def _heads(self, name: str) -> list[_Head]:
        heads: list[_Head] = []
        with self._path.open("rb") as file:
            stream = JsonStream(file, name)
            for _ in _conversations(stream):
                head = _Head()
                for key in stream.each_key():
                    if key == "messages" and stream.first() == "[":
                        for _ in stream.items():
                            pass
                    else:
                        head.members[key] = stream.read(key)
                heads.append(head)
        return heads

    def _messages(
        self, name: str, channels: Sequence[ExportedChannel], people: dict[str, Person]
    ) -> Iterator[ExportItem]:
        known = {channel.channel.key for channel in channels if channel.kind != "room"}
        with self._path.open("rb") as file:
            stream = JsonStream(file, name)
            for number, _ in enumerate(_conversations(stream)):
                for key in stream.each_key():
                    if key != "messages" or stream.first() != "[":
                        stream.value()
                        continue
                    for place, item in enumerate(stream.items(), 1):
                        where = f"{name}, conversation {number + 1}, message {place}"
                        channel = channels[number].channel
                        yield from _items(item, where, channel, people, known)


def _conversations(stream: JsonStream) -> Iterator[None]:
    """Go through the Conversations of a document, each of which is to be read before the next."""
    if stream.first() == "[":
        yield from stream.each_item()
    else:
        yield


def _items(
    item: bytes, where: str, channel: ChannelRef, people: dict[str, Person], known: set[str]
) -> Iterator[ExportItem]:
    try:
        message = exported_message(parsed(item), people, channel, item)
    except (ValueError, TypeError, AttributeError, RecursionError, InvalidData) as error:
        yield NotUnderstood(where, "message that breaks the schema", _reason(error))
        return
    author, place = message.posted.author, message.posted.place.channel
    if author.id not in people:
        people[author.id] = author
        yield ExportedPerson(author)
    if place.key not in known:
        known.add(place.key)
        yield ExportedChannel(place, place.channel)
    yield message


def _reason(error: Exception) -> str:
    """Without the values, which may be text of people."""
    path, rule = getattr(error, "path", ""), getattr(error, "rule", "")
    return f"{path}: {rule}" if path else type(error).__name__


class _Writer:
    """Leaves one byte free at the beginning, for the bracket of a list."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._people: list[dict[str, Any]] = []
        self._conversations = 0
        self._messages = 0
        self._times: tuple[str, str] | None = None
        file.write(b" ")

    def person(self, person: ExportedPerson) -> None:
        self._people.append(person_json(person))

    def channel(self, channel: ExportedChannel) -> None:
        self._end_conversation()
        head = conversation_json(channel)
        if self._people:  # in the first Conversation, for all
            head["metadata"][KEY]["people"] = self._people
            self._people = []
        created = head.pop("created_at", None)
        self._times = None if created is None else (created, created)
        self._file.write(b",\n" if self._conversations else b"")
        self._file.write(_dumped(head)[:-1] + b',"messages":[')
        self._conversations += 1
        self._messages = 0

    def message(self, message: ArchivedMessage) -> None:
        value = message_json(message)
        time = value["timestamp"]
        self._times = (time if self._times is None else self._times[0], time)
        self._file.write(b",\n" if self._messages else b"\n")
        self._file.write(_dumped(value))
        self._messages += 1

    def finish(self) -> Sequence[NotWritten]:
        self._end_conversation()
        if self._conversations != 1:
            self._file.write(b"]")
            self._file.seek(0)
            self._file.write(b"[")
        self.close()
        return ()

    def close(self) -> None:
        self._file.close()

    def _end_conversation(self) -> None:
        if not self._conversations:
            return
        created, updated = self._times or ("1970-01-01T00:00:00Z",) * 2
        times = {"created_at": created, "updated_at": max(created, updated)}
        self._file.write(b"]," + _dumped(times)[1:])


def _dumped(value: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
