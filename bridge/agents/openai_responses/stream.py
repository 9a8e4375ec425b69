"""A stream of OpenAI Responses events -> agent events, and the whole response. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import Calls
from bridge.agents.codec.json_values import Json, arr, number, obj, text, without
from bridge.agents.codec.native_parts import events_of
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.agents.openai_responses.read import block_parts, item_parts
from bridge.agents.transport.api_errors import api_error
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta
from bridge.uacs import ContentPart, TextPart

_ENDS = ("response.completed", "response.incomplete")
_TEXTS = ("response.output_text.delta", "response.refusal.delta")


class Stream:
    """Events, in order; those of unknown types say nothing."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[int, Json] = {}
        self._block = (-1, -1)  # the text that is growing: index of its item, and in that
        self._blocks: dict[tuple[int, int], JsonValue] = {}
        self._said: list[ContentPart] = []
        self._streamed = False
        self._complete = False
        self._calls = Calls("answer")

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        one = obj(event)
        kind = text(one.get("type"))
        if kind in _TEXTS:
            return self._grow(_place(one), text(one.get("delta")))
        if kind == "response.content_part.done":
            self._blocks[_place(one)] = one.get("part")
        elif kind == "response.output_item.done":
            return self._item(_index(one), obj(one.get("item")))
        elif kind in _ENDS or (one.get("object") == "response" and "output" in one):
            return self._end(obj(one.get("response")) or one)
        elif kind == "response.failed":
            raise api_error(obj(one.get("response")).get("error"))
        elif kind == "error":
            raise api_error(one.get("error") or one)
        return ()

    def end(self) -> Sequence[AgentEvent]:
        if not self._complete:
            raise AgentError(ENDED_EARLY)
        return ()

    @property
    def ending(self) -> Ending:
        reason = text(obj(self._response.get("incomplete_details")).get("reason"))
        items = [obj(native_item) for native_item in arr(self.response["output"])]
        refused = [block for item in items for block in map(obj, arr(item.get("content")))
                   if block.get("type") == "refusal"]  # fmt: skip
        if refused or reason == "content_filter":
            return Ending("refused", text(refused[0].get("refusal")) if refused else reason)
        if self._response.get("status") == "incomplete":
            return Ending("length", reason)
        asks = any(_is_question(item) for item in items)
        return Ending("calls" if asks else "done")

    @property
    def response(self) -> Json:
        output: list[JsonValue] = [self._items[index] for index in sorted(self._items)]
        return {**self._response, "output": output}

    def _grow(self, place: tuple[int, int], more: str) -> list[AgentEvent]:
        """Before another text of the same message begins, what the last one has beside it."""
        before = self._block
        events: list[AgentEvent] = []
        if place != before and place[0] == before[0] and before in self._blocks:
            events = self._say(_beside_text(block_parts(self._blocks[before])))
        if place[0] != before[0]:
            self._said = []
        self._block = place
        self._streamed = True
        return [*events, TextDelta(text=more)] if more else events

    def _item(self, index: int, item: Json) -> list[AgentEvent]:
        self._items[index] = item
        streamed = self._streamed and self._block[0] == index
        parts = item_parts(item, self._calls)
        rest = [part for part in _beside_text(parts) if part not in self._said]
        self._said = []
        self._streamed = False
        return events_of(rest if streamed else parts)

    def _say(self, parts: list[ContentPart]) -> list[AgentEvent]:
        self._said += parts
        return events_of(parts)

    def _end(self, response: Json) -> list[AgentEvent]:
        """The whole response; items that it alone has are said now."""
        if response.get("status") == "failed":
            raise api_error(response.get("error"))
        self._complete = True
        self._response = without(response, "output")
        events: list[AgentEvent] = []
        for index, item in enumerate(arr(response.get("output"))):
            if len(self._items) <= index:
                events += self._item(index, obj(item))
        return events


def _is_question(item: Json) -> bool:
    """Whether somebody must act before the model goes on."""
    kind = text(item.get("type"))
    if kind in ("custom_tool_call", "local_shell_call", "apply_patch_call", "computer_call"):
        return True
    return kind in ("function_call", "mcp_approval_request")


def _beside_text(parts: list[ContentPart]) -> list[ContentPart]:
    return [part for part in parts if not isinstance(part, TextPart)]


def _index(event: Json) -> int:
    return number(event.get("output_index")) or 0


def _place(event: Json) -> tuple[int, int]:
    return _index(event), number(event.get("content_index")) or 0
