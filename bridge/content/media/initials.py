"""A person's name and id -> a picture for people without one: initials on a colour of their own.
Pure; the same bytes for the same input.

Pictures are PNG because no platform accepts SVG for authors. Letters are drawn with round strokes,
because a font would need a picture library. Names that begin with a letter outside of `_STROKES`
get a figure instead.
"""

from __future__ import annotations

import re
import struct
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot

COLORS = (
    (0x1F, 0x6F, 0xB5),  # blue
    (0xB5, 0x3A, 0x3A),  # red
    (0x2E, 0x7D, 0x4F),  # green
    (0x7A, 0x4F, 0xB0),  # purple
    (0xA3, 0x5A, 0x14),  # orange
    (0x6B, 0x58, 0x4B),  # brown
    (0x1B, 0x7F, 0x86),  # teal
    (0xA3, 0x3C, 0x7E),  # pink
)
"""Dark enough for white letters: a contrast of at least 4.5."""

SIDE = 96  # pixels
_WORD = re.compile(r"[^\W_]+")
_BESIDE_NAME = re.compile(r"[(\[{].*")  # "Ann (CI)", "Ann [she/her]"
_INK = 7.0  # pixels, half of them on each side of a stroke's middle

# Strokes on a grid of 4 by 6, as pairs of digits (across, down); `;` lifts the pen.
_STROKES = {
    "A": "06 20 46;14 34",
    "B": "06 00 30 41 42 33 03;33 44 45 36 06",
    "C": "41 30 10 01 05 16 36 45",
    "D": "06 00 20 42 44 26 06",
    "E": "40 00 06 46;03 33",
    "F": "40 00 06;03 33",
    "G": "41 30 10 01 05 16 36 45 43 23",
    "H": "00 06;40 46;03 43",
    "I": "10 30;20 26;16 36",
    "J": "40 45 36 16 05",
    "K": "00 06;40 03 46",
    "L": "00 06 46",
    "M": "06 00 23 40 46",
    "N": "06 00 46 40",
    "O": "10 30 41 45 36 16 05 01 10",
    "P": "06 00 30 41 42 33 03",
    "Q": "10 30 41 45 36 16 05 01 10;24 46",
    "R": "06 00 30 41 42 33 03;23 46",
    "S": "41 30 10 01 02 13 33 44 45 36 16 05",
    "T": "00 40;20 26",
    "U": "00 05 16 36 45 40",
    "V": "00 26 40",
    "W": "00 16 23 36 40",
    "X": "00 46;40 06",
    "Y": "00 23 40;23 26",
    "Z": "00 40 06 46",
    "0": "10 30 41 45 36 16 05 01 10",
    "1": "11 20 26;16 36",
    "2": "01 10 30 41 42 06 46",
    "3": "00 40 22 32 43 45 36 16 05",
    "4": "36 30 04 44",
    "5": "40 00 02 32 43 45 36 06",
    "6": "40 20 02 05 16 36 45 44 33 03",
    "7": "00 40 16",
    "8": "10 30 41 42 33 13 02 01 10;13 04 05 16 36 45 44 33",
    "9": "43 13 02 01 10 30 41 44 26 06",
}
Point = tuple[float, float]


def initials(name: str) -> str:
    """Returns at most two letters: of the first and the last word, or of the only one; empty if
    none can be drawn."""
    words = _WORD.findall(_BESIDE_NAME.sub("", name)) or _WORD.findall(name)
    chosen = words[:1] if len(words) == 1 else [*words[:1], *words[-1:]]
    letters = [_drawable(word) for word in chosen]
    return "".join(letters) if letters and letters[0] else ""


def color_of(key: str) -> int:
    """Returns the index in `COLORS` of an actor; it is the same in every process."""
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) % len(COLORS)


def draw_initials(letters: str, color: int) -> bytes:
    """Returns a square PNG, `SIDE` pixels wide, with the letters, or with a figure if there are
    none."""
    drawable = [letter for letter in letters.upper() if letter in _STROKES][:2]
    cover = _figure() if not drawable else _letters(drawable)
    return _png(cover, COLORS[color % len(COLORS)])


def _drawable(word: str) -> str:
    """`É` is drawn as E, `ß` as S."""
    upper = unicodedata.normalize("NFKD", word).upper()
    return next((letter for letter in upper[:1] if letter in _STROKES), "")


# --- drawing --------------------------------------------------------------------------------


def _letters(letters: Sequence[str]) -> list[float]:
    """How much of each pixel is white."""
    size = 8.0 if len(letters) == 1 else 6.4  # pixels of a step of the grid
    width = size * (4 * len(letters) + 1.8 * (len(letters) - 1))
    left, top = (SIDE - width) / 2, (SIDE - 6 * size) / 2
    cover = [0.0] * (SIDE * SIDE)
    for number, letter in enumerate(letters):
        begin = left + number * 5.8 * size
        for line in _STROKES[letter].split(";"):
            points = [
                (begin + int(pair[0]) * size, top + int(pair[1]) * size) for pair in line.split()
            ]
            for start, end in pairwise(points):
                _stroke(cover, start, end)
    return cover


def _stroke(cover: list[float], start: Point, end: Point) -> None:
    reach = _INK / 2 + 1
    (ax, ay), (bx, by) = start, end
    dx, dy = bx - ax, by - ay
    length = dx * dx + dy * dy
    for y in range(int(min(ay, by) - reach), int(max(ay, by) + reach) + 1):
        for x in range(int(min(ax, bx) - reach), int(max(ax, bx) + reach) + 1):
            px, py = x + 0.5, y + 0.5
            along = min(1.0, max(0.0, ((px - ax) * dx + (py - ay) * dy) / length))
            away = hypot(px - ax - along * dx, py - ay - along * dy)
            ink = min(1.0, max(0.0, _INK / 2 + 0.5 - away))
            place = y * SIDE + x
            cover[place] = max(cover[place], ink)


def _figure() -> list[float]:
    """A head and shoulders."""
    return [
        max(_disc(x, y, 48, 37, 17), _shoulders(x, y)) for y in range(SIDE) for x in range(SIDE)
    ]


def _disc(x: int, y: int, across: float, down: float, radius: float) -> float:
    away = hypot(x + 0.5 - across, y + 0.5 - down)
    return min(1.0, max(0.0, radius + 0.5 - away))


def _shoulders(x: int, y: int) -> float:
    return _disc(x, y, 48, 92, 32) if y < 86 else 0.0


def _png(cover: Sequence[float], color: tuple[int, int, int]) -> bytes:
    rows = bytearray()
    for y in range(SIDE):
        rows.append(0)  # no filter
        for ink in cover[y * SIDE : (y + 1) * SIDE]:
            rows += bytes(round(part + (255 - part) * ink) for part in color)
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)  # 8 bits, red, green and blue
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(b"".join(_chunk(*chunk)) for chunk in chunks)


def _chunk(kind: bytes, data: bytes) -> Iterator[bytes]:
    yield struct.pack(">I", len(data))
    yield kind + data
    yield struct.pack(">I", zlib.crc32(kind + data))
