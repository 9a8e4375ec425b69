"""What an export of a chat platform contains, as importers read it and exporters write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Literal

from pydantic import JsonValue

from bridge.model.events import MessagePosted
from bridge.model.people import Person
from bridge.model.refs import ActorId, ChannelRef, MessageId, Place
from bridge.uacs import Message

ChannelKind = Literal["public", "private", "group", "direct", "thread"]


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
    """A channel, group or direct chat of the export.

    - `topic`: UACS Markdown.
    - `created`: seconds since 1970.
    - `native`: the platform's own object, unchanged, for an export in the same format.
    """

    channel: ChannelRef
    name: str
    kind: ChannelKind = "public"
    topic: str = ""
    members: tuple[ActorId, ...] = ()
    created: float | None = None
    native: JsonValue = None


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
    - `root`, `reply_to`: native ids; `root` also for formats whose `Place` has no thread.
    - `editor`, `deleted`, `pinned`: as far as the format says them.
    - `versions`: former states, oldest first.
    - `files`: of the media and file parts whose bytes are in the export, by the address that the
      part has as its source.
    """

    posted: MessagePosted
    payload: bytes
    root: str | None = None
    reply_to: str | None = None
    reactions: tuple[ExportedReaction, ...] = ()
    editor: ActorId | None = None
    deleted: bool = False
    pinned: bool = False
    versions: tuple[ExportedEdit, ...] = ()
    files: Mapping[str, ExportedFile] = field(default_factory=dict[str, ExportedFile])


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


@dataclass(frozen=True)
class ArchivedMessage:
    """An archived message as an exporter gets it.

    - `message`: with all of `metadata.uacs_bridge`.
    - `root`, `reply_to`: canonical ids.
    - `payload`: the native message with its decoder's `payload_kind`, if the archive has it: of a
      live event, or of an import (`payload_kind` is then the format's name).
    """

    message: Message
    author: Person
    time: float
    place: Place | None
    native_id: str | None
    root: MessageId | None = None
    reply_to: MessageId | None = None
    edited_at: float | None = None
    deleted: bool = False
    pinned: bool = False
    reactions: tuple[ExportedReaction, ...] = ()
    payload: bytes | None = None
    payload_kind: str = ""


@dataclass(frozen=True)
class NotWritten:
    """Something that a format cannot say, and what stands in its place; `what` is the same for all
    of its kind."""

    message: MessageId | None
    what: str
    written_as: str = ""
