"""Reaction types of Teams <-> Unicode: six names, others by their code points.

Source: msteams-docs "Teams reactions reference" (2026-02): `1f44b_wavinghand`.
"""

from __future__ import annotations

import re

_CLASSIC = {
    "like": "👍", "heart": "❤️", "laugh": "😆", "surprised": "😮", "sad": "😢", "angry": "😡",
}  # fmt: skip
_BY_EMOJI = {emoji: kind for kind, emoji in _CLASSIC.items()}
_POINTS = re.compile(r"[0-9a-f]{4,6}(?:-[0-9a-f]{4,6})*(?=_)")
_NAMED = re.compile(r"[a-z0-9]{2,60}(?:-tone[1-5])?")  # words: `clap`, `launch`


def is_type(kind: str) -> bool:
    return bool(_POINTS.match(kind) or _NAMED.fullmatch(kind))


def reaction_emoji(kind: str) -> str:
    """Return the emoji of a type; `:type:` if its name has no code points."""
    if kind in _CLASSIC:
        return _CLASSIC[kind]
    points = _POINTS.match(kind)
    return "".join(chr(int(p, 16)) for p in points[0].split("-")) if points else f":{kind}:"


def reaction_type(emoji: str) -> str:
    """Return the type of a Unicode emoji, or the name between colons."""
    if emoji.startswith(":"):
        return emoji.strip(":")
    name = _BY_EMOJI.get(emoji)
    return name or "-".join(f"{ord(c):04x}" for c in emoji) + "_emoji"
