"""Ids for calls of tools in APIs that give none: the same each time the same JSON is read. Pure."""

from __future__ import annotations

from collections import defaultdict, deque

MADE_ID = "uacs_call_"
"""How ids begin that are made here, because the API gave none; it is not told them."""


class Calls:
    """Ids for calls that have none, and for the results that answer them: by name, in order."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._made = 0
        self._open: dict[str, deque[str]] = defaultdict(deque)

    def call(self, name: str, given: str) -> str:
        self._made += 1
        call_id = given or f"{MADE_ID}{self._of}_{self._made}"
        if not given:
            self._open[name].append(call_id)
        return call_id

    def result(self, name: str, given: str) -> str:
        if given:
            return given
        waiting = self._open[name]
        return waiting.popleft() if waiting else f"{MADE_ID}{self._of}_{name}"
