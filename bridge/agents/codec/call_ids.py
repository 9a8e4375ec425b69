"""Ids for calls of tools where an API gives none, or one of them twice: the same each time the same
JSON is read. Pure."""

from __future__ import annotations

from collections import defaultdict, deque

from bridge.uacs import ContentPart, ToolCallPart, ToolResultPart

MADE_ID = "uacs_call_"
"""How ids begin that are made here. What the API itself gave stands behind a colon."""


def native_id(call_id: str) -> str:
    """The id that the API gave to a call; empty where it gave none."""
    return call_id.partition(":")[2] if call_id.startswith(MADE_ID) else call_id


class Calls:
    """Ids for calls that have none or that of another call, and for the results that answer them:
    in order, by the id that was given, else by name."""

    def __init__(self, of: str) -> None:
        self._of = of.replace(":", "_")
        self._made = 0
        self._open: dict[str, deque[str]] = defaultdict(deque)  # without an id, by name
        self._given: dict[str, deque[str]] = defaultdict(deque)  # by the id that was given

    def call(self, name: str, given: str) -> str:
        self._made += 1
        made = f"{MADE_ID}{self._of}_{self._made}"
        if not given:
            self._open[name].append(made)
            return made
        call_id = f"{made}:{given}" if given in self._given else given
        self._given[given].append(call_id)
        return call_id

    def named(self, part: ContentPart | None) -> ContentPart | None:
        """A part with the id of its call, where it has one."""
        match part:
            case ToolCallPart(id=given, name=name):
                return part.model_copy(update={"id": self.call(name, given)})
            case ToolResultPart(tool_call_id=given) if given:
                return part.model_copy(update={"tool_call_id": self.result("", given)})
            case _:
                return part

    def result(self, name: str, given: str) -> str:
        if given:
            return self._given[given].popleft() if self._given.get(given) else given
        waiting = self._open[name]
        return waiting.popleft() if waiting else f"{MADE_ID}{self._of}_{name}"
