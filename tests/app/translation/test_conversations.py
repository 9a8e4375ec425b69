"""Conversations between UACS and the agent APIs, with `uacs-bridge translate`."""

from __future__ import annotations

import io
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from bridge.agents.conversation_codecs import MESSAGES_OF, codec_of
from bridge.app.translation.lines import translate_lines
from bridge.app.translation.translate import formats, translate
from bridge.content.messages.agent_parts import REASONING
from bridge.errors import CodecError, ConfigError
from bridge.runtime.discovery import AGENTS, names_of
from bridge.uacs import read_conversation, read_message
from tests.agents.readings import as_read
from tests.agents.test_codecs import REQUESTS
from tests.agents.test_corpus import of
from tests.examples import examples
from tests.uacs.strategies import conversations, json_values

APIS = tuple(MESSAGES_OF)
apis = pytest.mark.parametrize("api", APIS)
WHEN = "2026-11-21T12:00:00Z"


def _message(actor_id: str, role: str, *texts: str, name: str = "") -> Any:
    actor = {"id": actor_id, "role": role, **({"name": name} if name else {})}
    content = [{"type": "text", "text": text, "format": "markdown"} for text in texts]
    return {"message_id": f"m {actor_id} {texts}", "timestamp": WHEN, "actor": actor,
            "content": content}  # fmt: skip


def _conversation(*messages: Any, **metadata: Any) -> Any:
    return {
        "conversation_id": "0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11", "created_at": WHEN,
        "updated_at": WHEN, "messages": list(messages),
        **({"metadata": metadata} if metadata else {}),
    }  # fmt: skip


PROGRAM = _conversation(
    _message("p:rules", "system", "Be kind."),
    _message("p:ann", "human", "Hello?", name="Ann Lee"),
    _message("p:planner", "assistant", "A plan.", name="Planner"),
    _message("p:ann", "human", "And?", name="Ann Lee"),
    _message("p:writer", "assistant", "A text.", name="Writer"),
    _message("p:ann", "human", "Thanks."),
)


def test_each_api_that_takes_a_conversation_is_a_format_and_an_agents_kind() -> None:
    assert set(APIS) <= set(formats())
    assert set(APIS) <= set(names_of(AGENTS))


UNNAMED_CALLS = _conversation(
    {**_message("p:planner", "assistant"), "content": [
        {"type": "text", "text": ""},
        {"type": "tool_call", "id": "", "name": "f", "arguments": {}},
        {"type": "tool_call", "id": "", "name": "g", "arguments": {}},
        {"type": "tool_result", "tool_call_id": "", "content": "one"},
        {"type": "tool_result", "tool_call_id": "", "content": "two"},
    ]},
)  # fmt: skip


@pytest.mark.parametrize(
    ("api", "kind", "call", "result"),
    [
        ("openai-responses", "function_call", "call_id", "call_id"),
        ("anthropic", "tool_use", "id", "tool_use_id"),
    ],
)
def test_calls_without_an_id_get_one_which_their_results_repeat(
    api: str, kind: str, call: str, result: str
) -> None:
    (body,), _ = _written(UNNAMED_CALLS, api)

    items = body.get("input") or [
        item for message in body["messages"] for item in message["content"]
    ]
    calls = [item[call] for item in items if item.get("type") == kind]
    results = [item[result] for item in items if item.get("type") in _RESULTS]
    assert calls == results
    assert len({*calls} - {""}) == 2


_RESULTS = ("function_call_output", "tool_result")


@pytest.mark.parametrize("api", REQUESTS)
def test_a_request_is_the_same_after_uacs(api: str) -> None:
    result = translate(REQUESTS[api], source=api, target="uacs")
    (conversation,) = result.messages
    back = translate(conversation, source="uacs", target=api)

    assert result.losses == ()
    assert read_conversation(json.dumps(conversation).encode())
    assert as_read(api, back.messages[0]) == as_read(api, REQUESTS[api])


@pytest.mark.parametrize("recording", of("request", answered=False))
def test_a_recorded_request_is_the_same_after_uacs(recording: Any) -> None:
    (conversation,) = translate(recording.body, source=recording.api, target="uacs").messages
    (back,) = translate(conversation, source="uacs", target=recording.api).messages

    assert as_read(recording.api, back) == as_read(recording.api, recording.body)


@pytest.mark.parametrize("api", REQUESTS)
@pytest.mark.parametrize("other", APIS)
def test_a_request_becomes_another_apis_and_losses_name_what_it_lacks(api: str, other: str) -> None:
    done = translate(REQUESTS[api], source=api, target=other)
    text = json.dumps(done.messages, ensure_ascii=False)

    assert "Look:" in text
    assert '"f"' in text or other == "acp"
    kinds = {loss.kind for loss in done.losses}
    if api == other:
        assert done.messages == (REQUESTS[api],)
        assert not kinds
        return
    assert "state_of_another" in kinds
    (conversation,) = translate(REQUESTS[api], source=api, target="uacs").messages
    rest = _any(conversation)["metadata"]["agents"]["assistant"]["request"]
    named = [loss.what for loss in done.losses if loss.kind == "settings_of_another"]
    assert named == ([f"{api}: {', '.join(rest)}"] if rest else [])
    assert "Be kind." in text or "instructions" in kinds
    again = translate(done.messages[0], source=other, target=other, through_tree=True)
    assert as_read(other, again.messages[0]) == as_read(other, done.messages[0])


@pytest.mark.parametrize("api", [api for api in APIS if api != "acp"])
def test_a_programs_messages_keep_their_roles_and_a_lost_name_is_a_loss(api: str) -> None:
    (body,), losses = _written(PROGRAM, api)

    again = _any(translate(body, source=api, target="uacs").messages[0])
    roles_and_texts = [(m["actor"]["role"], m["content"][0]["text"]) for m in again["messages"]]
    assert roles_and_texts == [
        ("system", "Be kind."), ("human", "Hello?"), ("assistant", "A plan."), ("human", "And?"),
        ("assistant", "A text."), ("human", "Thanks."),
    ]  # fmt: skip
    named = {loss.what: loss.shown_as for loss in losses if loss.kind == "speaker_as_role"}
    assert named == {
        "p:rules": "system", "Ann Lee": "human", "Planner": "assistant", "Writer": "assistant",
    }  # fmt: skip


def test_instructions_that_an_api_has_no_place_for_are_named() -> None:
    (body,), losses = _written(PROGRAM, "acp")

    assert "Be kind." not in json.dumps(body)
    assert any(loss.kind == "instructions" for loss in losses)
    assert [item["role"] for item in body["input"]] == ["user", "agent/assistant"] * 2 + ["user"]


def _written(conversation: Any, api: str) -> tuple[Any, Any]:
    done = translate(conversation, source="uacs", target=api)
    return done.messages, done.losses


@apis
def test_several_people_keep_their_names(api: str) -> None:
    two = _conversation(_message("p:ann", "human", "Hi", name="Ann Lee"),
                        _message("p:bob", "human", "Ho", name="Bob Ray"))  # fmt: skip

    (body,), losses = _written(two, api)

    assert "Ann Lee" in json.dumps(body)
    assert "Bob Ray" in json.dumps(body)
    assert losses == ()


@apis
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(conversation=conversations)
@example(conversation=UNNAMED_CALLS)
def test_any_conversation_becomes_a_request_that_is_read_back(api: str, conversation: Any) -> None:
    (body,), losses = _written(conversation, api)

    (again,) = translate(body, source=api, target="uacs").messages
    (stable,), _ = _written(again, api)
    assert as_read(api, stable) == as_read(api, body)
    written = json.dumps(body, ensure_ascii=False)
    dropped = {loss.path.split("/content")[0] for loss in losses}
    for number, message in enumerate(conversation["messages"]):
        for part in message["content"]:
            text = part.get("text") if part.get("type") == "text" else ""
            if isinstance(text, str) and text.isalnum() and f"/messages/{number}" not in dropped:
                assert text in written


@apis
@settings(max_examples=examples(60))
@given(value=json_values)
def test_any_json_is_read_or_refused_with_its_place(api: str, value: Any) -> None:
    _read_or_refuse(value, api)


@apis
@pytest.mark.parametrize("levels", [100, 900])
def test_deep_json_is_read_or_refused(api: str, levels: int) -> None:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep] if levels % 2 else {"a": deep}
    block: Any = {"role": "user", "content": [{"type": "own", "data": deep}],
             "parts": [{"own": deep}], "contents": [{"type": "own", "data": deep}]}  # fmt: skip
    _read_or_refuse([block], api)


def _read_or_refuse(value: Any, api: str) -> None:
    """Read a payload; only CodecError may be raised, and the result can be written."""
    with suppress(CodecError):
        (conversation,) = translate(value, source=api, target="uacs").messages
        assert translate(conversation, source="uacs", target=api).messages


def _any(value: Any) -> Any:
    return value


def test_a_bare_list_of_messages_is_a_request() -> None:
    (conversation,) = translate(
        [{"role": "user", "content": "Hi"}], source="openai-chat", target="uacs"
    ).messages

    assert _any(conversation)["messages"][0]["content"][0]["text"] == "Hi"


def test_the_answer_of_an_api_is_translated_to_a_platform() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "<think>Hm.</think>**Hi**"}}
    answer: Any = {"id": "c1", "object": "chat.completion", "choices": [choice]}

    (message,) = translate(answer, source="openai-chat", target="uacs").messages
    (slack,) = translate(answer, source="openai-chat", target="slack").messages

    read = read_message(json.dumps(message).encode())
    assert read.actor.role == "assistant"
    assert REASONING in json.dumps(message)
    assert "*Hi*" in json.dumps(slack)
    assert "Hm." not in json.dumps(slack)


def test_a_platforms_message_becomes_a_user_message_and_a_conversation_one_message_each() -> None:
    slack: Any = {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "*Hello*"}}]}

    (request,) = translate(slack, source="slack", target="openai-chat").messages
    result = translate(PROGRAM, source="uacs", target="discord")

    assert request == {"messages": [{"role": "user", "content": "**Hello**"}]}
    assert len(result.messages) == len(PROGRAM["messages"])


def test_instructions_that_are_posted_on_a_platform_are_a_loss() -> None:
    result = translate(PROGRAM, source="uacs", target="discord")

    assert [
        (loss.path, loss.what, loss.shown_as)
        for loss in result.losses
        if loss.kind == "role_demoted"
    ] == [("/messages/0/actor", "system p:rules", "an ordinary message")]
    assert not translate(PROGRAM, source="uacs", target="card").losses


@pytest.mark.parametrize(
    ("source", "target", "request_"),
    [
        (
            "openai-chat",
            "anthropic",
            {
                "messages": [
                    {"role": "user", "content": "Hi"},
                    {"role": "assistant", "name": "planner", "content": "A plan."},
                ]
            },
        ),
        (
            "acp",
            "openai-chat",
            {
                "input": [
                    {"role": "user", "parts": [{"content": "Hi"}]},
                    {"role": "agent/planner", "parts": [{"content": "A plan."}]},
                ]
            },
        ),
    ],
)
def test_an_assistants_name_that_another_api_omits_is_a_loss(
    source: str, target: str, request_: Any
) -> None:
    done = translate(request_, source=source, target=target)

    named = [(loss.path, loss.what) for loss in done.losses if loss.kind == "speaker_as_role"]
    assert named == [("/messages/1/actor", "planner")]
    home = translate(request_, source=source, target=source, through_tree=True)
    assert [loss.kind for loss in home.losses] == []


def test_equal_states_of_another_api_are_one_loss() -> None:
    messages: Any = [{"role": "user", "content": "Hi", "own": n} for n in range(3)]

    done = translate({"messages": messages}, source="openai-chat", target="gemini")

    assert [loss.what for loss in done.losses if loss.kind == "state_of_another"] == [
        "what the API 'openai-chat' keeps for itself (3 times)"
    ]


def test_a_batch_takes_agent_apis_both_ways() -> None:
    lines = [
        {"id": 1, "from": "uacs", "to": "anthropic", "payload": PROGRAM},
        {"id": 2, "from": "anthropic", "to": "uacs", "payload": REQUESTS["anthropic"]},
        {"id": 3, "from": "gemini", "to": "openai-chat", "payload": {"contents": 7}},
    ]
    source = io.BytesIO(b"\n".join(json.dumps(line).encode() for line in lines))

    first, second, third = (
        json.loads(translate_line) for translate_line in translate_lines(source)
    )

    assert [entry["role"] for entry in first["messages"][0]["messages"]] == [
        "user",
        "assistant",
    ] * 2 + ["user"]
    assert {entry["kind"] for entry in first["losses"]} == {"speaker_as_role"}
    assert second["messages"][0]["messages"]
    assert third["error"]["pointer"] == "/contents"


def test_an_agent_kind_without_conversations_is_no_format() -> None:
    with pytest.raises(ConfigError):
        translate(PROGRAM, source="uacs", target="webhook")
    assert codec_of("acp").read_request
