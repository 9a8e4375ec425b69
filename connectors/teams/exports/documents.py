"""The files of exports of Teams, and the objects in them, read as a stream."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson

from bridge.errors import ExportUnreadable
from bridge.runtime.json_stream import LARGEST_VALUE, JsonStream, parsed

_HEAD = 64 << 10  # bytes in which a file shows what it contains
_LISTS = ("users/usersList.json", "teams/teamsList.json")
_MESSAGES = ("users/*/messages_*.json", "teams/*/messages_*.json")
_MARK = b"\xef\xbb\xbf"  # UTF-8 with a byte order mark
_IN_LINK = re.compile(rb"[?&]tenantId=([0-9A-Za-z.-]{1,64})")
_OF_USER = re.compile(rb'"[tT]enantId"\s*:\s*"([0-9A-Za-z.-]{1,64})"')
_CONTEXT = re.compile(r"(?:channels|chats)\('([^']{1,300})'\)")
_LOOKED_INTO = 200  # files that are searched for the tenant


def json_files(folder: Path) -> Iterator[Path]:
    """Yield the JSON files of a folder tree in order. Links are not followed, so that nothing
    outside of the folder is read."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if name.lower().endswith(".json") and not path.is_symlink():
                yield path


def tool_files(folder: Path) -> Iterator[Path]:
    """Yield the JSON files below `users/` and `teams/`."""
    for name in ("teams", "users"):
        if not (folder / name).is_symlink():
            yield from json_files(folder / name)


def is_export_folder(folder: Path) -> bool:
    """Return whether a folder has lists or messages where Microsoft's export tool has them."""
    if any((folder / name).is_file() for name in _LISTS):
        return True
    return any(next(folder.glob(pattern), None) is not None for pattern in _MESSAGES)


def is_graph_document(path: Path) -> bool:
    """Return whether a file begins as one with chatMessage objects does."""
    head = head_of(path)
    return head.startswith((b"{", b"[")) and has_messages(head)


def head_of(path: Path) -> bytes:
    """Return the beginning of a file; nothing if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD).removeprefix(_MARK).lstrip()
    except OSError:
        return b""


def has_messages(head: bytes) -> bool:
    """Return whether a file that begins so has messages."""
    return b'"messageType"' in head or b'"MessageType"' in head


def fingerprint_of(path: Path) -> str:
    """Return a digest of a file's bytes."""
    with path.open("rb") as file:
        return file_digest(file, "blake2b").hexdigest()[:32]


def tenant_in(files: Iterable[Path]) -> str | None:
    """Return the tenant that the beginnings of the files name: in links to messages, or else the
    one that most people belong to."""
    of_users = Counter[bytes]()
    for _, path in zip(range(_LOOKED_INTO), files, strict=False):
        head = head_of(path)
        if link := _IN_LINK.search(head):
            return link[1].decode()
        of_users.update(_OF_USER.findall(head))
    return of_users.most_common(1)[0][0].decode() if of_users else None


@dataclass
class Document:
    """One file; `conversation` is that of its messages if its `@odata.context` names one, known
    when the first object was read."""

    path: Path
    key: str
    conversation: str = ""

    def objects(self) -> Iterator[bytes]:
        """Yield the JSON of each object: those of the list, of `value`, or the document itself.

        Raises:
            ExportUnreadable: the file cannot be read, is no JSON, or ends too early.
        """
        try:
            with self.path.open("rb") as file:
                stream = JsonStream(file, self.key)
                if stream.first() == "[":
                    yield from stream.items()
                    return
                for key in stream.each_key():
                    if key == "value" and stream.first() == "[":
                        yield from stream.items()
                        return
                    value = stream.value()
                    if key == "@odata.context":
                        self._learn(value)
            yield self._whole()
        except OSError as error:
            raise ExportUnreadable(f"{self.key}: {error.strerror}") from None

    def _learn(self, context: bytes) -> None:
        try:
            value = parsed(context)
        except ValueError:
            return
        if isinstance(value, str) and (match := _CONTEXT.search(value)):
            self.conversation = unquote(match[1])

    def _whole(self) -> bytes:
        if self.path.stat().st_size > LARGEST_VALUE:
            raise ExportUnreadable(f"{self.key}: the file is one object of more than 64 MB")
        return self.path.read_bytes().removeprefix(_MARK).strip()


def in_camel_case(value: Any) -> Any:
    """Return JSON with keys as Microsoft Graph has them: `CreatedDateTime` -> `createdDateTime`."""
    if isinstance(value, dict):
        return {key[:1].lower() + key[1:]: in_camel_case(member) for key, member in value.items()}
    if isinstance(value, list):
        return [in_camel_case(item) for item in value]
    return value


def dumped(value: Any, *, indent: bool = False) -> bytes:
    """Return JSON, also of integers beyond 64 bits."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2 if indent else None)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, indent=2 if indent else None).encode()
