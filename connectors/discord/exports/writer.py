"""Writes exports as DiscordChatExporter does: a folder with a document for each channel and thread.

DiscordChatExporter-frontend opens them, also with messages of other platforms, whose ids become
numbers. A thread of any platform becomes a document of its own, as a thread of Discord does.
"""

from __future__ import annotations

import re
import shutil
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

import orjson
from pydantic import JsonValue

from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.parts import message_text
from bridge.content.text.names import cut_name
from bridge.model import ChannelRef, MessageId, Place
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.model.refs import native_id_in
from bridge.ports.exports import WriteOptions
from connectors.discord import ids
from connectors.discord.exports import NAME
from connectors.discord.exports.api_message import api_message, object_at, text_at
from connectors.discord.exports.documents import ASSETS, Json
from connectors.discord.exports.export_message import (
    MessageWriter,
    Placed,
    changed_document_message,
)
from connectors.discord.exports.kinds import (
    DIRECT_CHANNEL,
    GROUP_CHANNEL,
    PUBLIC_THREAD,
    TEXT_CHANNEL,
)
from connectors.discord.exports.native_numbers import (
    channel_number,
    guild_number,
    message_number,
)

_BUFFERED = 256 << 10  # bytes of a document that wait in memory
_BUFFERED_IN_ALL = 16 << 20
_REMEMBERED = 50_000  # messages that later ones may answer
_NAME = 48  # characters of a thread's name, and of each name in that of a file
_CHANNEL_TYPES = {"direct": DIRECT_CHANNEL, "group": GROUP_CHANNEL, "thread": PUBLIC_THREAD}
_SEPARATORS = re.compile(r"[/\\]")


@dataclass
class _Document:
    """A document whose messages are being written; `buffer` follows what `spool` has."""

    channel: ChannelRef
    thread: str | None
    spool: Path
    title: str = ""
    count: int = 0
    buffer: bytearray | None = None

    def add(self, message: bytes) -> None:
        self.buffer = self.buffer or bytearray()
        self.buffer += b",\n" if self.count else b""
        self.buffer += message
        self.count += 1

    def flush(self) -> None:
        if self.buffer:
            with self.spool.open("ab") as file:
                file.write(self.buffer)
        self.buffer = None


@dataclass(frozen=True)
class _Remembered:
    number: str
    words: str


class Writer:
    """One export; its documents are complete after `finish`."""

    def __init__(self, path: Path, options: WriteOptions) -> None:
        self._folder = path
        self._options = options
        self._messages = MessageWriter(options.cards, options.files)
        self._channels: dict[str, ExportedChannel] = {}
        self._channel: ExportedChannel | None = None
        self._documents: dict[str, _Document] = {}
        self._buffered = 0
        self._remembered: OrderedDict[MessageId, _Remembered] = OrderedDict()
        self._not_written: list[NotWritten] = []
        path.mkdir(parents=True)

    def person(self, person: ExportedPerson) -> None:
        """People are in the messages that they wrote."""

    def channel(self, channel: ExportedChannel) -> None:
        number = channel_number(channel.channel)
        self._channels[number] = self._channel = channel
        if _header_in(channel):
            self._document(channel.channel, None, number)

    def message(self, message: ArchivedMessage) -> None:
        own_id = MessageId(message.message.message_id)
        if message.deleted:
            self._not_written.append(NotWritten(own_id, "deleted message"))
            return
        channel, thread = self._placed(message)
        document = self._document(channel, thread, channel_number(channel, thread))
        if not document.title and thread is not None and message.root:
            root = self._remembered.get(message.root)
            document.title = root.words if root else ""
        own = changed_document_message(message) if message.payload_kind == NAME else None
        if own:
            if message.place is not None:
                self._save_own_files(message, message.place)
            self._add(document, own)
        else:
            self._add(document, orjson.dumps(self._foreign(message, channel, thread, document)))

    def finish(self) -> Sequence[NotWritten]:
        for number, document in self._documents.items():
            document.flush()
            self._complete(number, document)
        return self._not_written

    def close(self) -> None:
        """Nothing stays open between two messages."""

    # --- messages -------------------------------------------------------------------------------

    def _placed(self, message: ArchivedMessage) -> tuple[ChannelRef, str | None]:
        """Return the channel and the thread whose document has the message. A room stands for the
        channels of its messages, and its threads are known by their roots."""
        current, place = self._channel, message.place
        if current is None:
            raise ValueError("a message comes after its channel")
        if place is not None and current.kind != "room":
            return place.channel, place.thread
        return current.channel, message.root

    def _add(self, document: _Document, message: bytes) -> None:
        document.add(message)
        self._buffered += len(message)
        if len(document.buffer or b"") > _BUFFERED:
            self._buffered -= len(document.buffer or b"")
            document.flush()
        if self._buffered > _BUFFERED_IN_ALL:
            for other in self._documents.values():
                other.flush()
            self._buffered = 0

    def _foreign(
        self, message: ArchivedMessage, channel: ChannelRef, thread: str | None, doc: _Document
    ) -> Json:
        own_id = MessageId(message.message.message_id)
        platform = message.place.channel.platform if message.place else ""
        is_native = platform == ids.PLATFORM and (message.native_id or "").isdecimal()
        number = (message.native_id or "") if is_native else message_number(own_id, message.time)
        placed = Placed(
            message, number, guild_number(channel), channel_number(channel, thread),
            self._number_of(message.reply_to, channel) if message.reply_to else None,
        )  # fmt: skip
        if message.reply_to and placed.reply_to is None:
            self._not_written.append(NotWritten(own_id, "reply to a message that is far away"))
        written, lost = self._messages.write(
            placed, lambda name, file: self._save(self._name(doc) + ASSETS, name, file)
        )
        self._not_written += (NotWritten(own_id, what, "text") for what in lost)
        if thread is None:
            words = cut_name(" ".join(message_text(message.message)[0].split()), _NAME)
            self._remember(own_id, _Remembered(number, words))
        else:
            self._remember(own_id, _Remembered(number, ""))
        return written

    def _remember(self, message: MessageId, remembered: _Remembered) -> None:
        self._remembered[message] = remembered
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)

    def _number_of(self, message: MessageId, channel: ChannelRef) -> str | None:
        if remembered := self._remembered.get(message):
            return remembered.number
        return native_id_in(channel.key, message) if channel.platform == ids.PLATFORM else None

    # --- files ----------------------------------------------------------------------------------

    def _save(self, folder: str, name: str, file: BinaryIO) -> str:
        """Write a file beside the documents; equal files are written once."""
        target = self._folder / folder
        target.mkdir(exist_ok=True)
        part, digest = target / ".part", blake2b(digest_size=8)
        with file, part.open("wb") as out:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
                out.write(chunk)
        stem, dot, ending = safe_file_name(name).rpartition(".")
        final = f"{stem or ending}-{digest.hexdigest().upper()}{dot if stem else ''}"
        final += ending if stem else ""
        part.replace(target / final)
        return f"{folder}/{final}"

    def _save_own_files(self, message: ArchivedMessage, place: Place) -> None:
        """Write the stored files of a message to the paths that it has in its own export."""
        kept = read_bridge_metadata(message.message)[0].kept
        if not kept or not message.payload:
            return
        try:
            native = cast("Json", orjson.loads(message.payload))
        except orjson.JSONDecodeError:
            return
        number = channel_number(place.channel, place.thread)
        for address, relative in api_message(native, number, None).local_files.items():
            file_id = kept[address].file_id if address in kept else None
            path = PurePosixPath(relative.replace("\\", "/"))
            if file_id is None or path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
                continue
            if (file := self._options.files(file_id)) is not None:
                target = self._folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with file, target.open("wb") as out:
                    shutil.copyfileobj(file, out)

    # --- documents ------------------------------------------------------------------------------

    def _document(self, channel: ChannelRef, thread: str | None, number: str) -> _Document:
        document = self._documents.get(number)
        if document is None:
            spool = self._folder / f".{number}.messages"
            document = self._documents[number] = _Document(channel, thread, spool)
        return document

    def _complete(self, number: str, document: _Document) -> None:
        header = self._header(number, document)
        path = self._folder / f"{self._name(document)}"
        with path.open("wb") as out:
            text = orjson.dumps(header, option=orjson.OPT_INDENT_2)
            out.write(text.removesuffix(b"\n}"))
            out.write(b',\n  "messages": [\n')
            if document.spool.exists():
                with document.spool.open("rb") as messages:
                    shutil.copyfileobj(messages, out, 1 << 20)
                document.spool.unlink()
            out.write(b'\n  ],\n  "messageCount": %d\n}\n' % document.count)

    def _name(self, document: _Document) -> str:
        """Return the name of the document's file, as DiscordChatExporter would call it."""
        number = channel_number(document.channel, document.thread)
        header = self._header(number, document)
        channel = object_at(header, "channel")
        words = (
            text_at(object_at(header, "guild"), "name"),
            text_at(channel, "category"),
            text_at(channel, "name"),
        )
        name = " - ".join(cut_name(word, _NAME) for word in words if word)
        return f"{safe_file_name(_SEPARATORS.sub('_', name))} [{number}].json"

    def _header(self, number: str, document: _Document) -> Json:
        channel = self._channels.get(number)
        if channel is not None and (header := _header_in(channel)):
            return {key: header[key] for key in header if key != "messageCount"}
        of_parent = self._channels.get(channel_number(document.channel))
        parent_header = _header_in(of_parent) if of_parent else {}
        guild = parent_header.get("guild") or _guild(document.channel)
        return {
            "guild": guild,
            "channel": _channel(number, document, channel, of_parent),
            "dateRange": {"after": None, "before": None},
        }


def _header_in(channel: ExportedChannel) -> Json:
    """Return the header of the document that the channel was imported from, or nothing."""
    native = channel.native
    if isinstance(native, dict) and object_at(native, "guild") and object_at(native, "channel"):
        return native
    return {}


def _guild(channel: ChannelRef) -> JsonValue:
    is_discord = channel.platform == ids.PLATFORM
    direct = is_discord and ids.is_direct(channel)
    name = channel.workspace if is_discord else f"{channel.platform} {channel.workspace}"
    return {
        "id": guild_number(channel),
        "name": "Direct Messages" if direct else name,
        "iconUrl": "https://cdn.discordapp.com/embed/avatars/0.png",
    }


def _channel(
    number: str,
    document: _Document,
    own: ExportedChannel | None,
    parent: ExportedChannel | None,
) -> JsonValue:
    """Return the header of a channel, or of a thread with its channel as its category."""
    is_thread = document.thread is not None
    parent_name = parent.name if parent else document.channel.channel
    if is_thread:
        name = own.name if own else document.title or f"thread {document.thread}"
        category, category_id = parent_name, channel_number(document.channel)
    else:
        name = own.name if own else document.channel.channel
        category, category_id = document.channel.platform, guild_number(document.channel)
    kind = own.kind if own else "thread" if is_thread else "public"
    return {
        "id": number,
        "type": PUBLIC_THREAD if is_thread else _CHANNEL_TYPES.get(kind, TEXT_CHANNEL),
        "categoryId": category_id,
        "category": category,
        "name": name,
        "topic": own.topic or None if own else None,
    }
