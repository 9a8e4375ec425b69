"""A person's id and name -> a small SVG picture with their initials. Pure."""

from __future__ import annotations

from html import escape

_COLOURS = ("#4a6fa5", "#b5523b", "#3f7d58", "#8d5a97", "#a67c00", "#2f7f86")


def avatar_svg(key: str, name: str) -> str:
    colour = _COLOURS[sum(map(ord, key)) % len(_COLOURS)]
    initials = escape("".join(word[0] for word in name.split()[:2]).upper())
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="72" height="72" viewBox="0 0 72 72">'
        f'<rect width="72" height="72" rx="12" fill="{colour}"/>'
        '<text x="36" y="37" fill="#fff" font-family="sans-serif" font-size="28" '
        f'text-anchor="middle" dominant-baseline="central">{initials}</text></svg>'
    )
