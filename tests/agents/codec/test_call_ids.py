"""Tool calls without ids: every request distinguishes them, and each result names its call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.uacs import ContentPart, Conversation, ToolCallPart, ToolResultPart
from tests.agents.apis import CODECS
from tests.agents.talking import message_from, room


def _two_rounds() -> Conversation:
    """Two calls without ids and their results, then one more call and its result."""
    first: list[ContentPart] = [
        ToolCallPart(id="", name="weather", arguments={"city": "Bern"}),
        ToolCallPart(id="", name="tides", arguments={}),
        ToolResultPart(tool_call_id="", content="rain"),
        ToolResultPart(tool_call_id="", content="low"),
    ]
    second: list[ContentPart] = [
        ToolCallPart(id="", name="weather", arguments={"city": "Oslo"}),
        ToolResultPart(tool_call_id="", content="snow"),
    ]
    return room(
        message_from("slack:T1:U1", "How is it?", "Alice"),
        message_from("agent:bot", first, "bot", "assistant"),
        message_from("slack:T1:U1", "And in Oslo?", "Alice"),
        message_from("agent:bot", second, "bot", "assistant"),
    )


def _found(value: Any, key: str) -> list[Any]:
    """The values of a key anywhere in a body, in order."""
    if isinstance(value, dict):
        own = [value[key]] if key in value else []
        return own + [more for inner in value.values() for more in _found(inner, key)]
    return (
        [more for inner in value for more in _found(inner, key)] if isinstance(value, list) else []
    )


def _body(api: str) -> Any:
    return json.loads(json.dumps(CODECS[api].write_request(_two_rounds(), "bot").body))


def test_chat_completions_has_a_different_id_for_each_call() -> None:
    body = _body("openai-chat")

    calls = [call["id"] for calls in _found(body, "tool_calls") for call in calls]
    assert len(set(calls)) == 3
    assert all(calls)
    assert _found(body, "tool_call_id") == calls


def test_responses_has_a_different_id_for_each_call() -> None:
    items = _body("openai-responses")["input"]

    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert len(set(calls)) == 3
    assert all(calls)
    assert results == calls


def test_anthropic_has_a_different_id_for_each_call() -> None:
    body = _body("anthropic")

    calls = [one for one in _found(body, "id") if one]
    assert len(set(calls)) == 3
    assert _found(body, "tool_use_id") == calls


@pytest.mark.parametrize("api", ["gemini", "ailoy"])
def test_an_api_that_needs_no_ids_gets_each_result_under_the_name_of_its_tool(api: str) -> None:
    body = _body(api)

    results = [message for message in body.get("messages", ()) if message["role"] == "tool"]
    results = results or _found(body, "functionResponse")
    assert [result["name"] for result in results] == ["weather", "tides", "weather"]
    assert not any("id" in result or "tool_call_id" in result for result in results)
