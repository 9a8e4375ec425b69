"""Runs of text -> Markdown of a TextBlock, if it is unambiguous. Text never becomes markup, and
only pings mention people.

Cards have bold, italic, links, flat lists (adaptivecards.io, "Text features") and `\\` escapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from bridge.content.text.inlines import moment_in_words, plain_inlines
from bridge.content.text.tree import (
    Break,
    Code,
    Emphasis,
    Inline,
    Link,
    Ping,
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from connectors.teams.cards.write_state import Line, Writing
from connectors.teams.markdown_writer import at_tag

Run = tuple[str, int, str]
"""Characters, their styles (bits) and their link; for a `MOMENT` the third item has the date
functions that a TextBlock shows instead of the characters."""

BOLD, ITALIC, STRIKE, UNDERLINE, SPOILER, CODE, PING, MOMENT = 1, 2, 4, 8, 16, 32, 64, 128
_IN_MARKDOWN = BOLD | ITALIC | PING | MOMENT
_ALONE = PING | MOMENT  # runs that are never merged
_MARKS = {BOLD: "**", ITALIC: "_"}
_BITS: dict[type[Inline], int] = {
    Strong: BOLD,
    Emphasis: ITALIC,
    Strike: STRIKE,
    Underline: UNDERLINE,
    Spoiler: SPOILER,
}
_LABEL = 1000  # characters; a longer link label may be divided with its text


# --- characters ---------------------------------------------------------------------------------

# `_` within a word is text; `{{` could be a date function; a `<` or `&` is text unless a tag or an
# entity follows.
_SIGNS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\s*\Z)|[*\[\]`]|~(?=~)|(?<=~)~|(?<![^\W_])_+|_+(?![^\W_])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\{)\{"
)
_LINE_START = re.compile(r"(?:-(?=[\s-]|\Z)|\+(?=\s|\Z)|>|#{1,6}(?=\s|\Z)|[0-9]{1,9}[.)](?=\s|\Z))")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
_LINE_ENDS = re.compile(r"[^\S\n]*(?:\r\n?|\n)[^\S\n]*")
_UNSAFE_IN_LINK = re.compile(r"[()'\"<>\\]|&(?=#?\w+;)")
_CARE = re.compile(r"[\\*\[\]`~_<&{\n\r]")
_CARE_AT_START = frozenset("-+>#0123456789")


def needs_care(text: str) -> bool:
    """Return whether a text needs escapes or trimming in a TextBlock."""
    if not text:
        return False
    first = text[0]
    at_edge = first in _CARE_AT_START or first.isspace() or text[-1].isspace()
    return at_edge or _CARE.search(text) is not None


def escape(text: str, *, starts: bool = False) -> str:
    """Return text with escapes for a TextBlock; `starts`: it begins a line."""
    if starts:
        text = text.lstrip()  # four spaces would be code
    if _CARE.search(text):  # much faster than `_SIGNS`
        text = _SIGNS.sub(_escape_signs, text)
    if starts and (match := _LINE_START.match(text)):
        end = match.end()
        text = f"{text[: end - 1]}\\{text[end - 1 :]}"
    return text


def _escape_signs(match: re.Match[str]) -> str:
    signs = match.group()
    return _ENTITIES.get(signs) or "".join(f"\\{sign}" for sign in signs)


# --- lines -> runs ------------------------------------------------------------------------------


def runs_of(line: Iterable[Inline], writing: Writing, at: str = "") -> list[Run]:
    """Return a line as flat runs, with breaks as line ends, without recursion."""
    runs: list[Run] = []
    stack: list[tuple[Iterator[Inline], int, str]] = [(iter(line), 0, "")]
    while stack:
        nodes, bits, url = stack.pop()
        for node in nodes:
            if isinstance(node, Text):
                runs.append((with_line_ends(node.value), bits, url))
                continue
            if isinstance(node, Timestamp) and not url and (functions := moment_functions(node)):
                runs.append((with_line_ends(_leaf(node)).strip(), bits | MOMENT, functions))
                continue
            inner, more, leads = _within(node, writing, at)
            if not inner:
                runs.append((with_line_ends(_leaf(node)), bits | more, url))
            elif len(inner) == 1 and isinstance(only := inner[0], Text) and more is not SPOILER:
                runs.append((with_line_ends(only.value), bits | more, leads or url))
            else:
                stack.append((nodes, bits, url))
                if more is SPOILER and not bits & SPOILER:
                    writing.lose(at, "spoiler_shown", plain_inlines(inner), "[spoiler: …]")
                    inner = (Text("[spoiler: "), *inner, Text("]"))
                stack.append((iter(inner), bits | more, leads or url))
                break
    return _join_runs(runs)


def _within(node: Inline, writing: Writing, at: str) -> tuple[Line, int, str]:
    """Return the children of a style or link, the style, and the link; no children for leaves."""
    if isinstance(node, Link):
        return _label(node), 0, writing.link(node.url, at)
    if isinstance(node, Code):
        return (), CODE, ""
    if isinstance(node, Ping):
        return (), PING, ""
    return children_of(node), _BITS.get(type(node), 0), ""


def children_of(node: Inline) -> Line:
    return getattr(node, "children", ())


def _label(node: Link) -> Line:
    first = node.children[0] if node.children else None
    if isinstance(first, Text) and first.value.strip():
        return node.children
    return node.children if plain_inlines(node.children).strip() else (Text(node.url),)


def _leaf(node: Inline) -> str:
    match node:
        case Break():
            return "\n"
        case Timestamp():
            return moment_in_words(node)
        case _:
            return plain_inlines((node,))


def moment_functions(node: Timestamp) -> str:
    """Return the functions that show a moment in the reader's zone and language (Adaptive Cards,
    "Text features"); empty for a year out of range. None of them shows relative times."""
    if not 0 <= node.unix < _LAST_MOMENT:
        return ""
    moment = f"{datetime.fromtimestamp(node.unix, UTC):%Y-%m-%dT%H:%M:%SZ}"
    date, time = _FUNCTIONS.get(node.style, _FUNCTIONS["f"])
    return " ".join(text.format(moment) for text in (date, time) if text)


_LAST_MOMENT = 250_000_000_000  # in the year 9892
_DAY, _TIME = "{{{{DATE({}, SHORT)}}}}", "{{{{TIME({})}}}}"
_FUNCTIONS = {
    "d": ("{{{{DATE({})}}}}", ""),
    "D": (_DAY, ""),
    "t": ("", _TIME),
    "T": ("", _TIME),
    "f": (_DAY, _TIME),
    "F": ("{{{{DATE({}, LONG)}}}}", _TIME),
}


def in_words(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with moments as words, for places without date functions."""
    return [
        (text, bits & ~MOMENT, "") if bits & MOMENT else (text, bits, url)
        for text, bits, url in runs
    ]


def with_line_ends(text: str) -> str:
    return _LINE_ENDS.sub("\n", text) if "\n" in text or "\r" in text else text


def _join_runs(runs: list[Run]) -> list[Run]:
    """Merge adjacent runs of the same look; remove empty runs."""
    last: tuple[int, str] | None = None
    for text, bits, url in runs:
        if not text or (bits, url) == last:
            break
        last = (bits, url)
    else:
        return runs
    return [
        (text, bits, url)
        for (bits, url, _), group in groupby(runs, _look)
        if (text := "".join(run[0] for run in group))
    ]


def _look(run: Run) -> tuple[int, str, str]:
    """Return the look of a run; each mention and moment has its own."""
    text, bits, url = run
    return bits, url, text if bits & _ALONE else ""


# --- runs -> Markdown ---------------------------------------------------------------------------


def to_markdown(runs: Sequence[Run]) -> str | None:
    """Return Markdown of cards; None if it would be ambiguous."""
    used = 0
    linked = False
    for text, bits, url in runs:
        used |= bits
        linked = linked or url != ""
        if url and len(text) > _LABEL and not bits & MOMENT:
            return None
    if used & ~_IN_MARKDOWN or any(url and bits & PING for _, bits, url in runs):
        return None
    if not used:
        if not linked and len(runs) == 1:
            return paragraph(runs[0][0])
        return _paragraph_of("".join(map(_link_markdown, runs)))
    written = _markdown_of(runs, BOLD if used & BOLD else ITALIC, used, "", "")
    return None if written is None else _paragraph_of(written)


def paragraph(text: str) -> str:
    """Return plain text as Markdown; empty lines separate its lines."""
    if not needs_care(text):
        return text
    if "\n" not in text:
        return escape(text, starts=True).rstrip()
    lines = (escape(word, starts=True).rstrip() for word in text.split("\n"))
    return "\n\n".join(line for line in lines if line)


def _paragraph_of(written: str) -> str:
    """Return escaped text whose lines do not begin as lists, and whose links after `!` are no
    pictures."""
    written = written.replace("![", "\\![")
    if "\n" not in written:
        return _start(written.strip())
    lines = (line.strip() for line in written.split("\n"))
    return "\n\n".join(_start(line) for line in lines if line)


def _start(line: str) -> str:
    if match := _LINE_START.match(line):
        return f"{line[: match.end() - 1]}\\{line[match.end() - 1 :]}"
    return line


def _markdown_of(runs: Sequence[Run], bit: int, used: int, before: str, after: str) -> str | None:
    """Return the Markdown of runs between two characters, for this style and italic within bold."""
    groups = _groups(runs, bit)
    mark = _MARKS[bit]
    finer = bit == BOLD and used & ITALIC
    out = ""
    for index, (on, group) in enumerate(groups):
        last = out[-1:] or before
        next_character = groups[index + 1][1][0][0][:1] if index + 1 < len(groups) else after
        if finer:
            edges = (mark[0], mark[0]) if on else (last, next_character)
            inner = _markdown_of(group, ITALIC, used, *edges)
        else:
            inner = "".join(map(_link_markdown, group))
        wrapped = inner if inner is None or not on else _wrap(inner, mark, last, next_character)
        if wrapped is None:
            return None
        out += wrapped
    return out


def _groups(runs: Sequence[Run], bit: int) -> list[tuple[int, list[Run]]]:
    """Group adjacent runs by presence of a style."""
    groups: list[tuple[int, list[Run]]] = []
    last = -1
    for run in runs:
        on = run[1] & bit
        if on == last:
            groups[-1][1].append(run)
        else:
            groups.append((on, [run]))
            last = on
    return groups


def _link_markdown(run: Run) -> str:
    text, bits, url = run
    if bits & MOMENT:
        return url
    if not url:
        return at_tag(text.removeprefix("@")) if bits & PING else escape(text)
    target = _UNSAFE_IN_LINK.sub(_in_link, url)
    label = " ".join(text.split())
    if len(label) == len(text):
        return f"[{escape(label)}]({target})"
    lead = " " if text[:1].isspace() else ""
    tail = " " if text[-1:].isspace() else ""
    return f"{lead}[{escape(label or url)}]({target}){tail}"


def _in_link(match: re.Match[str]) -> str:
    return "&amp;" if match.group() == "&" else f"%{ord(match.group()):02X}"


def _wrap(inner: str, mark: str, before: str, after: str) -> str | None:
    """Put marks around words, white space outside; None if the result would be ambiguous."""
    core = inner.strip()
    if not core:
        return inner
    start = inner.index(core[0])
    lead, tail = inner[:start], inner[start + len(core) :]
    sure = "\n" not in core and _is_edge(lead or before) and _is_edge(tail or after)
    return f"{lead}{mark}{core}{mark}{tail}" if sure else None


def _is_edge(text: str) -> bool:
    """Return whether marks open and close here in every parser: at edges, space, punctuation."""
    return not text or not (text.isalnum() or text in "_\\~`") or text.isspace()
