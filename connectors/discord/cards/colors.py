"""Styles of containers <-> the colours of their bars."""

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
    """Return the style with this colour, or else the colour; neither for an invalid colour."""
    if not isinstance(color, int) or isinstance(color, bool) or not 0 <= color <= MAX_COLOR:
        return "default", None
    style = _STYLES.get(color)
    return (style, None) if style else ("default", color)


def color_of(style: Style, color: int | None) -> int | None:
    """Return the colour of the bar; None for the default colour."""
    if color is not None and 0 <= color <= MAX_COLOR:
        return color
    return _COLORS.get(style)
