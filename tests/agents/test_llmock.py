"""Every API against an independent server that speaks all four: llmock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from bridge.content.messages.agent_parts import VALUE
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    PartGiven,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.uacs import ToolResultPart
from tests.agents.talking import HELLO, answer, build, message_from, room, text_of, tools, turn
from tests.agents.vendors import VENDORS, Vendor

PATHS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "/anthropic",
         "gemini": "/gemini"}  # fmt: skip
WEATHER = {
    "name": "get_weather",
    "description": "The current weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
CITY = {
    "title": "City",
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}


@pytest.fixture(params=PATHS)
def api(request: pytest.FixtureRequest, llmock: LLMock) -> tuple[Vendor, str, LLMock]:
    return VENDORS[request.param], llmock.url + PATHS[request.param], llmock


Api = tuple[Vendor, str, LLMock]


async def test_an_answer_is_streamed(api: Api) -> None:
    vendor, url, mock = api
    mock.reply("Paris is the capital of France.")

    events = await answer(vendor, url)

    assert text_of(events) == "Paris is the capital of France."
    assert isinstance(events[-1], TurnDone)
    (usage,) = [event.usage for event in events if isinstance(event, UsageReported)]
    assert isinstance(usage["output_tokens"], int)


async def test_a_tool_is_called_and_its_result_read(api: Api) -> None:
    vendor, url, mock = api
    mock.call_tool("get_weather", {"city": "Paris"})
    mock.reply("It rains in Paris.")
    question = message_from("slack:T1:U1", "What is the weather in Paris?", "Alice")
    conversation = room(question, tools=[WEATHER])
    agent = build(vendor, url, tools())
    inputs: asyncio.Queue[AgentInput] = asyncio.Queue()
    events: list[AgentEvent] = []

    async for event in agent.run(turn(conversation), _inputs(inputs)):
        events.append(event)
        if isinstance(event, ToolCalled):
            result = ToolResultPart(tool_call_id=event.part.id, content={"sky": "rain"})
            inputs.put_nowait(ToolResultGiven(part=result))

    calls = [one.part for one in events if isinstance(one, ToolCalled)]
    assert [(call.name, call.arguments) for call in calls] == [("get_weather", {"city": "Paris"})]
    assert [one.part.content for one in events if isinstance(one, ToolAnswered)] == [
        {"sky": "rain"}
    ]
    assert text_of(events) == "It rains in Paris."
    assert "rain" in str(mock.last_request.body)


async def test_a_tool_that_was_never_offered_is_answered_with_an_error(api: Api) -> None:
    vendor, url, mock = api
    mock.call_tool("format_disk", {})
    mock.reply("I cannot do that.")
    conversation = room(message_from("slack:T1:U1", "Format it", "Alice"), tools=[WEATHER])

    events = await answer(vendor, url, conversation)

    (result,) = [event.part for event in events if isinstance(event, ToolAnswered)]
    assert result.is_error
    assert text_of(events) == "I cannot do that."
    assert isinstance(events[-1], TurnDone)


async def test_an_answer_in_a_requested_format_becomes_a_value_part(api: Api) -> None:
    vendor, url, mock = api

    events = await answer(vendor, url, response_format=CITY)

    if vendor is VENDORS["anthropic"]:  # llmock knows no JSON mode of this API: it says words
        assert isinstance(events[-1], TurnFailed)
        assert "not valid JSON" in events[-1].reason
        assert len(mock.requests) == 2
        return
    values = [event.part for event in events if isinstance(event, PartGiven)]
    (part,) = [value for value in values if isinstance(value, dict) and value["schema_id"] == VALUE]
    data = part["data"]
    assert isinstance(data, dict)
    assert data.keys() == {"city", "people"}
    assert text_of(events) == ""
    assert mock.requests


async def test_a_corrupt_line_is_skipped_and_recorded(api: Api) -> None:
    vendor, url, mock = api
    mock.reply("one two three four five six seven eight", times=None)
    mock.corrupt(after_chunks=4, times=None)

    events = await answer(vendor, url)

    records = [event.record for event in events if isinstance(event, AnswerRecorded)]
    assert "stream_broken" in str(records[-1])
    assert text_of(events).endswith("eight")


@pytest.mark.parametrize("fault", ["truncate", "disconnect"])
async def test_a_broken_stream_is_never_a_complete_answer(api: Api, fault: str) -> None:
    vendor, url, mock = api
    mock.reply("one two three four five six seven eight", times=None)
    getattr(mock, fault)(after_chunks=4, times=None)

    events = await answer(vendor, url)

    assert isinstance(events[-1], TurnFailed)


async def test_requests_are_retried_after_rate_limits_and_outages(api: Api) -> None:
    vendor, url, mock = api
    mock.rate_limit(times=1, retry_after=0.5)
    mock.fail(503, times=1)
    agent_tools = tools()

    events = await answer(vendor, url, HELLO, agent_tools)

    assert isinstance(events[-1], TurnDone)
    assert agent_tools.clock.pauses[0] >= 0.5
    assert len(mock.requests) == 3


async def test_a_call_with_invalid_json_is_answered_with_an_error(api: Api) -> None:
    vendor, url, mock = api
    if vendor is VENDORS["gemini"]:
        pytest.skip("this API's arguments are an object, never text")
    mock.call_tool("get_weather", {"city": "Paris"})
    mock.break_tool_call("malformed_arguments")
    conversation = room(message_from("slack:T1:U1", "Weather in Paris?", "Alice"), tools=[WEATHER])

    events = await answer(vendor, url, conversation, total_seconds=5)

    assert isinstance(events[-1], TurnFailed | TurnDone)
    assert not [
        event for event in events if isinstance(event, ToolCalled) and event.part.arguments == {}
    ]


async def _inputs(queue: asyncio.Queue[Any]) -> AsyncIterator[AgentInput]:
    while True:
        yield await queue.get()


async def test_a_picture_in_a_tool_result_is_sent_to_the_model(api: Api) -> None:
    vendor, url, mock = api
    mock.call_tool("get_weather", {"city": "Paris"})
    mock.reply("It is blue.")
    conversation = room(message_from("slack:T1:U1", "Show me the sky", "Alice"), tools=[WEATHER])
    agent = build(vendor, url, tools())
    inputs: asyncio.Queue[AgentInput] = asyncio.Queue()
    source = {"base64": "iVBORw0KGgo="}
    picture: Any = {"type": "image", "media_type": "image/png", "source": source}
    text: Any = {"type": "text", "text": "The sky:", "format": "plain"}

    async for event in agent.run(turn(conversation), _inputs(inputs)):
        if isinstance(event, ToolCalled):
            result = ToolResultPart(tool_call_id=event.part.id, content={"parts": [text, picture]})
            inputs.put_nowait(ToolResultGiven(part=result))

    last = str(mock.last_request.body)
    assert "Files that the tools answered with" in last
    assert last.count("iVBORw0KGgo=") >= 2
