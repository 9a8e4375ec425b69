"""A line of IRC -> pieces of a number of UTF-8 bytes, cut at words. Pure, in linear time."""

from __future__ import annotations

from typing import NamedTuple

from bridge.content.text.graphemes import cluster_start
from connectors.irc.formatting import NONE, RESET, is_in_code, reopened, styles_after

_SMALLEST = 40  # bytes; less leaves no room for a character with its codes


class Piece(NamedTuple):
    """`gap` is the white space that fell away before it; None where a line begins."""

    text: str
    gap: str | None


def split_line(line: str, limit: int) -> list[Piece]:
    """Pieces of at most `limit` bytes. No character is cut; a space at a cut falls away, and
    formatting that a cut leaves open goes on in the next piece.

    Raises ValueError for a limit below 40 bytes.
    """
    if limit < _SMALLEST:
        raise ValueError(f"a limit of {limit} bytes leaves no room for text; give at least 40")
    pieces: list[Piece] = []
    opening, rest, gap = "", line, ""
    while rest:
        if _size(opening) + _size(rest) <= limit:
            pieces.append(Piece(opening + rest, gap if pieces else None))
            break
        cut = _cut(rest, limit - _size(opening) - 1)
        piece = opening + rest[:cut].rstrip(" ")
        styles = styles_after(piece)
        spaces = rest[:cut].endswith(" ") or rest[cut : cut + 1] == " "
        rest = rest[cut:].lstrip(" ")
        if piece.strip():
            pieces.append(Piece(piece + (RESET if styles else ""), gap if pieces else None))
        gap = " " if spaces else ""
        opening = reopened(styles, rest) if styles != NONE else ""
    return pieces or [Piece("", None)]


def _cut(text: str, room: int) -> int:
    """Where the text is cut so that at most `room` bytes stand before: behind a word, if that
    leaves at least a third of the room used."""
    reach = _reach(text, room)
    space = text.rfind(" ", max(1, reach // 3), reach + 1)
    if space > 0:
        return space
    cut = reach
    while cut > 1 and is_in_code(text, cut):
        cut -= 1
    return max(cluster_start(text, cut, 0), 1)


def _reach(text: str, room: int) -> int:
    """How many characters fit into so many bytes."""
    encoded = text[: room + 1].encode("utf-8", "replace")[: max(room, 4)]
    return max(len(encoded.decode("utf-8", "ignore")), 1)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
