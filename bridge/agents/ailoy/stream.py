"""A stream of Ailoy's message deltas -> agent events, and the whole message. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.ailoy.read import VERBATIM, block_parts, call_parts, message_parts
from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.native_parts import events_of, reasoning, state
from bridge.agents.codec.stream_reader import DONE, ENDED_EARLY, Ending
from bridge.agents.transport.api_errors import api_error
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta
from bridge.uacs import ContentPart, StructuredDataPart, TextPart

_GROWING = ("role", "contents", "thinking", "tool_calls", "signature")


class Stream:
    """Reads deltas, bare or as `{"delta": ..., "finish_reason": ...}`; a whole message is one
    delta. A stream of bare deltas ends without a final event."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._contents: list[Json] = []
        self._calls: list[Json] = []
        self._described: set[int] = set()  # places of the calls in the last delta
        self._finish: Json = {}
        self._top: Json = {}
        self._emitted_count = 0  # number of contents that were said
        self._has_thoughts = False
        self._wrapped = False
        self._complete = False

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        body = obj(event)
        self._complete |= event == DONE
        if body.get("error") is not None:
            raise api_error(body["error"])
        self._top.update({key: body[key] for key in ("usage", "model") if body.get(key)})
        inner = body.get("delta", body.get("message"))
        self._wrapped |= isinstance(inner, dict)
        if isinstance(inner, dict) and body.get("finish_reason") is not None:
            reason = body["finish_reason"]
            self._finish = obj(reason) or {"type": text(reason)}
            self._complete = True
        return self._grow(inner if isinstance(inner, dict) else body)

    def end(self) -> Sequence[AgentEvent]:
        has_begun = self._message or self._contents or self._calls
        if not self._complete and (self._wrapped or not has_begun):
            raise AgentError(ENDED_EARLY)
        events = self._begin()
        events += self._close()
        call_ids = CallIds(text(self._message.get("id")) or "answer")
        return [*events, *events_of(p for call in self._calls for p in call_parts(call, call_ids)),
                *events_of(self._beside())]  # fmt: skip

    @property
    def ending(self) -> Ending:
        kind = text(self._finish.get("type"))
        if kind == "refusal":
            return Ending("refused", text(self._finish.get("reason")))
        if self._calls:
            return Ending("calls", kind)
        return Ending("length" if kind == "length" else "done", kind)

    @property
    def response(self) -> Json:
        finish: Json = {"finish_reason": self._finish} if self._finish else {}
        return {"message": self._whole(), **finish, **self._top}

    def _whole(self) -> Json:
        calls: Json = {"tool_calls": list[JsonValue](self._calls)} if self._calls else {}
        contents: list[JsonValue] = [dict(content) for content in self._contents]
        return {"role": "assistant", **self._message, "contents": contents, **calls}

    def _beside(self) -> list[ContentPart]:
        """Return what the message has beside its parts."""
        *_, last = message_parts(self._whole(), CallIds("x")) or [TextPart(text="")]
        data = obj(last.data) if isinstance(last, StructuredDataPart) else {}  # pyright: ignore[reportArgumentType]
        return [last] if "message" in data else []

    def _grow(self, delta: Json) -> list[AgentEvent]:
        self._described.clear()
        for key, value in without(delta, *_GROWING).items():
            if value is not None and (self._wrapped or key in ("id", "name")):
                self._message[key] = value
        for key in ("role", "signature"):
            if text(delta.get(key)):
                self._message[key] = delta[key]
        if thought := text(delta.get("thinking")):
            self._message["thinking"] = text(self._message.get("thinking")) + thought
        contents = delta.get("contents")
        blocks = [{"type": "text", "text": contents}] if isinstance(contents, str) else contents
        events: list[AgentEvent] = []
        for block in map(obj, arr(blocks)):  # pyright: ignore[reportArgumentType]
            events += self._content(block)
        for tool_call in map(obj, arr(delta.get("tool_calls"))):
            self._call(tool_call)
        return events

    def _content(self, block: Json) -> list[AgentEvent]:
        """Take a part of the contents. Consecutive texts are one text."""
        if block.get("type") == "function":  # a call is emitted when it is complete
            self._call(block)
            return []
        added = block.get("text")
        events = self._begin()
        if not isinstance(added, str):
            events += self._close()
            self._contents.append(block)
            return [*events, *self._close()]
        last = self._contents[-1] if self._contents else {}
        if isinstance(last.get("text"), str):
            self._contents[-1] = {**last, **block, "text": text(last["text"]) + added}
        else:
            self._contents.append({"type": "text", **block})
        return [*events, TextDelta(text=added)] if added else events

    def _call(self, delta: Json) -> None:
        """Take a piece of a call. One with an id belongs to the call with that id, any other to the
        last call, until a piece begins another call."""
        own_id = text(delta.get("id"))
        ids = [text(call.get("id")) for call in self._calls]
        place = max(
            (n for n, call_id in enumerate(ids) if own_id in ("", call_id)), default=len(ids)
        )
        grown = None
        if place < len(ids):
            grown = _grown(self._calls[place], delta, again=place in self._described)
        if grown is None:
            place = len(ids)
            self._calls.append(delta)
        else:
            self._calls[place] = grown
        self._described.add(place)

    def _begin(self) -> list[AgentEvent]:
        """Say the reasoning before the first word."""
        thought = text(self._message.get("thinking"))
        if self._has_thoughts or not thought:
            return []
        self._has_thoughts = True
        signature = text(self._message.get("signature"))
        beside = [state("ailoy", fields={"signature": signature})] if signature else []
        return events_of([reasoning(thought), *beside])

    def _close(self) -> list[AgentEvent]:
        """Emit the last part's other content; its text was emitted as it came."""
        if self._emitted_count >= len(self._contents):
            return []
        self._emitted_count = len(self._contents)
        parts = block_parts(self._contents[-1])
        return events_of(part for part in parts if not isinstance(part, TextPart))


def _grown(call: Json, delta: Json, *, again: bool) -> Json | None:
    """Return a call with one more piece: texts grow, names too. None if the piece begins another
    call: after a complete one; with a name after arguments, or if this delta has described the call
    already (`again`); with the same name if neither has arguments or an id."""
    known_function, function = obj(call.get("function")), obj(delta.get("function"))
    member = "text" if function.get("type") == VERBATIM else "arguments"
    earlier, added = known_function.get(member), function.get(member)
    if not isinstance(earlier, str) or not isinstance(added, str):
        return None
    if _is_whole(earlier) and added.strip():
        return None
    own_name, name = text(known_function.get("name")), text(function.get("name"))
    grown: Json = {**call, "function": {**known_function, member: earlier + added}}
    if not name or (name == own_name and not again and (earlier or added or text(delta.get("id")))):
        return grown
    if again or earlier or name == own_name:
        return None
    return {**call, "function": {**known_function, "name": own_name + name, member: added}}


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(orjson.loads(arguments), dict)
    except orjson.JSONDecodeError:
        return False
