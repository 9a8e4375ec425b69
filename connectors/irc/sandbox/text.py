"""Lines as people see them: without formatting codes (modern.ircdocs.horse/formatting). Pure."""

from __future__ import annotations

import re

_CODES = re.compile(
    r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9A-Fa-f]{6}(?:,[0-9A-Fa-f]{6})?)?"
    r"|[\x02\x1d\x1f\x1e\x11\x16\x0f]"
)
_ACTION = re.compile(r"\x01ACTION (.*?)\x01?", re.DOTALL)
_PIECE_BYTES = 400  # of a line, so that it fits into 512 bytes behind the longest mask


def without_codes(text: str) -> str:
    return _CODES.sub("", text)


def action_in(text: str) -> str | None:
    """The words of a `/me`; None for any other text."""
    match = _ACTION.fullmatch(text)
    return match[1] if match else None


def multiline_of(text: str) -> list[tuple[str, bool]]:
    """The lines of a multiline message, each with whether it continues the line before
    (`draft/multiline-concat`); empty for a text that fits into one line."""
    lines: list[tuple[str, bool]] = []
    for line in text.split("\n"):
        for number, piece in enumerate(_pieces(line)):
            lines.append((piece, number > 0))
    return lines if len(lines) > 1 else []


def _pieces(line: str) -> list[str]:
    """A line in pieces of at most `_PIECE_BYTES` bytes of UTF-8."""
    pieces, piece, size = [""], "", 0
    for character in line:
        width = len(character.encode("utf-8", "replace"))
        if size + width > _PIECE_BYTES:
            pieces.append("")
            piece, size = "", 0
        piece, size = piece + character, size + width
        pieces[-1] = piece
    return pieces
