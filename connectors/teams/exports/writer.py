"""Writes exports as saved answers of Microsoft Graph: a folder with people, channels, chats, and a
list of messages for each channel and chat."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.model import ChannelRef, MessageId
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.model.refs import native_id_in
from bridge.ports.exports import WriteOptions
from bridge.runtime.json_stream import parsed
from connectors.teams import ids
from connectors.teams.activity import Json, object_of, string
from connectors.teams.exports.activity_of_message import SYSTEM, UNKNOWN
from connectors.teams.exports.documents import dumped, in_camel_case
from connectors.teams.exports.written_message import (
    Placed,
    changed_native,
    conversation_in,
    identity_of,
    written_message,
)

_GRAPH = "https://graph.microsoft.com/v1.0/$metadata#"
_REMEMBERED = 50_000  # messages that later ones may answer
_OWN = ("teams-graph", "teams-export-tool")
_NAME = 60  # characters of a channel in the name of its file


class Writer:
    """One export; it is complete after `finish`."""

    def __init__(self, path: Path, options: WriteOptions) -> None:
        self._folder = path
        self._options = options
        self._people: dict[str, Json] = {}
        self._channels: list[Json] = []
        self._chats: list[Json] = []
        self._not_written: list[NotWritten] = []
        self._channel: _Channel | None = None
        path.mkdir(parents=True)

    def person(self, person: ExportedPerson) -> None:
        native = person.native if isinstance(person.native, dict) else {}
        identity = object_of(identity_of(person.person), "user")
        own_id = string(identity, "id")
        named_by_messages = bool({"application", "device", "user"} & native.keys())
        if not own_id or named_by_messages or own_id in (SYSTEM, UNKNOWN):
            return
        if own_id not in (string(native, "id"), string(native, "userId")):
            native = {"id": own_id, "mail": None, "displayName": person.person.name}
        self._people[own_id] = native

    def channel(self, channel: ExportedChannel) -> None:
        self._finish_channel()
        number = len(self._channels) + len(self._chats) + 1
        self._channel = _Channel(self._folder, channel, number)
        native = channel.native if isinstance(channel.native, dict) else {}
        own_id = self._channel.conversation
        is_chat = channel.kind in ("direct", "group")
        if string(native, "id") != own_id:
            kind = "oneOnOne" if channel.kind == "direct" else "group"
            membership = "private" if channel.kind == "private" else "standard"
            names = {"topic": channel.name, "chatType": kind}
            if not is_chat:
                names = {"displayName": channel.name, "membershipType": membership}
                names |= {"description": channel.topic}
            native = {"id": own_id, **names}
        (self._chats if is_chat else self._channels).append(native)

    def message(self, message: ArchivedMessage) -> None:
        if (channel := self._channel) is None:
            raise ValueError("a message comes after its channel")
        own_id = MessageId(message.message.message_id)
        native = _native(message)
        if native is not None:
            channel.remember(own_id, string(native[0], "id"))
            if (changed := changed_native(message, native[0])) is not None:
                channel.add(native[1] if changed is native[0] else dumped(changed))
                return
        written = written_message(channel.placed(message))
        channel.add(dumped(written.message))
        self._not_written += (NotWritten(own_id, what, shown) for what, shown in written.lost)
        if message.root is not None and written.message["replyToId"] is None:
            self._not_written.append(NotWritten(own_id, "thread", "message of the channel"))
        kept = read_bridge_metadata(message.message)[0].kept
        if any(one.file_id for one in kept.values()):
            self._not_written.append(NotWritten(own_id, "bytes of a file", "its name"))

    def finish(self) -> Sequence[NotWritten]:
        self._finish_channel()
        for name, value in (
            ("users", list(self._people.values())),
            ("channels", self._channels),
            ("chats", self._chats),
        ):
            if value:
                document = {"@odata.context": f"{_GRAPH}{name}", "value": value}
                text = dumped(document, indent=True)
                (self._folder / f"{name}.json").write_bytes(text + b"\n")
        return self._not_written

    def close(self) -> None:
        self._finish_channel()

    def _finish_channel(self) -> None:
        if self._channel is not None:
            self._channel.close()
        self._channel = None


class _Channel:
    """The channel that is being written; its file begins with its first message."""

    def __init__(self, folder: Path, exported: ExportedChannel, number: int) -> None:
        self._exported = exported
        self.conversation = conversation_in(exported.channel, exported.kind)
        name = safe_file_name(exported.name.replace("/", "_"))[:_NAME].rstrip(". ")
        self._path = folder / "messages" / f"{number:04d} {name}.json"
        self._file: BinaryIO | None = None
        self._ids: OrderedDict[MessageId, str] = OrderedDict()
        self._latest = 0

    def placed(self, message: ArchivedMessage) -> Placed:
        """Return the message with ids of this export, and remember its own."""
        own_id = message.native_id or ""
        in_teams = self._ref.platform == ids.PLATFORM
        if not in_teams or ids.milliseconds_of(own_id) is None:
            self._latest = max(round(max(message.time, 0) * 1000), self._latest + 1)
            own_id = str(self._latest)
        canonical = MessageId(message.message.message_id)
        self.remember(canonical, own_id)
        root = self._id_of(message.root)
        reply_to = self._id_of(message.reply_to) if message.reply_to != message.root else None
        root = None if root == own_id else root
        return Placed(message, self.conversation, own_id, root, reply_to)

    def remember(self, message: MessageId, own_id: str) -> None:
        self._ids.setdefault(message, own_id)
        if len(self._ids) > _REMEMBERED:
            self._ids.popitem(last=False)

    def add(self, message: bytes) -> None:
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            self._file = self._path.open("xb")
            kind = "channels" if ids.has_threads(_bare(self.conversation)) else "chats"
            context = f"{_GRAPH}{kind}('{self.conversation}')/messages"
            self._file.write(b'{"@odata.context":%s,"value":[\n' % dumped(context))
        else:
            self._file.write(b",\n")
        self._file.write(message)

    def close(self) -> None:
        if self._file is not None:
            self._file.write(b"\n]}\n")
            self._file.close()
        self._file = None

    @property
    def _ref(self) -> ChannelRef:
        return self._exported.channel

    def _id_of(self, message: MessageId | None) -> str | None:
        if message is None:
            return None
        in_teams = self._ref.platform == ids.PLATFORM
        return self._ids.get(message) or (
            native_id_in(self._ref.key, message) if in_teams else None
        )


def _bare(conversation: str) -> ChannelRef:
    return ids.channel_ref("", conversation)


def _native(message: ArchivedMessage) -> tuple[Json, bytes] | None:
    """Return the chatMessage of an import, and its bytes."""
    if message.payload_kind not in _OWN or message.payload is None:
        return None
    try:
        native = parsed(message.payload)
    except ValueError:
        return None
    if not isinstance(native, dict):
        return None
    if "id" in native:
        return native, message.payload
    translated: Json = in_camel_case(native)
    return translated, dumped(translated)
