"""Reads exports of DiscordChatExporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import cast

import orjson
from pydantic import ValidationError

from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import Paragraph, Text
from bridge.errors import ExportUnreadable, UndecodableEvent
from bridge.model import AccountId, ActorId, ChannelRef, MessagePosted, Person, Raw
from bridge.model.export_records import (
    ChannelKind,
    ExportedChannel,
    ExportedFile,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.uacs import TextPart
from connectors.discord import ids
from connectors.discord.content import NOTHING_SAID
from connectors.discord.decode import decode, ids_in_text, person_of
from connectors.discord.exports.api_message import (
    api_message,
    api_user,
    is_blank,
    object_at,
    objects_at,
    text_at,
)
from connectors.discord.exports.documents import (
    Json,
    documents_in,
    fingerprint_of,
    header_of,
    is_document,
    messages_of,
)
from connectors.discord.exports.kinds import NO_GUILD, THREADS
from connectors.discord.shapes import UserData

_CHANNELS = "channels"  # the unit of all channels, from the headers of the documents
_KIND = "MESSAGE_CREATE"
_ACCOUNT = AccountId("import")
_KINDS: Mapping[str, ChannelKind] = {
    "DirectTextChat": "direct",
    "DirectGroupTextChat": "group",
    "GuildPrivateThread": "thread",
}


@dataclass(frozen=True)
class _Document:
    """A document whose header was read; `channel` is the parent's for a thread."""

    path: Path
    key: str
    header: Json
    channel: ChannelRef
    own_id: str
    is_thread: bool

    def exported(self) -> ExportedChannel:
        """Return the document's own channel or thread."""
        native = object_at(self.header, "channel")
        kind = text_at(native, "type")
        own = ids.channel_ref(self.channel.workspace, self.own_id)
        return ExportedChannel(
            channel=own,
            name=text_at(native, "name") or self.own_id,
            kind="thread" if self.is_thread else _KINDS.get(kind, "public"),
            topic=_plain(text_at(native, "topic")),
            created=ids.time_of(self.own_id).timestamp() if _is_snowflake(self.own_id) else None,
            native=self.header,
        )

    def parent(self) -> ExportedChannel:
        """Return what a thread's document says of its channel: id and name."""
        return ExportedChannel(
            channel=self.channel,
            name=text_at(object_at(self.header, "channel"), "category") or self.channel.channel,
        )


class Reader:
    """One document, or a folder with any number of them."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        if not path.exists():
            raise ExportUnreadable(f"{path.name}: there is no such file or folder")
        self._root = path if path.is_dir() else path.parent
        self._paths = {
            document.relative_to(self._root).as_posix(): document
            for document in (documents_in(path) if path.is_dir() else [path])
        }
        if not self._paths:
            raise ExportUnreadable(f"{path.name}: the folder has no JSON files")
        self._options = options
        self._documents: dict[str, _Document] = {}
        self._unreadable: dict[str, str] = {}
        for key, document in self._paths.items():
            self._open(key, document)
        self._names = {
            document.own_id: text_at(object_at(document.header, "channel"), "name")
            for document in self._documents.values()
        }

    def units(self) -> Sequence[ExportUnit]:
        headers = orjson.dumps([document.header for document in self._documents.values()])
        digest = blake2b(headers, digest_size=12).hexdigest()
        units = [ExportUnit(key=_CHANNELS, fingerprint=digest, size=len(headers))]
        for key, path in self._paths.items():
            try:
                units.append(ExportUnit(key, fingerprint_of(path), path.stat().st_size))
            except OSError as error:
                self._unreadable[key] = f"{key}: {error.strerror}"
                units.append(ExportUnit(key, ""))
        return units

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        if unit.key == _CHANNELS:
            yield from self._channels()
        elif document := self._documents.get(unit.key):
            try:
                yield from _Messages(document, self._root, self._options, self._names).read()
            except OSError as error:
                raise ExportUnreadable(f"{unit.key}: {error.strerror}") from None
        elif unit.key in self._unreadable:
            raise ExportUnreadable(self._unreadable[unit.key])
        else:
            yield NotUnderstood(unit.key, "file of another format")

    def close(self) -> None:
        """Nothing stays open between two parts."""

    # --- private --------------------------------------------------------------------------------

    def _open(self, key: str, path: Path) -> None:
        if not is_document(path):
            return
        try:
            header = header_of(path)
            self._documents[key] = self._placed(key, path, header)
        except ExportUnreadable as error:
            self._unreadable[key] = str(error)
        except OSError as error:
            self._unreadable[key] = f"{key}: {error.strerror}"

    def _placed(self, key: str, path: Path, header: Json) -> _Document:
        native = object_at(header, "channel")
        own_id, kind = text_at(native, "id"), text_at(native, "type")
        guild = text_at(object_at(header, "guild"), "id") or self._options.workspace or ""
        if not guild:
            raise ExportUnreadable(f"{key}: the document names no server; set the workspace")
        if not own_id:
            raise ExportUnreadable(f"{key}: the document does not have the id of its channel")
        parent = text_at(native, "categoryId") if kind in THREADS else ""
        channel = ids.channel_ref(None if guild == NO_GUILD else guild, parent or own_id)
        return _Document(path, key, header, channel, own_id, bool(parent))

    def _channels(self) -> Iterator[ExportItem]:
        """Yield each channel once, and then the threads; of partitions, the first header."""
        documents = self._documents.values()
        channels = {
            document.own_id: document.exported()
            for document in reversed(documents)
            if not document.is_thread
        }
        threads = {
            document.own_id: document for document in reversed(documents) if document.is_thread
        }
        for thread in threads.values():
            channels.setdefault(thread.channel.channel, thread.parent())
        yield from sorted(channels.values(), key=lambda channel: channel.channel.key)
        for _, thread in sorted(threads.items()):
            yield thread.exported()
        for document in documents:
            kind = text_at(object_at(document.header, "channel"), "type")
            if kind in THREADS and not document.is_thread:
                yield NotUnderstood(document.key, "thread without the id of its channel")


class _Messages:
    """The messages of one document."""

    def __init__(
        self, document: _Document, root: Path, options: ReadOptions, names: Mapping[str, str]
    ) -> None:
        self._document = document
        self._root = root.resolve()
        self._folder = document.path.parent
        self._timezone = options.timezone
        self._names = names
        self._known: set[str] = set()  # people of whom an item was given

    def read(self) -> Iterator[ExportItem]:
        for number, payload in enumerate(messages_of(self._document.path), 1):
            yield from self._message(number, payload)

    def _message(self, number: int, payload: bytes) -> Iterator[ExportItem]:
        where = f"{self._document.key}, message {number}"
        try:
            native = orjson.loads(payload)
        except orjson.JSONDecodeError as error:
            yield NotUnderstood(where, "message that is no valid JSON", str(error))
            return
        if not isinstance(native, dict):
            yield NotUnderstood(where, "message that is no JSON object", type(native).__name__)
            return
        message = cast("Json", native)
        try:
            read = api_message(message, self._document.own_id, self._timezone)
            posted = self._posted(read.json)
        except (UndecodableEvent, ValueError, RecursionError) as error:
            yield NotUnderstood(where, "message with missing or wrong fields", str(error))
            return
        if read.system:
            posted = _by_system(posted)
        elif is_blank(message):
            posted = _without_words(posted)
            what = "message without content: a poll, components, or a forward before 2026"
            yield NotUnderstood(where, what, posted.native_id)
        yield from self._people(message, posted.author)
        yield ExportedMessage(
            posted=posted,
            payload=payload,
            root=posted.place.thread,
            reply_to=posted.reply_to,
            reactions=tuple(self._reactions(message)),
            pinned=message.get("isPinned") is True,
            files=dict(self._files(read.local_files)) if read.local_files else {},
        )
        yield from self._nameless_reactions(message, where)

    def _posted(self, json: Json) -> MessagePosted:
        """Return the message as the decoder gives it. Raises UndecodableEvent."""
        wrapped: Json = {"d": json}
        content = text_at(json, "content")
        if "<" in content:
            found = {own_id: self._names.get(own_id, "") for own_id in ids_in_text(content)}
            wrapped["names"] = {own_id: name for own_id, name in found.items() if name}
        raw = Raw(
            account=_ACCOUNT, kind=_KIND, dedupe_key="", order_key="",
            channel=self._document.channel, payload=orjson.dumps(wrapped),
        )  # fmt: skip
        (event,) = decode(raw)
        if not isinstance(event, MessagePosted):
            raise UndecodableEvent(f"no message, but {event.type}")
        return event

    # --- people and reactions -------------------------------------------------------------------

    def _people(self, message: Json, author: Person) -> Iterator[ExportItem]:
        """Yield the author, then the people whom the message mentions or who reacted."""
        if author.id not in self._known:
            self._known.add(author.id)
            yield ExportedPerson(author, message.get("author"))
        if not message.get("mentions") and not message.get("reactions"):
            return
        reactors = (
            user
            for reaction in objects_at(message, "reactions")
            for user in objects_at(reaction, "users")
        )
        for user in (*objects_at(message, "mentions"), *reactors):
            if (actor := self._actor(user)) and actor not in self._known:
                self._known.add(actor)
                try:
                    data = UserData.model_validate(api_user(user))
                except ValidationError:
                    continue
                yield ExportedPerson(person_of(self._document.channel, data, None), user)

    def _reactions(self, message: Json) -> Iterator[ExportedReaction]:
        for reaction in objects_at(message, "reactions"):
            if emoji := _emoji(object_at(reaction, "emoji")):
                for user in objects_at(reaction, "users"):
                    if actor := self._actor(user):
                        yield ExportedReaction(emoji, actor)

    def _nameless_reactions(self, message: Json, where: str) -> Iterator[NotUnderstood]:
        """Report the reactions of which the document has a number only, as before 2023."""
        for reaction in objects_at(message, "reactions"):
            count, named = reaction.get("count"), len(objects_at(reaction, "users"))
            if isinstance(count, int) and count > named:
                emoji = text_at(object_at(reaction, "emoji"), "name")
                detail = f"{count - named} of {count} {emoji}"
                yield NotUnderstood(where, "reactions without the people who reacted", detail)

    def _actor(self, user: Json) -> ActorId | None:
        own_id = text_at(user, "id")
        return ids.actor_id(self._document.channel, own_id) if own_id else None

    # --- files ----------------------------------------------------------------------------------

    def _files(self, local_files: Mapping[str, str]) -> Iterator[tuple[str, ExportedFile]]:
        """Yield the files that are in the export, by the address that they have in the message."""
        for address, relative in local_files.items():
            path = self._folder / relative.replace("\\", "/")
            try:
                whole = path.resolve()
                if whole.is_relative_to(self._root) and whole.is_file():
                    size = whole.stat().st_size
                    yield address, ExportedFile(whole.name, partial(whole.open, "rb"), size)
            except (OSError, ValueError, RuntimeError):
                continue


def _by_system(posted: MessagePosted) -> MessagePosted:
    message = posted.message
    actor = message.actor.model_copy(update={"role": "system"})
    return posted.model_copy(update={"message": message.model_copy(update={"actor": actor})})


def _without_words(posted: MessagePosted) -> MessagePosted:
    content = (TextPart(text=NOTHING_SAID, format="markdown"),)
    message = posted.message.model_copy(update={"content": content})
    return posted.model_copy(update={"message": message})


def _emoji(emoji: Json) -> str:
    name = text_at(emoji, "name")
    return f":{name}:" if name and text_at(emoji, "id") else name


def _plain(text: str) -> str:
    return text_to_markdown((Paragraph((Text(text),)),)) if text else ""


def _is_snowflake(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 20 and int(text) < 1 << 64
