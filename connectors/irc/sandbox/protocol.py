"""Lines as the local server reads and writes them (RFC 2812, 2.3.1; IRCv3 message-tags)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_UNESCAPED = {":": ";", "s": " ", "\\": "\\", "r": "\r", "n": "\n"}


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    command: str
    params: list[str]
    tags: dict[str, str] = field(default_factory=dict[str, str])

    def param(self, index: int) -> str:
        return self.params[index] if index < len(self.params) else ""


def read_request(raw: bytes) -> Request | None:
    text = raw.decode("utf-8", "replace").rstrip("\r\n")
    tags: dict[str, str] = {}
    if text.startswith("@"):
        head, _, text = text[1:].partition(" ")
        for tag in head.split(";"):
            key, _, value = tag.partition("=")
            tags[key] = _unescape(value)
    params: list[str] = []
    rest = text.lstrip()
    while rest:
        if rest.startswith(":") and params:
            params.append(rest[1:])
            break
        word, _, rest = rest.partition(" ")
        params.append(word)
        rest = rest.lstrip(" ")
    return Request(params[0].upper(), params[1:], tags) if params else None


def _unescape(value: str) -> str:
    out: list[str] = []
    signs = iter(value)
    for sign in signs:
        if sign == "\\":
            following = next(signs, "")
            out.append(_UNESCAPED.get(following, following))
        else:
            out.append(sign)
    return "".join(out)


def escape(value: str) -> str:
    for sign, escaped in (
        ("\\", "\\\\"), (";", "\\:"), (" ", "\\s"), ("\r", "\\r"), ("\n", "\\n"),
    ):  # fmt: skip
        value = value.replace(sign, escaped)
    return value


def format_line(
    source: str, command: str, *params: str, tags: Mapping[str, str] | None = None
) -> bytes:
    """A line of the server; the last parameter always has its colon."""
    head = ""
    if tags:
        head = "@" + ";".join(f"{k}={escape(v)}" if v else k for k, v in tags.items()) + " "
    words = " ".join([command, *params[:-1]])
    tail = f" :{params[-1]}" if params else ""
    return f"{head}:{source} {words}{tail}\r\n".encode()


def size(line: bytes) -> int:
    """Bytes without tags, with CR LF."""
    return len(line.partition(b" ")[2]) if line.startswith(b"@") else len(line)
