"""Ids for tool calls where an API gives none or repeats one. Reading the same JSON again gives the
same ids. Pure."""

from __future__ import annotations

from collections import defaultdict, deque

from bridge.uacs import ContentPart, ToolCallPart, ToolResultPart

MADE_ID = "uacs_call_"
"""The prefix of ids that the bridge makes. An id that the API gave follows after a colon."""


def native_id(call_id: str) -> str:
    """Return the id that the API gave to a call; empty if it gave none."""
    return call_id.partition(":")[2] if call_id.startswith(MADE_ID) else call_id


class CallIds:
    """Assigns ids to calls that have none or repeat the id of another call, and the same ids to the
    results that answer them: in order, matched by the API's id, else by the tool's name."""

    def __init__(self, scope: str) -> None:
        self._scope = scope.replace(":", "_")
        self._count = 0
        self._open: dict[str, deque[str]] = defaultdict(deque)  # calls without an id, by tool name
        self._by_api_id: dict[str, deque[str]] = defaultdict(deque)

    def for_call(self, name: str, api_id: str) -> str:
        """Return the id of the next call of a tool; `api_id` is empty if the API gave none."""
        self._count += 1
        own_id = f"{MADE_ID}{self._scope}_{self._count}"
        if not api_id:
            self._open[name].append(own_id)
            return own_id
        call_id = f"{own_id}:{api_id}" if api_id in self._by_api_id else api_id
        self._by_api_id[api_id].append(call_id)
        return call_id

    def with_id(self, part: ContentPart | None) -> ContentPart | None:
        """Return a call or a result with its assigned id; any other part unchanged."""
        match part:
            case ToolCallPart(id=api_id, name=name):
                return part.model_copy(update={"id": self.for_call(name, api_id)})
            case ToolResultPart(tool_call_id=api_id) if api_id:
                return part.model_copy(update={"tool_call_id": self.for_result("", api_id)})
            case _:
                return part

    def for_result(self, name: str, api_id: str) -> str:
        """Return the id of the call that a result answers, which is the oldest open one."""
        if api_id:
            open_calls = self._by_api_id.get(api_id)
            return open_calls.popleft() if open_calls else api_id
        open_calls = self._open[name]
        return open_calls.popleft() if open_calls else f"{MADE_ID}{self._scope}_{name}"
