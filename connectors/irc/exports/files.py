"""The files of a folder of logs: their network, channel and day, from their paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from connectors.irc.exports.lines import LogLines

_SUFFIXES = (".log", ".weechatlog", ".txt")
_DAY = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?!\d)")
_WEECHAT = re.compile(r"irc\.([^.]+)\.(.+)\.weechatlog$")
_HEAD = 16 << 10  # bytes in which a file shows what it contains
_ANY_DAY = date(2000, 1, 1)  # the lines may have times alone
_FEW = 3  # lines that a log has at least among those that are looked at


@dataclass(frozen=True)
class LogFile:
    """A log: `network` and `channel` as far as its path says them, `day` where it is of one day."""

    path: Path
    key: str
    network: str | None
    channel: str
    day: date | None


def logs_in(path: Path) -> Iterator[LogFile]:
    """Yield the logs of a folder tree in order, or the one that the path is. Links are not
    followed, so that nothing outside of the folder is read."""
    if path.is_file():
        yield _log(path, path.parent)
        return
    for where, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = Path(where, name)
            if name.lower().endswith(_SUFFIXES) and not file.is_symlink():
                yield _log(file, path)


def looks_like_a_log(path: Path) -> bool:
    """Return whether most lines at the beginning of a file are of a known shape."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    lines = head.split(b"\n")[:-1] if len(head) == _HEAD else head.split(b"\n")
    parser = LogLines(_ANY_DAY)
    known = [parser.read(line) is not None for line in lines if line.strip()]
    return sum(known) >= min(_FEW, max(len(known), 1)) and 2 * sum(known) > len(known)


def _log(path: Path, root: Path) -> LogFile:
    key = path.relative_to(root).as_posix()
    day = _day_in(path.name)
    if named := _WEECHAT.search(path.name):
        return LogFile(path, key, named[1], named[2], day)
    above = path.relative_to(root).parts[:-1] or path.parent.parts[-1:]
    stem = re.sub(r"\.(log|txt)$", "", path.name, flags=re.IGNORECASE)
    if day is not None and _DAY.fullmatch(stem):  # ZNC: network/window/YYYY-MM-DD.log
        channel = path.parent.name
        network = path.parent.parent.name
        return LogFile(path, key, network or None, channel, day)
    channel = _DAY.sub("", stem).strip("._- ") or stem
    return LogFile(path, key, above[-1] if above else None, channel, day)


def _day_in(name: str) -> date | None:
    if not (found := _DAY.search(name)):
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
