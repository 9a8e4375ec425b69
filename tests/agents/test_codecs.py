"""UACS <-> each API, on payloads of our own and on anything that hypothesis thinks of."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.agents.codec.native_parts import state
from bridge.agents.codec.schemas import without_keywords
from bridge.content.messages.agent_parts import CITATIONS, REASONING, STATE
from bridge.content.messages.parts import message_text
from bridge.errors import AgentError, CodecError, PlatformError
from bridge.model import Loss
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    VideoPart,
    read_message,
    write,
)
from tests.agents.apis import CODECS
from tests.agents.readings import as_read
from tests.agents.talking import message_from, room
from tests.agents.vendors import VENDORS
from tests.examples import examples

apis = pytest.mark.parametrize("api", CODECS)
B64 = "aGVsbG8="

SCHEMA = {"title": "Answer", "type": "object", "properties": {"n": {"type": "integer"}}}
REQUESTS: dict[str, Any] = {
    "openai-chat": {
        "model": "m", "temperature": 0.2, "tool_choice": "auto",
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "name": "alice", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": "https://x.example/a.png",
                                                    "detail": "low"}},
                {"type": "text", "text": "and"},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{B64}"}},
                {"type": "input_audio", "input_audio": {"data": B64, "format": "wav"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "file", "file": {"filename": "a.pdf",
                                          "file_data": f"data:application/pdf;base64,{B64}"}},
                {"type": "hologram", "data": [1]},
            ]},
            {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [
                {"id": "c1", "type": "function",
                 "function": {"name": "f", "arguments": '{"a": [1, {"b": null}]}'}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{oh"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "fine"},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "no"}]},
            {"role": "assistant", "content": "Done.", "audio": {"id": "audio_1"}},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "description": "F.",
                   "parameters": {"type": "object"}, "strict": True}}, {"type": "own"}],
        "response_format": {"type": "json_schema", "json_schema": {
            "name": "Answer", "schema": SCHEMA, "strict": True}},
    },
    "openai-responses": {
        "model": "m", "instructions": "Be kind.", "store": False, "text": {"verbosity": "low",
            "format": {"type": "json_schema", "name": "Answer", "schema": SCHEMA, "strict": True}},
        "input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "input_text", "text": "Look:"},
                {"type": "input_image", "image_url": "https://x.example/a.png", "detail": "low"},
                {"type": "input_file", "file_url": "https://x.example/a.pdf"},
                {"type": "input_file", "filename": "a.pdf",
                 "file_data": f"data:application/pdf;base64,{B64}"},
                {"type": "input_hologram", "data": [1]}]},
            {"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA",
             "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "f",
             "arguments": '{"a": 1}'},
            {"type": "function_call_output", "call_id": "c1", "output": "fine"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
             "phase": "final_answer", "content": [
                 {"type": "output_text", "text": "Done.", "annotations": [
                     {"type": "url_citation", "url": "https://x.example", "title": "X",
                      "start_index": 0, "end_index": 4}]}]},
            {"role": "user", "content": "Thanks"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"},
                   "strict": True}, {"type": "web_search"}],
    },
    "anthropic": {
        "model": "m", "max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 1024},
        "system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief.",
                    "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                             "data": B64}},
                {"type": "image", "source": {"type": "url", "url": "https://x.example/a"}},
                {"type": "document", "title": "D", "context": "c", "citations": {"enabled": True},
                 "source": {"type": "text", "media_type": "text/plain", "data": "It is."}},
                {"type": "document", "source": {"type": "base64", "data": B64,
                                                "media_type": "application/pdf"}},
                {"type": "document", "source": {"type": "file", "file_id": "file_1"}}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                {"type": "redacted_thinking", "data": "xyz"},
                {"type": "text", "text": "So:", "citations": [
                    {"type": "char_location", "cited_text": "It is.", "document_index": 0,
                     "document_title": "D", "start_char_index": 0, "end_char_index": 6}]},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": [1]}},
                {"type": "tool_use", "id": "t2", "name": "g", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "no"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [
                    {"type": "text", "text": "fine"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                                 "data": B64}}]},
                {"type": "text", "text": "Go on."}]},
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object"}, "strict": True},
                  {"type": "web_search_20250305", "name": "web_search"}],
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be kind."}], "role": "user"},
        "contents": [
            {"role": "user", "parts": [
                {"text": "Look:"},
                {"inlineData": {"mimeType": "image/png", "data": B64}},
                {"inlineData": {"mimeType": "audio/mpeg", "data": B64}, "more": {"fps": 1}},
                {"fileData": {"mimeType": "video/mp4", "fileUri": "https://x.example/v"}}]},
            {"role": "model", "parts": [
                {"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"},
                {"text": "So:", "thoughtSignature": "c2lo"},
                {"functionCall": {"name": "f", "args": {"a": [1]}}, "thoughtSignature": "c2lp"},
                {"functionCall": {"name": "f", "args": {}}},
                {"executableCode": {"language": "PYTHON", "code": "1"}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "f", "response": {"ok": 1}}},
                {"functionResponse": {"name": "f", "response": {"ok": 2}}}]},
        ],
        "tools": [{"functionDeclarations": [
            {"name": "f", "description": "F.", "parameters": {"type": "OBJECT", "properties": {}}},
            {"name": "g", "parametersJsonSchema": {"type": "object"}}]}, {"googleSearch": {}}],
        "generationConfig": {"temperature": 1, "responseMimeType": "application/json",
                             "responseJsonSchema": SCHEMA},
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
    },
    "ailoy": {
        "temperature": 0.2,
        "messages": [
            {"role": "system", "contents": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "id": "m1", "contents": [
                {"type": "text", "text": "Look:"},
                {"type": "image", "image": {"data": B64}},
                {"type": "image", "image": {"media-type": "image/png", "data": B64}},
                {"type": "image", "image": {"media-type": "image/x-binary", "height": 1,
                                            "width": 1, "colorspace": "rgb", "data": "AAAA"}},
                {"type": "value", "value": {"a": [1, None]}}, {"type": "value", "value": 7},
                {"type": "value", "value": {"title": "D", "text": "It is."}},
                {"type": "hologram", "data": [1]}]},
            {"role": "assistant", "thinking": "Hm.", "signature": "c2ln", "contents": [
                {"type": "text", "text": "Let me see."}], "tool_calls": [
                {"type": "function", "id": "c1", "function": {"name": "f", "arguments": {"a": 1}}},
                {"type": "function", "function": {"name": "f", "arguments": {}}},
                {"type": "function", "function": {"id": "c3", "name": "g", "arguments": "{}"}},
                {"type": "function", "function": {"name": "g", "arguments": "{oh"}}]},
            {"role": "tool", "tool_call_id": "c1", "name": "f", "contents": [
                {"type": "text", "text": "12.3"}]},
            {"role": "tool", "name": "f", "contents": [{"type": "value", "value": {"t": 1}}]},
            {"role": "tool", "tool_call_id": "c3", "contents": [
                {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "user", "contents": "Thanks"},
        ],
        "tools": [{"name": "f", "description": "F.", "parameters": {"type": "object"},
                   "returns": {"type": "number"}}],
        "documents": [{"title": "FAQ", "text": "Load it."}],
        "response_format": {"type": "json_schema", "schema": SCHEMA, "strict": True},
    },
}  # fmt: skip


@apis
def test_a_request_with_every_field_is_the_same_after_uacs(api: str) -> None:
    codec = CODECS[api]

    conversation = codec.read_request(REQUESTS[api], "bot")

    assert as_read(api, codec.write_request(conversation, "bot").body) == as_read(
        api, REQUESTS[api]
    )


@apis
def test_common_content_becomes_standard_parts(api: str) -> None:
    messages = CODECS[api].read_request(REQUESTS[api], "bot").messages
    parts = [part for message in messages for part in message.content]

    kinds = {part.type for part in parts}
    assert {"text", "image", "tool_call", "tool_result", "requested_response_format"} <= kinds
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    assert {"Be kind.", "Look:"} <= set(texts)
    thoughts = [p.data for p in parts if isinstance(p, StructuredDataPart) and
                p.schema_id == REASONING]  # fmt: skip
    assert thoughts == [{"text": "Hm."}]
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    results = [part for part in parts if isinstance(part, ToolResultPart)]
    assert {call.id for call in calls} <= {result.tool_call_id for result in results}


@apis
@pytest.mark.parametrize("other", CODECS)
def test_another_vendor_reads_the_same_conversation(api: str, other: str) -> None:
    conversation = CODECS[api].read_request(REQUESTS[api], "bot")

    written = CODECS[other].write_request(conversation, "bot")

    text = json.dumps(written.body, ensure_ascii=False)
    for word in ("Be kind.", "Look:", '"f"'):
        assert word in text
    if other != api:
        for opaque in ("c2ln", "c2lo", "gAAA", "rs_1", "cache_control", "googleSearch", "xyz"):
            assert opaque not in text
        assert any(loss.kind == "state_of_another" for loss in written.losses)
    back = CODECS[other].read_request(written.body, "bot")
    assert as_read(other, CODECS[other].write_request(back, "bot").body) == as_read(
        other, written.body
    )


@apis
def test_media_keep_their_place_in_the_text(api: str) -> None:
    parts: list[ContentPart] = [
        TextPart(text="one"),
        ImagePart(source=MediaSource(base64="UElDMQ=="), media_type="image/png"),
        TextPart(text="two"),
        ImagePart(source=MediaSource(url="https://x.example/pic2.png"), media_type="image/png"),
        TextPart(text="three"),
    ]

    body = json.dumps(CODECS[api].write_request(room(message_from("s:T:U", parts)), "bot").body)

    places = [body.index(w) for w in ("one", "UElDMQ==", "two", "pic2.png", "three")]
    assert places == sorted(places)


@apis
@pytest.mark.parametrize("part", [
    VideoPart(source=MediaSource(url="https://x.example/clip.mp4"), media_type="video/mp4"),
    AudioPart(source=MediaSource(url="https://x.example/clip.ogg"), media_type="audio/ogg"),
    FilePart(source=MediaSource(url="https://x.example/clip.zip"), media_type="application/zip"),
    FilePart(source=MediaSource(base64=B64), media_type="text/csv"),
    ImagePart(source=MediaSource(file_id="blob:gone"), media_type="image/png"),
    StructuredDataPart(schema_id="x/y", data={"clip": 1}),
    ToolCallPart(id="1", name="clip", arguments={}),
])  # fmt: skip
def test_a_part_that_an_api_does_not_accept_becomes_text_with_a_loss(
    api: str, part: ContentPart
) -> None:
    written = CODECS[api].write_request(room(message_from("s:T:U", [part], "Alice")), "bot")

    text = json.dumps(written.body)
    there = ("clip", "hello", B64, "image/png")
    assert any(word in text for word in there)
    native = any(word in text for word in ("fileUri", "file_url", "inlineData", 'clip.mp4"'))
    is_text = isinstance(part, FilePart) and part.source.base64 is not None
    assert native or is_text or [loss.kind for loss in written.losses] == ["part_as_text"]


@apis
def test_the_reasoning_of_other_agents_is_not_sent(api: str) -> None:
    parts = [StructuredDataPart(schema_id=REASONING, data={"text": "secret plan"}),
             state(api, item={"secret": 1}), TextPart(text="Hi")]  # fmt: skip
    message = message_from("agent:other", parts, "other", "assistant")

    written = CODECS[api].write_request(room(message), "bot")

    assert "secret" not in json.dumps(written.body)
    assert [loss.kind for loss in written.losses] == ["role_demoted", "private", "private"]


@apis
def test_reasoning_and_private_state_are_not_shown_to_people(api: str) -> None:
    message = CODECS[api].read_request(REQUESTS[api], "bot").messages
    for one in message:
        text, _ = message_text(one)
        assert "Hm." not in text
        assert STATE not in text
        assert REASONING not in text


def test_sources_are_shown_as_links() -> None:
    data: Any = {"citations": [{"title": "X [1]", "url": "https://x.example/a"}, {"title": "Only"},
                          {"url": "javascript:alert(1)"}, 7]}  # fmt: skip
    message = message_from("agent:bot", [StructuredDataPart(schema_id=CITATIONS, data=data)], "bot")

    text, losses = message_text(message)

    assert text == "Source: [X \\[1\\]](https://x.example/a)\n\nSource: Only"
    assert losses == ()


def test_unsupported_schema_keywords_are_removed_but_not_properties_with_their_names() -> None:
    losses: list[Loss] = []
    schema: Any = {"type": "object", "minimum": 1, "enum": [{"minimum": 2}],
              "properties": {"minimum": {"type": "integer", "minimum": 3}}}  # fmt: skip

    reduced = without_keywords(schema, ("minimum",), losses)

    assert reduced == {"type": "object", "enum": [{"minimum": 2}],
                     "properties": {"minimum": {"type": "integer"}}}  # fmt: skip
    assert [loss.path for loss in losses] == ["/minimum", "/properties/minimum/minimum"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
WORDS = (
    "type", "role", "content", "text", "tool_calls", "function", "arguments", "name", "id", "input",
    "source", "url", "data", "media_type", "parts", "functionCall", "functionResponse", "args",
    "summary", "call_id", "output", "image_url", "delta", "index", "message", "choices", "thinking",
    "candidates", "contents", "messages", "inlineData", "mimeType", "response", "thought", "item",
    "content_block", "partial_json", "tools", "system", "partialArgs", "jsonPath", "willContinue",
)  # fmt: skip
KINDS = (
    "text", "image", "tool_use", "tool_result", "thinking", "message", "reasoning", "function_call",
    "user", "assistant", "tool", "system", "document", "base64", "output_text", "function",
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "model",
    "response.output_item.done", "response.completed", "response.output_text.delta", "text_delta",
    "input_json_delta", "https://x.example", "$.a[0].b", "$[1]", "{", "{}", "url",
)  # fmt: skip
likely = st.recursive(
    st.sampled_from(KINDS) | st.none() | st.booleans() | st.integers(-2, 3) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6)
    ),
    max_leaves=25,
)


@apis
@settings(max_examples=examples(60))
@given(value=likely)
def test_any_json_is_read_or_refused_with_a_codec_error(api: str, value: Any) -> None:
    codec = CODECS[api]
    for read in (codec.read_request, codec.read_response):
        with suppress(CodecError):
            assert read(value, "bot")


TOP = {"openai-chat": ("messages", "choices"), "openai-responses": ("input", "output"),
       "anthropic": ("messages", "content"), "gemini": ("contents", "candidates"),
       "ailoy": ("messages", "contents")}  # fmt: skip


@apis
@settings(max_examples=examples(60))
@given(items=st.lists(likely, max_size=4))
def test_any_items_are_the_same_after_uacs_or_named_in_a_loss(api: str, items: Any) -> None:
    codec = CODECS[api]
    body = {"model": "m", TOP[api][0]: items}
    try:
        conversation = codec.read_request(body, "bot")
    except CodecError:
        return

    written = codec.write_request(conversation, "bot").body

    again = codec.write_request(codec.read_request(written, "bot"), "bot").body
    assert json.dumps(again, sort_keys=True) == json.dumps(written, sort_keys=True)


@apis
@settings(max_examples=examples(60))
@given(events=st.lists(likely, max_size=6))
def test_any_stream_is_read_or_refused_with_a_codec_error(api: str, events: Any) -> None:
    reader = CODECS[api].stream()
    with suppress(CodecError, AgentError, PlatformError):
        for event in events:
            reader.take(event)
        reader.end()
        assert reader.ending
        assert CODECS[api].read_response(reader.response, "bot")


texts = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() == text)
sources = st.builds(lambda data: MediaSource(base64=data.hex()), st.binary(max_size=8)) | st.just(
    MediaSource(url="https://x.example/a")
)
parts_of_people = (
    st.builds(lambda t: TextPart(text=t), texts)
    | st.builds(lambda s: ImagePart(source=s, media_type="image/png"), sources)
    | st.builds(lambda s: AudioPart(source=s, media_type="audio/wav"), sources)
    | st.builds(lambda s: VideoPart(source=s, media_type="video/mp4"), sources)
    | st.builds(lambda s: FilePart(source=s, media_type="application/pdf"), sources)
    | st.builds(lambda d: StructuredDataPart(schema_id="x/y", data={"d": d}), json_values)
)
own_parts = (
    st.builds(lambda t: TextPart(text=t), texts)
    | st.builds(lambda t: StructuredDataPart(schema_id=REASONING, data={"text": t}), texts)
    | st.builds(lambda i: ToolCallPart(id=f"c{i}", name="f", arguments={"i": i}), st.integers(0, 3))
    | st.builds(lambda i: ToolResultPart(tool_call_id=f"c{i}", content="r"), st.integers(0, 3))
)
own_messages = st.builds(
    lambda parts: message_from("agent:bot", parts, "bot", "assistant"),
    st.lists(own_parts, min_size=1, max_size=5),
)
others = st.builds(
    lambda parts, name: message_from("slack:T:U1", parts, name),
    st.lists(parts_of_people, min_size=1, max_size=4),
    st.text(max_size=10),
)


@apis
@settings(max_examples=examples(50))
@given(messages=st.lists(own_messages | others, min_size=1, max_size=5))
def test_a_room_becomes_a_request_that_is_read_back(api: str, messages: list[Message]) -> None:
    codec = CODECS[api]

    written = codec.write_request(room(*messages), "bot")

    again = codec.write_request(codec.read_request(written.body, "bot"), "bot")
    assert as_read(api, again.body) == as_read(api, written.body)
    assert sum(json.dumps(written.body).count(f'"c{n}"') for n in range(4)) >= len(
        [p for m in messages for p in m.content if isinstance(p, ToolCallPart | ToolResultPart)]
    )


@apis
@settings(max_examples=examples(50))
@given(parts=st.lists(own_parts, min_size=1, max_size=5))
def test_a_message_written_as_a_response_is_read_back_unchanged(
    api: str, parts: list[ContentPart]
) -> None:
    codec = CODECS[api]
    calls = {part.id: part for part in parts if isinstance(part, ToolCallPart)}  # ids are unique
    answer = [*(part for part in parts if isinstance(part, TextPart)), *calls.values()]
    message = message_from("agent:bot", answer or [TextPart(text="x")], "bot", "assistant")

    back = codec.read_response(
        {"type": "message", "content": [], **codec.write_response(message, "bot")}, "bot"
    )

    stored = [json.loads(write(part)) for part in back.content if part.type != "structured_data"]
    expected = [json.loads(write(part)) for part in message.content]
    assert sorted(_flat(stored)) == sorted(_flat(expected))
    assert read_message(write(back)) == back


def _flat(parts: list[Any]) -> list[str]:
    """Texts together, calls by themselves: some APIs have words first, then calls."""
    words = "".join(part["text"] for part in parts if part["type"] == "text")
    calls = [json.dumps(part, sort_keys=True) for part in parts if part["type"] != "text"]
    return [words, *calls]


def test_every_vendor_of_the_tests_has_a_codec() -> None:
    assert VENDORS.keys() == CODECS.keys()


def test_a_format_without_a_schema_is_json_mode() -> None:
    requested_format = RequestedResponseFormatPart(schema={"type": "object"})
    request = room(message_from("s:T:U", [TextPart(text="x"), requested_format]))

    body = CODECS["openai-chat"].write_request(request, "bot").body

    assert body["response_format"] == {"type": "json_object"}
