"""Styles of containers <-> the colours of their bars. Data and two looks into it."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.tree import Style

MAX_COLOR = 0xFFFFFF

_COLORS: dict[Style, int] = {
    "accent": 0x36C5F0,
    "good": 0x2EB67D,
    "warning": 0xECB22E,
    "attention": 0xE01E5A,
    "emphasis": 0x99AAB5,
}
_STYLES: dict[int, Style] = {color: style for style, color in _COLORS.items()}


def style_of(color: JsonValue) -> tuple[Style, int | None]:
    """The style whose colour it is, else the colour itself; nothing for what is no colour."""
    if not isinstance(color, int) or isinstance(color, bool) or not 0 <= color <= MAX_COLOR:
        return "default", None
    style = _STYLES.get(color)
    return (style, None) if style else ("default", color)


def color_of(style: Style, color: int | None) -> int | None:
    """None where the bar has no colour of its own."""
    if color is not None and 0 <= color <= MAX_COLOR:
        return color
    return _COLORS.get(style)
