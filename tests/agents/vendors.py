"""Hand-written answers of each API, as their documentation shows them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bridge.agents.ailoy.agent import agent_type as ailoy
from bridge.agents.anthropic.agent import agent_type as anthropic
from bridge.agents.gemini.agent import agent_type as gemini
from bridge.agents.openai_chat.agent import agent_type as openai_chat
from bridge.agents.openai_responses.agent import agent_type as openai_responses
from tests.agents.model_server import Answer, sse

KEY = "sk-test-0123456789abcdef"
JSON = "application/json"


@dataclass(frozen=True)
class Vendor:
    """One API: how its kind is built, and streams in which it says things."""

    type: Any
    says: Callable[[str], list[Any]]
    calls: Callable[[str, str, dict[str, Any]], list[Any]]
    refuses: Callable[[str], list[Any]]
    cut_at_limit: Callable[[str], list[Any]]
    fails: Callable[[], list[Any]]
    error: Callable[[str, str], Any]
    options: dict[str, Any] = field(default_factory=dict[str, Any])

    def stream(self, events: list[Any]) -> Answer:
        return Answer(sse(*events))

    def refusal(self, status: int, kind: str, *headers: str) -> Answer:
        body = self.error(kind, f"Incorrect API key provided: {KEY}")
        return Answer([json.dumps(body).encode()], status, JSON, headers)


def chat_chunk(delta: Any, finish: str | None = None) -> Any:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [choice]}  # fmt: skip


def chat_usage() -> Any:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": usage}


def chat_says(text: str) -> list[Any]:
    words = [chat_chunk({"content": piece}) for piece in pieces(text)]
    return [chat_chunk({"role": "assistant", "content": ""}), *words, chat_chunk({}, "stop"),
            chat_usage()]  # fmt: skip


def chat_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Any]:
    first, second = halves(json.dumps(arguments))
    head = {"index": 0, "id": call_id, "type": "function",
            "function": {"name": name, "arguments": first}}  # fmt: skip
    tail = {"index": 0, "function": {"arguments": second}}
    return [chat_chunk({"role": "assistant", "content": None, "tool_calls": [head]}),
            chat_chunk({"tool_calls": [tail]}), chat_chunk({}, "tool_calls"),
            chat_usage()]  # fmt: skip


def chat_refuses(text: str) -> list[Any]:
    return [chat_chunk({"role": "assistant", "refusal": text}), chat_chunk({}, "stop")]


def anthropic_message(blocks: list[Any], reason: str) -> list[Any]:
    usage = {"input_tokens": 9, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
             "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    events: list[Any] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": one} for one in deltas]
        events.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}},
            {"type": "message_stop"}]  # fmt: skip


def anthropic_says(text: str, reason: str = "end_turn") -> list[Any]:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces(text)]
    return anthropic_message([({"type": "text", "text": ""}, deltas)], reason)


def anthropic_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Any]:
    deltas = [{"type": "input_json_delta", "partial_json": half}
              for half in halves(json.dumps(arguments))]  # fmt: skip
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return anthropic_message([(block, deltas)], "tool_use")


def responses_stream(items: list[Any], status: str = "completed", **more: Any) -> list[Any]:
    """Messages' texts come in deltas, all else as whole items."""
    usage = {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    response = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m",
                "status": status, "output": items, "usage": usage, **more}  # fmt: skip
    events: list[Any] = [{"type": "response.created", "response": {**response, "output": []}}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
        for number, block in enumerate(item.get("content", ())):
            kind = "output_text" if block["type"] == "output_text" else "refusal"
            words = block.get("text") or block.get("refusal")
            events += [
                {
                    "type": f"response.{kind}.delta",
                    "output_index": index,
                    "content_index": number,
                    "delta": piece,
                }
                for piece in pieces(words)
            ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return [*events, {"type": f"response.{status}", "response": response}]


def responses_message(block: Any) -> Any:
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [block]}  # fmt: skip


def responses_text(text: str) -> Any:
    return responses_message({"type": "output_text", "text": text, "annotations": []})


def responses_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Any]:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
    call = {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name,
            "arguments": json.dumps(arguments), "status": "completed"}  # fmt: skip
    return responses_stream([thought, call])


def gemini_chunk(parts: list[Any], finish: str | None = None) -> Any:
    candidate: Any = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 12}
    return {"candidates": [candidate], "modelVersion": "m", "responseId": "r1",
            "usageMetadata": usage}  # fmt: skip


def gemini_says(text: str, finish: str = "STOP") -> list[Any]:
    *words, last = pieces(text)
    chunks = [gemini_chunk([{"text": word}]) for word in words]
    return [gemini_chunk([{"text": "so", "thought": True}]), *chunks,
            gemini_chunk([{"text": last}], finish)]  # fmt: skip


def gemini_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Any]:
    call = {"id": call_id, "name": name, "args": arguments}
    return [gemini_chunk([{"functionCall": call, "thoughtSignature": "c2ln"}], "STOP")]


def ailoy_delta(finish: str | None = None, **delta: Any) -> Any:
    whole = {"delta": {"contents": [], "tool_calls": [], **delta}, "finish_reason": None}
    if finish is None:
        return whole
    usage = {"input_tokens": 9, "output_tokens": 3}
    return {**whole, "finish_reason": {"type": finish}, "usage": usage, "model": "m"}


def ailoy_says(text: str, finish: str = "stop") -> list[Any]:
    words = [ailoy_delta(contents=[{"type": "text", "text": piece}]) for piece in pieces(text)]
    return [ailoy_delta(role="assistant", thinking="so"), *words, ailoy_delta(finish)]


def ailoy_calls(call_id: str, name: str, arguments: dict[str, Any]) -> list[Any]:
    first, second = halves(json.dumps(arguments))
    calls = [{"type": "function", "id": call_id, "function": {"name": name, "arguments": first}},
             {"type": "function", "function": {"name": "", "arguments": second}}]  # fmt: skip
    deltas = [ailoy_delta(tool_calls=[call]) for call in calls]
    thought = ailoy_delta(role="assistant", thinking="so", signature="c2ln")
    return [thought, *deltas, ailoy_delta("tool_call")]


def pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


VENDORS = {
    "openai-chat": Vendor(
        openai_chat, chat_says, chat_calls, chat_refuses,
        lambda text: [chat_chunk({"role": "assistant", "content": text}), chat_chunk({}, "length")],
        lambda: [chat_chunk({"role": "assistant", "content": ""}),
                 {"error": {"message": f"server had an error, {KEY}", "type": "server_error"}}],
        lambda kind, text: {"error": {"message": text, "type": kind, "code": kind}},
    ),
    "anthropic": Vendor(
        anthropic, anthropic_says, anthropic_calls,
        lambda text: anthropic_says(text, "refusal"),
        lambda text: anthropic_says(text, "max_tokens"),
        lambda: [anthropic_says("x")[0], {"type": "error", "error": {
            "type": "overloaded_error", "message": f"Overloaded {KEY}"}}],
        lambda kind, text: {"type": "error", "error": {"type": kind, "message": text}},
    ),
    "openai-responses": Vendor(
        openai_responses, lambda text: responses_stream([responses_text(text)]), responses_calls,
        lambda text: responses_stream([responses_message({"type": "refusal", "refusal": text})]),
        lambda text: responses_stream([responses_text(text)], "incomplete",
                                      incomplete_details={"reason": "max_output_tokens"}),
        lambda: [{"type": "response.created", "response": {}},
                 {"type": "error", "code": "server_error", "message": f"oh, {KEY}"}],
        lambda kind, text: {"error": {"message": text, "type": kind, "code": kind}},
    ),
    "gemini": Vendor(
        gemini, gemini_says, gemini_calls,
        lambda text: gemini_says(text, "SAFETY"),
        lambda text: gemini_says(text, "MAX_TOKENS"),
        lambda: [{"error": {"code": 503, "status": "UNAVAILABLE", "message": f"oh {KEY}"}}],
        lambda kind, text: {"error": {"status": kind, "message": text}},
    ),
    "ailoy": Vendor(
        ailoy, ailoy_says, ailoy_calls,
        lambda text: ailoy_says(text, "refusal"),
        lambda text: ailoy_says(text, "length"),
        lambda: [ailoy_delta(role="assistant"), {"error": {"code": "server_error",
                                                           "message": f"oh {KEY}"}}],
        lambda kind, text: {"error": {"type": kind, "message": text}},
    ),
}  # fmt: skip
