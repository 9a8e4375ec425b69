"""What every agent on a model's API does with a turn."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from bridge.agents.turn.inputs import TurnInputs
from bridge.app.settings.file import settings_of
from bridge.errors import ConfigError, StoreUnreachable
from bridge.model.refs import ActorId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    ApprovalGiven,
    MessageGiven,
    ModerationReported,
    PartGiven,
    StopWanted,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.ports.blobs import BlobRef
from bridge.ports.fetch import Fetcher
from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.store.blobs import open_blobs
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import (
    FilePart,
    ImagePart,
    MediaSource,
    RequestedResponseFormatPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import HELLO, answer, build, message_from, room, text_of, tools, turn
from tests.agents.vendors import (
    KEY,
    VENDORS,
    Vendor,
    ailoy_delta,
    anthropic_message,
    chat_chunk,
    gemini_chunk,
    responses_stream,
)
from tests.waiting import LONGEST_WAIT

vendors = pytest.mark.parametrize("vendor", VENDORS.values(), ids=VENDORS)
WEATHER = {"name": "get_weather", "description": "Weather.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}  # fmt: skip
SCHEMA: Any = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}},
          "required": ["n"]}  # fmt: skip


async def inputs_of(*inputs: AgentInput) -> AsyncIterator[AgentInput]:
    for one in inputs:
        yield one
    await asyncio.Event().wait()


async def queued(queue: asyncio.Queue[AgentInput]) -> AsyncIterator[AgentInput]:
    while True:
        yield await queue.get()


@vendors
async def test_a_request_has_the_key_and_the_settings(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.says("Hi"))) as api:
        await answer(vendor, api.url, system="Be brief.", temperature=0.5, max_tokens=99,
                     extra_body={"generationConfig": {"topK": 3}})  # fmt: skip

    text = str(api.requests[0])
    assert KEY in api.heads[0]
    assert "Be brief." in text
    assert "0.5" in text
    assert "99" in text
    assert api.requests[0]["generationConfig"]["topK"] == 3
    assert KEY not in text


@vendors
async def test_a_private_server_needs_no_key(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.says("Hi"))) as api:
        events = await answer(vendor, api.url, api_key=None)

    assert text_of(events) == "Hi"
    assert "authorization" not in api.heads[0].lower()


@vendors
async def test_usage_has_the_same_keys_for_all_apis(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.says("Hello there"))) as api:
        events = await answer(vendor, api.url)

    (usage,) = [event.usage for event in events if isinstance(event, UsageReported)]
    assert (usage["input_tokens"], usage["output_tokens"], usage["model"]) == (9, 3, "m")


@vendors
async def test_the_record_of_an_answer_names_the_model_and_contains_no_text(vendor: Vendor) -> None:
    streams = [vendor.stream(vendor.says("Hi"))] * 4
    async with model_server(*streams) as api:
        records = [
            one.record
            for text, system in (("a", "S"), ("a", "S"), ("b", "S"), ("a", "T"))
            for one in await answer(
                vendor, api.url, room(message_from("slack:T:U1", text, "Alice")), system=system
            )
            if isinstance(one, AnswerRecorded)
        ]

    first, again, other_words, other_system = records
    assert (first["api"], first["model"], first["messages"]) == (vendor.type.kind, "m", 1)
    assert first == again
    assert other_words["history_sha256"] != first["history_sha256"]
    assert other_words["instructions_sha256"] == first["instructions_sha256"]
    assert other_system["instructions_sha256"] != first["instructions_sha256"]
    assert other_system["history_sha256"] == first["history_sha256"]
    assert "Alice" not in str(first)


@vendors
async def test_a_refusal_is_moderation(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.refuses("No, I will not."))) as api:
        events = await answer(vendor, api.url)

    (found,) = [event.moderation for event in events if isinstance(event, ModerationReported)]
    assert found["refused"] is True


@vendors
async def test_an_answer_without_a_verdict_has_no_moderation(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.says("Hi"))) as api:
        events = await answer(vendor, api.url)

    assert not [event for event in events if isinstance(event, ModerationReported)]


RATINGS: Any = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]
FOUND: Any = {"hate": {"filtered": False, "severity": "safe"}}


@pytest.mark.parametrize(("kind", "response", "moderation"), [
    ("gemini", {"candidates": [{"finishReason": "STOP", "safetyRatings": RATINGS,
                                "content": {"parts": [{"text": "Hi"}]}}]},
     {"refused": False, "results": {"answer": RATINGS}}),
    ("gemini", {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": RATINGS}},
     {"refused": True, "why": "SAFETY", "results": {"question": RATINGS}}),
    ("openai-chat", {"id": "c1", "object": "chat.completion", "prompt_filter_results": [FOUND],
                     "choices": [{"index": 0, "finish_reason": "content_filter",
                                  "content_filter_results": FOUND,
                                  "message": {"role": "assistant", "content": "Well"}}]},
     {"refused": True, "why": "content_filter",
      "results": {"question": [FOUND], "answer": FOUND}}),
    ("anthropic", {"type": "message", "id": "m", "role": "assistant", "model": "m",
                   "content": [{"type": "text", "text": "Well"}], "stop_reason": "refusal",
                   "stop_details": {"type": "refusal", "category": "cyber"}},
     {"refused": True, "why": "refusal",
      "results": {"details": {"type": "refusal", "category": "cyber"}}}),
])  # fmt: skip
async def test_findings_of_the_vendors_filters_are_attached_to_the_answer(
    kind: str, response: Any, moderation: Any
) -> None:
    vendor = VENDORS[kind]
    whole = Answer([json.dumps(response).encode()], 200, "application/json")
    async with model_server(whole) as api:
        events = await answer(vendor, api.url)

    moderations = [event.moderation for event in events if isinstance(event, ModerationReported)]
    assert moderations == [moderation]


@vendors
async def test_an_answer_without_streaming_is_read_whole(vendor: Vendor) -> None:
    whole = {"openai-chat": {"choices": [{"index": 0, "finish_reason": "stop", "message": {
                  "role": "assistant", "content": "Whole."}}]},
              "anthropic": {"type": "message", "role": "assistant", "stop_reason": "end_turn",
                            "content": [{"type": "text", "text": "Whole."}]},
              "openai-responses": {"object": "response", "status": "completed", "output": [
                  {"type": "message", "role": "assistant", "content": [
                      {"type": "output_text", "text": "Whole."}]}]},
              "gemini": {"candidates": [{"finishReason": "STOP", "content": {
                  "role": "model", "parts": [{"text": "Whole."}]}}]},
              "ailoy": {"role": "assistant", "contents": [{"type": "text", "text": "Whole."}]},
              }[vendor.type.kind]  # fmt: skip
    body = json.dumps(whole).encode()
    async with model_server(Answer([body], 200, "application/json; charset=utf-8")) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == "Whole."
    assert isinstance(events[-1], TurnDone)


@vendors
async def test_the_next_request_repeats_the_call_exactly_as_the_vendor_sent_it(
    vendor: Vendor,
) -> None:
    first = vendor.stream(vendor.calls("call_1", "get_weather", {"city": "Oslo"}))
    conversation = room(message_from("slack:T:U1", "Weather?", "Alice"), tools=[WEATHER])
    queue: asyncio.Queue[AgentInput] = asyncio.Queue()
    events: list[AgentEvent] = []
    async with model_server(first, vendor.stream(vendor.says("Rain."))) as api:
        agent = build(vendor, api.url, tools())
        async for event in agent.run(turn(conversation), queued(queue)):
            events.append(event)
            if isinstance(event, ToolCalled):
                refused = ApprovalGiven(tool_call_id=event.part.id, allowed=False, by=ActorId("x"))
                queue.put_nowait(refused)

    assert text_of(events) == "Rain."
    (result,) = [one.part for one in events if isinstance(one, ToolAnswered)]
    assert result.is_error
    again = str(api.requests[1])
    assert "call_1" in again
    assert "not allowed" in again
    for opaque in ("c2ln", "gAAA"):  # signatures and encrypted thoughts
        assert (opaque in again) == (opaque in str(first.pieces))


FUNCTION = {"name": "get_weather", "arguments": "{}"}
TWICE: dict[str, list[Any]] = {
    "openai-chat": [
        chat_chunk({"tool_calls": [{"index": n, "id": "fn", "function": FUNCTION}]}) for n in (0, 1)
    ] + [chat_chunk({}, "tool_calls")],
    "anthropic": anthropic_message(
        [({"type": "tool_use", "id": "fn", "name": "get_weather", "input": {}}, [])] * 2, "tool_use"
    ),
    "openai-responses": responses_stream(
        [{"type": "function_call", "id": f"f{n}", "call_id": "fn", **FUNCTION} for n in (0, 1)]
    ),
    "gemini": [gemini_chunk(
        [{"functionCall": {"id": "fn", "name": "get_weather", "args": {}}}] * 2, "STOP"
    )],
    "ailoy": [
        ailoy_delta(tool_calls=[{"type": "function", "id": "fn", "function": FUNCTION}] * 2),
        ailoy_delta("tool_call"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", VENDORS)
async def test_two_calls_with_one_id_get_one_result_each(name: str) -> None:
    vendor = VENDORS[name]
    first = Answer(sse(*TWICE[name]))
    conversation = room(message_from("slack:T:U1", "Weather?", "Alice"), tools=[WEATHER])
    queue: asyncio.Queue[AgentInput] = asyncio.Queue()
    called: list[str] = []
    answered: list[tuple[str, Any]] = []
    async with model_server(first, vendor.stream(vendor.says("Rain."))) as api:
        async for event in build(vendor, api.url, tools()).run(turn(conversation), queued(queue)):
            if isinstance(event, ToolCalled):
                called.append(event.part.id)
                result = ToolResultPart(tool_call_id=event.part.id, content=f"no. {len(called)}")
                queue.put_nowait(ToolResultGiven(part=result))
            if isinstance(event, ToolAnswered):
                answered.append((event.part.tool_call_id, event.part.content))

    assert len(set(called)) == 2
    assert answered == [(called[0], "no. 1"), (called[1], "no. 2")]
    again = json.dumps(api.requests[1])
    assert 0 < again.index("no. 1") < again.index("no. 2")
    assert again.count('"fn"') == (2 if name == "openai-chat" else 4)


async def test_an_id_that_is_used_twice_gets_two_results() -> None:
    turn_inputs = TurnInputs(until=asyncio.get_running_loop().time() + 5)
    result = ToolResultPart(tool_call_id="fn", content="Rain.")
    turn_inputs.take(ToolResultGiven(part=result))

    assert await turn_inputs.results(["fn", "fn"]) == [result, result]


@pytest.mark.parametrize("name", ["gemini", "ailoy"])
async def test_a_result_names_its_own_tool_where_a_later_call_has_the_same_id(name: str) -> None:
    vendor = VENDORS[name]
    calls = [vendor.stream(vendor.calls("c1", one, {})) for one in ("first", "second")]
    async with model_server(*calls, vendor.stream(vendor.says("Rain."))) as api:
        await answer(vendor, api.url)

    last = json.dumps(api.requests[-1])
    assert last.count('"name": "first"') == last.count('"name": "second"') == 2


@vendors
async def test_a_stop_ends_the_answer_at_once(vendor: Vendor) -> None:
    whole = sse(*vendor.says("A long answer that nobody wants any more."))
    async with model_server(Answer(whole[:5], then="hang")) as api:
        agent = build(vendor, api.url, tools())
        queue: asyncio.Queue[AgentInput] = asyncio.Queue()
        events: list[AgentEvent] = []
        async with asyncio.timeout(LONGEST_WAIT):
            async for event in agent.run(turn(HELLO), queued(queue)):
                events.append(event)
                queue.put_nowait(StopWanted())

    assert isinstance(events[-1], TurnDone)


@vendors
async def test_messages_posted_during_a_turn_are_read_before_it_ends(vendor: Vendor) -> None:
    more = MessageGiven(message=message_from("slack:T:U2", "And in Bergen?", "Bob"))
    answers = (vendor.stream(vendor.says("Rain.")), vendor.stream(vendor.says("Snow.")))
    async with model_server(*answers) as api:
        agent = build(vendor, api.url, tools())
        events = [one async for one in agent.run(turn(HELLO), inputs_of(more))]

    assert text_of(events) == "Rain.\n\nSnow."
    assert "And in Bergen?" in str(api.requests[1])


@vendors
async def test_an_answer_that_violates_its_format_is_requested_again(vendor: Vendor) -> None:
    bad, good = vendor.stream(vendor.says('{"n": 1}')), vendor.stream(vendor.says('{"n": 5}'))
    async with model_server(bad, good) as api:
        events = await answer(vendor, api.url, response_format=SCHEMA)

    values: list[Any] = [event.part for event in events if isinstance(event, PartGiven)]
    assert values[-1]["data"] == {"n": 5}
    assert not text_of(events)
    assert "minimum of 3" in str(api.requests[1])


@vendors
async def test_an_answer_that_violates_its_format_again_fails(vendor: Vendor) -> None:
    async with model_server(vendor.stream(vendor.says("no JSON at all"))) as api:
        events = await answer(vendor, api.url, response_format=SCHEMA)

    assert isinstance(events[-1], TurnFailed)
    assert len(api.requests) == 2


@vendors
async def test_a_format_requested_in_a_message_applies_to_one_answer(vendor: Vendor) -> None:
    requested_format = RequestedResponseFormatPart(schema=SCHEMA)
    first = message_from("slack:T:U1", [TextPart(text="n?"), requested_format], "Alice")
    later = room(
        first,
        message_from("agent:bot", "5", "bot", "assistant"),
        message_from("slack:T:U1", "Thanks"),
    )
    async with model_server(vendor.stream(vendor.says('{"n": 5}'))) as api:
        now = await answer(vendor, api.url, room(first))
        then = await answer(vendor, api.url, later)

    assert not text_of(now)
    assert text_of(then) == '{"n": 5}'
    assert "minimum" not in str(api.requests[1])


@vendors
async def test_stored_files_are_sent_inline_up_to_the_limit(vendor: Vendor, tmp_path: Path) -> None:
    blobs = await open_blobs(tmp_path / "blobs", clock=SystemClock())
    picture, text = b"\x89PNG\r\n\x1a\n" + bytes(50), b"All is well."
    stored = [await blobs.put(_pieces(one), limit=1000) for one in (picture, text)]
    files = Files(blobs, cast("Fetcher", None))  # nothing is fetched
    parts = [
        ImagePart(source=MediaSource(file_id=stored[0].file_id), media_type="image/png"),
        TextPart(text="What is this?"),
        FilePart(source=MediaSource(file_id=stored[1].file_id), media_type="text/plain"),
    ]
    conversation = room(message_from("slack:T:U1", parts, "Alice Smith"))
    async with model_server(vendor.stream(vendor.says("A dot."))) as api:
        await answer(vendor, api.url, conversation, tools(files))
        await answer(vendor, api.url, conversation, tools(files), inline_mb=0.00002)
    await blobs.close()

    encoded = base64.b64encode(picture).decode()
    whole, cut = str(api.requests[0]), str(api.requests[1])
    assert encoded in whole
    assert "All is well." in whole or base64.b64encode(text).decode() in whole
    assert whole.index(encoded) < whole.index("What is this?")
    assert encoded not in cut
    assert "image" in cut


@vendors
async def test_an_agent_answers_also_while_the_files_are_away(vendor: Vendor) -> None:
    class Away(MemoryBlobs):
        async def stat(self, file_id: str) -> BlobRef | None:
            raise StoreUnreachable("s3://files cannot be reached")

    blobs = Away(SystemClock())
    stored = await blobs.put(_pieces(b"All is well."), limit=1000)
    files = Files(blobs, cast("Fetcher", None))
    parts = [
        TextPart(text="What is this?"),
        FilePart(source=MediaSource(file_id=stored.file_id), media_type="text/plain"),
    ]
    conversation = room(message_from("slack:T:U1", parts, "Alice Smith"))
    async with model_server(vendor.stream(vendor.says("A dot."))) as api:
        answered = await answer(vendor, api.url, conversation, tools(files))

    assert text_of(answered) == "A dot."
    assert "What is this?" in str(api.requests[0])
    assert "s3://" not in str(api.requests[0])


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


@vendors
async def test_the_newest_messages_that_fit_are_sent_with_a_notice_of_the_cut(
    vendor: Vendor,
) -> None:
    old = [message_from("slack:T:U1", f"old {n} " + "x" * 400, "Alice") for n in range(50)]
    async with model_server(vendor.stream(vendor.says("Hi"))) as api:
        await answer(
            vendor, api.url, room(*old, message_from("slack:T:U1", "new")), history_tokens=1000
        )

    text = str(api.requests[0])
    assert "new" in text
    assert "old 49" in text
    assert "old 3 " not in text
    assert "Earlier messages are not shown." in text


@vendors
async def test_a_call_that_was_interrupted_has_a_result(vendor: Vendor) -> None:
    call = ToolCallPart(id="call_9", name="get_weather", arguments={"city": "Oslo"})
    broken = message_from("agent:bot", [TextPart(text="Let me see."), call], "bot", "assistant")
    conversation = room(
        message_from("slack:T:U1", "Weather?"), broken, message_from("slack:T:U1", "Well?")
    )
    async with model_server(vendor.stream(vendor.says("Hi"))) as api:
        await answer(vendor, api.url, conversation)

    assert "interrupted" in str(api.requests[0])


@vendors
async def test_closing_the_answer_closes_the_connection(vendor: Vendor) -> None:
    whole = sse(*vendor.says("A long answer that nobody wants any more."))
    async with model_server(Answer(whole[:5], then="hang")) as api:
        events = build(vendor, api.url, tools()).run(turn(HELLO), inputs_of())
        async with asyncio.timeout(LONGEST_WAIT):
            async for event in events:
                if isinstance(event, TextDelta):
                    break
            await events.aclose()

    assert len(api.requests) == 1


@pytest.mark.parametrize(("options", "words"), [
    ({}, "model: this key is needed"),
    ({"model": "m", "api_key": "sk-secret1234567890"}, "this file never contains secrets"),
    ({"model": "m", "base_url": "api.openai.com"}, "must be an address"),
    ({"model": "m", "base_url": "https://u:p@host"}, "must contain no user"),
    ({"model": "m", "temprature": 1}, "did you mean 'temperature'?"),
    ({"model": "m", "response_format": {"type": 7}}, "is not a JSON Schema"),
    ({"model": "m", "max_tokens": 0}, "greater than or equal to 1"),
])  # fmt: skip
@vendors
def test_errors_of_the_settings_say_what_to_do(
    vendor: Vendor, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of({"agents": {"a": {"kind": vendor.type.kind, **options}}})

    if vendor is VENDORS["ailoy"]:  # it has one model, at an address of one's own
        words = words.replace("model: this key", "base_url: this key")
    assert words in str(caught.value)
    assert "secret1234567890" not in str(caught.value)


@vendors
def test_fields_that_the_bridge_writes_cannot_be_set(vendor: Vendor) -> None:
    for key in vendor.type.settings.reserved:
        with pytest.raises(ValidationError, match="written by the bridge"):
            vendor.type.settings(model="m", base_url="https://x.example", extra_body={key: 1})
