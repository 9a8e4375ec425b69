"""mIRC formatting codes <-> runs of styled text. Pure.

Codes toggle, may overlap, and end with their line. Source: modern.ircdocs.horse/formatting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Style = Literal["bold", "italic", "underline", "strike", "monospace", "spoiler"]

BOLD, ITALIC, UNDERLINE, STRIKE, MONOSPACE = "\x02", "\x1d", "\x1f", "\x1e", "\x11"
REVERSE, RESET, COLOUR, HEX_COLOUR = "\x16", "\x0f", "\x03", "\x04"
HIDDEN = f"{COLOUR}01,01"  # black on black, the way in which people write spoilers on IRC

_TOGGLES: dict[str, Style] = {
    BOLD: "bold",
    ITALIC: "italic",
    UNDERLINE: "underline",
    STRIKE: "strike",
    MONOSPACE: "monospace",
}
_CODES: dict[Style, str] = {style: code for code, style in _TOGGLES.items()}
_CODE = re.compile(
    r"\x03(?:(?P<fg>[0-9]{1,2})(?:,(?P<bg>[0-9]{1,2}))?)?"
    r"|\x04(?:(?P<hfg>[0-9A-Fa-f]{6})(?:,(?P<hbg>[0-9A-Fa-f]{6}))?)?"
    r"|[\x02\x1d\x1f\x1e\x11\x16\x0f]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Run(NamedTuple):
    """Neighbouring characters with the same styles."""

    text: str
    styles: frozenset[Style]


NONE: frozenset[Style] = frozenset()


def with_style(styles: frozenset[Style], style: Style) -> frozenset[Style]:
    return styles | frozenset((style,))


def read_runs(line: str) -> list[Run]:
    """The runs of one line. Colours are dropped, except text in the colour of its ground, which
    is a spoiler; other control characters go."""
    runs: list[Run] = []
    state = _State()
    at = 0
    for code in _CODE.finditer(line):
        _add(runs, line[at : code.start()], state.styles)
        state.take(code)
        at = code.end()
    _add(runs, line[at:], state.styles)
    return runs


def write_runs(runs: Iterable[Run]) -> str:
    """One line with codes; no style stays open at its end."""
    written: list[str] = []
    before: frozenset[Style] = NONE
    for text, styles in runs:
        text = clean(text)
        if not text:
            continue
        written.append(_switch(before, styles, text))
        written.append(text)
        before = styles
    if before:
        written.append(RESET)
    return "".join(written)


def clean(text: str) -> str:
    """Text without characters that IRC gives a meaning to; line breaks become spaces."""
    return _CONTROL.sub("", text.replace("\n", " ").replace("\r", " "))


def plain(line: str) -> str:
    """A line without codes."""
    return "".join(run.text for run in read_runs(line))


def styles_after(line: str) -> frozenset[Style]:
    """The styles that are on at the end of a piece of a line."""
    state = _State()
    for code in _CODE.finditer(line):
        state.take(code)
    return state.styles


def reopened(styles: frozenset[Style], text: str) -> str:
    """The codes that switch these styles on before `text`."""
    return _switch(NONE, styles, text)


def is_in_code(line: str, cut: int) -> bool:
    """Whether a cut at this place would tear a code apart."""
    nearest = max(
        line.rfind(COLOUR, max(0, cut - 14), cut), line.rfind(HEX_COLOUR, max(0, cut - 14), cut)
    )
    if nearest < 0:
        return False
    code = _CODE.match(line, nearest)
    return code is not None and code.start() < cut < code.end()


class _State:
    """The formatting that is on at a place of a line."""

    def __init__(self) -> None:
        self._on: set[Style] = set()
        self._ground: tuple[str, str] = ("", "")

    @property
    def styles(self) -> frozenset[Style]:
        fore, back = self._ground
        return (
            with_style(frozenset(self._on), "spoiler")
            if back and fore == back
            else frozenset(self._on)
        )

    def take(self, match: re.Match[str]) -> None:
        code = match[0][0]
        if code == RESET:
            self._on.clear()
            self._ground = ("", "")
        elif code == COLOUR:
            self._colour(match["fg"], match["bg"])
        elif code == HEX_COLOUR:
            self._colour(match["hfg"], match["hbg"])
        elif (style := _TOGGLES.get(code)) is not None:
            (self._on.remove if style in self._on else self._on.add)(style)

    def _colour(self, fore: str | None, back: str | None) -> None:
        if fore is None:
            self._ground = ("", "")
            return
        width = 2 if len(fore) <= 2 else 6
        ground = back.zfill(width).lower() if back is not None else self._ground[1]
        self._ground = (fore.zfill(width).lower(), ground)


def _add(runs: list[Run], text: str, styles: frozenset[Style]) -> None:
    text = _CONTROL.sub("", text)
    if not text:
        return
    if runs and runs[-1].styles == styles:
        runs[-1] = Run(runs[-1].text + text, styles)
    else:
        runs.append(Run(text, styles))


def _switch(before: frozenset[Style], after: frozenset[Style], text: str) -> str:
    """The codes that lead from one set of styles to another."""
    if not after:
        return RESET if before else ""
    changed = before ^ after
    codes = [code for style, code in _CODES.items() if style in changed]
    if "spoiler" in changed:
        if "spoiler" in after:
            codes.append(HIDDEN)
        else:
            # A bare code would take digits of the text as its colour; a toggle pair parts them.
            codes.append(COLOUR)
            if text[:1].isdigit() or text[:1] == ",":
                codes.append(BOLD + BOLD)
    return "".join(codes)


def nested(runs: Sequence[Run], order: Sequence[Style]) -> list[tuple[Style | None, list[Run]]]:
    """Runs grouped by the first style of `order` that any of them has: pieces that have it (with
    the style taken from their runs) and pieces without it (None)."""
    for style in order:
        if not any(style in run.styles for run in runs):
            continue
        groups: list[tuple[Style | None, list[Run]]] = []
        for run in runs:
            has = style in run.styles
            inner = Run(run.text, run.styles - {style}) if has else run
            key: Style | None = style if has else None
            if groups and groups[-1][0] == key:
                groups[-1][1].append(inner)
            else:
                groups.append((key, [inner]))
        return groups
    return [(None, list(runs))]
