"""A long text -> pieces that fit, cut at sensible places. Pure, in linear time.

Each piece closes what a cut leaves open, and the next piece opens it again: code fences, quotes,
styles, a table's head.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bridge.content.text.cut_points import Borders
from bridge.content.text.graphemes import cluster_start, is_inside

Length = Callable[[str], int]

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+|\n[ \t]*>[ \t>]*\n(?=[ \t]*>)")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[ \t]+|(?<=[。！？])[ \t]*(?=\S)")
_SPACES = re.compile(r"[^\S\n\u00a0\u2007\u202f]+")
_SPACE = re.compile(r"\s")
_BLOCK_START = re.compile(r"(?:[#>]|[-+*=]|[0-9]{1,9}[.)](?:\s|$)|```|~~~)")
_QUOTE = re.compile(r"[ \t]*>[ \t>]*")
_INDENT = re.compile(r"[ \t]*")
_MIN_LIMIT = 20


@dataclass(frozen=True, slots=True)
class _Cut:
    """The piece ends at `stop`, the next one begins at `go_on`: the text between them is
    dropped."""

    stop: int
    go_on: int
    in_line: bool = True


def utf16_length(text: str) -> int:
    """Returns the length of a text in UTF-16 units, as JavaScript and .NET count it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_text(text: str, limit: int) -> str:
    """Returns the text, or its beginning and an ellipsis if it is longer than the limit."""
    return text if len(text) <= limit else f"{split_text(text, limit - 1)[0]}…"


def split_text(text: str, limit: int, length: Length = len) -> list[str]:
    """Splits a text into pieces with the same content.

    Cuts are between paragraphs, lines, sentences, words or grapheme clusters: the first of these
    that uses at least a third of the room. A cut is inside a link, mention, entity, escape or other
    token only if the token is longer than a piece. White space at a cut is dropped.

    Args:
        text: Text in a chat dialect.
        limit: The maximum length of a piece, at least 20.
        length: Returns the length of a text in the unit of the limit.

    Raises:
        ValueError: The limit is too small for any text.
    """
    if limit < _MIN_LIMIT:
        raise ValueError(f"a limit of {limit} leaves no room for text; give at least {_MIN_LIMIT}")
    if length(text) <= limit:
        return [text]
    return [piece for piece in _pieces(text, limit, length) if piece.strip()] or [""]


def _pieces(text: str, limit: int, length: Length) -> Iterator[str]:
    borders = Borders(text)
    at, opening = 0, ""
    while at < len(text):
        end = _reach(text, at, opening, limit, length)
        if end == len(text):
            yield opening + text[at:]
            return
        piece, at, opening = _piece(borders, text, at, end, opening, limit, length)
        yield piece


def _piece(
    borders: Borders, text: str, at: int, end: int, opening: str, limit: int, length: Length
) -> tuple[str, int, str]:
    """The piece, the start of the next one, and the markup that the next one must open again."""
    for _ in range(6):
        if end <= at:
            break
        cut = _best_cut(borders, text, at, end, limit)
        closing, reopening, go_on = _seam(borders, text, cut, limit, length)
        piece = opening + text[at : cut.stop] + closing
        over = length(piece) - limit
        if over <= 0 and cut.stop > at:
            return piece, go_on, reopening
        end = min(end - max(over, 1), cut.stop - 1)
    return _rough_piece(text, at, limit, length)


def _rough_piece(text: str, at: int, limit: int, length: Length) -> tuple[str, int, str]:
    """A piece for which there is no room for markup."""
    end = _reach(text, at, "", limit, length)
    end = max(cluster_start(text, end, at), at + 1)
    while end > at + 1 and length(text[at:end]) > limit:
        end = at + max(1, (end - at) * 3 // 4)
    return text[at:end], end, ""


def _reach(text: str, at: int, opening: str, limit: int, length: Length) -> int:
    """About the furthest place up to which the text fits: by steps, then by bisection."""
    if length is len:
        return min(len(text), max(at, at + limit - len(opening)))
    low, size = at, limit
    while True:
        high = min(at + size, len(text))
        if length(opening + text[at:high]) > limit:
            break
        if high == len(text):
            return high
        low, size = high, size * 2
    while high - low > max(1, limit // 100):
        middle = (low + high) // 2
        if length(opening + text[at:middle]) <= limit:
            low = middle
        else:
            high = middle
    return low


# --- where ----------------------------------------------------------------------------------


def _best_cut(borders: Borders, text: str, at: int, end: int, limit: int) -> _Cut:
    lowest = at + max(1, (end - at) // 3)
    for candidates in (_paragraph_ends, _line_ends, _sentence_ends, _word_ends):
        for cut in candidates(borders, text, lowest, end):
            if _is_good(borders, text, cut, at):
                return cut
    for cut in _word_ends(borders, text, at + 1, lowest):
        if _is_good(borders, text, cut, at) and _is_word_short(text, cut.go_on, limit):
            return cut
    return _between_characters(borders, text, at, end, limit)


def _is_good(borders: Borders, text: str, cut: _Cut, at: int) -> bool:
    if cut.stop <= at or borders.token_containing(cut.stop) is not None:
        return False
    if not cut.in_line or borders.fence_containing(cut.stop):
        return True
    return not _BLOCK_START.match(text, cut.go_on) and not is_inside(text, cut.stop)


def _paragraph_ends(borders: Borders, text: str, lowest: int, end: int) -> Iterator[_Cut]:
    for match in reversed(list(_BLANK_LINES.finditer(text, lowest, min(len(text), end + 2)))):
        if match.start() <= end and not borders.fence_containing(match.start()):
            whole = _BLANK_LINES.match(text, match.start())
            yield _Cut(match.start(), (whole or match).end(), in_line=False)


def _line_ends(borders: Borders, text: str, lowest: int, end: int) -> Iterator[_Cut]:
    """Line ends, rather before a fence than within it."""
    place = text.rfind("\n", lowest, end + 1)
    fence = borders.fence_containing(place) if place >= 0 else None
    if fence and fence.start - 1 >= lowest:
        place = fence.start - 1
    while place >= lowest:
        yield _Cut(place, place + 1, in_line=False)
        place = text.rfind("\n", lowest, place)


def _sentence_ends(borders: Borders, text: str, lowest: int, end: int) -> Iterator[_Cut]:
    for match in reversed(list(_SENTENCE_END.finditer(text, lowest, min(len(text), end + 1)))):
        if match.start() <= end and not borders.fence_containing(match.start()):
            spaces = _SPACES.match(text, match.start())
            yield _Cut(match.start(), spaces.end() if spaces else match.end())


def _word_ends(borders: Borders, text: str, lowest: int, end: int) -> Iterator[_Cut]:
    for match in reversed(list(_SPACES.finditer(text, lowest, min(len(text), end + 1)))):
        if borders.fence_containing(match.start()):
            yield _Cut(min(match.end(), end), min(match.end(), end))
        elif spaces := _SPACES.match(text, match.start()):
            yield _Cut(match.start(), spaces.end())


def _is_word_short(text: str, start: int, limit: int) -> bool:
    """Whether the word that begins here fits in a piece of its own."""
    return len(text) - start <= limit or bool(_SPACE.search(text, start, start + limit + 1))


def _between_characters(borders: Borders, text: str, at: int, end: int, limit: int) -> _Cut:
    """A cut before the token around the end, if there is something before the token."""
    cut = end
    for _ in range(8):
        start = borders.token_containing(cut)
        if start is None:
            break
        if start <= at:
            return _within_token(text, at, end)
        cut = start
    cut = max(cluster_start(text, cut, at), at + 1)
    return _Cut(cut, cut)


def _within_token(text: str, at: int, end: int) -> _Cut:
    """A cut in a token that is longer than a piece: at a space; ticks side by side stay
    together."""
    space = text.rfind(" ", at + 1 + (end - at) // 2, end)
    if space > at:
        return _Cut(space, space + 1)
    cut = cluster_start(text, end, at)
    while cut > at + 1 and text[cut - 1] == text[cut : cut + 1] == "`":
        cut -= 1
    cut = max(cut, at + 1)
    return _Cut(cut, cut)


# --- what is closed there and opened again --------------------------------------------------


def _seam(
    borders: Borders, text: str, cut: _Cut, limit: int, length: Length
) -> tuple[str, str, int]:
    """The markup that closes the piece, the markup that opens the next, and where that
    continues."""
    go_on = cut.go_on
    if fence := borders.fence_containing(cut.stop):
        closing, opening = fence.closing, fence.opening
    else:
        styles = borders.styles_at(cut.stop)
        closing = "".join(close for _, close in reversed(styles))
        opening = "".join(start for start, _ in styles)
        if cut.in_line:
            opening = _quote_of(text, cut.stop) + opening
        elif head := borders.table_containing(go_on):
            opening = head.text
        elif opening:
            prefix = _line_prefix(text, go_on)
            opening, go_on = prefix + opening, go_on + len(prefix)
        else:
            go_on = _without_deep_indent(text, go_on)
    if length(closing) + length(opening) > limit // 2:
        return "", "", cut.go_on
    return closing, opening, go_on


def _quote_of(text: str, cut: int) -> str:
    """The quote signs of the line that is cut, unless the line ends there."""
    start = text.rfind("\n", max(0, cut - 100_000), cut) + 1
    match = _QUOTE.match(text, start, cut)
    return match.group() if match else ""


def _line_prefix(text: str, at: int) -> str:
    match = _QUOTE.match(text, at) or _INDENT.match(text, at)
    return match.group() if match else ""


def _without_deep_indent(text: str, at: int) -> int:
    """The start without an indent of four spaces, which would be code: a list in a list begins
    anew."""
    match = _INDENT.match(text, at)
    deep = match is not None and (match.end() - at > 3 or "\t" in match.group())
    return match.end() if match and deep else at
