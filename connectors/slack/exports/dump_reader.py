"""slackdump's dumps -> channels and messages; a dump has no people, unless a list lies beside it.

Source: rusq/slackdump v3, `types.Conversation`; the messages are the objects of the API.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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
from bridge.runtime.export_tree import Tree, readable
from bridge.runtime.json_stream import array_items, parsed
from connectors.slack.exports.channels import exported_channel
from connectors.slack.exports.kinds import DUMP_FILE, USER_LISTS
from connectors.slack.exports.people import People, most_frequent, teams_in
from connectors.slack.exports.posts import ChannelPosts
from connectors.slack.exports.zip_reader import INDEX, files_in, missing_workspace
from connectors.slack.json_values import Json, dumped, text_at

_REPLIES = "slackdump_thread_replies"
_MEMBER = r'"%s"\s*:\s*"((?:[^"\\]|\\.)*)"'
_ID_OF_FILE = re.compile(r"(?:.*/)?([CDG][A-Z0-9]+)")
_HEAD = 65_536
_SAMPLED = 200


class DumpReader:
    """Files with one conversation each; replies lie in the root of their thread."""

    def __init__(self, tree: Tree, options: ReadOptions) -> None:
        self._tree = tree
        names = tree.names()
        top = [name for name in names if "/" not in name]
        self._dumps = [name for name in top if DUMP_FILE.fullmatch(name)]
        if len(top) == 1 and not self._dumps:
            self._dumps = top
        self._people = People()
        self._lists = [name for name in USER_LISTS if name in top]
        for name in self._lists:
            for user in _objects(tree, name, None):
                self._people.add(user)
        self._files = {**files_in(names), **_beside(names)}
        self._left_out = [
            name for name in top if name not in self._dumps and name not in self._lists
        ]
        self._workspace = options.workspace or self._people.workspace() or self._most_named()
        if not self._workspace:
            raise missing_workspace(tree.title)
        self._channels = {name: self._channel(name) for name in self._dumps}

    def units(self) -> Sequence[ExportUnit]:
        tree, workspace = self._tree, self._workspace
        listed = [*self._lists, *self._dumps]
        prints = {name: f"{workspace}-{tree.fingerprint(name)}" for name in listed}
        index = "-".join([*(prints[name] for name in self._lists), *self._dumps, workspace])
        return (
            ExportUnit(INDEX, index, sum(map(tree.size, self._lists))),
            *(ExportUnit(name, prints[name], tree.size(name)) for name in self._dumps),
        )

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        return self._index() if unit.key == INDEX else self._conversation(unit.key)

    def close(self) -> None:
        self._tree.close()

    def _index(self) -> Iterator[ExportItem]:
        for name in self._lists:
            for user in _objects(self._tree, name, None):
                native = text_at(user, "id")
                if (person := self._people.person(self._workspace, native)) is not None:
                    yield ExportedPerson(person, user)
        channels = {channel.channel.key: channel for channel in self._channels.values()}
        yield from channels.values()
        for name in self._left_out:
            yield NotUnderstood(name, "file of the export that is not imported")
        for name, reason in self._tree.left_out():
            yield NotUnderstood(name, "file of the export that is not imported", reason)

    def _conversation(self, name: str) -> Iterator[ExportItem]:
        channel = self._channels[name].channel
        posts = ChannelPosts(
            channel, self._people, self._people.is_listed, file=self._file, repeats=True
        )
        with readable(name), self._tree.open(name) as file:
            for index, raw in enumerate(array_items(file, name, "messages")):
                where = f"{name}#{index}"
                try:
                    post = parsed(raw)
                except ValueError as error:
                    yield NotUnderstood(where, "message that is no JSON", str(error)[:200])
                    continue
                yield from _with_nested(posts, post, raw, where)

    def _file(self, native: str) -> tuple[int, Callable[[], BinaryIO]] | None:
        name = self._files.get(native)
        return None if name is None else (self._tree.size(name), partial(self._tree.open, name))

    def _channel(self, name: str) -> ExportedChannel:
        """The conversation of a dump: its members before the messages, else the file's name."""
        before = self._head(name).partition('"messages"')[0]
        found = re.search(_MEMBER % "channel_id", before)
        named = _ID_OF_FILE.search(name.partition(".")[0].replace("_", "/"))
        channel_id = found[1] if found else named[1] if named else name
        title = re.search(_MEMBER % "name", before)
        native: Json = {"id": channel_id, "name": _unescaped(title[1]) if title else ""}
        return replace(exported_channel(native, self._workspace, self._people), native=native)

    def _head(self, name: str) -> str:
        try:
            with readable(name), self._tree.open(name) as file:
                return file.read(_HEAD).decode("utf-8", "replace")
        except ExportUnreadable:
            return ""

    def _most_named(self) -> str:
        counted = Counter[str]()
        for name in self._dumps:
            counted += teams_in(_objects(self._tree, name, "messages", _SAMPLED))
        return most_frequent(counted)


def _with_nested(posts: ChannelPosts, post: object, raw: bytes, where: str) -> Iterator[ExportItem]:
    """A message and the replies in it; a reply that is also shown in the channel comes twice."""
    replies = post.get(_REPLIES) if isinstance(post, dict) else None
    if not isinstance(post, dict) or not isinstance(replies, list):
        yield from posts.items(post, raw, where)
        return
    own = {name: member for name, member in post.items() if name != _REPLIES}
    yield from posts.items(own, dumped(own), where)
    for index, reply in enumerate(replies):
        payload = dumped(reply) if isinstance(reply, dict) else b""
        yield from posts.items(reply, payload, f"{where}/{_REPLIES}/{index}")


def _objects(tree: Tree, name: str, member: str | None, most: int | None = None) -> Iterator[Json]:
    """The objects of a list that can be read."""
    try:
        with readable(name), tree.open(name) as file:
            for index, raw in enumerate(array_items(file, name, member)):
                if most is not None and index >= most:
                    return
                try:
                    value = parsed(raw)
                except ValueError:
                    continue
                if isinstance(value, dict):
                    yield value
    except ExportUnreadable:
        return


def _beside(names: Sequence[str]) -> dict[str, str]:
    """The files of dumps: `<channel id>/<file id>-<name>`."""
    return {
        parts[1].partition("-")[0]: name
        for name in names
        if len(parts := name.split("/")) == 2 and re.match(r"F[A-Z0-9]+-", parts[1])
    }


def _unescaped(text: str) -> str:
    try:
        value = parsed(f'"{text}"'.encode())
    except ValueError:
        return text
    return value if isinstance(value, str) else text
