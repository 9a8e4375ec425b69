"""IRC lines <-> values: tags, source, command, parameters. Pure; RFC 1459, IRCv3 message-tags."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

LINE_BYTES = 512  # with CR LF, without tags (RFC 2812, 2.3)
CLIENT_TAG_BYTES = 4094  # of tag data that a client may send (IRCv3 message-tags)
MAX_PARAMS = 15

_ESCAPES = {";": r"\:", " ": r"\s", "\\": r"\\", "\r": r"\r", "\n": r"\n"}
_MEANINGS = {":": ";", "s": " ", "\\": "\\", "r": "\r", "n": "\n"}
_TO_ESCAPE = re.compile(r"[; \\\r\n]")
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_FORBIDDEN = re.compile(r"[\0\r\n]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the protocol. `source` is `nick!user@host`, a server's name, or empty."""

    command: str
    params: tuple[str, ...] = ()
    source: str = ""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def nick(self) -> str:
        """The nick of the source; a server's name where it is a server."""
        return self.source.partition("!")[0]

    @property
    def is_from_server(self) -> bool:
        return "!" not in self.source

    def param(self, index: int) -> str:
        """The parameter at this place, or an empty string."""
        return self.params[index] if index < len(self.params) else ""

    @property
    def last(self) -> str:
        return self.params[-1] if self.params else ""

    def with_account(self, account: str) -> Line:
        """Return the line with the `account` tag of its source, unless it has one."""
        if not account or "account" in self.tags:
            return self
        return replace(self, tags={**self.tags, "account": account})


def parse(raw: bytes) -> Line | None:
    """The line, without its CR LF; None where there is no command.

    Text is UTF-8; a line that is not valid UTF-8 is read as Windows-1252, which has a character
    for (nearly) every byte.
    """
    text = decoded(raw.rstrip(b"\r\n")).replace("\0", "")
    tags: dict[str, str] = {}
    if text.startswith("@"):
        written, _, text = text[1:].partition(" ")
        tags = parse_tags(written)
    text = text.lstrip(" ")
    source = ""
    if text.startswith(":"):
        source, _, text = text[1:].partition(" ")
        text = text.lstrip(" ")
    head, colon, trailing = text.partition(" :")
    words = head.split(" ") if head else []
    words = [word for word in words if word]
    if not words:
        return None
    command, *params = words
    if colon:
        params.append(trailing)
    return Line(command.upper(), tuple(params), source, tags)


def decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def parse_tags(written: str) -> dict[str, str]:
    """`a=b;c` -> values; of a key that appears twice the last value counts."""
    tags: dict[str, str] = {}
    for tag in written.split(";"):
        key, _, value = tag.partition("=")
        if key:
            tags[key] = _ESCAPED.sub(lambda match: _MEANINGS.get(match[1], match[1]), value)
    return tags


def format_tags(tags: Mapping[str, str]) -> str:
    return ";".join(
        f"{key}={_TO_ESCAPE.sub(lambda match: _ESCAPES[match[0]], value)}" if value else key
        for key, value in tags.items()
    )


def formatted(command: str, *params: str, tags: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a line with its CR LF. No parameter can begin another line: NUL, CR and LF
    become spaces.

    Raises ValueError where a parameter other than the last has a space or is empty.
    """
    clean = [_FORBIDDEN.sub(" ", param) for param in params]
    for param in clean[:-1]:
        if not param or " " in param or param.startswith(":"):
            raise ValueError(f"{param!r} can only be the last parameter of {command}")
    words = [command, *clean]
    if clean and (not clean[-1] or " " in clean[-1] or clean[-1].startswith(":")):
        words[-1] = f":{clean[-1]}"
    head = f"@{format_tags(tags)} " if tags else ""
    return f"{head}{' '.join(words)}\r\n".encode("utf-8", "replace")


def size_without_tags(line: bytes) -> int:
    """The bytes that count against the limit of 512."""
    return len(line.partition(b" ")[2]) if line.startswith(b"@") else len(line)


def reserialised(line: Line) -> dict[str, object]:
    """The line as JSON, as inbox rows keep it."""
    return {
        "tags": dict(line.tags),
        "source": line.source,
        "command": line.command,
        "params": list(line.params),
    }


def words_within(words: Sequence[str], size: int) -> list[str]:
    """Words joined by spaces into as few strings of at most `size` bytes as possible."""
    lines: list[str] = []
    for word in words:
        if lines and len(f"{lines[-1]} {word}".encode()) <= size:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
