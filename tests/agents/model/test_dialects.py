"""Servers that speak Chat Completions, each a little differently."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bridge.agents.openai_chat.presets import PRESETS
from bridge.agents.openai_chat.settings import OpenAIChatSettings
from bridge.model.turns import TurnDone, TurnFailed
from bridge.uacs import ImagePart
from tests.agents.model_server import Answer, ModelServer, model_server, sse
from tests.agents.talking import (
    HELLO,
    answer,
    build,
    message_from,
    nothing,
    room,
    text_of,
    tools,
    turn,
)
from tests.agents.vendors import JSON, VENDORS, chat_says

CHAT = VENDORS["openai-chat"]
ALICE = room(message_from("slack:T1:U1", "Hello?", "alice"))
PYDANTIC = {"type": "extra_forbidden", "msg": "Extra inputs are not permitted", "input": "tools"}


def _refusal(body: Any, status: int = 422) -> Answer:
    """A string is plain text, as some servers tell what they refuse."""
    if isinstance(body, str):
        return Answer([body.encode()], status, "text/plain; charset=utf-8")
    return Answer([json.dumps(body).encode()], status, JSON)


def _ok(text: str = "Hi!") -> Answer:
    return Answer(sse(*chat_says(text)))


def _loc(*steps: Any) -> Any:
    return {**PYDANTIC, "loc": ["body", *steps]}


STREAM_OPTIONS = _loc("stream_options", "include_usage")
NAME = _loc("messages", 1, "user", "name")
REFUSALS: dict[str, Any] = {
    "mistral": {"object": "error", "message": {"detail": [STREAM_OPTIONS, NAME]},
                "type": "invalid_request_error", "param": None, "code": None},
    "mistral in a string": {"object": "error", "code": "1000",
                            "message": json.dumps({"detail": [STREAM_OPTIONS, NAME]})},
    "fastapi": {"detail": [STREAM_OPTIONS, NAME]},
    "vllm": {"error": {"message": "2 validation errors for ChatCompletionRequest\nstream_options\n"
                       "  Extra inputs are not permitted [type=extra_forbidden]\n"
                       "messages.1.user.name\n  Extra inputs are not permitted", "code": 400}},
    "groq": {"error": {"message": "'messages.1' : for 'role:user' the following must be satisfied"
                       "[('messages.1' : property 'name' is unsupported)], and `stream_options`"}},
    "plain text": "Failed to deserialize the JSON body: unknown field `stream_options`, or `name`",
}  # fmt: skip


@pytest.mark.parametrize("body", REFUSALS.values(), ids=list(REFUSALS))
async def test_fields_that_a_server_refuses_are_omitted_from_then_on(body: Any) -> None:
    async with model_server(_refusal(body), _ok()) as api:
        agent_tools = build(CHAT, api.url, tools())
        first = [event async for event in agent_tools.run(turn(ALICE), nothing())]
        again = [event async for event in agent_tools.run(turn(ALICE), nothing())]

    assert text_of(first) == text_of(again) == "Hi!"
    assert len(api.requests) == 3
    for request in api.requests[1:]:
        assert "stream_options" not in request
        assert request["messages"][-1] == {"role": "user", "content": '[from "alice"]\nHello?'}
        assert request["model"] == "m"


async def test_fields_that_a_refusal_lists_as_known_are_still_sent() -> None:
    refusal = "unknown field `stream_options`, expected one of `model`, `temperature` at line 1"
    async with model_server(_refusal(refusal), _ok()) as api:
        await answer(CHAT, api.url, temperature=0.2)

    assert ["stream_options" in request for request in api.requests] == [True, False]
    assert api.requests[1]["temperature"] == 0.2


async def test_a_field_whose_omission_did_not_help_is_sent_again() -> None:
    refused = _refusal({"detail": [STREAM_OPTIONS]})
    broken = _refusal({"error": {"message": "no such thing"}}, 400)
    async with model_server(refused, broken, _ok()) as api:
        agent_tools = build(CHAT, api.url, tools())
        first = [event async for event in agent_tools.run(turn(HELLO), nothing())]
        [event async for event in agent_tools.run(turn(HELLO), nothing())]

    assert isinstance(first[-1], TurnFailed)
    assert ["stream_options" in request for request in api.requests] == [True, False, True]


@pytest.mark.parametrize("member", ["model", "messages", "tools", "top_k"])
async def test_fields_that_change_the_question_are_never_omitted(member: str) -> None:
    about: Any = {"name": "f", "parameters": {"type": "object"}}
    conversation = room(message_from("slack:T1:U1", "Hello?", "Alice Smith"), tools=[about])
    async with model_server(_refusal({"detail": [_loc(member)]}), _ok()) as api:
        events = await answer(CHAT, api.url, conversation, extra_body={"top_k": 3})

    assert len(api.requests) == 1
    assert isinstance(events[-1], TurnFailed)


@pytest.mark.parametrize(
    ("name", "other"),
    [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")],
)
async def test_a_refused_token_limit_is_sent_under_its_other_name(name: str, other: str) -> None:
    async with model_server(_refusal({"detail": [_loc(name)]}), _ok()) as api:
        events = await answer(CHAT, api.url, max_tokens=9, max_tokens_name=name)

    assert isinstance(events[-1], TurnDone)
    assert api.requests[1][other] == 9
    assert name not in api.requests[1]


async def test_a_token_limit_refused_under_both_names_is_an_error() -> None:
    refusals = [_refusal({"error": {"param": max_token, "message": "Unsupported parameter"}}, 400)
                for max_token in ("max_completion_tokens", "max_tokens")]  # fmt: skip
    async with model_server(*refusals, _ok()) as api:
        events = await answer(CHAT, api.url, max_tokens=9)

    assert isinstance(events[-1], TurnFailed)
    assert len(api.requests) == 2


async def test_a_field_named_only_in_quoted_user_text_is_not_omitted() -> None:
    echoed = {"detail": [{"type": "value_error", "loc": ["body", "messages", 0, "content"],
                          "msg": "bad value", "input": "leave 'stream_options' out"}]}  # fmt: skip
    async with model_server(_refusal(echoed), _ok()) as api:
        events = await answer(CHAT, api.url)

    assert isinstance(events[-1], TurnFailed)
    assert len(api.requests) == 1


ALTERNATE = "Conversation roles must alternate user/assistant/user/..."


@pytest.mark.parametrize("refusal", [{"error": {"message": ALTERNATE}}, ALTERNATE])
@pytest.mark.parametrize("status", [400, 500])
async def test_adjacent_messages_of_one_role_are_joined_for_strict_templates(
    status: int, refusal: Any
) -> None:
    conversation = room(
        message_from("slack:T1:U1", "One", "alice"),
        message_from("slack:T1:U2", '[from "alice"] Two', "Bob B."),
        message_from("agent:bot", "Three", "bot", "assistant"),
        message_from("slack:T1:U1", "Four", "alice"),
    )
    async with model_server(_refusal(refusal, status), _ok()) as api:
        agent_tools = build(CHAT, api.url, tools())
        [event async for event in agent_tools.run(turn(conversation), nothing())]

    assert len(api.requests) == 2
    system, *messages = api.requests[1]["messages"]
    assert system["role"] == "system"
    assert messages == [
        {"role": "user", "content":
         '[from "alice"]\nOne\n\n[from "Bob B."]\n\\[from "alice"] Two'},
        {"role": "assistant", "content": "Three"},
        {"role": "user", "content": '[from "alice"]\nFour'},
    ]  # fmt: skip


async def test_adjacent_messages_are_joined_on_request_with_pictures_in_their_place() -> None:
    picture = {"type": "image", "media_type": "image/png",
               "source": {"url": "https://x.example/a.png"}}  # fmt: skip
    first = message_from("slack:T1:U1", "One", "alice")
    looked = first.model_copy(
        update={"content": (*first.content, ImagePart.model_validate(picture))}
    )
    async with model_server(_ok()) as api:
        await answer(CHAT, api.url, room(looked, message_from("slack:T1:U2", "Two", "Bob B.")),
                     alternating=True)  # fmt: skip

    (message,) = api.requests[0]["messages"][1:]
    kinds = [(block["type"], block.get("text")) for block in message["content"]]
    assert kinds == [("text", '[from "alice"]'), ("text", "One"), ("image_url", None),
                     ("text", '[from "Bob B."]\nTwo')]  # fmt: skip


@pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
async def test_null_in_extra_body_omits_a_field(vendor: Any) -> None:
    async with model_server(vendor.stream(vendor.says("Hi!"))) as api:
        await answer(vendor, api.url, extra_body={"stream": None})

    assert "stream" not in api.requests[0]
    with pytest.raises(ValidationError, match="cannot be omitted"):
        vendor.type.settings(model="m", base_url="https://x.example", extra_body={"model": None})


async def test_mistral_accepts_null_for_name_and_stream_options() -> None:
    async with model_server(_ok()) as api:
        await answer(CHAT, api.url, ALICE, extra_body={"stream_options": None, "name": None})

    assert _strict(api) == []


async def test_the_preset_of_mistral_sends_nothing_that_mistral_refuses() -> None:
    async with model_server(_ok()) as api:
        await answer(CHAT, api.url, ALICE, preset="mistral", max_tokens=9)

    assert _strict(api) == []
    assert api.requests[0]["max_tokens"] == 9


def _strict(api: ModelServer) -> list[str]:
    """Members that Mistral's API answers with 422."""
    (request,) = api.requests
    top = {"model", "messages", "stream", "max_tokens", "temperature", "tools", "response_format"}
    named = ["name" for message in request["messages"] if "name" in message]
    return [*sorted(request.keys() - top), *named]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_fills_in_missing_settings(name: str) -> None:
    preset_settings = OpenAIChatSettings.model_validate({"model": "m", "preset": name})
    own = OpenAIChatSettings.model_validate(
        {"model": "m", "preset": name, "base_url": "https://x.example/v1"}
    )

    assert preset_settings.preset is not None
    assert preset_settings.base_url == PRESETS[preset_settings.preset].base_url
    is_local = preset_settings.base_url.startswith("http://localhost:")
    assert (preset_settings.api_key is None) == is_local
    assert own.base_url == "https://x.example/v1"
    assert own.api_key is None  # a vendor's key goes to no other address


def test_an_unknown_preset_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ValidationError, match="mistral"):
        OpenAIChatSettings.model_validate({"model": "m", "preset": "mystral"})
