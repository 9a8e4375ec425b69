"""What an export of a chat platform contains, as importers read it and exporters write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, Literal, Self
from uuid import UUID

from pydantic import JsonValue

from bridge.model.events import MessagePosted
from bridge.model.people import Person
from bridge.model.refs import ActorId, ChannelRef, MessageId, Place, message_id_of
from bridge.model.room_records import RoomFacts
from bridge.uacs import Message, read_message, write

ChannelKind = Literal["public", "private", "group", "direct", "thread", "room"]
ROOMS = ("uacs", "rooms")  # platform and workspace of a room, where it stands for a channel


@dataclass(frozen=True)
class ExportUnit:
    """A part of an export that an import finishes as a whole: one file, or one table.

    - `key`: its name in the export, the same at each reading.
    - `fingerprint`: equal as long as its content is equal; cheap to find out (the CRC of a zip
      entry, the highest row id), so that an import of the same export again reads nothing twice.
    - `size`: in bytes, for a progress bar; 0 if it is not known.
    """

    key: str
    fingerprint: str
    size: int = 0


@dataclass(frozen=True)
class ExportedChannel:
    """A channel, group or direct chat of the export; or a room, whose messages are of any platform.

    - `topic`: UACS Markdown.
    - `created`: seconds since 1970.
    - `native`: the platform's own object, unchanged, for an export in the same format.
    - `facts`: of a room, what its Conversation says beside its messages.
    """

    channel: ChannelRef
    name: str
    kind: ChannelKind = "public"
    topic: str = ""
    members: tuple[ActorId, ...] = ()
    created: float | None = None
    native: JsonValue = None
    facts: RoomFacts | None = None


@dataclass(frozen=True)
class ExportedPerson:
    """A person of the export; `native` is the platform's own object, unchanged."""

    person: Person
    native: JsonValue = None


@dataclass(frozen=True)
class ExportedReaction:
    """One person's reaction; `at` is seconds since 1970, None if the format does not say it."""

    emoji: str
    actor: ActorId
    at: float | None = None


@dataclass(frozen=True)
class ExportedFile:
    """A file whose bytes are in the export; `size` is in bytes, None if it is not known. `open`
    returns a stream that the caller closes."""

    name: str
    open: Callable[[], BinaryIO] = field(compare=False)
    size: int | None = None


@dataclass(frozen=True)
class ExportedEdit:
    """A former state of a message, until `at` (seconds since 1970)."""

    message: Message
    at: float


@dataclass(frozen=True)
class ExportedMessage:
    """A message as it was when the export was made.

    - `posted`: the message as the platform's decoder gives it for a live event, so that import,
      catch-up and live events meet under one id. A system message ("Ann joined") has an author of
      role `system`.
    - `payload`: the native message, byte for byte as it is in the export, or as JSON if the export
      is no JSON; from it an export in the same format is made.
    - `root`, `reply_to`: native ids in the same channel; `root_id`, `reply_to_id`: canonical ids,
      of formats that have them.
    - `editor`, `deleted`, `pinned`: as far as the format says them.
    - `versions`: former states, oldest first.
    - `files`: of the media and file parts whose bytes are in the export, by the address that the
      part has as its source.
    """

    posted: MessagePosted
    payload: bytes
    root: str | None = None
    reply_to: str | None = None
    root_id: MessageId | None = None
    reply_to_id: MessageId | None = None
    reactions: tuple[ExportedReaction, ...] = ()
    editor: ActorId | None = None
    deleted: bool = False
    pinned: bool = False
    versions: tuple[ExportedEdit, ...] = ()
    files: Mapping[str, ExportedFile] = field(default_factory=dict[str, ExportedFile])

    def relations(self) -> tuple[MessageId | None, MessageId | None]:
        """Returns the canonical ids of the thread's root and of the answered message."""
        channel = self.posted.place.channel
        root = self.root_id or (message_id_of(channel, self.root) if self.root else None)
        reply_to = message_id_of(channel, self.reply_to) if self.reply_to else None
        return root, self.reply_to_id or reply_to


@dataclass(frozen=True)
class NotUnderstood:
    """Something that an importer could not read, or that its format cannot say.

    - `where`: file and place in it, for a person who looks for it.
    - `what`: the kind of thing, the same for all of its kind ("message without time"); a summary
      counts these.
    - `detail`: what is special about this one; contains no message text.
    """

    where: str
    what: str
    detail: str = ""


ExportItem = ExportedPerson | ExportedChannel | ExportedMessage | NotUnderstood


@dataclass  # not frozen: an export makes one for each message, in less than half the time
class ArchivedMessage:
    """An archived message as an exporter gets it; nobody changes it.

    - `body`: the UACS message as JSON, `author_body` the author; `message` and `author` parse them
      when they are first asked for, so that an export of JSON need not.
    - `root`, `reply_to`: canonical ids.
    - `editor`, `versions`: who edited or deleted it last, and how many former states the archive
      has.
    - `audience`: the only readers of a whisper; None for a message to everybody.
    - `epoch`: the number of the room's membership when it arrived.
    - `payload`: the native message with its decoder's `payload_kind`, if the archive has it: of a
      live event, or of an import (`payload_kind` is then the format's name).
    """

    body: bytes
    author_body: bytes
    time: float
    place: Place | None
    native_id: str | None
    root: MessageId | None = None
    reply_to: MessageId | None = None
    edited_at: float | None = None
    editor: ActorId | None = None
    versions: int = 0
    deleted: bool = False
    pinned: bool = False
    audience: tuple[ActorId, ...] | None = None
    epoch: int | None = None
    reactions: tuple[ExportedReaction, ...] = ()
    payload: bytes | None = None
    payload_kind: str = ""

    @classmethod
    def of(cls, message: Message, author: Person, **values: Any) -> Self:
        """Returns the archived message of these objects; `values` are the other fields."""
        return cls(write(message), author.model_dump_json().encode(), **values)

    @cached_property
    def message(self) -> Message:
        """The UACS message."""
        return read_message(self.body)

    @cached_property
    def author(self) -> Person:
        """The author."""
        return Person.model_validate_json(self.author_body)


@dataclass(frozen=True)
class NotWritten:
    """Something that a format cannot say, and what stands in its place; `what` is the same for all
    of its kind."""

    message: MessageId | None
    what: str
    written_as: str = ""


@dataclass(frozen=True)
class ImportBatch:
    """What an import adds in one transaction.

    - `export`: names the imports that share their progress: the format, and what the options said.
    - `format`: the format of the payloads.
    - `finished`: the unit that ends with this batch.
    """

    export: str
    format: str
    people: tuple[ExportedPerson, ...] = ()
    channels: tuple[ExportedChannel, ...] = ()
    messages: tuple[ExportedMessage, ...] = ()
    finished: ExportUnit | None = None


@dataclass(frozen=True)
class ImportCounts:
    """The effect of a batch: messages that were added, changed (edited, deleted, other reactions),
    and known already."""

    added: int = 0
    changed: int = 0
    known: int = 0

    def __add__(self, other: ImportCounts) -> ImportCounts:
        return ImportCounts(
            self.added + other.added, self.changed + other.changed, self.known + other.known
        )


@dataclass(frozen=True)
class ArchivedConversation:
    """What becomes one channel of an export: a room with its channels, or a channel that is in no
    room. `timelines` are the Conversations that hold its messages."""

    channel: ExportedChannel
    timelines: tuple[UUID, ...]


@dataclass(frozen=True)
class ArchivePage:
    """Messages of one conversation by their time; `last` is the place to read on from, None at the
    end."""

    messages: tuple[ArchivedMessage, ...]
    last: int | None


@dataclass(frozen=True)
class ArchiveFilter:
    """Which messages an export contains: from `since` to before `until` (seconds since 1970); also
    those to one of `readers` alone; deleted ones if `deleted`. `payloads`: the kinds of native
    payloads that are read with them; None: all."""

    since: float | None = None
    until: float | None = None
    readers: tuple[ActorId, ...] = ()
    deleted: bool = False
    payloads: frozenset[str] | None = None
