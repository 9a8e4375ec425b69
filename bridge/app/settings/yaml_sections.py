"""Parses a YAML file again and again: the entries of `rooms` whose text did not change are taken
from the time before.

An entry means by itself what it means in its file, unless it uses an anchor, a quote or a bracket
that opens elsewhere. By itself it is no valid YAML then, and the whole file is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from bridge.app.settings.yaml_file import parsed_yaml, plain_value
from bridge.errors import ConfigError

_FEW = 100  # entries; to parse more of them by themselves takes longer than the whole
_HEAD = re.compile(r"^rooms:[ \t]*(?:#.*)?\n", re.MULTILINE)
_NEXT_KEY = re.compile(r"^[^\s#]", re.MULTILINE)
_INDENT = re.compile(r"(?:[ \t]*(?:#.*)?\n)*( +)[^\s#-]")

_Entry = Mapping[str, object]  # one name, and what YAML holds for it


class YamlReader:
    """Parses the texts of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: Mapping[str, _Entry] = {}  # by their text

    def parse(self, text: str) -> object:
        """Return the value of the file's text, as `parsed_yaml` does; an entry of `rooms` that did
        not change is the same object as before. Raises ConfigError."""
        pieces = _pieces_of(text)
        if pieces is not None and len(set(pieces.entries) - self._known.keys()) <= _FEW:
            try:
                return self._assembled(pieces)
            except _Indivisible:
                pass
        self._known = {}
        value = plain_value(text)
        if value is None:
            return parsed_yaml(text, self._path)
        if pieces is not None:
            self._known = _entries_in(value, pieces)
        return value

    def _assembled(self, pieces: _Pieces) -> object:
        value = self._parsed_alone(pieces.others)
        if value.get("rooms", 0) is not None:
            raise _Indivisible
        known: dict[str, _Entry] = {}
        rooms: dict[str, object] = {}
        for piece in pieces.entries:
            entry = self._known.get(piece) or self._parsed_alone(piece)
            (name,) = entry if len(entry) == 1 else (None,)
            if type(name) is not str or name in rooms:
                raise _Indivisible
            known[piece] = entry
            rooms[name] = entry[name]
        self._known = known
        return {**value, "rooms": rooms}

    def _parsed_alone(self, text: str) -> _Entry:
        try:
            value = parsed_yaml(text, self._path)
        except ConfigError:
            raise _Indivisible from None
        if not isinstance(value, Mapping):
            raise _Indivisible
        return cast("_Entry", value)


class _Indivisible(Exception):
    """The pieces of the file are not valid by themselves."""


@dataclass(frozen=True)
class _Pieces:
    """The text of each entry of `rooms`, and the file without them."""

    entries: Sequence[str]
    others: str


def _pieces_of(text: str) -> _Pieces | None:
    """None where `rooms` is not written as one entry below the other."""
    heads = list(_HEAD.finditer(text))
    if len(heads) != 1:
        return None
    begin = heads[0].end()
    following = _NEXT_KEY.search(text, begin)
    end = len(text) if following is None else following.start()
    section = text[begin:end]
    indent = _INDENT.match(section)
    if indent is None:
        return None
    starts = [m.start() for m in re.finditer(rf"^{indent[1]}(?=[^\s#-])", section, re.MULTILINE)]
    ends = [*starts[1:], len(section)]
    entries = [section[start:end] for start, end in zip(starts, ends, strict=True)]
    return _Pieces(entries, text[:begin] + text[end:])


def _entries_in(value: Any, pieces: _Pieces) -> Mapping[str, _Entry]:
    """The entries by their text, where each text stands for one of them."""
    rooms = value.get("rooms") if isinstance(value, dict) else None
    if not isinstance(rooms, dict) or len(rooms) != len(pieces.entries):
        return {}
    pairs = list(zip(pieces.entries, cast("_Entry", rooms).items(), strict=True))
    if not all(piece.lstrip(" ").startswith(f"{name}:") for piece, (name, _) in pairs):
        return {}
    return {piece: {name: held} for piece, (name, held) in pairs}
