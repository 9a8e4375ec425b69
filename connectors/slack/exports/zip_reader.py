"""Slack's own export -> people, channels and messages: standard and Enterprise Grid.

Source: slack.com help "How to read Slack data exports" (2026-08); samples of 2016 to 2025; the
folders of files that slackdump adds (rusq/slackdump v3).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import BinaryIO

from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ChannelKind,
    ExportedChannel,
    ExportedPerson,
    ExportItem,
    ExportUnit,
    NotUnderstood,
)
from bridge.ports.exports import ReadOptions
from bridge.runtime.export_tree import Tree, readable
from bridge.runtime.json_stream import array_items, parsed
from connectors.slack.exports.channels import INDICES, exported_channel, kind_of, pins_of
from connectors.slack.exports.kinds import DAY_FILE, USER_LISTS
from connectors.slack.exports.people import People, most_frequent, teams_in
from connectors.slack.exports.posts import ChannelPosts
from connectors.slack.json_values import Json, text_at

INDEX = "people and channels"
_TEAMS = "teams/"
_SAMPLED_FILES, _SAMPLED_POSTS = 40, 50
_FILE_FOLDERS = ("__uploads/", "__avatars/")


@dataclass
class _Section:
    """A workspace of the export: its folder ("" for all but Grid), and its channels by folder."""

    prefix: str
    workspace: str = ""
    channels: dict[str, ExportedChannel] = field(default_factory=dict[str, ExportedChannel])
    unindexed: list[str] = field(default_factory=list[str])


class ZipReader:
    """An open export. The list of people and the indices are read when it is opened."""

    def __init__(self, tree: Tree, options: ReadOptions) -> None:
        self._tree = tree
        self._names = tree.names()
        self._name_set = frozenset(self._names)
        self._people = People()
        self._files = files_in(self._names)
        self._days = [name for name in self._names if DAY_FILE.fullmatch(name)]
        for name in USER_LISTS:
            for user, _ in self._objects(name):
                self._people.add(user)
        self._sections = [_Section(prefix) for prefix in self._prefixes()]
        for section in self._sections:
            section.workspace = self._workspace(section, options.workspace)
            self._load_channels(section)

    def units(self) -> Sequence[ExportUnit]:
        workspaces = ",".join(section.workspace for section in self._sections)
        listed = [*self._index_names(), *sorted({_folder(day) for day in self._days})]
        digest = hashlib.blake2b(digest_size=16)
        for name in listed:
            digest.update(f"{name}\n{self._print(name)}\n".encode("utf-8", "replace"))
        size = sum(self._tree.size(name) for name in self._index_names())
        index = ExportUnit(INDEX, f"{workspaces}-{digest.hexdigest()}", size)
        return (index, *(
            ExportUnit(day, f"{self._section(day).workspace}-{self._print(day)}",
                       self._tree.size(day))
            for day in self._days
        ))  # fmt: skip

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        return self._index() if unit.key == INDEX else self._day(unit.key)

    def close(self) -> None:
        self._tree.close()

    # --- opening --------------------------------------------------------------------------

    def _prefixes(self) -> list[str]:
        """The folders of the workspaces: the top, and those of Grid."""
        teams = {
            "/".join(name.split("/")[:2]) + "/"
            for name in self._names
            if name.startswith(_TEAMS) and (_is_team_index(name) or _is_team_day(name))
        }
        at_top = any(name in INDICES for name in self._names)
        at_top = at_top or any(not day.startswith(tuple(teams)) for day in self._days)
        return [*sorted(teams), ""] if at_top or not teams else sorted(teams)

    def _workspace(self, section: _Section, stated: str | None) -> str:
        """The workspace that the people or the messages name; a stated one wins, unless the export
        has several."""
        single = len(self._sections) == 1
        if single and stated:
            return stated
        days = [day for day in self._days if self._section(day) is section]
        found = (self._people.workspace() if single else "") or self._workspace_of(days)
        if not found and not days and not section.prefix:
            found = next((other.workspace for other in self._sections if other.workspace), "")
        found = found or stated or self._people.workspace()
        if not found:
            where = f"{self._tree.title}/{section.prefix}" if section.prefix else self._tree.title
            raise missing_workspace(where)
        return found

    def _workspace_of(self, days: Sequence[str]) -> str:
        """The workspace that most of some messages of some days name."""
        counted = Counter[str]()
        step = max(len(days) // _SAMPLED_FILES, 1)
        for day in days[::step]:
            posts = (post for post, _ in islice(self._objects(day), _SAMPLED_POSTS))
            counted += teams_in(posts)
        return most_frequent(counted)

    def _load_channels(self, section: _Section) -> None:
        by_id: dict[str, ExportedChannel] = {}
        for name, kind in INDICES.items():
            for native, _ in self._objects(section.prefix + name):
                channel = exported_channel(
                    native, section.workspace, self._people, _kind(native, kind)
                )
                if not (native_id := channel.channel.channel):
                    continue
                by_id.setdefault(native_id, channel)
                folder = text_at(native, "name") if kind != "direct" else native_id
                section.channels.setdefault(folder or native_id, by_id[native_id])
        for channel_id, channel in by_id.items():
            section.channels.setdefault(channel_id, channel)
        known = set(section.channels)
        days = (day for day in self._days if self._section(day) is section)
        for folder in sorted({_folder(day) for day in days} - known):
            native_id = folder.removeprefix(section.prefix).removesuffix("/")
            if native_id in known:
                continue
            placeholder: Json = {"id": native_id, "name": native_id}
            channel = exported_channel(placeholder, section.workspace, self._people)
            section.channels[native_id] = replace(channel, native=None)
            section.unindexed.append(native_id)

    def _objects(self, name: str) -> Iterator[tuple[Json, bytes]]:
        """The objects of a list that can be read; the parts of the export report the others."""
        if name not in self._name_set:
            return
        try:
            with readable(name), self._tree.open(name) as file:
                for raw in array_items(file, name):
                    if isinstance(value := _object(raw), dict):
                        yield value, raw
        except ExportUnreadable:
            return

    # --- people and channels --------------------------------------------------------------

    def _index_names(self) -> list[str]:
        indices = [section.prefix + name for section in self._sections for name in INDICES]
        return [name for name in (*USER_LISTS, *indices) if name in self._name_set]

    def _index(self) -> Iterator[ExportItem]:
        for name in USER_LISTS:
            yield from self._read_list(name, self._persons)
        for section in self._sections:
            for name in INDICES:
                yield from self._read_list(section.prefix + name, _faults)
            emitted = set[str]()
            for channel in section.channels.values():
                if channel.channel.channel not in emitted:
                    emitted.add(channel.channel.channel)
                    yield channel
            for folder in section.unindexed:
                where = f"{section.prefix}{folder}"
                yield NotUnderstood(where, "channel that is in no index of the export", folder)
        yield from self._unread_files()

    def _read_list(
        self, name: str, items: Callable[[Json, str], Iterator[ExportItem]]
    ) -> Iterator[ExportItem]:
        if name not in self._name_set:
            return
        try:
            with readable(name), self._tree.open(name) as file:
                for index, raw in enumerate(array_items(file, name)):
                    value, where = _object(raw), f"{name}#{index}"
                    if isinstance(value, dict) and text_at(value, "id"):
                        yield from items(value, where)
                    else:
                        yield NotUnderstood(where, "entry that is no object with an id")
        except ExportUnreadable as error:
            yield NotUnderstood(name, "file that cannot be read", str(error))

    def _persons(self, user: Json, _where: str) -> Iterator[ExportItem]:
        native = text_at(user, "id")
        for workspace in self._homes(native):
            if (person := self._people.person(workspace, native)) is not None:
                yield ExportedPerson(person, user)

    def _homes(self, native: str) -> list[str]:
        """The workspaces of the export in which a person is listed: all if there is but one."""
        workspaces = list(dict.fromkeys(section.workspace for section in self._sections))
        if len(workspaces) == 1:
            return workspaces
        teams = self._people.teams_of(native)
        return [name for name in workspaces if name in teams] or workspaces[:1]

    def _unread_files(self) -> Iterator[NotUnderstood]:
        known = {*self._index_names(), *self._days}
        for name in self._names:
            is_file = name.startswith(_FILE_FOLDERS) or "/attachments/" in name
            if name not in known and not is_file:
                yield NotUnderstood(name, "file of the export that is not imported")
        for name, reason in self._tree.left_out():
            yield NotUnderstood(name, "file of the export that is not imported", reason)

    # --- messages -------------------------------------------------------------------------

    def _day(self, day: str) -> Iterator[ExportItem]:
        section = self._section(day)
        channel = section.channels[_folder(day).removeprefix(section.prefix).removesuffix("/")]
        native = channel.native if isinstance(channel.native, dict) else {}
        homes = self._homes
        posts = ChannelPosts(
            channel.channel, self._people,
            lambda user: self._people.is_listed(user) and section.workspace in homes(user),
            pins_of(native), self._file,
        )  # fmt: skip
        with readable(day), self._tree.open(day) as file:
            for index, raw in enumerate(array_items(file, day)):
                yield from posts.read(raw, f"{day}#{index}")

    def _file(self, native: str) -> tuple[int, Callable[[], BinaryIO]] | None:
        name = self._files.get(native)
        return None if name is None else (self._tree.size(name), partial(self._tree.open, name))

    def _section(self, name: str) -> _Section:
        return max(
            (section for section in self._sections if name.startswith(section.prefix)),
            key=lambda section: len(section.prefix),
        )

    def _print(self, name: str) -> str:
        return self._tree.fingerprint(name) if name in self._name_set else ""


def missing_workspace(title: str) -> ExportUnreadable:
    """The error of an export that does not name its workspace."""
    return ExportUnreadable(
        f"{title} does not name its workspace; give the id of the workspace with --workspace"
        " (T..., in the address of Slack in a browser: app.slack.com/client/T...)"
    )


def files_in(names: Sequence[str]) -> dict[str, str]:
    """The files with bytes by their Slack id, in the folders of slackdump's layouts."""
    files: dict[str, str] = {}
    for name in names:
        parts = name.split("/")
        if len(parts) >= 3 and parts[-3] == "__uploads":
            files.setdefault(parts[-2], name)
        elif len(parts) >= 3 and parts[-2] == "attachments":
            files.setdefault(parts[-1].partition("-")[0], name)
    return files


def _is_team_index(name: str) -> bool:
    return name.count("/") == 2 and name.rpartition("/")[2] in INDICES


def _is_team_day(name: str) -> bool:
    return name.count("/") == 3 and DAY_FILE.fullmatch(name) is not None


def _kind(native: Json, kind: ChannelKind) -> ChannelKind:
    """The kind of the index file; exports of slackdump keep all kinds apart by members, too."""
    stated = kind_of(native)
    return stated if kind == "public" and stated != "public" else kind


def _faults(_native: Json, _where: str) -> Iterator[ExportItem]:
    """Channels are made when the export is opened; here only faults are reported."""
    return iter(())


def _object(raw: bytes) -> object:
    try:
        return parsed(raw)
    except ValueError:
        return None


def _folder(day: str) -> str:
    return day[: day.rindex("/") + 1]
