"""Documents of DiscordChatExporter, read as a stream: a document may have GBs of messages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from pydantic import JsonValue

from bridge.errors import ExportUnreadable
from bridge.runtime.json_stream import JsonStream

Json = dict[str, JsonValue]

ASSETS = "_Files"  # the end of the name of a folder with pictures and files
_HEAD = 64 << 10  # bytes in which a document's first keys are
_HEADER = ("guild", "channel")
_MARK = b"\xef\xbb\xbf"  # UTF-8 with a byte order mark
_PART = re.compile(r" \[part ([0-9]{1,9})\]$")


def documents_in(folder: Path) -> Iterator[Path]:
    """Yield the JSON files of a folder tree in order, without the folders of assets.

    Links are not followed, so that nothing outside of the folder is read.
    """
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.endswith(ASSETS))
        for name in sorted(names, key=_in_order):
            path = Path(where, name)
            if name.lower().endswith(".json") and not path.is_symlink():
                yield path


def _in_order(name: str) -> tuple[str, int]:
    """Return a key that sorts the parts of a channel by their numbers."""
    stem = name.removesuffix(".json")
    part = _PART.search(stem)
    return (stem[: part.start()], int(part[1])) if part else (stem, 1)


def is_document(path: Path) -> bool:
    """Return whether the file begins as a document does."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).removeprefix(_MARK).lstrip()
    except OSError:
        return False
    keys = (b'"guild"', b'"channel"', b'"messages"')
    return head.startswith(b"{") and all(key in head for key in keys)


def fingerprint_of(path: Path) -> str:
    """Return the size, and a hash of the first and the last bytes: of the header, the time of the
    export, the last messages and their count."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        digest = blake2b(file.read(_HEAD), digest_size=12)
        file.seek(max(0, size - _HEAD))
        digest.update(file.read(_HEAD))
    return f"{size}:{digest.hexdigest()}"


def header_of(path: Path) -> Json:
    """Return the values of a document that are not its messages, as far as the file has `guild`
    and `channel`.

    Raises:
        ExportUnreadable: the file is no document, or it ends before its channel.
    """
    header: Json = {}
    with path.open("rb") as file:
        stream = JsonStream(file, path.name)
        for key in stream.each_key():
            if key != "messages":
                header[key] = stream.read(key)
            elif all(name in header for name in _HEADER):
                break
            else:
                for _ in stream.items():
                    pass
    for name in _HEADER:
        if not isinstance(header.get(name), dict):
            raise ExportUnreadable(f"{path.name}: the document has no object {name!r}")
    return header


def messages_of(path: Path) -> Iterator[bytes]:
    """Yield the JSON of each message.

    Raises:
        ExportUnreadable: the file ends within its messages, or is no JSON.
    """
    with path.open("rb") as file:
        stream = JsonStream(file, path.name)
        for key in stream.each_key():
            if key == "messages":
                yield from stream.items()
                return
            stream.value()
    raise ExportUnreadable(f"{path.name}: the document has no messages")
