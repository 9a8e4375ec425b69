"""Reads logs: a unit of all channels, then a unit for each file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, tzinfo
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import BinaryIO

import orjson

from bridge.errors import ExportUnreadable, UndecodableEvent
from bridge.model import AccountId, ChannelRef, MessagePosted, Person, Place, Raw, message_id_of
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.uacs import Actor, Message, TextPart, to_timestamp
from connectors.irc import ids
from connectors.irc.decode import decode
from connectors.irc.exports.files import LogFile, logs_in
from connectors.irc.exports.lines import LogLine, LogLines

_CHANNELS = "channels"  # the unit of all of them
_ACCOUNT = AccountId("import")
_LONGEST = 64 << 10  # bytes of a line; what is longer is no line of IRC


class Reader:
    """One log or a folder of logs."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        files = list(logs_in(path))
        if not files:
            raise ExportUnreadable(f"{path.name}: there are no logs (*.log, *.weechatlog)")
        if options.timezone is None:
            text = "its times have no offset; name the time zone with --timezone Europe/Berlin"
            raise ExportUnreadable(f"{path.name}: {text}")
        self._timezone = options.timezone
        self._files = {file.key: file for file in files}
        self._networks = {file.key: options.workspace or file.network for file in files}
        if nameless := [key for key, network in self._networks.items() if not network]:
            text = "its path does not say the network; name it with --workspace libera"
            raise ExportUnreadable(f"{nameless[0]}: {text}")

    def units(self) -> Sequence[ExportUnit]:
        digest = blake2b(digest_size=16)
        for key in self._files:
            digest.update(f"{key}\n".encode("utf-8", "surrogateescape"))
        units = [ExportUnit(_CHANNELS, digest.hexdigest())]
        for key, file in self._files.items():
            try:
                units.append(ExportUnit(key, _digest(file.path), file.path.stat().st_size))
            except OSError:
                units.append(ExportUnit(key, ""))  # reading it says the reason
        return units

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        if unit.key == _CHANNELS:
            channels = {key: self._channel(file) for key, file in self._files.items()}
            for channel in dict.fromkeys(channels.values()):
                kind = "direct" if ids.is_direct(channel) else "public"
                yield ExportedChannel(channel, channel.channel, kind)
        elif file := self._files.get(unit.key):
            yield from _Log(file, self._channel(file), self._timezone).read()

    def close(self) -> None:
        """Nothing stays open between two parts."""

    def _channel(self, file: LogFile) -> ChannelRef:
        network = self._networks[file.key] or ""
        return ids.channel_ref(ids.lower(network), file.channel)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "blake2b").hexdigest()[:32]


class _Log:
    """One file while it is read."""

    def __init__(self, file: LogFile, channel: ChannelRef, timezone: tzinfo) -> None:
        self._file = file
        self._channel = channel
        self._timezone = timezone
        self._lines = LogLines(file.day)
        self._people: set[str] = set()
        self._said: Counter[bytes] = Counter()
        self._day = date.min

    def read(self) -> Iterator[ExportItem]:
        """Raises ExportUnreadable if the file cannot be read."""
        try:
            with self._file.path.open("rb") as file:
                for number, line in enumerate(_lines(file), 1):
                    yield from self._items(number, line)
        except OSError as error:
            raise ExportUnreadable(f"{self._file.key}: {error.strerror}") from None

    def _items(self, number: int, line: bytes) -> Iterator[ExportItem]:
        if not line.strip():
            return
        where = f"{self._file.key}:{number}"
        if len(line) > _LONGEST:
            yield NotUnderstood(where, "a line that is too long", f"more than {_LONGEST} bytes")
            return
        found = self._lines.read(line)
        if found is None:
            yield NotUnderstood(where, "a line of an unknown shape or without a time")
        elif isinstance(found, LogLine):
            yield from self._message(where, line, found)

    def _message(self, where: str, line: bytes, found: LogLine) -> Iterator[ExportItem]:
        try:
            local = found.at if found.at.tzinfo else found.at.replace(tzinfo=self._timezone)
            time = local.astimezone(UTC)
            posted = self._posted(found, time)
        except (UndecodableEvent, ValueError, OverflowError) as error:
            yield NotUnderstood(where, "a line that cannot be decoded", type(error).__name__)
            return
        if posted is None:
            yield NotUnderstood(where, "a line without text")
            return
        if posted.author.id not in self._people:
            self._people.add(posted.author.id)
            yield ExportedPerson(posted.author)
        payload = {"line": line.decode("utf-8", "replace").rstrip("\r\n")}
        yield ExportedMessage(posted=posted, payload=orjson.dumps(payload))

    def _posted(self, found: LogLine, time: datetime) -> MessagePosted | None:
        """None for what has no text."""
        native_id = self._native_id(found)
        if found.kind == "event":
            return self._system(found.text, time, native_id)
        text = f"\x01ACTION {found.text}\x01" if found.kind == "action" else found.text
        command = "NOTICE" if found.kind == "notice" else "PRIVMSG"
        params = [self._channel.channel, text]
        line = {"command": command, "source": found.nick, "params": params}
        payload = {"line": line, "at": time.timestamp(), "id": native_id}
        raw = Raw(
            account=_ACCOUNT,
            kind=command,
            dedupe_key=native_id,
            order_key=native_id,
            channel=self._channel,
            payload=orjson.dumps(payload),
        )
        event = next(iter(decode(raw)), None)
        return event if isinstance(event, MessagePosted) else None

    def _system(self, text: str, time: datetime, native_id: str) -> MessagePosted | None:
        """A join, a part, a topic and the like, in the words of the log."""
        words = "".join(sign for sign in text if sign.isprintable()).strip()
        if not words:
            return None
        server = Person(id=ids.actor_id(self._channel.workspace, ids.SERVER), name="IRC")
        return MessagePosted(
            account=_ACCOUNT,
            place=Place(channel=self._channel),
            time=time,
            native_id=native_id,
            message=Message(
                message_id=message_id_of(self._channel, native_id),
                timestamp=to_timestamp(time),
                actor=Actor(id=server.id, role="system", name=server.name),
                content=(TextPart(text=words, format="plain"),),
            ),
            author=server,
        )

    def _native_id(self, found: LogLine) -> str:
        """The same in each reading, also of a log that has grown since: from the time, the words,
        and how often they were said at that time before."""
        if found.at.date() > self._day:  # what was said on earlier days is not said again
            self._day = found.at.date()
            self._said.clear()
        said = blake2b(digest_size=9)
        for part in (found.at.isoformat(), found.kind, found.nick, found.text):
            said.update(part.encode("utf-8", "surrogatepass") + b"\0")
        key = said.digest()
        self._said[key] += 1
        return f"~log-{key.hex()}-{self._said[key]}"


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines, of which a very long one is cut, so that memory stays small."""
    while line := file.readline(_LONGEST + 1):
        yield line
        while line and not line.endswith(b"\n") and len(line) > _LONGEST:
            line = file.readline(_LONGEST + 1)
