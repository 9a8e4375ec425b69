"""One long text -> pieces that fit, cut at sensible places; code fences and quotes go on. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable

Length = Callable[[str], int]

_FENCE = re.compile(r"^(?P<quote>(?:> ?)*)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")
_BORDERS = (
    re.compile(r"\n{2,}"),  # between paragraphs
    re.compile(r"\n"),  # between lines
    re.compile(r"(?<=[.!?…。！？])\s+"),  # between sentences
    re.compile(r"\s+"),  # between words
)


def utf16_length(text: str) -> int:
    """Length as JavaScript and .NET count it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_text(text: str, limit: int, length: Length = len) -> list[str]:
    """Pieces of at most `limit`, counted by `length`; joined they say the same.

    Cuts fall between paragraphs, lines, sentences, words or grapheme clusters, the first of these
    that leaves at least a third of the room used. A code fence that is cut is closed, and opened
    again with its language; a quoted line goes on quoted.
    """
    if limit < 20:
        raise ValueError(f"a limit of {limit} leaves no room for text; give at least 20")
    pieces: list[str] = []
    rest = text
    while length(rest) > limit:
        piece, rest = _first_piece(rest, limit, length)
        pieces.append(piece)
    return [*pieces, rest] if rest.strip() or not pieces else pieces


def _first_piece(text: str, limit: int, length: Length) -> tuple[str, str]:
    room = _fitting(text, limit, length)
    for spare in (0, 16, 64, 256):  # what closing a fence costs is known only after the cut
        cut, skip = _cut(text, max(1, room - spare))
        piece, rest = text[:cut], text[cut + skip :]
        closing, opening = _open_fence(piece)
        if closing and length(piece + closing) > limit and spare < 256 and room > spare + 20:
            continue
        if not closing and (quote := _quote_of(piece)) and text[cut : cut + skip] != "\n\n":
            opening = "" if rest.startswith(">") else quote
        if length(opening + rest) >= length(text) or length(piece + closing) > limit:
            return text[:room], text[room:]  # no room to be neat
        return piece + closing, opening + rest
    return text[:room], text[room:]


def _fitting(text: str, limit: int, length: Length) -> int:
    """The largest number of characters that fit, by bisection."""
    low, high = 1, min(len(text), limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if length(text[:middle]) <= limit else (low, middle - 1)
    return low


def _cut(text: str, room: int) -> tuple[int, int]:
    """Where to cut, and how many characters of white space fall away there."""
    window = text[: room + 1]
    for border in _BORDERS:
        last = next(iter(deque(border.finditer(window), maxlen=1)), None)
        if last and last.start() >= room // 3 and last.start() <= room:
            found = border.match(text, last.start())
            return last.start(), len(found.group()) if found else len(last.group())
    return _before_cluster(text, room), 0


def _before_cluster(text: str, cut: int) -> int:
    """Move a cut back so that it does not fall inside a grapheme cluster."""
    start = cut
    while cut > 1 and start - cut < 64 and _joined(text, cut):
        cut -= 1
    return cut if not _joined(text, cut) else start


def _joined(text: str, cut: int) -> bool:
    if cut >= len(text):
        return False
    before, after = text[cut - 1], text[cut]
    joiners = "\u200d\ufe0f\ufe0e"
    skin = "\U0001f3fb" <= after <= "\U0001f3ff"
    flags = _is_flag(after) and _is_flag(before) and _flags_before(text, cut) % 2 == 1
    return (
        bool(unicodedata.combining(after))
        or after in joiners
        or before == "\u200d"
        or skin
        or flags
    )


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flags_before(text: str, cut: int) -> int:
    count = 0
    while count < cut and _is_flag(text[cut - 1 - count]):
        count += 1
    return count


def _open_fence(piece: str) -> tuple[str, str]:
    """What closes the fence that is open at the end of the piece, and what opens it again."""
    fence: re.Match[str] | None = None
    for line in piece.split("\n"):
        found = _FENCE.match(line)
        if not found:
            continue
        if fence is None:
            fence = found
        elif _closes(found, fence):
            fence = None
    if fence is None:
        return "", ""
    quote = fence["quote"]
    return f"\n{quote}{fence['fence']}", f"{quote}{fence['fence']}{fence['info']}\n"


def _closes(found: re.Match[str], fence: re.Match[str]) -> bool:
    same = found["fence"][0] == fence["fence"][0]
    return same and len(found["fence"]) >= len(fence["fence"]) and not found["info"].strip()


def _quote_of(piece: str) -> str:
    found = re.match(r"(?:> ?)+", piece.rsplit("\n", 1)[-1])
    return found.group() if found else ""
