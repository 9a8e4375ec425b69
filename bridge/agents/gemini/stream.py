"""A stream of Gemini responses -> agent events, and the whole response. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.native_parts import events_of
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.agents.gemini.read import block_parts, sources_of
from bridge.agents.transport.api_errors import api_error
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta
from bridge.uacs import TextPart

_REFUSALS = frozenset((
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "ESCALATION",
))  # fmt: skip
# The vendor does not document FUNCTION_CALL, but servers that speak its API send it.
_GOOD = frozenset(("STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED", "FUNCTION_CALL"))
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]")
_DEEPEST = 64


class Stream:
    """Reads events in order; each is a part of a response. Consecutive texts are one text."""

    def __init__(self) -> None:
        self._top: Json = {}
        self._candidate: Json = {}
        self._content: Json = {}
        self._parts: list[Json] = []
        self._emitted_count = 0  # parts that were said as a whole
        self._call_is_open = False  # whether the last part is a call whose arguments are streamed
        self._call_ids: CallIds | None = None

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        chunk = obj(event)
        if chunk.get("error") is not None:
            raise api_error(chunk["error"])
        for key, value in without(chunk, "candidates").items():
            self._top[key] = value
        events: list[AgentEvent] = []
        for candidate in map(obj, arr(chunk.get("candidates"))[:1]):
            self._candidate.update(without(candidate, "content"))
            content = obj(candidate.get("content"))
            self._content.update(without(content, "parts"))
            for part in map(obj, arr(content.get("parts"))):
                events += self._part(part)
        return events

    def end(self) -> Sequence[AgentEvent]:
        if not self._blocked() and not text(self._candidate.get("finishReason")):
            raise AgentError(ENDED_EARLY)
        reason = text(self._candidate.get("finishReason"))
        if reason and reason not in _GOOD and reason not in _REFUSALS:
            raise AgentError(f"its model ended with {reason}")
        return [*self._close(), *events_of(sources_of(self._candidate))]

    @property
    def ending(self) -> Ending:
        reason = text(self._candidate.get("finishReason"))
        if self._blocked() or reason in _REFUSALS:
            return Ending("refused")
        if any("functionCall" in part for part in self._parts):
            return Ending("calls", reason)
        return Ending("length" if reason == "MAX_TOKENS" else "done", reason)

    @property
    def response(self) -> Json:
        if not self._candidate and not self._parts:
            return dict(self._top)
        content: Json = {**self._content}
        if self._parts:
            content["parts"] = [dict(part) for part in self._parts]
        return {**self._top, "candidates": [{**self._candidate, "content": content}]}

    def _blocked(self) -> bool:
        return "blockReason" in obj(self._top.get("promptFeedback"))

    def _part(self, part: Json) -> list[AgentEvent]:
        call = part.get("functionCall")
        if isinstance(call, dict) and (self._call_is_open or "willContinue" in call):
            return self._grow_call(part, call)
        last = self._parts[-1] if self._parts else {}
        added = text(part.get("text"))
        if part == {"text": ""}:
            return []  # some models end a stream so
        if "text" in part and _continues(last, part):
            self._parts[-1] = {**last, **part, "text": text(last.get("text")) + added}
            return [TextDelta(text=added)] if added and not part.get("thought") else []
        events = self._close()
        self._parts.append(part)
        if added and not part.get("thought"):
            events.append(TextDelta(text=added))
        return events

    def _grow_call(self, part: Json, call: Json) -> list[AgentEvent]:
        """Take a piece of a call whose arguments are streamed; a piece without `willContinue` ends
        it."""
        events: list[AgentEvent] = []
        if not self._call_is_open:
            events = self._close()
            self._parts.append({**part, "functionCall": {"args": {}}})
        earlier_call = obj(self._parts[-1]["functionCall"])
        args = obj(earlier_call.get("args"))
        for partial_arg in map(obj, arr(call.get("partialArgs"))):
            _put(args, text(partial_arg.get("jsonPath")), _value(partial_arg))
        self._parts[-1].update(without(part, "functionCall"))
        call_fields = without(call, "partialArgs", "willContinue", "args")
        self._parts[-1]["functionCall"] = {
            **earlier_call,
            **call_fields,
            "args": {**args, **obj(call.get("args"))},
        }
        self._call_is_open = call.get("willContinue") is True
        return events

    def _close(self) -> list[AgentEvent]:
        """Emit the last part's other content; its text was emitted as it came."""
        if self._emitted_count >= len(self._parts):
            return []
        if self._call_ids is None:
            self._call_ids = CallIds(text(self._top.get("responseId")) or "answer")
        parts = block_parts(self._parts[-1], self._call_ids)
        self._emitted_count = len(self._parts)
        self._call_is_open = False
        return events_of(part for part in parts if not isinstance(part, TextPart))


def _continues(last: Json, part: Json) -> bool:
    """Return whether a text continues the last part: both reasoning or neither, and not signed
    yet."""
    same = bool(last.get("thought")) == bool(part.get("thought"))
    return "text" in last and same and "thoughtSignature" not in last


def _value(partial: Json) -> JsonValue:
    for key in ("stringValue", "numberValue", "boolValue"):
        if key in partial:
            return partial[key]
    return None


def _put(args: Json, path: str, value: JsonValue) -> None:
    """Set the value at a JSON path such as `$.items[0].name`; a text that exists grows. Raises
    AgentError for a path that does not fit the arguments so far."""
    steps = [m.group(1) or m.group(3) or int(m.group(2)) for m in _STEP.finditer(path)][:_DEEPEST]
    here: JsonValue = args
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        fresh: JsonValue = value if after is None else [] if isinstance(after, int) else {}
        if isinstance(here, dict) and isinstance(step, str):
            before = here.get(step)
            here[step] = _grown(before, fresh, is_last=after is None)
            here = here[step]
        elif isinstance(here, list) and isinstance(step, int):
            if step >= len(here):
                here.append(fresh)
            else:
                here[step] = _grown(here[step], fresh, is_last=after is None)
            here = here[min(step, len(here) - 1)]
        else:
            raise AgentError("the arguments of a tool call arrive in an invalid order")


def _grown(before: JsonValue, fresh: JsonValue, *, is_last: bool) -> JsonValue:
    if not is_last:
        return before if type(before) is type(fresh) else fresh
    return before + fresh if isinstance(before, str) and isinstance(fresh, str) else fresh
