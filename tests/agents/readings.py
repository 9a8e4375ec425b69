"""What a vendor reads in a body: forms that its documentation calls the same are made the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def as_read(api: str, body: Any) -> Any:
    """The body with null and empty members dropped, a lone string of content as its one block, and
    arguments of calls as the JSON that they are."""
    return _drop(_READERS[api](json.loads(json.dumps(body))))


# JSON of others within a body: there a null is a value.
_FREE = frozenset((
    "arguments", "args", "input", "response", "parameters", "input_schema", "schema",
    "parametersJsonSchema", "parameters_json_schema", "responseJsonSchema", "responseSchema",
))  # fmt: skip


def _drop(value: Any) -> Any:
    if isinstance(value, dict):
        members = {
            key: member if key in _FREE and isinstance(member, dict) else _drop(member)
            for key, member in value.items()
        }
        return {
            key: member for key, member in members.items() if member is not None and member != []
        }
    return [_drop(item) for item in value] if isinstance(value, list) else value


def _chat(body: Any) -> Any:
    messages: list[Any] = list(body.get("messages") or ())
    messages += [choice["message"] for choice in body.get("choices") or () if "message" in choice]
    for message in messages:
        if message.get("content") == "":
            message["content"] = None if message["role"] == "assistant" else []
        _blocks(message, "content")
        for call in message.get("tool_calls") or ():
            _arguments(call.get("function") or {})
            call.setdefault("type", "function")
    return body


def _anthropic(body: Any) -> Any:
    _blocks(body, "system")
    for message in [*(body.get("messages") or ()), *([body] if "content" in body else [])]:
        _blocks(message, "content")
    for tool in body.get("tools") or ():
        if tool.get("type") == "custom":
            del tool["type"]
    return body


def _responses(body: Any) -> Any:
    if isinstance(body.get("input"), str):
        body["input"] = [{"role": "user", "content": body["input"]}]
    for item in [*(body.get("input") or ()), *(body.get("output") or ())]:
        if item.get("type") == "message":
            del item["type"]
        kind = "output_text" if item.get("role") == "assistant" else "input_text"
        _blocks(item, "content", kind)
        _arguments(item)
    return body


def _gemini(body: Any) -> Any:
    return body


def _blocks(owner: Any, key: str, kind: str = "text") -> None:
    if isinstance(owner.get(key), str):
        owner[key] = [{"type": kind, "text": owner[key]}]


def _arguments(call: Any) -> None:
    if isinstance(call.get("arguments"), str):
        try:
            call["arguments"] = json.loads(call["arguments"] or "{}")
        except ValueError:
            return


def _ailoy(body: Any) -> Any:
    messages: list[Any] = [*(body.get("messages") or ()), body.get("message") or {}]
    for message in messages:
        if isinstance(message.get("contents"), str):
            message["contents"] = [{"type": "text", "text": message["contents"]}]
        for call in message.get("tool_calls") or ():
            _arguments(call.get("function") or {})
    return body


def _acp(body: Any) -> Any:
    """A part is a text, as it stands, where it does not say otherwise."""
    for message in [*(body.get("input") or ()), *(body.get("output") or ()), body]:
        for part in message.get("parts") or ():
            part.setdefault("content_type", "text/plain")
            if part.get("content_encoding") == "plain":
                del part["content_encoding"]
    return body


def _a2a(body: Any) -> Any:
    """Nothing is said by an empty `metadata`."""
    if isinstance(body, dict):
        return {key: _a2a(value) for key, value in body.items() if (key, value) != ("metadata", {})}
    return [_a2a(one) for one in body] if isinstance(body, list) else body


_READERS: dict[str, Callable[[Any], Any]] = {
    "openai-chat": _chat,
    "anthropic": _anthropic,
    "openai-responses": _responses,
    "gemini": _gemini,
    "acp": _acp,
    "ailoy": _ailoy,
    "a2a": _a2a,
}
