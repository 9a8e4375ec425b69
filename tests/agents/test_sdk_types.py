"""The vendors' own SDKs read what we write. Without one, its tests skip."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter

from bridge.app.translation.translate import translate
from bridge.uacs import (
    AudioPart,
    ContentPart,
    Conversation,
    FilePart,
    ImagePart,
    MediaSource,
    RequestedResponseFormatPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    write,
)
from tests.agents.apis import CODECS
from tests.agents.talking import build, message_from, room, tools
from tests.agents.vendors import VENDORS

TOOL = {"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {}}}
PARTS: list[ContentPart] = [
    TextPart(text="Look:"),
    ImagePart(source=MediaSource(base64="aGVsbG8="), media_type="image/png"),
    ImagePart(source=MediaSource(url="https://x.example/a.png"), media_type="image/png"),
    AudioPart(source=MediaSource(base64="aGVsbG8="), media_type="audio/wav"),
    FilePart(source=MediaSource(base64="aGVsbG8="), media_type="application/pdf"),
    FilePart(source=MediaSource(base64="aGVsbG8="), media_type="text/plain"),
    RequestedResponseFormatPart(schema={"title": "A", "type": "object", "properties": {}}),
]
OWN: list[ContentPart] = [
    TextPart(text="Let me see."),
    ToolCallPart(id="call_1", name="f", arguments={"a": 1}),
    ToolResultPart(tool_call_id="call_1", content={"ok": True}),
    TextPart(text="Done."),
]


def request(api: str) -> Any:
    """A request with everything that a room may hold, as the agent would send it."""
    agent = build(VENDORS[api], "https://x.example", tools(), system="Be kind.", max_tokens=99)
    own: Any = {"api": api, "request": agent._api.settings_of_request(agent._settings)}
    talk: Conversation = room(
        message_from("instructions:bot", "Be kind.", role="system"),
        message_from("slack:T:U1", "Hello", "Alice Smith"),
        message_from("agent:bot", OWN, "bot", "assistant"),
        message_from("slack:T:U2", PARTS, "bob"),
        tools=[TOOL],
        agents={"bot": own},
    )
    return CODECS[api].write_request(talk, "bot").body


def translated(api: str) -> Any:
    """A conversation of a program's own, as `uacs-bridge translate` writes it."""
    talk = room(
        message_from("p:rules", "Be kind.", role="system"),
        message_from("p:ann", PARTS[:2], "Ann Lee"),
        message_from("p:planner", OWN, "Planner", "assistant"),
        message_from("p:ann", "Thanks", "Ann Lee"),
        tools=[TOOL],
    )
    (body,) = translate(json.loads(write(talk)), source="uacs", target=api).messages
    return body


def answer(api: str) -> Any:
    """An answer that was made elsewhere, in this API's words."""
    message = message_from("agent:bot", OWN[:2], "bot", "assistant")
    return CODECS[api].write_response(message, "bot")


def test_openai_reads_our_chat_requests() -> None:
    params = pytest.importorskip("openai.types.chat.completion_create_params")

    kind = adapter(params.CompletionCreateParamsStreaming)
    kind.validate_python(request("openai-chat"))
    kind.validate_python({**translated("openai-chat"), "model": "m", "stream": True})


def test_openai_reads_our_responses_requests() -> None:
    params = pytest.importorskip("openai.types.responses.response_create_params")

    kind = adapter(params.ResponseCreateParamsStreaming)
    kind.validate_python(request("openai-responses"))
    kind.validate_python({**translated("openai-responses"), "stream": True})


def test_anthropic_reads_our_requests() -> None:
    params = pytest.importorskip("anthropic.types.message_create_params")

    kind = adapter(params.MessageCreateParamsStreaming)
    kind.validate_python(request("anthropic"))
    more = {"model": "m", "max_tokens": 9, "stream": True}
    kind.validate_python({**translated("anthropic"), **more})


def test_google_reads_our_requests() -> None:
    types = pytest.importorskip("google.genai.types")
    body, other = request("gemini"), translated("gemini")

    contents = [*body["contents"], *other["contents"]]
    for content in [*contents, body["systemInstruction"], other["systemInstruction"]]:
        types.Content.model_validate(content)
    for tool in body["tools"]:
        types.Tool.model_validate(tool)
    types.GenerationConfig.model_validate(body["generationConfig"])


def test_openai_reads_our_chat_answers() -> None:
    chat = pytest.importorskip("openai.types.chat")
    whole: Any = {"id": "x", "created": 1, "model": "m", **answer("openai-chat")}
    whole["choices"][0]["finish_reason"] = "tool_calls"

    message = chat.ChatCompletion.model_validate(whole).choices[0].message

    assert message.content == "Let me see."
    assert message.tool_calls[0].function.name == "f"


def test_anthropic_reads_our_answers() -> None:
    types = pytest.importorskip("anthropic.types")
    usage = {"input_tokens": 1, "output_tokens": 1}
    whole = {"id": "x", "model": "m", "stop_reason": "tool_use", "stop_sequence": None,
             "usage": usage, **answer("anthropic")}  # fmt: skip

    text, call = types.Message.model_validate(whole).content

    assert text.text == "Let me see."
    assert call.input == {"a": 1}


def test_google_reads_our_answers() -> None:
    types = pytest.importorskip("google.genai.types")

    response = types.GenerateContentResponse.model_validate(answer("gemini"))

    assert response.function_calls[0].name == "f"
    assert response.candidates[0].content.parts[0].text == "Let me see."


def adapter(kind: Any) -> TypeAdapter[Any]:
    """Of a TypedDict: what it does not name is refused."""
    kind.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return TypeAdapter(kind)
