"""slackdump's chunk folders -> people, channels and messages.

Source: rusq/slackdump v3, `internal/chunk`: gzipped JSON lines, one answer of the API each. `t` is
the type; the history of a channel is newest first, a thread has its root in `p`, and a reply that
is also shown in the channel comes twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.runtime.export_tree import Tree, readable, unzipped
from bridge.runtime.json_stream import parsed
from connectors.slack.exports.channels import exported_channel
from connectors.slack.exports.kinds import CHUNK_ENDING
from connectors.slack.exports.people import People, most_frequent, teams_in
from connectors.slack.exports.posts import ChannelPosts
from connectors.slack.exports.zip_reader import INDEX, files_in, missing_workspace
from connectors.slack.json_values import Json, dumped, object_at, objects_at, text_at

_MESSAGES, _REPLIES, _MEMBERS = 0, 1, 7
_NOT_IMPORTED = {8: "stars", 9: "bookmarks", 10: "search results", 11: "files that were found"}
_OF_MESSAGES = re.compile(rb'\{"t":[01],"ts":\d+,"id":"([^"\\]+)"')
_LONGEST_LINE = 128 * 1024 * 1024
_BESIDE = ("__uploads/", "__avatars/")


class ChunkReader:
    """An open folder of chunks. People and channels are read when it is opened."""

    def __init__(self, tree: Tree, options: ReadOptions) -> None:
        self._tree = tree
        names = tree.names()
        self._chunks = [name for name in names if name.endswith(CHUNK_ENDING)]
        self._files = files_in(names)
        self._people = People()
        self._natives: dict[str, Json] = {}
        self._members: dict[str, dict[str, None]] = {}
        self._with_messages: dict[str, None] = {}
        self._stated = ""
        self._counted = Counter[str]()
        for name in self._chunks:
            self._scan(name)
        self._workspace = (
            options.workspace
            or self._stated
            or self._people.workspace()
            or most_frequent(self._counted)
        )
        if not self._workspace:
            raise missing_workspace(tree.title)
        self._channels = {channel: self._channel(channel) for channel in sorted(self._natives)}

    def units(self) -> Sequence[ExportUnit]:
        prints = {name: self._tree.fingerprint(name) for name in self._chunks}
        return (
            ExportUnit(INDEX, "-".join((self._workspace, *prints.values()))),
            *(
                ExportUnit(name, f"{self._workspace}-{prints[name]}", self._tree.size(name))
                for name in self._chunks
                if name in self._with_messages
            ),
        )

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        return self._index() if unit.key == INDEX else self._conversation(unit.key)

    def close(self) -> None:
        self._tree.close()

    # --- opening --------------------------------------------------------------------------

    def _scan(self, name: str) -> None:
        """Take what a file says of people, channels and the workspace."""
        try:
            for _, chunk in self._lines(name, messages=False):
                if isinstance(chunk, dict):
                    self._take(chunk, name)
        except ExportUnreadable:
            return

    def _take(self, chunk: Json, name: str) -> None:
        self._stated = self._stated or text_at(chunk, "w", "team_id")
        for user in objects_at(chunk, "u"):
            self._people.add(user)
        for native in (*objects_at(chunk, "ch"), object_at(chunk, "ci")):
            if channel := text_at(native, "id"):
                self._natives[channel] = {**self._natives.get(channel, {}), **native}
        channel, kind = text_at(chunk, "id"), chunk.get("t")
        if kind == _MEMBERS and isinstance(members := chunk.get("cu"), list):
            known = self._members.setdefault(channel, {})
            known.update(dict.fromkeys(member for member in members if isinstance(member, str)))
        if kind in (_MESSAGES, _REPLIES) and channel:
            self._natives.setdefault(channel, {"id": channel})
            self._with_messages[name] = None
            self._counted += teams_in(objects_at(chunk, "m"))

    def _channel(self, channel: str) -> ExportedChannel:
        native = self._natives[channel]
        members = self._members.get(channel)
        if members and not native.get("members"):
            native = {**native, "members": list(members)}
        return exported_channel(native, self._workspace, self._people)

    def _lines(self, name: str, *, messages: bool) -> Iterator[tuple[str, object]]:
        """The chunks of a file with their places; those with messages only if asked, but for the
        first of each channel. A chunk that is no JSON is None.

        Raises:
            ExportUnreadable: the file is damaged.
        """
        seen = set[bytes]()
        with readable(name), self._tree.open(name) as packed, unzipped(packed) as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if not messages and (match := _OF_MESSAGES.match(line)):
                    if match[1] in seen:
                        continue
                    seen.add(match[1])
                if line.strip():
                    yield f"{name}#{number}", _chunk(line)

    # --- reading --------------------------------------------------------------------------

    def _index(self) -> Iterator[ExportItem]:
        emitted = set[str]()
        faults: list[NotUnderstood] = []
        for name in self._chunks:
            try:
                for where, chunk in self._lines(name, messages=False):
                    for user in objects_at(chunk, "u"):
                        native = text_at(user, "id")
                        person = self._people.person(self._workspace, native)
                        if person is not None and native not in emitted:
                            emitted.add(native)
                            yield ExportedPerson(person, user)
                    faults += self._faults(name, where, chunk)
            except ExportUnreadable as error:
                if name not in self._with_messages:
                    faults.append(NotUnderstood(name, "file that cannot be read", str(error)))
        yield from self._channels.values()
        yield from faults
        for name in self._tree.names():
            if name not in self._chunks and not name.startswith(_BESIDE):
                yield NotUnderstood(name, "file of the export that is not imported")
        for name, reason in self._tree.left_out():
            yield NotUnderstood(name, "file of the export that is not imported", reason)

    def _faults(self, name: str, where: str, chunk: object) -> Iterator[NotUnderstood]:
        if not isinstance(chunk, dict):
            if name not in self._with_messages:
                yield NotUnderstood(where, "chunk that is no JSON object")
            return
        kind = chunk.get("t")
        if (what := _NOT_IMPORTED.get(kind) if isinstance(kind, int) else None) is not None:
            yield NotUnderstood(where, "chunk of a kind that is not imported", what)

    def _conversation(self, name: str) -> Iterator[ExportItem]:
        by_channel: dict[str, ChannelPosts] = {}
        for where, chunk in self._lines(name, messages=True):
            if not isinstance(chunk, dict):
                yield NotUnderstood(where, "chunk that is no JSON object")
                continue
            if chunk.get("t") not in (_MESSAGES, _REPLIES):
                continue
            channel = self._channels.get(text_at(chunk, "id"))
            if channel is None:
                yield NotUnderstood(where, "messages of an unknown channel")
                continue
            posts = by_channel.setdefault(
                channel.channel.channel,
                ChannelPosts(
                    channel.channel, self._people, self._people.is_listed, file=self._file,
                    repeats=True,
                ),
            )  # fmt: skip
            yield from _of_chunk(posts, chunk, where)

    def _file(self, native: str) -> tuple[int, Callable[[], BinaryIO]] | None:
        name = self._files.get(native)
        return None if name is None else (self._tree.size(name), partial(self._tree.open, name))


def _of_chunk(posts: ChannelPosts, chunk: Json, where: str) -> Iterator[ExportItem]:
    listed = chunk.get("m")
    messages: list[object] = listed if isinstance(listed, list) else []
    if (root := object_at(chunk, "p")) and chunk.get("t") == _REPLIES:
        messages = [root, *messages]
    for index, post in enumerate(messages):
        payload = dumped(post) if isinstance(post, dict) else b""
        yield from posts.items(post, payload, f"{where}/{index}")


def _chunk(line: bytes) -> object:
    try:
        return parsed(line)
    except ValueError:
        return None
