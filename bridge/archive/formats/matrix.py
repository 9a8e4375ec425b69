"""Matrix: Element's "Export chat" as JSON, alone, in a folder or in a zip.

Element writes `{room_name, room_creator, topic, messages: [event, ...]}` and the media beside it.
The events are those of the client-server API (spec v1.11). An edit, a reaction and a redaction are
events of their own that name their message. The text of a formatted message is the Markdown that
its author typed, as clients send it in `body`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from bridge.content.messages.metadata import BridgeMetadata, PartDetails, with_bridge_metadata
from bridge.errors import ExportUnreadable, InvalidData
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    MessagePosted,
    Person,
    Place,
    actor_id_of,
    message_id_of,
)
from bridge.model.export_records import (
    ExportedChannel,
    ExportedEdit,
    ExportedFile,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ExportReader, ReadOptions, WriteOptions
from bridge.runtime.export_tree import Tree, is_zip, open_tree
from bridge.runtime.json_stream import JsonStream, parsed
from bridge.uacs import (
    Actor,
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    TextPart,
    VideoPart,
    to_timestamp,
)

PLATFORM = "matrix"
_IMPORT = AccountId("import")
_HEAD = 4096
_DOCUMENT = re.compile(r"(?:^|/)[^/]*\.json$")
_MARKS = (b'"room_name"', b'"exported_by"')
_NO_TEXT = "[message without text]"
_FALLBACK = re.compile(r"\A(?:> [^\n]*\n)+\n?")  # the quoted message before a reply
_UNSIGNED_WORD = re.compile(r"[^A-Za-z0-9]")
_LATEST = 253_402_300_799  # seconds: the last moment of the year 9999
_MEMBERSHIPS = {
    "join": "{who} joined", "leave": "{who} left", "invite": "{who} was invited",
    "ban": "{who} was banned", "knock": "{who} asked to join",
}  # fmt: skip


class Matrix:
    """The format."""

    name = "matrix"
    title = "Matrix (Element's export, JSON)"
    platform = PLATFORM
    reads = True
    writes = False

    def recognises(self, path: Path) -> bool:
        """Whether a document, or one in a folder or zip, begins as Element's does."""
        try:
            if path.is_file() and path.suffix.lower() != ".json" and not is_zip(path):
                return False
            if not path.exists():
                return False
            tree = open_tree(path)
        except (ExportUnreadable, OSError):
            return False
        try:
            return any(_is_ours(tree, name) for name in _documents(tree))
        finally:
            tree.close()

    def reader(self, path: Path, options: ReadOptions) -> ExportReader:
        """Open an export. Raises ExportUnreadable if it contains no document of Element."""
        del options
        return _Reader(path)

    def writer(self, path: Path, options: WriteOptions) -> None:
        """Matrix is only read."""
        del path, options


def _documents(tree: Tree) -> Sequence[str]:
    return [name for name in tree.names() if _DOCUMENT.search(name)]


def _is_ours(tree: Tree, name: str) -> bool:
    try:
        with tree.open(name) as file:
            head = file.read(_HEAD)
    except (ExportUnreadable, OSError):
        return False
    return any(mark in head for mark in _MARKS) and b'"messages"' in head


class _Reader:
    def __init__(self, path: Path) -> None:
        self._tree = open_tree(path)
        self._names = [name for name in _documents(self._tree) if _is_ours(self._tree, name)]
        if not self._names:
            self._tree.close()
            raise ExportUnreadable(f"{path.name}: it has no document that Element exported")

    def units(self) -> Sequence[ExportUnit]:
        tree = self._tree
        return [ExportUnit(n, tree.fingerprint(n), tree.size(n)) for n in self._names]

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        """First what events say of other events, then the messages.

        Raises:
            ExportUnreadable: the document is no JSON, or ends too early.
        """
        if unit.key not in self._names:
            return
        about = _About()
        for _, event in self._events(unit.key, about):
            if isinstance(event, dict):
                about.learn(event)
        yield from about.people()
        yield about.channel_item(unit.key)
        files = _Files(self._tree)
        for number, event in self._events(unit.key, about):
            where = f"{unit.key}, message {number}"
            if not isinstance(event, dict):
                yield NotUnderstood(where, "item that is no event")
                continue
            yield from _Event(event, where, about, files).items()

    def close(self) -> None:
        self._tree.close()

    def _events(self, name: str, about: _About) -> Iterator[tuple[int, Any]]:
        with self._tree.open(name) as file:
            stream = JsonStream(file, name)
            for key in stream.each_key():
                if key != "messages":
                    about.head[key] = stream.read(key)
                    continue
                for number, item in enumerate(stream.items(), 1):
                    try:
                        yield number, parsed(item)
                    except ValueError:
                        yield number, None


@dataclass
class _About:
    """What is known of the room, its people, and of what later events did to earlier ones."""

    head: dict[str, Any] = field(default_factory=dict[str, Any])
    room: str = ""
    names: dict[str, str] = field(default_factory=dict[str, str])
    edits: dict[str, list[tuple[float, str, Mapping[str, Any]]]] = field(
        default_factory=dict[str, list[tuple[float, str, Mapping[str, Any]]]]
    )
    reactions: dict[str, list[tuple[float, str, str]]] = field(
        default_factory=dict[str, list[tuple[float, str, str]]]
    )
    redacted: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def server(self) -> str:
        return self.room.partition(":")[2] or "matrix"

    @property
    def channel(self) -> ChannelRef:
        return ChannelRef(platform=PLATFORM, workspace=self.server, channel=self.room or "room")

    def learn(self, event: Mapping[str, Any]) -> None:
        """Take from an event what concerns others."""
        content, sender = _dict(event.get("content")), _text(event, "sender")
        self.room = self.room or _text(event, "room_id")
        at = _seconds(event) or 0.0
        relation = _dict(content.get("m.relates_to"))
        target = _text(relation, "event_id")
        match _text(event, "type"):
            case "m.room.member":
                person = _text(event, "state_key") or sender
                self.names[person] = _text(content, "displayname") or self.names.get(person, "")
            case "m.room.redaction":
                target = _text(event, "redacts") or _text(content, "redacts")
                self.redacted[target] = sender
            case "m.reaction" if target:
                self.reactions.setdefault(target, []).append((at, _text(relation, "key"), sender))
            case "m.room.message" if relation.get("rel_type") == "m.replace" and target:
                new = _dict(content.get("m.new_content")) or content
                self.edits.setdefault(target, []).append((at, sender, new))
            case _:
                pass
        if because := _dict(_dict(event.get("unsigned")).get("redacted_because")):
            self.redacted.setdefault(_text(event, "event_id"), _text(because, "sender"))
        self.names.setdefault(sender, "")

    def person(self, native_id: str) -> Person:
        name = self.names.get(native_id) or native_id.removeprefix("@").partition(":")[0]
        return Person(id=self.actor(native_id), name=name or "?")

    def actor(self, native_id: str) -> ActorId:
        return actor_id_of(PLATFORM, self.server, native_id or "?")

    def people(self) -> Iterator[ExportedPerson]:
        for native_id in self.names:
            yield ExportedPerson(self.person(native_id))

    def channel_item(self, name: str) -> ExportedChannel:
        title, topic = self.head.get("room_name"), self.head.get("topic")
        return ExportedChannel(
            self.channel,
            title if isinstance(title, str) and title else name,
            topic=topic if isinstance(topic, str) else "",
            members=tuple(self.actor(native_id) for native_id in self.names),
        )


class _Files:
    """The media of the export, which Element names by the letters and digits of the event's id."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._names: dict[str, str] = {}
        for name in tree.names():
            stem = name.rpartition("/")[2].rpartition(".")[0]
            if not _DOCUMENT.search(name) and stem:
                self._names[_UNSIGNED_WORD.sub("", stem)] = name

    def of(self, event_id: str, title: str) -> ExportedFile | None:
        name = self._names.get(_UNSIGNED_WORD.sub("", event_id))
        if name is None:
            return None
        opened: partial[BinaryIO] = partial(self._tree.open, name)
        return ExportedFile(title, opened, self._tree.size(name))


class _Event:
    """One event while it becomes a message."""

    def __init__(self, event: Mapping[str, Any], where: str, about: _About, files: _Files) -> None:
        self._event = event
        self._where = where
        self._about = about
        self._files = files
        self._id = _text(event, "event_id")
        self._sender = _text(event, "sender")
        self._content = _dict(event.get("content"))

    def items(self) -> Iterator[ExportItem]:
        time = _seconds(self._event)
        kind = _text(self._event, "type")
        if time is None or not self._id:
            yield NotUnderstood(self._where, "event without id or time")
        elif kind in ("m.reaction", "m.room.redaction") or self._is_edit():
            return  # it is part of the message that it names
        elif kind == "m.room.encrypted":
            yield NotUnderstood(self._where, "message that could not be decrypted")
        elif kind in ("m.room.message", "m.sticker"):
            yield from self._message(time, kind)
        elif sentence := self._sentence(kind):
            yield self._exported(time, (TextPart(text=sentence, format="plain"),), {}, "system")
        else:
            yield NotUnderstood(self._where, f"event of the type {kind[:60] or 'without a type'}")

    def _is_edit(self) -> bool:
        return _dict(self._content.get("m.relates_to")).get("rel_type") == "m.replace"

    def _message(self, time: float, kind: str) -> Iterator[ExportItem]:
        try:
            parts, details = self._parts(self._content, kind)
            yield self._exported(time, parts, details)
        except (InvalidData, ValueError) as error:
            what = "message whose content breaks the specification"
            yield NotUnderstood(self._where, what, type(error).__name__)

    def _parts(
        self, content: Mapping[str, Any], kind: str = ""
    ) -> tuple[tuple[ContentPart, ...], dict[str, PartDetails]]:
        """The content, and the names of files by the number of the part."""
        body, msgtype = _text(content, "body"), _text(content, "msgtype")
        url = _text(content, "url") or _text(_dict(content.get("file")), "url")
        if url and (kind == "m.sticker" or msgtype in _MEDIA):
            name = _text(content, "filename") or body
            media: ContentPart = _media(msgtype or "m.image", url, content)
            size = _dict(content.get("info")).get("size")
            shown = PartDetails(name=name or None, size=size if _is_count(size) else None)
            caption = body if _text(content, "filename") not in ("", body) else ""
            text = (TextPart(text=caption, format="plain"),) if caption else ()
            return (media, *text), {"0": shown}
        if msgtype == "m.location":
            body = f"{body} ({_text(content, 'geo_uri')})".strip()
        if _dict(_dict(content.get("m.relates_to")).get("m.in_reply_to")):
            body = _FALLBACK.sub("", body, count=1)
        if not body:
            return (TextPart(text=_NO_TEXT, format="plain"),), {}
        if msgtype == "m.emote":
            return (TextPart(text=f"{self._about.person(self._sender).name} {body}",
                             format="plain"),), {}  # fmt: skip
        if _text(content, "formatted_body"):
            return (TextPart(text=body, format="markdown"),), {}
        return (TextPart(text=body, format="plain"),), {}

    def _sentence(self, kind: str) -> str:
        """What a change of the room says; empty for one that people do not see."""
        content = self._content
        match kind:
            case "m.room.member":
                person = self._about.person(_text(self._event, "state_key") or self._sender)
                form = _MEMBERSHIPS.get(_text(content, "membership"), "")
                return form.format(who=person.name)
            case "m.room.name":
                return f"The room is called “{_text(content, 'name')}”"
            case "m.room.topic":
                return f"The topic is “{_text(content, 'topic')}”"
            case _:
                return ""

    def _exported(
        self,
        time: float,
        parts: tuple[ContentPart, ...],
        details: dict[str, PartDetails],
        role: str = "",
    ) -> ExportedMessage:
        about, event = self._about, self._event
        former = self._with_parts(time, parts, details, role)
        edits = sorted(about.edits.get(self._id, ()), key=lambda edit: edit[0])
        states = [(time, former)]
        for at, _, content in edits:
            states.append((at, self._with_parts(time, *self._parts(content), role)))
        versions = tuple(
            ExportedEdit(message, ended) for (_, message), (ended, _) in itertools.pairwise(states)
        )
        relation = _dict(self._content.get("m.relates_to"))
        reply = _text(_dict(relation.get("m.in_reply_to")), "event_id")
        root = _text(relation, "event_id") if relation.get("rel_type") == "m.thread" else ""
        is_reply = bool(reply) and not (root and relation.get("is_falling_back") is True)
        redactor = about.redacted.get(self._id)
        edited = datetime.fromtimestamp(edits[-1][0], UTC) if edits else None
        posted = MessagePosted(
            account=_IMPORT,
            place=Place(channel=about.channel, thread=root or None),
            time=datetime.fromtimestamp(time, UTC),
            native_id=self._id,
            message=states[-1][1],
            author=about.person(self._sender),
            edited_at=edited,
        )
        return ExportedMessage(
            posted=posted,
            payload=_json(event),
            root=root or None,
            reply_to=reply if is_reply else None,
            reactions=tuple(
                ExportedReaction(emoji, about.actor(sender), at)
                for at, emoji, sender in about.reactions.get(self._id, ())
                if emoji
            ),
            editor=about.actor(edits[-1][1]) if edits else _actor(about, redactor),
            deleted=redactor is not None,
            versions=versions,
            files=self._exported_files(parts, details),
        )

    def _exported_files(
        self, parts: Sequence[ContentPart], details: Mapping[str, PartDetails]
    ) -> dict[str, ExportedFile]:
        source = getattr(parts[0], "source", None)
        if not isinstance(source, MediaSource) or source.url is None:
            return {}
        name = details["0"].name if "0" in details else None
        file = self._files.of(self._id, name or self._id)
        return {} if file is None else {source.url: file}

    def _with_parts(
        self,
        time: float,
        parts: tuple[ContentPart, ...],
        details: dict[str, PartDetails],
        role: str = "",
    ) -> Message:
        person = self._about.person(self._sender)
        is_bot = _text(self._content, "msgtype") == "m.notice"
        message = Message(
            message_id=message_id_of(self._about.channel, self._id),
            timestamp=to_timestamp(datetime.fromtimestamp(time, UTC)),
            actor=Actor(
                id=person.id,
                role="system" if role == "system" else "assistant" if is_bot else "human",
                name=person.name,
            ),
            content=parts,
        )
        return with_bridge_metadata(message, BridgeMetadata(parts=details)) if details else message


_MEDIA = ("m.image", "m.video", "m.audio", "m.file")


def _media(
    msgtype: str, url: str, content: Mapping[str, Any]
) -> ImagePart | VideoPart | AudioPart | FilePart:
    source = MediaSource(url=url)
    media_type = _text(_dict(content.get("info")), "mimetype")
    try:
        match msgtype:
            case "m.image":
                return ImagePart(source=source, media_type=media_type)  # pyright: ignore[reportArgumentType]
            case "m.video":
                return VideoPart(source=source, media_type=media_type)  # pyright: ignore[reportArgumentType]
            case "m.audio":
                return AudioPart(source=source, media_type=media_type)  # pyright: ignore[reportArgumentType]
            case _:
                pass
    except InvalidData:
        pass  # a type that UACS does not have
    return FilePart(source=source, media_type=media_type or "application/octet-stream")


def _actor(about: _About, native_id: str | None) -> ActorId | None:
    return about.actor(native_id) if native_id else None


def _seconds(event: Mapping[str, Any]) -> float | None:
    at = event.get("origin_server_ts")
    if not isinstance(at, int | float) or isinstance(at, bool) or not 0 <= at <= _LATEST * 1000:
        return None
    return at / 1000


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _json(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()
