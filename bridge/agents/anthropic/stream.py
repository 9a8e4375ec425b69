"""A stream of Anthropic Messages events -> agent events, and the whole message. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.agents.anthropic.read import block_parts
from bridge.agents.codec.call_ids import CallIds
from bridge.agents.codec.json_values import Json, arr, number, obj, text, without
from bridge.agents.codec.messages import read_arguments
from bridge.agents.codec.native_parts import events_of
from bridge.agents.codec.stream_reader import ENDED_EARLY, Ending
from bridge.agents.transport.api_errors import api_error
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta
from bridge.uacs import TextPart

_STRINGS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class Stream:
    """Reads events in order; unknown types are ignored."""

    def __init__(self) -> None:
        self._message: Json = {}
        self._blocks: dict[int, Json] = {}
        self._arguments: dict[int, str] = {}
        self._stopped = False
        self._call_ids = CallIds("answer")

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        body = obj(event)
        match body.get("type"):
            case "message_start":
                self._message = dict(obj(body.get("message")))
            case "content_block_start":
                return self._start(_index(body), obj(body.get("content_block")))
            case "content_block_delta":
                return self._grow(_index(body), obj(body.get("delta")))
            case "content_block_stop":
                return self._stop(_index(body))
            case "message_delta":
                self._merge(body)
            case "message_stop":
                self._stopped = True
            case "message":
                return self._whole(body)
            case "error":
                raise api_error(body.get("error"))
            case _:
                pass
        return ()

    def end(self) -> Sequence[AgentEvent]:
        if not self._stopped:
            raise AgentError(ENDED_EARLY)
        return ()

    @property
    def ending(self) -> Ending:
        reason = text(self._message.get("stop_reason"))
        match reason:
            case "tool_use":
                return Ending("calls", reason)
            case "max_tokens" | "model_context_window_exceeded":
                return Ending("length", reason)
            case "refusal":
                return Ending("refused")
            case _:
                return Ending("done", reason)

    @property
    def response(self) -> Json:
        content = [self._blocks[index] for index in sorted(self._blocks)]
        return {**self._message, "content": [dict(block) for block in content]}

    def _start(self, index: int, block: Json) -> list[AgentEvent]:
        self._blocks[index] = dict(block)
        first_text = text(block.get("text")) if block.get("type") == "text" else ""
        return [TextDelta(text=first_text)] if first_text else []

    def _grow(self, index: int, delta: Json) -> list[AgentEvent]:
        block = self._blocks.get(index)
        if block is None:
            raise AgentError("the stream continues a block that it did not start")
        kind = text(delta.get("type"))
        if key := _STRINGS.get(kind):
            more = text(delta.get(key))
            block[key] = text(block.get(key)) + more
            return [TextDelta(text=more)] if key == "text" and more else []
        if kind == "input_json_delta":
            arguments = self._arguments.get(index, "") + text(delta.get("partial_json"))
            self._arguments[index] = arguments
        elif kind == "citations_delta":
            block["citations"] = [*arr(block.get("citations")), delta.get("citation")]
        else:
            for name, value in without(delta, "type").items():
                before = block.get(name)
                joined = isinstance(before, str) and isinstance(value, str)
                block[name] = text(before) + text(value) if joined else value
        return []

    def _stop(self, index: int) -> list[AgentEvent]:
        block = self._blocks.get(index)
        if block is None:
            raise AgentError("the stream ends a block that it did not start")
        if written := self._arguments.pop(index, ""):
            arguments = read_arguments(written)
            block["input"] = written if arguments is None else arguments
        streamed = block.get("type") == "text"
        parts = block_parts(block, self._call_ids)
        return events_of(part for part in parts if not (streamed and isinstance(part, TextPart)))

    def _merge(self, event: Json) -> None:
        self._message.update(without(event, "type", "delta", "usage"))
        self._message.update(obj(event.get("delta")))
        usage = {**obj(self._message.get("usage")), **obj(event.get("usage"))}
        self._message["usage"] = usage

    def _whole(self, message: Json) -> list[AgentEvent]:
        self._message = message
        self._blocks = {
            n: obj(native_block) for n, native_block in enumerate(arr(message.get("content")))
        }
        self._stopped = True
        blocks = self._blocks.values()
        return events_of(part for block in blocks for part in block_parts(block, self._call_ids))


def _index(event: Json) -> int:
    return number(event.get("index")) or 0
