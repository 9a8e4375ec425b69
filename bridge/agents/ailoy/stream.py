"""A stream of Ailoy's message deltas -> agent events, and the whole message. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from pydantic import JsonValue

from bridge.agents.ailoy.read import VERBATIM, block_parts, call_parts, message_parts
from bridge.agents.codec.call_ids import Calls
from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.native_parts import events_of, reasoning, state
from bridge.agents.codec.stream_reader import DONE, ENDED_EARLY, Ending
from bridge.agents.transport.api_errors import api_error
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta
from bridge.uacs import ContentPart, StructuredDataPart, TextPart

_GROWING = ("role", "contents", "thinking", "tool_calls", "signature")


class Stream:
    """Deltas, bare or as `{"delta": ..., "finish_reason": ...}`; a whole message is one delta. A
    stream of bare ones ends where it ends."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._contents: list[Json] = []
        self._calls: list[Json] = []
        self._touched: set[int] = set()  # places of the calls that the last delta told of
        self._finish: Json = {}
        self._top: Json = {}
        self._said = 0  # contents that were said as a whole
        self._thought = False
        self._wrapped = False
        self._complete = False

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        one = obj(event)
        self._complete |= event == DONE
        if one.get("error") is not None:
            raise api_error(one["error"])
        self._top.update({key: one[key] for key in ("usage", "model") if one.get(key)})
        inner = one.get("delta", one.get("message"))
        self._wrapped |= isinstance(inner, dict)
        if isinstance(inner, dict) and one.get("finish_reason") is not None:
            reason = one["finish_reason"]
            self._finish = obj(reason) or {"type": text(reason)}
            self._complete = True
        return self._grow(inner if isinstance(inner, dict) else one)

    def end(self) -> Sequence[AgentEvent]:
        begun = self._message or self._contents or self._calls
        if not self._complete and (self._wrapped or not begun):
            raise AgentError(ENDED_EARLY)
        events = self._begin()
        events += self._close()
        calls = Calls(text(self._message.get("id")) or "answer")
        return [*events, *events_of(p for call in self._calls for p in call_parts(call, calls)),
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
        """What the message has beside its parts."""
        *_, last = message_parts(self._whole(), Calls("x")) or [TextPart(text="")]
        data = obj(last.data) if isinstance(last, StructuredDataPart) else {}  # pyright: ignore[reportArgumentType]
        return [last] if "message" in data else []

    def _grow(self, delta: Json) -> list[AgentEvent]:
        self._touched.clear()
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

    def _content(self, one: Json) -> list[AgentEvent]:
        """Texts in a row are one text."""
        if one.get("type") == "function":  # a call, which is told once it is whole
            self._call(one)
            return []
        said = one.get("text")
        events = self._begin()
        if not isinstance(said, str):
            events += self._close()
            self._contents.append(one)
            return [*events, *self._close()]
        last = self._contents[-1] if self._contents else {}
        if isinstance(last.get("text"), str):
            self._contents[-1] = {**last, **one, "text": text(last["text"]) + said}
        else:
            self._contents.append({"type": "text", **one})
        return [*events, TextDelta(text=said)] if said else events

    def _call(self, one: Json) -> None:
        """A piece with an id belongs to the call that has it, any other to the last call; each
        grows until something begins another."""
        own_id = text(one.get("id"))
        ids = [text(call.get("id")) for call in self._calls]
        place = max((n for n, known in enumerate(ids) if own_id in ("", known)), default=len(ids))
        grown = None
        if place < len(ids):
            grown = _grown(self._calls[place], one, again=place in self._touched)
        if grown is None:
            place = len(ids)
            self._calls.append(one)
        else:
            self._calls[place] = grown
        self._touched.add(place)

    def _begin(self) -> list[AgentEvent]:
        """What was thought comes before the first word."""
        thought = text(self._message.get("thinking"))
        if self._thought or not thought:
            return []
        self._thought = True
        signature = text(self._message.get("signature"))
        beside = [state("ailoy", fields={"signature": signature})] if signature else []
        return events_of([reasoning(thought), *beside])

    def _close(self) -> list[AgentEvent]:
        """What the last content says beyond its text, which was said as it came."""
        if self._said >= len(self._contents):
            return []
        self._said = len(self._contents)
        parts = block_parts(self._contents[-1])
        return events_of(part for part in parts if not isinstance(part, TextPart))


def _grown(call: Json, more: Json, *, again: bool) -> Json | None:
    """A call with one more piece of it: texts go on, names too. None where the piece begins another
    call: behind what is whole; with a name behind arguments, or where this delta has told of the
    call already (`again`); with the same name where neither has arguments or an id."""
    before, piece = obj(call.get("function")), obj(more.get("function"))
    member = "text" if piece.get("type") == VERBATIM else "arguments"
    known, said = before.get(member), piece.get(member)
    if not isinstance(known, str) or not isinstance(said, str):
        return None
    if _is_whole(known) and said.strip():
        return None
    own_name, name = text(before.get("name")), text(piece.get("name"))
    grown: Json = {**call, "function": {**before, member: known + said}}
    if not name or (name == own_name and not again and (known or said or text(more.get("id")))):
        return grown
    if again or known or name == own_name:
        return None
    return {**call, "function": {**before, "name": own_name + name, member: said}}


def _is_whole(said: str) -> bool:
    try:
        return isinstance(orjson.loads(said), dict)
    except orjson.JSONDecodeError:
        return False
