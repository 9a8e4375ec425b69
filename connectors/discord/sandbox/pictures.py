"""Avatars as small PNG images: a coloured pattern made from a hash. Pure."""

from __future__ import annotations

import hashlib
import struct
import zlib
from functools import lru_cache

_CELLS = 8
_CELL_PIXELS = 8
_MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


@lru_cache(maxsize=512)
def avatar_png(seed: str) -> bytes:
    """Return a PNG with a mirrored pattern of 64x64 pixels; equal seeds give equal pictures."""
    digest = hashlib.sha256(seed.encode()).digest()
    colour, ground = digest[:3], bytes(255 - value // 6 for value in digest[3:6])
    rows = b"".join(_row(digest, index, colour, ground) * _CELL_PIXELS for index in range(_CELLS))
    size = _CELLS * _CELL_PIXELS
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", head)
        + _chunk(b"IDAT", zlib.compress(rows))
        + _chunk(b"IEND", b"")
    )


def picture_type(data: bytes) -> str:
    """Return the media type of an uploaded picture, from its first bytes."""
    for magic, kind in _MAGIC.items():
        if data.startswith(magic):
            return kind
    return "application/octet-stream"


def _row(digest: bytes, index: int, colour: bytes, ground: bytes) -> bytes:
    bits = digest[8 + index]
    half = [colour if bits >> cell & 1 else ground for cell in range(_CELLS // 2)]
    return b"\x00" + b"".join(cell * _CELL_PIXELS for cell in half + half[::-1])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
