"""The first bytes of a picture -> its width and height. Pure."""

from __future__ import annotations

import struct

_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})  # JPEG's start-of-frame markers


def picture_size(head: bytes) -> tuple[int, int] | None:
    """Of PNG, GIF, JPEG and WebP; None for all else."""
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return _pair(struct.unpack(">II", head[16:24]))
        if head[:6] in (b"GIF87a", b"GIF89a"):
            return _pair(struct.unpack("<HH", head[6:10]))
        if head.startswith(b"\xff\xd8"):
            return _jpeg_size(head)
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp_size(head)
    except (struct.error, IndexError):
        return None
    return None


def is_animated(head: bytes) -> bool:
    """Whether a GIF, PNG or WebP says near its beginning that it moves."""
    if head.startswith(b"GIF8"):
        return b"NETSCAPE2.0" in head[:4096]
    return b"acTL" in head[:4096] or (head[8:12] == b"WEBP" and b"ANIM" in head[:256])


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 < len(head):
        if head[place] != 0xFF:
            return None
        marker = head[place + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", head[place + 5 : place + 9])
            return width, height
        place += 2 + struct.unpack(">H", head[place + 2 : place + 4])[0]
    return None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X":
            return (
                1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
            )  # fmt: skip
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None


def _pair(fields: tuple[int, ...]) -> tuple[int, int]:
    return fields[0], fields[1]
