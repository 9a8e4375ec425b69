"""An archive -> a Slack export that slack-export-viewer and `slackdump view` open.

The messages of a channel wait in a temporary database, since the root of a thread lists replies
that come days later. Files lie where slackdump puts them: `__uploads/<file id>/<name>`.
"""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bridge.content.cards.reader import Cards
from bridge.content.markdown import markdown_to_text
from bridge.content.media.file_names import safe_file_name
from bridge.content.text.plain import text_to_plain
from bridge.model import ChannelRef, Person, Upload
from bridge.model.export_records import (
    ArchivedMessage,
    ChannelKind,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.model.refs import MessageId, native_id_in
from bridge.ports.exports import WriteOptions
from bridge.runtime.json_stream import parsed
from connectors.slack import cards as slack_cards
from connectors.slack import ids
from connectors.slack.exports.written_post import (
    Actors,
    WrittenPost,
    made_up,
    native_post,
    written_foreign,
    written_native,
)
from connectors.slack.json_values import Json, dumped, objects_at, text_at

_INDEX_OF: dict[ChannelKind, str] = {
    "public": "channels.json",
    "thread": "channels.json",
    "room": "channels.json",
    "private": "groups.json",
    "group": "mpims.json",
    "direct": "dms.json",
}
_LETTER: dict[ChannelKind, str] = {"direct": "D", "group": "G", "private": "G"}
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
_WAITING = 2_000
_HOUR = 3_600
_NAMES = ("real_name", "real_name_normalized", "display_name", "display_name_normalized")
_SCHEMA = """
CREATE TABLE post (n INTEGER PRIMARY KEY, day INTEGER, ts TEXT, root TEXT, user TEXT,
                   home INTEGER, body BLOB);
CREATE INDEX reply ON post (root) WHERE root IS NOT NULL AND home = 0;
CREATE TABLE known (key TEXT PRIMARY KEY, ts TEXT) WITHOUT ROWID;
CREATE TABLE person (id TEXT PRIMARY KEY, body BLOB, wanted INTEGER);
"""


class ZipWriter:
    """A Slack export that is being written: a zip, or a folder if the target has no such ending."""

    def __init__(self, path: Path, options: WriteOptions) -> None:
        self._target: _Target = _Zip(path) if path.suffix.lower() == ".zip" else _Folder(path)
        self._options = options
        self._cards = _with_slack(options.cards)
        self._actors = Actors()
        self._not_written: list[NotWritten] = []
        self._folders: set[str] = set()
        self._indices: dict[str, list[bytes]] = {
            name: [] for name in dict.fromkeys(_INDEX_OF.values())
        }
        self._uploaded: set[str] = set()
        self._spool = sqlite3.connect("", isolation_level=None)  # a temporary file of its own
        self._spool.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_SCHEMA}")
        self._spool.execute("BEGIN")
        self._channel: _Channel | None = None

    def person(self, person: ExportedPerson) -> None:
        native = person.native if isinstance(person.native, dict) else {}
        actor = person.person.id
        parts = ids.split_actor(actor)
        if parts is None:
            self._actors.add(actor)
            self._add_person(person.person, {}, wanted=True)
        elif parts[2] is None:
            own = text_at(native, "id") == parts[1]
            self._add_person(person.person, native if own else {}, wanted=own)

    def channel(self, channel: ExportedChannel) -> None:
        self._finish_channel()
        self._channel = _Channel(channel, self._folder(channel))

    def message(self, message: ArchivedMessage) -> None:
        channel = self._channel
        if channel is None:
            raise ValueError("a message comes after its channel")
        native = native_post(message)
        if native is None:
            self._add_foreign(channel, message)
            return
        post, raw = native
        written = written_native(message, post, raw, self._cards, self._actors)
        ts, root = text_at(post, "ts"), text_at(post, "thread_ts")
        # A reply that is from such an export is in its root's list already.
        self._add(channel, message, written, ts, root if root != ts else None, home=raw is not None)
        if raw is None:
            self._want(message.author)

    def finish(self) -> Sequence[NotWritten]:
        self._finish_channel()
        people = self._spool.execute("SELECT body FROM person WHERE wanted = 1 ORDER BY rowid")
        self._target.write("users.json", _array(body for (body,) in people))
        for name, entries in self._indices.items():
            if entries or name == "channels.json":
                self._target.write(name, _array(entries))
        self.close()
        return self._not_written

    def close(self) -> None:
        self._spool.close()
        self._target.close()

    # --- messages -------------------------------------------------------------------------

    def _add_foreign(self, channel: _Channel, message: ArchivedMessage) -> None:
        own = message.native_id if channel.of_slack else None
        ts = own if own is not None and ids.is_ts(own) else channel.next_ts(message.time)
        root = self._root_of(channel, message, ts)
        written = written_foreign(message, ts, root, self._cards, self._actors)
        self._want(message.author)
        self._know(message.message.message_id, ts)
        if message.pinned:
            channel.pins.append(_pin(channel.id, ts, self._actors.user(message.author.id), message))
            written.post["pinned_to"] = [channel.id]
        self._add(channel, message, written, ts, root if root != ts else None, home=False)

    def _root_of(self, channel: _Channel, message: ArchivedMessage, ts: str) -> str | None:
        """The ts of the root; of a thread without a root message, its first message is the root."""
        if message.root is not None:
            if found := self._known_ts(message.root):
                return found
            native = native_id_in(channel.exported.channel.key, message.root)
            if channel.of_slack and native is not None and ids.is_ts(native):
                return native
        thread = message.place.thread if message.place else None
        if thread is None and message.root is None:
            return None
        key = f"thread {thread or message.root}"
        if found := self._known_ts(key):
            return found
        self._know(key, ts)
        return ts

    def _add(
        self, channel: _Channel, message: ArchivedMessage, written: WrittenPost, ts: str,
        root: str | None, *, home: bool,
    ) -> None:  # fmt: skip
        body = written.raw if written.raw is not None else dumped(written.post)
        channel.day = max(channel.day, _day_of(int(ts.partition(".")[0]) // _HOUR))
        user = text_at(written.post, "user") or text_at(written.post, "bot_id")
        channel.rows.append((channel.day, ts, root, user, home, body))
        channel.has_new_replies = channel.has_new_replies or (root is not None and not home)
        if len(channel.rows) >= _WAITING:
            self._flush(channel)
        for native, upload in written.uploads:
            self._upload(native, upload, message)
        for what, shown_as in written.lost:
            self._not_written.append(
                NotWritten(MessageId(message.message.message_id), what, shown_as)
            )
        if not home:
            for reaction in message.reactions:
                self._want_user(self._actors.user(reaction.actor))

    def _finish_channel(self) -> None:
        channel, self._channel = self._channel, None
        if channel is None:
            return
        self._flush(channel)
        days = self._spool.execute("SELECT DISTINCT day FROM post ORDER BY day").fetchall()
        for (day,) in days:
            name = f"{channel.folder}/{date.fromordinal(day).isoformat()}.json"
            self._target.write(name, _array(self._posts(channel, day)))
        for member in channel.exported.members:
            self._want_user(self._actors.user(member))
        self._indices[_INDEX_OF[channel.exported.kind]].append(
            dumped(self._channel_object(channel))
        )
        self._spool.execute("DELETE FROM post")
        self._spool.execute("DELETE FROM known")

    def _flush(self, channel: _Channel) -> None:
        self._spool.executemany(
            "INSERT INTO post (day, ts, root, user, home, body) VALUES (?, ?, ?, ?, ?, ?)",
            channel.rows,
        )
        channel.rows.clear()

    def _posts(self, channel: _Channel, day: int) -> Iterator[bytes]:
        rows = self._spool.execute(
            "SELECT ts, root, body FROM post WHERE day = ? ORDER BY n", (day,)
        )
        for ts, root, body in rows:
            if root is not None or not channel.has_new_replies:
                yield body
                continue
            replies = self._spool.execute(
                "SELECT user, ts FROM post WHERE root = ? AND home = 0 ORDER BY n", (ts,)
            ).fetchall()
            yield dumped(_with_replies(parsed(body), ts, replies)) if replies else body

    def _know(self, key: str, ts: str) -> None:
        self._spool.execute("INSERT OR IGNORE INTO known VALUES (?, ?)", (key, ts))

    def _known_ts(self, key: str) -> str | None:
        row = self._spool.execute("SELECT ts FROM known WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    # --- people, channels, files ----------------------------------------------------------

    def _add_person(self, person: Person, native: Json, *, wanted: bool) -> None:
        user = self._actors.user(person.id)
        body = dumped(native or _user_object(user, person))
        self._spool.execute("INSERT OR IGNORE INTO person VALUES (?, ?, ?)", (user, body, wanted))

    def _want(self, author: Person) -> None:
        """The author is to be in the list: viewers stop at a message of somebody who is not."""
        user = self._actors.user(author.id)
        if user != ids.SLACKBOT:
            self._add_person(author, {}, wanted=True)
            self._want_user(user)

    def _want_user(self, user: str) -> None:
        if user != ids.SLACKBOT:
            self._spool.execute("UPDATE person SET wanted = 1 WHERE id = ? AND wanted = 0", (user,))

    def _channel_object(self, channel: _Channel) -> Json:
        exported = channel.exported
        native = exported.native if isinstance(exported.native, dict) else {}
        if channel.of_slack and text_at(native, "id") == channel.id:
            value: Json = dict(native)
        else:
            value = {
                "id": channel.id, "created": int(exported.created or 0), "is_archived": False,
                "members": [self._actors.user(member) for member in exported.members],
            }  # fmt: skip
            if exported.kind != "direct":
                topic = text_to_plain(markdown_to_text(exported.topic)) if exported.topic else ""
                about = {"value": topic, "creator": "", "last_set": 0}
                value |= {"name": channel.folder, "creator": "", "is_general": False}
                value |= {"topic": about, "purpose": {**about, "value": ""}}
        if exported.kind != "direct" and value.get("name") != channel.folder:
            value["name"] = channel.folder
        if channel.pins:
            value["pins"] = [*objects_at(value, "pins"), *channel.pins]
        return value

    def _folder(self, channel: ExportedChannel) -> str:
        """The name of a channel's folder: safe, and unlike the others on any disk."""
        own_id = _native_channel(channel)
        wanted = own_id if channel.kind == "direct" else (channel.name.strip() or own_id)
        if channel.channel.platform != ids.PLATFORM:
            wanted = "-".join(wanted.lstrip("#").split())
        name = safe_file_name(wanted).replace(" ", "-")
        if name.startswith("__") or name.casefold().endswith(".json"):
            name = f"channel-{name}"
        if name.casefold() in self._folders:
            name = f"{name}-{safe_file_name(own_id)}"
        self._folders.add(name.casefold())
        return name

    def _upload(self, native: str, upload: Upload, message: ArchivedMessage) -> None:
        folder = safe_file_name(native)
        if folder in self._uploaded:
            return
        self._uploaded.add(folder)
        stream = self._options.files(upload.file_id)
        if stream is None:
            self._not_written.append(
                NotWritten(MessageId(message.message.message_id), "bytes of a file", "its name")
            )
            return
        with stream:
            self._target.copy(f"__uploads/{folder}/{safe_file_name(upload.name)}", stream)


class _Channel:
    """The channel that is being written."""

    def __init__(self, exported: ExportedChannel, folder: str) -> None:
        self.exported = exported
        self.folder = folder
        self.id = _native_channel(exported)
        self.of_slack = exported.channel.platform == ids.PLATFORM
        self.day = 0
        self.rows: list[tuple[int, str, str | None, str, bool, bytes]] = []
        self.pins: list[Json] = []
        self.has_new_replies = False
        self._latest = 0

    def next_ts(self, seconds: float) -> str:
        """A ts for a message of this time, later than those before it in this channel."""
        self._latest = max(round(max(seconds, 0.0) * 1_000_000), self._latest + 1)
        return f"{self._latest // 1_000_000}.{self._latest % 1_000_000:06d}"


def _native_channel(channel: ExportedChannel) -> str:
    ref: ChannelRef = channel.channel
    if ref.platform == ids.PLATFORM:
        return ref.channel
    return made_up(_LETTER.get(channel.kind, "C"), ref.key)


def _with_replies(post: Json, ts: str, replies: Iterable[tuple[str, str]]) -> Json:
    """The root of a thread with its replies: those that it lists, and those that are new."""
    listed = objects_at(post, "replies")
    known = {text_at(reply, "ts") for reply in listed}
    new = [{"user": user, "ts": reply} for user, reply in replies if reply not in known]
    every = [*listed, *new]
    users = list(dict.fromkeys(user for reply in every if (user := text_at(reply, "user"))))
    latest = max((text_at(reply, "ts") for reply in every), key=_order, default=ts)
    return {
        **post, "thread_ts": ts, "reply_count": len(every), "reply_users": users,
        "reply_users_count": len(users), "latest_reply": latest, "replies": every,
    }  # fmt: skip


@lru_cache(maxsize=4096)
def _day_of(hour: int) -> int:
    """The day of an hour since 1970, as an ordinal: Slack cuts days in California."""
    return datetime.fromtimestamp(hour * _HOUR, UTC).astimezone(_pacific()).toordinal()


@lru_cache(maxsize=1)
def _pacific() -> tzinfo:
    try:
        return ZoneInfo("America/Los_Angeles")
    except ZoneInfoNotFoundError:  # a system without time zones
        return timezone(timedelta(hours=-8))


def _order(ts: str) -> str:
    return ids.order_key(ts) if ids.is_ts(ts) else ""


def _pin(channel: str, ts: str, user: str, message: ArchivedMessage) -> Json:
    return {"id": ts, "type": "C", "created": int(message.time), "user": user, "owner": user}


def _user_object(user: str, person: Person) -> Json:
    parts = ids.split_actor(person.id)
    team = parts[0] if parts else made_up("T", ":".join(person.id.split(":")[:2]))
    profile: Json = dict.fromkeys(_NAMES, person.name)
    if person.picture:
        profile |= {f"image_{size}": person.picture for size in (24, 32, 48, 72, 192, 512)}
    return {
        "id": user, "team_id": team, "name": "".join(person.name.split()).lower() or user.lower(),
        "deleted": False, "real_name": person.name, "is_bot": person.bot, "profile": profile,
    }  # fmt: skip


def _with_slack(cards: Cards) -> Cards:
    own = dict.fromkeys(slack_cards.SCHEMA_IDS, slack_cards)
    return Cards({**own, **cards.codecs}, cards.key)


def _array(items: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of a JSON array, an item a line."""
    before = b"[\n"
    for item in items:
        yield before
        yield item
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"


# --- targets --------------------------------------------------------------------------------


class _Target(Protocol):
    def write(self, name: str, pieces: Iterable[bytes]) -> None: ...

    def copy(self, name: str, stream: BinaryIO) -> None: ...

    def close(self) -> None: ...


class _Zip:
    """A zip whose bytes depend on its content alone."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED)

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        with self._entry(name) as entry:
            for piece in pieces:
                entry.write(piece)

    def copy(self, name: str, stream: BinaryIO) -> None:
        with self._entry(name) as entry:
            shutil.copyfileobj(stream, entry, 1 << 20)

    def close(self) -> None:
        self._zip.close()

    @contextmanager
    def _entry(self, name: str) -> Generator[BinaryIO]:
        info = zipfile.ZipInfo(name, _FIRST_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = 0o644 << 16
        with self._zip.open(info, "w", force_zip64=name.startswith("__uploads/")) as entry:
            yield cast("BinaryIO", entry)


class _Folder:
    def __init__(self, path: Path) -> None:
        self._path = path
        path.mkdir(parents=True)

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        with self._open(name) as file:
            file.writelines(pieces)

    def copy(self, name: str, stream: BinaryIO) -> None:
        with self._open(name) as file:
            shutil.copyfileobj(stream, file, 1 << 20)

    def close(self) -> None:
        """Each file is closed already."""

    def _open(self, name: str) -> BinaryIO:
        path = self._path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("xb")
