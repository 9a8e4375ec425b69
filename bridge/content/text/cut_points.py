"""The places where a text in a chat dialect may be cut, and the markup that is open there. Pure,
linear.

The module knows what Markdown, mrkdwn and similar dialects share: escapes, entities, links, `<...>`
tokens, code, styles in pairs, fences, quotes and tables.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass

_FENCE = re.compile(r"((?<!`)`{3,}+|(?<!~)~{3,}+)([^`\n]*)(?:\n|\Z)")
_FENCE_PREFIX = re.compile(r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)]) +(?:(?:[☑☐]|\[[ xX]\]) +)?)*")
_DELIMITER_ROW = re.compile(r"^[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$", re.M)
_MAX_PREFIX = 80
_MAX_OPEN = 6  # styles open at once; deeper ones are not reopened
_TICKS = re.compile("`+")
_STYLE_TAG = re.compile(r"<(/?)(u|ins|b|strong|i|em|s|del|spoiler)>", re.IGNORECASE)
_TOKEN = re.compile(
    r"""
      (?P<atom>\\[!-/:-@\[-`{-~]
        | &(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});
        | https?://[^\s<>*|`()\[\]]*[^\s<>*|`()\[\]_~.,:;!?]
        | :[A-Za-z0-9_+-]{1,64}:)
    | (?P<angle><[@\#!:/A-Za-z][^<>\n]*>)
    | (?P<ticks>`+)
    | (?P<open>!?\[)
    | (?P<close>\](?:\(
        (?:<[^<>\n]*>|(?:\\.|[^\s()\[\]\\<]|\([^\s()\[\]]*\))*)(?:[ ]+"[^"\n]*")?
      \))?)
    | (?P<style>\*{1,3}|_{1,3}|~{1,2}|\|\|)
    | (?P<blank>\n[ \t>]*(?=\n))
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Fence:
    """Code between two fences: from `start` to `end`, its lines begin at `body`."""

    start: int
    body: int
    end: int
    opening: str
    closing: str


@dataclass(frozen=True, slots=True)
class TableHead:
    """The first two lines of a table whose rows are from `body` to `end`."""

    body: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Span:
    """A style: its opening and closing signs, and their places."""

    start: int
    inner: int
    stop: int
    end: int
    opening: str
    closing: str


class Borders:
    """Answers questions about places in a text, which it reads once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._unbreakable: list[
            tuple[int, int]
        ] = []  # first and last place of each range without cuts
        self.fences = _fences(text)
        self.tables = _tables(text)
        spans = self._read()
        for fence in self.fences:
            self._unbreakable.append((fence.start + 1, fence.body))
            closing = text.rfind("\n", fence.body, fence.end)
            if closing > 0 and fence.end > fence.body:
                self._unbreakable.append((closing, fence.end - 1))
        self._unbreakable.sort()
        self._unbreakable_starts = [first for first, _ in self._unbreakable]
        self._fence_starts = [fence.start for fence in self.fences]
        self._table_starts = [head.body for head in self.tables]
        self._places, self._open = _open_styles(spans)

    def token_containing(self, cut: int) -> int | None:
        """Returns the start of the token that a cut here would break; None if it breaks none."""
        index = bisect_right(self._unbreakable_starts, cut) - 1
        for first, last in self._unbreakable[max(0, index - 2) : index + 1]:
            if first <= cut <= last:
                return first - 1
        return None

    def fence_containing(self, cut: int) -> Fence | None:
        """Returns the fence that contains this place, if any."""
        index = bisect_right(self._fence_starts, cut) - 1
        fence = self.fences[index] if index >= 0 else None
        return fence if fence and fence.start < cut < fence.end else None

    def table_containing(self, cut: int) -> TableHead | None:
        """Returns the head of the table whose rows contain this place, if any."""
        index = bisect_right(self._table_starts, cut) - 1
        head = self.tables[index] if index >= 0 else None
        return head if head and head.body <= cut < head.end else None

    def styles_at(self, cut: int) -> tuple[tuple[str, str], ...]:
        """Returns the opening and closing signs of each style that is open here, outermost
        first."""
        index = bisect_right(self._places, cut) - 1
        return self._open[index] if index >= 0 else ()

    # --- reading ----------------------------------------------------------------------------

    def _read(self) -> list[_Span]:
        reading = _Reading(self._text)
        end = 0
        for fence in [*self.fences, None]:
            reading.read(end, fence.start if fence else len(self._text))
            end = fence.end if fence else end
        self._unbreakable += reading.unbreakable
        return reading.spans


class _Reading:
    """The tokens outside of fences, in order; stacks match links and styles."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.unbreakable: list[tuple[int, int]] = []
        self.spans: list[_Span] = []
        self._brackets: list[int] = []
        self._styles: list[tuple[str, int, int]] = []
        self._open_counts: Counter[str] = Counter()
        self._ticks: defaultdict[int, list[int]] | None = None
        self._blanks: list[int] = []

    def read(self, start: int, end: int) -> None:
        at = start
        self._end_paragraph()
        while token := _TOKEN.search(self.text, at, end):
            at = token.end()
            match token.lastgroup:
                case "atom":
                    self._protect(token.start(), at)
                case "angle":
                    self._protect(token.start(), at)
                    if tag := _STYLE_TAG.fullmatch(token.group()):
                        self._tag(tag[1] == "/", tag[2].lower(), token.start(), at)
                case "ticks":
                    at = self._code(token.group(), token.start(), at, end)
                case "open":
                    self._brackets.append(token.start())
                case "close":
                    self._link(token)
                case "style":
                    self._style(token.group(), token.start(), at)
                case _:
                    self._end_paragraph()

    def _end_paragraph(self) -> None:
        """No inline markup continues after an empty line."""
        self._brackets.clear()
        self._styles.clear()
        self._open_counts.clear()

    def _protect(self, start: int, end: int) -> None:
        if end - start > 1:
            self.unbreakable.append((start + 1, end - 1))

    def _link(self, token: re.Match[str]) -> None:
        if not self._brackets:
            return
        start = self._brackets.pop()
        if token.end() - token.start() > 1:
            while self.unbreakable and self.unbreakable[-1][0] > start:
                self.unbreakable.pop()
            self._protect(start, token.end())

    def _code(self, ticks: str, start: int, end: int, stop: int) -> int:
        """Code ends at the next run of as many ticks in its paragraph. Where it is cut, a space
        separates the ticks from those that it may contain."""
        closing = self._closing(len(ticks), end, stop)
        if closing is None:
            return end
        last = closing + len(ticks)
        gap = " " * (len(ticks) > 1)
        self._add(_Span(start, end, closing, last, ticks + gap, gap + ticks))
        if gap:
            self._protect(start, last)
        return last

    def _closing(self, width: int, start: int, stop: int) -> int | None:
        if self._ticks is None:
            self._ticks = defaultdict(list)
            for run in _TICKS.finditer(self.text):
                self._ticks[run.end() - run.start()].append(run.start())
            self._blanks = [blank_line.start() for blank_line in re.finditer("\n\n", self.text)]
        places = self._ticks[width]
        at = bisect_left(places, start)
        if at == len(places) or places[at] + width > stop:
            return None
        blank = bisect_left(self._blanks, start)
        ends_before = blank < len(self._blanks) and self._blanks[blank] < places[at]
        return None if ends_before else places[at]

    def _style(self, sign: str, start: int, end: int) -> None:
        before, after = self.text[start - 1 : start] or " ", self.text[end : end + 1] or " "
        closes, opens = not before.isspace(), not after.isspace()
        if sign[0] == "_":
            closes, opens = closes and not after.isalnum(), opens and not before.isalnum()
        self._match(sign, sign, sign, start, end, opens=opens, closes=closes)

    def _tag(self, closes: bool, name: str, start: int, end: int) -> None:
        opening, closing = f"<{name}>", f"</{name}>"
        self._match(opening, opening, closing, start, end, opens=not closes, closes=closes)

    def _match(
        self, key: str, opening: str, closing: str, start: int, end: int, *, opens: bool,
        closes: bool,
    ) -> None:  # fmt: skip
        if closes and self._open_counts[key]:
            while True:
                style, first, inner = self._styles.pop()
                self._open_counts[style] -= 1
                if style == key:
                    break
            self._add(_Span(first, inner, start, end, opening, closing))
        elif opens:
            self._styles.append((key, start, end))
            self._open_counts[key] += 1

    def _add(self, span: _Span) -> None:
        self.spans.append(span)
        self.unbreakable.append((span.start + 1, span.inner))
        self.unbreakable.append((span.stop, span.end - 1))


def _open_styles(
    spans: list[_Span],
) -> tuple[list[int], list[tuple[tuple[str, str], ...]]]:
    """The places where the open styles change, and the styles that are open from there on."""
    edges = [(span.inner, 1, span) for span in spans] + [(span.stop, 0, span) for span in spans]
    edges.sort(key=lambda edge: edge[:2])
    places: list[int] = []
    states: list[tuple[tuple[str, str], ...]] = []
    current: list[_Span] = []
    for place, begins, span in edges:
        if begins and len(current) < _MAX_OPEN:
            current.append(span)
        elif not begins and span in current:
            current.remove(span)
        places.append(place)
        states.append(tuple((open_span.opening, open_span.closing) for open_span in current))
    return places, states


def open_fence(text: str) -> Fence | None:
    """Returns the fence that is open at the end of the text, if any."""
    fences = _fences(text)
    return fences[-1] if fences and fences[-1].end > len(text) else None


def close_fence(text: str) -> str:
    """Returns the text with the fence closed that is open at its end (an agent was interrupted)."""
    fence = open_fence(text)
    return text.removesuffix("\n") + fence.closing if fence else text


def _fences(text: str) -> list[Fence]:
    if "```" not in text and "~~~" not in text:
        return []
    fences: list[Fence] = []
    opened: re.Match[str] | None = None
    prefix = ""
    for match in _FENCE.finditer(text):
        before = _line_before(text, match.start())
        if before is None:
            continue
        if opened is None:
            opened, prefix = match, before
        elif _closes(match, opened):
            fences.append(_fence(opened, prefix, match.start() + len(match[1])))
            opened = None
    return fences if opened is None else [*fences, _fence(opened, prefix, len(text) + 1)]


def _fence(opened: re.Match[str], prefix: str, end: int) -> Fence:
    goes_on = re.sub(r"[^>\s]", " ", prefix)
    goes_on = goes_on if ">" in goes_on else goes_on[:3]
    opening = f"{goes_on}{opened[1]}{opened[2]}\n"
    start = opened.start() - len(prefix)
    return Fence(start, opened.end(), end, opening, f"\n{goes_on}{opened[1]}")


def _line_before(text: str, at: int) -> str | None:
    """The text before a fence in its line, if a fence may be there."""
    start = text.rfind("\n", max(0, at - _MAX_PREFIX), at) + 1
    if start == 0 and at > _MAX_PREFIX:
        return None
    before = text[start:at]
    return before if _FENCE_PREFIX.fullmatch(before) else None


def _closes(match: re.Match[str], opened: re.Match[str]) -> bool:
    same_sign = match[1][0] == opened[1][0] and len(match[1]) >= len(opened[1])
    return same_sign and not match[2].strip()


def _tables(text: str) -> list[TableHead]:
    if "|" not in text:
        return []
    heads: list[TableHead] = []
    for row in _DELIMITER_ROW.finditer(text):
        start = text.rfind("\n", 0, max(0, row.start() - 1)) + 1
        if row.start() == 0 or "|" not in text[start : row.start()]:
            continue
        end = row.end()
        while (line := text.find("\n", end + 1)) >= 0 and "|" in text[end + 1 : line]:
            end = line
        if line < 0:
            end = len(text)
        if not heads or row.start() >= heads[-1].end:
            heads.append(TableHead(row.end() + 1, end, text[start : row.end() + 1]))
    return heads
