"""UACS Markdown that is still being written -> the part of it that people may see already. Pure,
linear.

Open styles and code fences are closed. Links, mentions, code in a line, tags, rows of tables, and
lines that may become a list or a heading wait for their ends. So nobody sees half an address, or
text that the whole text would not show.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from bridge.content.text.cut_points import open_fence

_BLANK = re.compile(r"\n[ \t>]*(?=\n)")
_TICKS = re.compile(r"`+")
_BEFORE = r"(?:[ \t>]|[-+*][ \t]+|[0-9]{1,9}[.)][ \t]+)*"
# A last line of punctuation alone may be the start of any construct.
_ONLY_SIGNS = re.compile(
    rf"{_BEFORE}(?:[-+*=_~`|]+|[0-9]{{1,9}}[.)]?|\#{{1,6}}|\[[ xX]?\]?|)[ \t]*"
)
_FENCE_BEGINS = re.compile(rf"{_BEFORE}(?:`{{3}}|~{{3}})")
_DEFINITION = re.compile(r"[ \t>]*\[")
_DELIMITER_ROW = re.compile(r"[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*")
_MAY_DELIMIT = re.compile(r"[ \t>]*[|:\- \t]*")
_ROW = re.compile(r"[ \t>]*\|(?!\|)")
_NEW_BLOCK = re.compile(r"[ \t>]*(?:[-+*][ \t]+\S|1[.)][ \t]+\S|#{1,6}[ \t])")
# At the end of the text: an incomplete escape, entity, address or emoji name.
_UNFINISHED = re.compile(
    r"(?:\\|&[#A-Za-z0-9]{0,31}|(?<![A-Za-z0-9])(?:https?:|www\.)[^\s]*"
    r"|(?<![A-Za-z0-9:]):[A-Za-z0-9_+-]{0,64}|!)\Z"
)
_TOKEN = re.compile(
    r"""
      (?P<atom>\\[!-/:-@\[-`{-~])
    | (?P<url>https?://[^\s<>*|`()\[\]]+)
    | (?P<comment><!)
    | (?P<angle><[/A-Za-z][^<>\n]*>)
    | (?P<less><(?=[/A-Za-z]|\Z))
    | (?P<ticks>`+)
    | (?P<open>!?\[)
    | (?P<close>\])
    | (?P<style>\*{1,3}|_{1,3}|~{1,2}|\|\|?)
    | (?P<line>\n)
    """,
    re.VERBOSE,
)
_TARGET = re.compile(
    r"""\((?:[ ]*(?:<[^<>\n]*>|(?:\\.|[^\s()\[\]\\<]|\[|\]|\([^\s()]*\))*)"""
    r"""(?:[ \n]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ ]*)\)"""
)
_TAG = re.compile(r"<(/?)(u|ins|b|strong|i|em|s|del|spoiler|code|sub|small)>", re.IGNORECASE)
_MAX_LINK = 300  # characters for which an open bracket may be the start of a link
_MAX_HIDDEN = 4000  # the same for code, addresses and tags, which certainly end invisibly
_MAX_PASSES = 40


@dataclass(frozen=True, slots=True)
class _Style:
    """An open style: its sign, and its place."""

    sign: str
    start: int


def close_open_markup(markdown: str) -> str:
    """Returns a complete text that shows the beginning of what the finished text will show."""
    visible, styles, fence = _read(markdown)
    if fence:
        return visible.removesuffix("\n") + fence
    return visible + "".join(style.sign for style in reversed(styles))


def settled_markdown(markdown: str) -> str:
    """Returns the beginning of the text that reads the same whatever follows.

    Platforms that only append to a message need it. Code in an open fence is part of it, without an
    end.
    """
    while True:
        visible, styles, fence = _read(markdown)
        if fence or not styles:
            return visible
        markdown = visible[: styles[0].start]


def _read(text: str) -> tuple[str, list[_Style], str]:
    """The visible text, the styles open at its end, and the end of an open fence."""
    for _ in range(_MAX_PASSES):
        fence = open_fence(text)
        if fence and _goes_on(text, fence.start, fence.body):
            code = _within_fence(text, fence.start, fence.body)
            if code is None:
                text = text[: fence.start]
                continue
            return code, [], fence.closing
        start = _last_block(text)
        cut = _unfinished_lines(text, start)
        styles: list[_Style] = []
        if cut is None:
            cut, styles = _unfinished_words(text, start)
        if cut is None:
            return text.rstrip(), styles, ""
        text = text[:cut]
    return text[: _last_block(text)].rstrip(), [], ""


# --- blocks -------------------------------------------------------------------------------------


def _goes_on(text: str, start: int, body: int) -> bool:
    """Whether all further lines belong to the item or the quote around the fence."""
    first = text[start:body]
    depth = len(first) - len(first.lstrip(" \t>-+*0123456789.)"))
    if "\n" in first[:depth] or not depth:
        return True
    prefix = first[:depth]
    lines = text[body:].split("\n")
    if ">" in prefix:
        return all(line.lstrip().startswith(">") for line in (lines if lines[-1] else lines[:-1]))
    width = depth if prefix.strip() else 0
    return all(not line.strip() or not line[:width].strip() for line in lines)


def _within_fence(text: str, start: int, body: int) -> str | None:
    """The text up to its last line that is certainly code; None while there is none."""
    if body >= len(text):
        return None
    line = text.rfind("\n", body - 1) + 1
    last = text[line:].strip("> \t")
    complete = text[:line] if last and not last.strip("`~") else text
    return complete if complete[body:].strip() else None


def _last_block(text: str) -> int:
    """The start of the lines that belong together with the last one."""
    start = 0
    for blank in _BLANK.finditer(text, max(0, len(text) - 100_000)):
        start = blank.end()
    return start + 1 if start else 0


def _unfinished_lines(text: str, start: int) -> int | None:
    """The start of a last line that may yet become something else; None if there is none."""
    line = max(text.rfind("\n") + 1, start)
    last = text[line:]
    if not last:
        return _unfinished_table(text, start, line)
    if _ONLY_SIGNS.fullmatch(last) or _FENCE_BEGINS.match(last):
        return line
    if _DEFINITION.match(last) and _may_define(last):
        return line
    return _unfinished_table(text, start, line)


def _may_define(last: str) -> bool:
    _, closing, after = last.partition("]")
    return after[:1] in ("", ":") if closing else len(last) < _MAX_LINK


def _unfinished_table(text: str, start: int, line: int) -> int | None:
    """An incomplete row, or a head without the line below it that makes it a table."""
    above = text[start:line].split("\n")[:-1]
    for index in range(1, len(above)):
        if _DELIMITER_ROW.fullmatch(above[index]) and "|" in above[index - 1]:
            ended = any(_NEW_BLOCK.match(row) for row in above[index + 1 :])
            return None if ended or line == len(text) else line
    if above and _ROW.match(above[-1]) and _MAY_DELIMIT.fullmatch(text[line:]):
        return line - len(above[-1]) - 1
    return line if _ROW.match(text, line) else None


# --- words --------------------------------------------------------------------------------------


def _unfinished_words(text: str, start: int) -> tuple[int | None, list[_Style]]:
    """The start of an incomplete construct (None: there is none), and the styles open at the
    end."""
    if match := _UNFINISHED.search(text, max(start, len(text) - _MAX_HIDDEN)):
        return match.start(), []
    words = _Words(text, start)
    cut = words.cut()
    return (cut, []) if cut is not None else (None, words.styles)


class _Words:
    """One reading of the last block's words."""

    def __init__(self, text: str, start: int) -> None:
        self.styles: list[_Style] = []
        self._text = text
        self._start = start
        self._brackets: list[int] = []
        self._tags: list[tuple[str, int]] = []
        self._addresses: list[int] = []  # the starts of styles that contain an address

    def cut(self) -> int | None:
        at = self._start
        while token := _TOKEN.search(self._text, at):
            start, at = token.start(), token.end()
            match token.lastgroup:
                case "ticks" | "close":
                    goes_on = self._code(token) if token.lastgroup == "ticks" else self._link(at)
                    if goes_on is None:
                        return start if token.lastgroup == "ticks" else self._brackets[-1]
                    at = goes_on
                case "comment" | "less" if self._may_end(start):
                    return start
                case "style" if self._style(token):
                    return start
                case _:
                    self._note(token)
        return self._left_open()

    def _note(self, token: re.Match[str]) -> None:
        match token.lastgroup:
            case "angle":
                self._tag(token)
            case "open":
                self._brackets.append(token.start())
            case "url":
                self._addresses += [style.start for style in self.styles[:1]]
            case "line":
                self._new_line(token.end())
            case _:
                pass

    def _may_end(self, start: int, limit: int = _MAX_LINK) -> bool:
        return len(self._text) - start <= limit

    def _left_open(self) -> int | None:
        """The first bracket or tag that may yet become a construct."""
        waiting = [start for start in self._brackets if self._may_end(start)]
        waiting += [start for _, start in self._tags if self._may_end(start, _MAX_HIDDEN)]
        in_address = {style.start for style in self.styles} & {*self._addresses}
        waiting += [start for start in in_address if self._may_end(start)]
        return min(waiting, default=None)

    def _new_line(self, at: int) -> None:
        """A list item or a heading ends what was open in the line before."""
        if _NEW_BLOCK.match(self._text, at):
            self._brackets.clear()
            self.styles.clear()
            self._tags.clear()

    def _code(self, ticks: re.Match[str]) -> int | None:
        """The end of the code that begins here; the place itself if it is no code; None if it is
        incomplete."""
        for closing in _TICKS.finditer(self._text, ticks.end()):
            if closing.end() == len(self._text):
                break  # more ticks may follow
            if len(closing[0]) == len(ticks[0]):
                return closing.end()
        return None if self._may_end(ticks.start(), _MAX_HIDDEN) else ticks.end()

    def _link(self, after: int) -> int | None:
        """Where the reading continues; None while the address is incomplete."""
        if not self._brackets:
            return after
        next_char = self._text[after : after + 1]
        if next_char == "" or next_char in "([":
            if next_char == "(" and (target := _TARGET.match(self._text, after)):
                self._brackets.pop()
                return target.end()
            if next_char == "" or (next_char == "(" and self._may_be_address(after)):
                return None
        self._brackets.pop()
        return after

    def _may_be_address(self, after: int) -> bool:
        """Whether the text after `](` may still become an address."""
        rest = self._text[after + 1 :]
        open_still = ")" not in rest or rest.count("(") >= rest.count(")")
        return open_still and self._may_end(after, _MAX_HIDDEN)

    def _tag(self, token: re.Match[str]) -> None:
        tag = _TAG.fullmatch(token.group())
        if tag is None:
            return
        name = tag[2].lower()
        if not tag[1]:
            self._tags.append((name, token.start()))
            return
        for index in range(len(self._tags) - 1, -1, -1):
            if self._tags[index][0] == name:
                inside = self._tags[index][1]
                self.styles = [style for style in self.styles if style.start < inside]
                del self._tags[index:]
                return

    def _style(self, token: re.Match[str]) -> bool:
        """Opens or closes the style; returns whether it must wait, because more of its sign may
        follow."""
        sign, start, end = token.group(), token.start(), token.end()
        before, after = self._text[start - 1 : start] or " ", self._text[end : end + 1]
        if after == "":
            return True  # the style that it closes is closed in any case
        closes = not before.isspace() and not (sign[0] == "_" and after.isalnum())
        opens = not after.isspace() and (sign == "||" or not before.isalnum())
        if sign != "|" and not (closes and self._closed(sign)) and opens:
            self.styles.append(_Style(sign, start))
        return False

    def _closed(self, sign: str) -> bool:
        for index in range(len(self.styles) - 1, -1, -1):
            if self.styles[index].sign == sign:
                del self.styles[index:]
                return True
        if sign in ("***", "___") and len(self.styles) > 1:
            inner = {self.styles[-1].sign, self.styles[-2].sign}
            if inner == {sign[:1], sign[:2]}:
                del self.styles[-2:]
                return True
        return False


def stable_output(markdown: str, write: Callable[[str], str]) -> str:
    """Returns what `write` returns for the settled text, without what it would write otherwise if
    more followed.

    The result is a prefix of every later result.

    Args:
        markdown: The text so far.
        write: Writes UACS Markdown for a platform.
    """
    text = settled_markdown(markdown)
    now, later = write(text), write(f"{text}\nZ")
    difference = next(
        (at for at, (a, b) in enumerate(zip(now, later, strict=False)) if a != b), None
    )
    return (
        now[:difference].rstrip() if difference is not None else min(now, later, key=len).rstrip()
    )
