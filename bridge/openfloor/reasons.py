"""The tokens in the reason of an event: `@timedOut`, `@brokenPolicy`."""

from __future__ import annotations

import re

OUT_OF_DOMAIN = "@outOfDomain"
UNAVAILABLE = "@unavailable"
REFUSED = "@refused"
ERROR = "@error"
TIMED_OUT = "@timedOut"
BROKEN_POLICY = "@brokenPolicy"
OVERRIDE = "@override"
COMPLETE = "@complete"

_TOKEN = re.compile(r"@[a-zA-Z0-9_]+")
_WORDS = {
    OUT_OF_DOMAIN: "this is outside of what it does",
    UNAVAILABLE: "it is not available",
    REFUSED: "it refuses",
    ERROR: "an error occurred",
    TIMED_OUT: "it took too long",
    BROKEN_POLICY: "it broke a rule of this conversation",
    OVERRIDE: "somebody else needs the floor",
    COMPLETE: "it is done",
}


def tokens_of(reason: str | None) -> tuple[str, ...]:
    """Return the tokens of a reason, in order, as they are written."""
    return tuple(_TOKEN.findall(reason or ""))


def words_of(reason: str | None) -> str:
    """Return a reason in words that people understand; "" for none.

    A known token is replaced by its meaning, an unknown one loses its `@`, so that it mentions
    nobody. Free text stands behind.
    """
    found = tokens_of(reason)
    free = " ".join(_TOKEN.sub(" ", reason or "").split())
    meanings = [_WORDS.get(token, token[1:]) for token in found]
    return ": ".join(filter(None, (", ".join(meanings), free)))
