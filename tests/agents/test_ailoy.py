"""Ailoy's messages: calls in pieces and among contents, pictures without a type."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.agents.ailoy.read import read_request, read_response
from bridge.agents.ailoy.stream import Stream
from bridge.agents.ailoy.write import write_request, write_response
from bridge.model.turns import AgentEvent, ToolCalled
from bridge.uacs import (
    ImagePart,
    ToolCallPart,
    ToolResultPart,
    read_conversation,
    read_message,
    write,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGA"
JPEG = "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8="


def verbatim(text: str, **more: Any) -> Any:
    return {"type": "function", "function": {"type": "verbatim", "text": text}, **more}


def string_args(name: str, arguments: str, **more: Any) -> Any:
    function = {"type": "with_string_args", "name": name, "arguments": arguments}
    return {"type": "function", "function": function, **more}


def parsed_args(name: str, arguments: Any, **more: Any) -> Any:
    function = {"type": "with_parsed_args", "name": name, "arguments": arguments}
    return {"type": "function", "function": function, **more}


@pytest.mark.parametrize("member", ["tool_calls", "contents"])
@pytest.mark.parametrize(("pieces", "calls"), [
    pytest.param([verbatim('{"name": "f", "arg'), verbatim('uments": {"city": "Oslo"}}')],
                 [("f", {"city": "Oslo"})], id="text in pieces"),
    pytest.param([verbatim('{"name": "f", "arguments": {"n": 1}}'),
                  verbatim('{"name": "g", "argu'), verbatim('ments": {}}'), verbatim("\n")],
                 [("f", {"n": 1}), ("g", {})], id="two texts without ids"),
    pytest.param([verbatim('{"name": "f", ', id="a"), verbatim('"arguments": {}}', id="a"),
                  verbatim('{"name": "f", "arguments": {}}', id="b")],
                 [("f", {}), ("f", {})], id="texts with ids"),
    pytest.param([string_args("f", '{"n"'), string_args("", ": 1}"), string_args("g", "")],
                 [("f", {"n": 1}), ("g", {})], id="arguments in pieces"),
    pytest.param([parsed_args("f", {"n": 1}, id="a")], [("f", {"n": 1})], id="as they are"),
    pytest.param([verbatim('{"name": "f", ', id="a"), verbatim('{"name": "g", ', id="b"),
                  verbatim('"arguments": {}}', id="a"), verbatim('"arguments": {}}', id="b")],
                 [("f", {}), ("g", {})], id="texts in turns, told apart by ids"),
    pytest.param([string_args("f", '{"n": 1}'), string_args("f", '{"n": 2}')],
                 [("f", {"n": 1}), ("f", {"n": 2})], id="one name, whole arguments"),
    pytest.param([string_args("f", '{"n": 1}', id="a"), string_args("f", '{"n": 2}', id="a")],
                 [("f", {"n": 1}), ("f", {"n": 2})], id="one id, whole arguments"),
    pytest.param([string_args("f", ""), string_args("f", "")],
                 [("f", {}), ("f", {})], id="one name, no arguments"),
    pytest.param([string_args("get_", ""), string_args("weather", '{"n"'),
                  string_args("", ": 1}")],
                 [("get_weather", {"n": 1})], id="a name in pieces"),
    pytest.param([string_args("f", '{"n"'), string_args("f", ": 1}")],
                 [("f", {"n": 1})], id="the name again with each piece"),
])  # fmt: skip
def test_deltas_of_calls_are_joined(
    pieces: list[Any], calls: list[tuple[str, Any]], member: str
) -> None:
    reader = Stream()
    events: list[AgentEvent] = []
    for piece in pieces:
        events += reader.take({"delta": {member: [piece]}})
    events += reader.take({"delta": {}, "finish_reason": {"type": "tool_call"}})
    events += reader.end()

    call_parts = [event.part for event in events if isinstance(event, ToolCalled)]
    assert [(candidate.name, dict(candidate.arguments)) for candidate in call_parts] == calls
    assert reader.ending.outcome == "calls"
    message = read_message(write(read_response(reader.response, "bot")))
    sent: Any = write_response(message, "bot")
    assert [tool_call["function"] for tool_call in sent["message"]["tool_calls"]] == [
        {"name": name, "arguments": arguments} for name, arguments in calls
    ]


@pytest.mark.parametrize("text", [
    '{"name": "f", "argum', '{"name": "remove_all"}', '{"name": "f", "parameters": {"n": 1}}',
])  # fmt: skip
def test_text_that_resembles_a_call_stays_text(text: str) -> None:
    reader = Stream()
    reader.take({"tool_calls": [verbatim(text)]})

    assert not [one for one in reader.end() if isinstance(one, ToolCalled)]


def test_one_delta_with_two_names_is_two_calls() -> None:
    reader = Stream()
    reader.take({"tool_calls": [string_args("f", ""), string_args("g", "")]})

    called = [one.part.name for one in reader.end() if isinstance(one, ToolCalled)]
    assert called == ["f", "g"]


def test_an_id_that_is_used_twice_returns_with_its_calls_and_results() -> None:
    call: Any = {"type": "function", "id": "c1", "function": {"name": "f", "arguments": {}}}
    results: Any = [{"role": "tool", "tool_call_id": "c1", "name": "f",
                     "contents": [{"type": "text", "text": one}]} for one in "12"]  # fmt: skip
    message: Any = {"role": "assistant", "contents": [], "tool_calls": [call, call]}
    request: Any = {"messages": [message, *results, message, *results]}

    conversation = read_conversation(write(read_request(request, "bot")))

    parts = [part for message in conversation.messages for part in message.content]
    ids = [part.id for part in parts if isinstance(part, ToolCallPart)]
    assert len(set(ids)) == 4
    assert [one.tool_call_id for one in parts if isinstance(one, ToolResultPart)] == ids
    assert write_request(conversation, "bot").body["messages"] == request["messages"]


def test_function_parts_in_the_contents_become_calls() -> None:
    call: Any = {"type": "function", "id": "c1", "function": {"name": "f", "arguments": {"n": 1}}}
    native_message: Any = {
        "role": "assistant",
        "contents": [{"type": "text", "text": "Let me see."}, call],
    }
    result = {"role": "tool", "tool_call_id": "c1", "name": "f"}
    request: Any = {
        "messages": [native_message, {**result, "contents": [{"type": "text", "text": "12"}]}]
    }

    message = read_response(native_message, "bot")

    (found,) = [part for part in message.content if isinstance(part, ToolCallPart)]
    assert (found.id, found.name, dict(found.arguments)) == ("c1", "f", {"n": 1})
    assert write_response(message, "bot")["message"] == native_message
    conversation = read_conversation(write(read_request(request, "bot")))
    assert write_request(conversation, "bot").body["messages"] == request["messages"]


@pytest.mark.parametrize(("data", "kind"), [
    (PNG, "image/png"), (JPEG, "image/jpeg"), ("aGVsbG8=", "image/*"), ("no base64", "image/*"),
])  # fmt: skip
def test_a_picture_without_a_type_gets_it_from_its_bytes(data: str, kind: str) -> None:
    native_message: Any = {
        "role": "assistant",
        "contents": [{"type": "image", "image": {"data": data}}],
    }

    message = read_response(native_message, "bot")

    (picture,) = [part for part in message.content if isinstance(part, ImagePart)]
    assert picture.media_type == kind
    assert write_response(message, "bot")["message"] == native_message
