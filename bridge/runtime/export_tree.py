"""The files of an export, in a zip or a folder: names, sizes, streams. Nothing is extracted.

Symbolic links are not followed, and names from outside are only compared, never opened as paths.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from bridge.errors import ExportUnreadable

_MOST_NAMES = 2_000_000
_DEEPEST = 5  # folders: teams/<name>/<channel>/attachments/<file>
_LARGE = 64 * 1024 * 1024
_RATIO = 300  # of a JSON text; more is a zip bomb
BROKEN = (
    OSError, EOFError, RuntimeError, NotImplementedError, ValueError, zipfile.BadZipFile,
    zlib.error, lzma.LZMAError,
)  # fmt: skip


class Tree(Protocol):
    """Files by their names with `/`, relative to the top of the export."""

    title: str

    def names(self) -> list[str]:
        """Return all names, sorted."""
        ...

    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""
        ...

    def fingerprint(self, name: str) -> str:
        """Return a text that changes with the file's content."""
        ...

    def open(self, name: str) -> BinaryIO:
        """Open a file; the caller closes it.

        Raises:
            ExportUnreadable: the file cannot be opened.
        """
        ...

    def left_out(self) -> list[tuple[str, str]]:
        """Return the names that are not read, and why."""
        ...

    def close(self) -> None:
        """Close the export."""
        ...


def open_tree(path: Path) -> Tree:
    """Open a zip, a folder, or a single file.

    Raises:
        ExportUnreadable: it is none of these, or it is damaged.
    """
    if path.is_dir():
        return FolderTree(path)
    return SingleFile(path) if path.suffix == ".json" else ZipTree(path)


def is_zip(path: Path) -> bool:
    """Whether a file begins like a zip."""
    return starts_with(path, b"PK\x03\x04") or starts_with(path, b"PK\x05\x06")


def starts_with(path: Path, magic: bytes) -> bool:
    """Whether this is a file that begins with these bytes."""
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError:
        return False


@contextmanager
def readable(name: str) -> Generator[None]:
    """Turn the errors of a damaged file into ExportUnreadable."""
    try:
        yield
    except ExportUnreadable:
        raise
    except BROKEN as error:
        raise ExportUnreadable(f"{name} cannot be read: {error}") from error


class ZipTree:
    """A zip. A folder that contains everything, as some programs add one, is left out of names."""

    def __init__(self, path: Path) -> None:
        self.title = path.name
        with readable(path.name):
            self._zip = zipfile.ZipFile(path)
        infos = {
            _decoded(info): info
            for info in self._zip.infolist()
            if not info.is_dir() and not _is_of_the_system(_decoded(info))
        }
        if len(infos) > _MOST_NAMES:
            self._zip.close()
            raise ExportUnreadable(f"{path.name} has more than {_MOST_NAMES:,} files")
        self._left_out = [(name, "unsafe name") for name in infos if _is_unsafe(name)]
        top = _common_folder(name for name in infos if not _is_unsafe(name))
        self._infos = {
            name.removeprefix(top): info for name, info in infos.items() if not _is_unsafe(name)
        }

    def names(self) -> list[str]:
        return sorted(self._infos)

    def size(self, name: str) -> int:
        return self._infos[name].file_size

    def fingerprint(self, name: str) -> str:
        info = self._infos[name]
        return f"{info.CRC:08x}-{info.file_size}"

    def open(self, name: str) -> BinaryIO:
        info = self._infos[name]
        if info.file_size > _LARGE and info.file_size > _RATIO * max(info.compress_size, 1):
            raise ExportUnreadable(f"{name} is compressed so much that it must be a zip bomb")
        with readable(name):
            return cast("BinaryIO", self._zip.open(info))

    def left_out(self) -> list[tuple[str, str]]:
        return self._left_out

    def close(self) -> None:
        self._zip.close()


class FolderTree:
    """A folder."""

    def __init__(self, path: Path) -> None:
        self.title = path.name
        self._path = path
        self._left_out: list[tuple[str, str]] = []
        self._sizes: dict[str, int] = {}
        with readable(path.name):
            self._walk(path, "", _DEEPEST)

    def _walk(self, folder: Path, prefix: str, depth: int) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = f"{prefix}{entry.name}"
                if entry.is_symlink():
                    self._left_out.append((name, "symbolic link"))
                elif entry.name.startswith("."):
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    if depth:
                        self._walk(folder / entry.name, f"{name}/", depth - 1)
                    else:
                        self._left_out.append((name, "folder too deep"))
                elif entry.is_file(follow_symlinks=False):
                    self._sizes[name] = entry.stat(follow_symlinks=False).st_size
        if len(self._sizes) > _MOST_NAMES:
            raise ExportUnreadable(f"{self.title} has more than {_MOST_NAMES:,} files")

    def names(self) -> list[str]:
        return sorted(self._sizes)

    def size(self, name: str) -> int:
        return self._sizes[name]

    def fingerprint(self, name: str) -> str:
        digest = hashlib.blake2b(digest_size=16)
        with readable(name), self.open(name) as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return f"{digest.hexdigest()}-{self._sizes[name]}"

    def open(self, name: str) -> BinaryIO:
        if name not in self._sizes:
            raise ExportUnreadable(f"{name} is not in the export")
        with readable(name):
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
            return os.fdopen(os.open(self._path / name, flags), "rb")

    def left_out(self) -> list[tuple[str, str]]:
        return self._left_out

    def close(self) -> None:
        """Nothing is open."""


class SingleFile(FolderTree):
    """One file, as if it were alone in its folder."""

    def __init__(self, path: Path) -> None:
        self.title = path.name
        self._path = path.parent
        self._left_out = []
        with readable(path.name):
            self._sizes = {path.name: path.stat().st_size}

    def open(self, name: str) -> BinaryIO:
        with readable(name):
            return (self._path / name).open("rb")


def unzipped(stream: BinaryIO) -> BinaryIO:
    """Return the content of a gzip file as a stream."""
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream, mode="rb"))


def _decoded(info: zipfile.ZipInfo) -> str:
    """The name; some programs write UTF-8 without the flag that says so."""
    name = info.filename.replace("\\", "/")
    if info.flag_bits & 0x800:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except ValueError:
        return name


def _is_of_the_system(name: str) -> bool:
    """Whether macOS or a file manager added the file."""
    last = name.rpartition("/")[2]
    return name.startswith("__MACOSX/") or (last.startswith(".") and last != "..")


def _is_unsafe(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/") or "\0" in name


def _common_folder(names: Iterator[str] | list[str]) -> str:
    """The folder with all files, if it is not the folder of a channel."""
    listed = list(names)
    first = listed[0].partition("/")[0] if listed else ""
    prefix = f"{first}/"
    inside = all(name.startswith(prefix) for name in listed)
    is_wrapper = any(
        name.count("/") == 1 and not name[len(prefix)].isdigit() and name.endswith(".json")
        for name in listed
    )
    return prefix if first and inside and is_wrapper else ""
