"""What no IRC server takes in a text (RFC 2812, 2.3.1)."""

from __future__ import annotations

from typing import Any

_FORBIDDEN = ("\0", "\r", "\x01")


def faults(message: Any) -> list[str]:
    if not isinstance(message, dict) or list(message) != ["text"]:
        return ["a message of IRC is its text"]
    text = message["text"]
    if not isinstance(text, str) or not text.strip():
        return ["the text is empty"]
    found = [f"the text has {sign!r}" for sign in _FORBIDDEN if sign in text]
    return found + ["a line is empty" for line in text.split("\n") if not line.strip()][:1]
