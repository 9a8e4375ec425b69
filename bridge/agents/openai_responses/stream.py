"""A stream of OpenAI Responses events -> agent events, and the whole response. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import CallIds
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
    """Reads events in order; unknown types are ignored."""

    def __init__(self) -> None:
        self._response: Json = {}
        self._items: dict[int, Json] = {}
        self._block = (-1, -1)  # the text that grows: index of its item, and within it
        self._blocks: dict[tuple[int, int], JsonValue] = {}
        self._emitted_parts: list[ContentPart] = []
        self._streamed = False
        self._complete = False
        self._call_ids = CallIds("answer")

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        body = obj(event)
        kind = text(body.get("type"))
        if kind in _TEXTS:
            return self._grow(_place(body), text(body.get("delta")))
        if kind == "response.content_part.done":
            self._blocks[_place(body)] = body.get("part")
        elif kind == "response.output_item.done":
            return self._item(_index(body), obj(body.get("item")))
        elif kind in _ENDS or (body.get("object") == "response" and "output" in body):
            return self._end(obj(body.get("response")) or body)
        elif kind == "response.failed":
            raise api_error(obj(body.get("response")).get("error"))
        elif kind == "error":
            raise api_error(body.get("error") or body)
        return ()

    def end(self) -> Sequence[AgentEvent]:
        if not self._complete:
            raise AgentError(ENDED_EARLY)
        return ()

    @property
    def ending(self) -> Ending:
        reason = text(obj(self._response.get("incomplete_details")).get("reason"))
        items = [obj(native_item) for native_item in arr(self.response["output"])]
        refusals = [block for item in items for block in map(obj, arr(item.get("content")))
                   if block.get("type") == "refusal"]  # fmt: skip
        if refusals or reason == "content_filter":
            return Ending("refused", text(refusals[0].get("refusal")) if refusals else reason)
        if self._response.get("status") == "incomplete":
            return Ending("length", reason)
        awaits_somebody = any(_is_question(item) for item in items)
        return Ending("calls" if awaits_somebody else "done")

    @property
    def response(self) -> Json:
        output: list[JsonValue] = [self._items[index] for index in sorted(self._items)]
        return {**self._response, "output": output}

    def _grow(self, place: tuple[int, int], added: str) -> list[AgentEvent]:
        """Take more text. Before another text of the same message begins, say what the last one has
        beside its text."""
        last_place = self._block
        events: list[AgentEvent] = []
        if place != last_place and place[0] == last_place[0] and last_place in self._blocks:
            events = self._say(_beside_text(block_parts(self._blocks[last_place])))
        if place[0] != last_place[0]:
            self._emitted_parts = []
        self._block = place
        self._streamed = True
        return [*events, TextDelta(text=added)] if added else events

    def _item(self, index: int, item: Json) -> list[AgentEvent]:
        self._items[index] = item
        streamed = self._streamed and self._block[0] == index
        parts = item_parts(item, self._call_ids)
        rest = [part for part in _beside_text(parts) if part not in self._emitted_parts]
        self._emitted_parts = []
        self._streamed = False
        return events_of(rest if streamed else parts)

    def _say(self, parts: list[ContentPart]) -> list[AgentEvent]:
        self._emitted_parts += parts
        return events_of(parts)

    def _end(self, response: Json) -> list[AgentEvent]:
        """Take the whole response; items that only it has are emitted now."""
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
    """Return whether somebody must act before the model continues."""
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
