"""The reason of a refused event in one word, for metrics. Pure.

The texts that people read may have numbers in them; the words are few and stay.
"""

from __future__ import annotations

_REFUSED = "not admitted: "
_OTHER = "other"
# How the text of each refusal begins, and its word.
REASONS = {
    "its author keeps it to this channel": "private",
    "bots are not admitted": "bots",
    "it is excluded": "excluded",
    "it is not included": "not_included",
    "the room is paused": "paused",
    "its author is banned": "banned",
    "its author opted out": "opted_out",
    "a bot says what somebody said just now": "copy",
    "bots said more than": "flood",
    "people said the same again and again": "loop",
}


def refusal_reason(outcome: str) -> str | None:
    """Return the word for the outcome of an event; None for an event that was not refused."""
    if not outcome.startswith(_REFUSED):
        return None
    text = outcome.removeprefix(_REFUSED)
    return next((word for begin, word in REASONS.items() if text.startswith(begin)), _OTHER)
