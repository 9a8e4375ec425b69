"""An agent on a server that speaks ACP: the SDK's own server, recorded messages, and faults."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.agents.acp.agent import agent_type
from bridge.agents.acp.read import message_parts, read_request, read_response
from bridge.agents.acp.write import path_name, write_request, write_response
from bridge.agents.turn.server_memory import is_memory
from bridge.content.messages.agent_parts import CITATIONS, REASONING, VALUE
from bridge.errors import CodecError
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    MessageGiven,
    PartGiven,
    StopWanted,
    ToolAnswered,
    ToolCalled,
    TurnDone,
    TurnFailed,
)
from bridge.uacs import (
    ContentPart,
    Conversation,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    RequestedResponseFormatPart,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    read_conversation,
    read_message,
    write,
)
from tests.agents.acp_server import acp_server
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.readings import as_read
from tests.agents.talking import HELLO, message_from, nothing, room, text_of, tools, turn
from tests.agents.vendors import JSON, KEY
from tests.examples import examples
from tests.waiting import LONGEST_WAIT

CORPUS = Path(os.environ.get("UACS_CORPUS", "/nowhere")) / "acp"
FILES = sorted(CORPUS.glob("*.json"))
NO_MESSAGE = (
    "openapi_example_Message_properties_role", "openapi_example_Metadata_properties_capabilities",
    "openapi_example_Metadata_properties_domains", "openapi_example_Metadata_properties_links",
    "openapi_example_properties_input_content_types_items",
)  # fmt: skip
"""Examples of single fields of a manifest."""


def build(url: str, name: str = "echo", **options: Any) -> Any:
    settings = {"base_url": url, "agent_name": name, "api_key": {"env": "KEY"}, **options}
    return agent_type.build("bot", agent_type.settings.model_validate(settings), tools())


async def answer(one: Any, conversation: Conversation = HELLO) -> list[AgentEvent]:
    return [event async for event in one.run(turn(conversation), nothing())]


def parts_of(events: list[AgentEvent]) -> list[Any]:
    return [event.part for event in events if isinstance(event, PartGiven)]


def answered(conversation: Conversation, events: list[AgentEvent], *more: Message) -> Conversation:
    """The room after an answer, of which nothing is said again here."""
    content = [TextPart(text="Noted."), *map(read_part, parts_of(events))]
    own = message_from("agent:bot", content, "bot", "assistant")
    return conversation.model_copy(update={"messages": (*conversation.messages, own, *more)})


def read_part(part: Any) -> ContentPart:
    body = {"message_id": "x", "timestamp": "2026-11-21T12:00:00Z",
            "actor": {"id": "x", "role": "assistant"}, "content": [part]}  # fmt: skip
    return read_message(json.dumps(body).encode()).content[0]


# --- recorded and written messages --------------------------------------------------------------


@pytest.mark.parametrize("path", [
    pytest.param(path, id=path.stem) for path in FILES if path.stem not in NO_MESSAGE
] or [pytest.param(None, marks=pytest.mark.skip("UACS_CORPUS names no recordings"))])  # fmt: skip
def test_a_recorded_object_is_the_same_after_uacs(path: Path) -> None:
    body = json.loads(path.read_bytes())

    if "input" in body:
        conversation = read_conversation(write(read_request(body, "bot")))
        again: Any = write_request(conversation, "bot").body
    else:
        message = read_message(write(read_response({"output": [body]}, "bot")))
        (again,) = write_response(message, "bot")["output"]  # pyright: ignore[reportGeneralTypeIssues, reportAssignmentType]

    assert as_read("acp", again) == as_read("acp", body)


EVERYTHING: Any = {
    "run_id": "44e480d6-9a3e-4e35-8a03-faa759e19588", "agent_name": "echo", "status": "completed",
    "session_id": "b30b1946-6010-4974-bd35-89a2bb0ce844", "created_at": "2026-11-21T12:00:00Z",
    "output": [
        {"role": "agent/echo", "created_at": "2026-11-21T12:00:00Z", "parts": [
            {"content": "Hello"},
            {"content_type": "text/markdown", "content": "*there*"},
            {"content_type": "text/html", "content": "<p>x</p>"},
            {"content_type": "application/json", "content": '{"a": [1, null]}'},
            {"content_type": "application/json", "content": "{broken"},
            {"name": "/a/b.csv", "content_type": "text/csv", "content": "a,b"},
            {"name": "/c.png", "content_type": "image/png", "content": "aGk=",
             "content_encoding": "base64"},
            {"content_type": "video/mp4", "content_url": "https://x.example/v.mp4"},
            {"content_type": "text/plain", "content_url": "not an address"},
            {"content": "", "x-own": {"kept": 1}},
        ]},
        {"role": "agent/helper", "parts": [
            {"metadata": {"kind": "trajectory", "message": "Hm."}},
            {"content": "72 F", "metadata": {"kind": "trajectory", "message": "Hm.",
             "tool_name": "f", "tool_input": {"a": 1}, "tool_output": {"b": 2}}},
            {"content": "So.", "metadata": {"kind": "citation", "url": "https://x.example",
             "title": "X", "start_index": 0, "end_index": 2}},
        ]},
        {"role": "agent", "parts": []},
    ],
}  # fmt: skip


def test_a_run_with_every_field_is_the_same_after_uacs() -> None:
    message = read_message(write(read_response(EVERYTHING, "bot")))

    assert as_read("acp", write_response(message, "bot")) == as_read("acp", EVERYTHING)


def test_the_output_of_a_run_becomes_standard_parts() -> None:
    message = read_response(EVERYTHING, "bot")

    kinds = [part.type for part in message.content if part.type != "structured_data"]
    assert kinds == ["text", "text", "file", "text", "file", "image", "video", "text", "tool_call",
                     "tool_result", "text", "text"]  # fmt: skip
    data = {part.schema_id: part.data for part in message.content
            if isinstance(part, StructuredDataPart)}  # fmt: skip
    assert data[VALUE] == {"a": [1, None]}
    assert data[REASONING] == {"text": "Hm."}
    assert data[CITATIONS] == {"citations": [{"title": "X", "url": "https://x.example",
                                              "quote": ""}]}  # fmt: skip


def test_a_room_becomes_the_input_of_a_run() -> None:
    call = ToolCallPart(id="c1", name="f", arguments={"a": 1})
    result = ToolResultPart(tool_call_id="c1", content="sunny")
    png = ImagePart(source=MediaSource(base64="aGk="), media_type="image/png")
    requested_format = RequestedResponseFormatPart(schema={"type": "object"})
    talk = room(
        message_from("slack:T:U1", "Hello", "Alice"),
        message_from("agent:bot", [TextPart(text="Hi"), call, result], "bot", "assistant"),
        message_from("slack:T:U2", [png, TextPart(text="Look"), requested_format], "Bob"),
    )

    written = write_request(talk, "bot")

    assert written.body["input"] == [
        {"role": "user", "parts": [{"content_type": "text/plain",
                                    "content": '[from "Alice"]\nHello'}]},
        {"role": "agent/bot", "parts": [
            {"content_type": "text/plain", "content": "Hi"},
            {"metadata": {"kind": "trajectory", "tool_name": "f", "tool_input": {"a": 1}}},
            {"metadata": {"kind": "trajectory", "tool_name": "f",
                          "tool_output": {"result": "sunny"}}}]},
        {"role": "user", "parts": [
            {"content_type": "text/plain", "content": '[from "Bob"]'},
            {"content_type": "image/png", "content": "aGk=", "content_encoding": "base64"},
            {"content_type": "text/plain", "content": "Look"}]},
    ]  # fmt: skip
    assert [loss.kind for loss in written.losses] == ["format"]


@pytest.mark.parametrize(("name", "path"), [
    ("a.png", "/a.png"), ("../../etc/passwd", "/passwd"), ("Bericht für Zoë.pdf",
    "/Bericht_f_r_Zo_.pdf"), ("", ""), ("...", ""), ("C:\\x\\y.doc", "/y.doc"),
])  # fmt: skip
def test_artifact_names_become_absolute_paths(name: str, path: str) -> None:
    assert path_name(name) == path


def test_two_files_with_one_name_are_distinguished() -> None:
    parts = [FilePart(source=MediaSource(url="https://x.example/a"), media_type="text/csv")] * 2
    details = {"uacs_bridge": {"version": 1, "parts": {"0": {"name": "a.csv"},
                                                       "1": {"name": "a.csv"}}}}  # fmt: skip
    talk = room(message_from("slack:T:U1", parts, "Al", metadata=details))

    body: Any = write_request(talk, "bot").body

    assert [item.get("name") for item in body["input"][0]["parts"]] == [None, "/a.csv", "/a-2.csv"]


@settings(max_examples=examples(80))
@given(st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.sampled_from(
        ["text/plain", "base64", "plain", "trajectory", "citation", "https://x.example/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["output", "parts", "role", "content", "content_type", "content_encoding", "content_url",
         "metadata", "kind", "name", "tool_name", "tool_input", "tool_output", "message"]),
        inner, max_size=5), max_leaves=20))  # fmt: skip
def test_any_json_is_read_or_refused_with_a_codec_error(value: Any) -> None:
    message_parts(value if isinstance(value, dict) else {}, "agent", "0")
    bodies: list[Any] = [value, {"output": [value]}]
    for body in bodies:
        try:
            message = read_response(body, "bot")
        except CodecError:
            continue
        again = write_response(message, "bot")
        assert write_response(read_response(again, "bot"), "bot") == again


# --- the SDK's own server -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def acp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with acp_server(tmp_path_factory.mktemp("acp")) as url:
        yield url


@pytest.mark.parametrize("mode", ["stream", "sync", "async"])
async def test_a_run_is_answered(acp: str, mode: str) -> None:
    events = await answer(build(acp, mode=mode, poll_seconds=0.05))

    assert text_of(events) == '[from "Alice Smith"]\nHello? '
    assert isinstance(events[-1], TurnDone)
    if mode == "stream":
        assert len(events) > 4


async def test_an_answer_records_its_run_and_its_session(acp: str) -> None:
    events = await answer(build(acp, "echo"))

    records = [event.record for event in events if isinstance(event, AnswerRecorded)]
    assert records[-1].keys() >= {"api", "agent_name", "run_id", "session_id", "history_sha256"}
    assert (records[-1]["api"], records[-1]["agent_name"]) == ("acp", "echo")
    assert "Hello?" not in str(records)


async def test_a_known_session_gets_only_new_messages(acp: str) -> None:
    agent = build(acp, "all_of_it")
    first = await answer(agent)

    talk = answered(HELLO, first, message_from("slack:T1:U2", "And now?", "Bob"))
    second = await answer(agent, talk)

    history, _, new_input = text_of(second).rpartition("input:\n")
    assert "Hello?" in history
    assert "Hello?" not in new_input
    assert 'user: [from "Bob"]\nAnd now?' in new_input


@pytest.mark.parametrize("change", ["edited", "deleted", "answer edited", "gone"])
async def test_a_session_whose_history_has_changed_is_dropped(acp: str, change: str) -> None:
    agent = build(acp, "all_of_it")
    first_conversation = room(
        message_from("slack:T1:U1", "The password is swordfish.", "Al"), *HELLO.messages
    )
    talk = answered(
        first_conversation,
        await answer(agent, first_conversation),
        message_from("slack:T1:U2", "And now?", "Bob"),
    )
    first, second, own, last = talk.messages
    state = {"uacs_bridge": {"version": 1, "state": "edited"}}
    if change == "edited":
        first = first.model_copy(update={"content": (TextPart(text="Nothing."),)})
    if change == "answer edited":
        own = own.model_copy(update={"metadata": state, "content": (TextPart(text="Hm"),
                                                                    own.content[-1])})  # fmt: skip
    if change == "gone":  # another server, or the same after a restart
        memory: Any = json.loads(write(own.content[-1]))
        memory["data"]["memory"]["ids"]["session_id"] = "b30b1946-6010-4974-bd35-89a2bb0ce844"
        own = own.model_copy(update={"content": (own.content[0], read_part(memory))})
    messages = (first, second, own, last) if change != "deleted" else (second, own, last)

    events = await answer(agent, talk.model_copy(update={"messages": messages}))

    history, _, new_input = text_of(events).partition("input:\n")
    assert history == "history:\n\n"
    assert "Hello?" in new_input
    assert "And now?" in new_input
    if change in ("edited", "deleted"):
        assert "swordfish" not in text_of(events)


@pytest.mark.parametrize("mode", ["stream", "sync"])
async def test_a_run_asks_the_room_and_continues_with_the_answer(acp: str, mode: str) -> None:
    agent = build(acp, "asks", mode=mode)
    first = await answer(agent)
    talk = answered(HELLO, first, message_from("slack:T1:U2", "Yes.", "Bob"))

    second = await answer(agent, talk)

    assert text_of(first) == "I can delete it.\n\nReally?"
    assert text_of(second).endswith('You said: [from "Bob"]\nYes.')


async def test_a_run_that_the_server_lost_is_started_again(acp: str) -> None:
    agent = build(acp, "asks")
    first = await answer(agent)
    talk = answered(HELLO, first, message_from("slack:T1:U2", "Yes.", "Bob"))
    await answer(agent, talk)

    again = await answer(agent, talk)  # that run has come to its end

    assert text_of(again) == "I can delete it.\n\nReally?"
    assert isinstance(again[-1], TurnDone)


async def test_all_parts_of_a_run_are_emitted(acp: str) -> None:
    events = await answer(build(acp, "draws"))

    assert "It is blue." in text_of(events)
    assert "not for people" not in str(events)
    (call,) = [event.part for event in events if isinstance(event, ToolCalled)]
    (result,) = [event.part for event in events if isinstance(event, ToolAnswered)]
    assert (call.name, call.arguments, result.content) == ("look", {"at": "sky"},
                                                           {"colour": "blue"})  # fmt: skip
    (picture,) = [event for event in events if isinstance(event, PartGiven) and event.name]
    assert picture.name == "sky.png"
    assert picture.part == {"type": "image", "source": {"base64": "iVBORw0KGgo="},
                            "media_type": "image/png"}  # fmt: skip
    schemas = [one["schema_id"] for one in parts_of(events) if "schema_id" in one]
    assert {REASONING, CITATIONS, VALUE} <= set(schemas)


async def test_a_failed_run_is_a_failed_turn(acp: str) -> None:
    events = await answer(build(acp, "fails"))

    assert text_of(events) == "Well"
    assert isinstance(events[-1], TurnFailed)
    assert "sk-" not in str(events)


async def test_an_unreachable_agent_is_a_failed_turn(acp: str) -> None:
    events = await answer(build(acp, "nobody"))

    assert isinstance(events[-1], TurnFailed)
    assert not events[-1].retry


@pytest.mark.parametrize("way", ["stopped", "closed"])
async def test_stopping_a_run_does_not_wait_for_it(acp: str, way: str) -> None:
    stop = asyncio.Event()

    async def inputs() -> AsyncIterator[AgentInput]:
        await stop.wait()
        yield StopWanted()

    events: list[AgentEvent] = []
    run_events = build(acp, "hangs").run(turn(HELLO), inputs())
    async with asyncio.timeout(LONGEST_WAIT):
        async for event in run_events:
            events.append(event)
            if isinstance(event, AnswerRecorded):
                continue
            stop.set()
            if way == "closed":
                break
        await run_events.aclose()

    assert text_of(events) == "Well"
    assert isinstance(events[-1], TurnDone) == (way == "stopped")


async def test_messages_posted_during_a_turn_go_to_the_same_session(acp: str) -> None:
    async def inputs() -> AsyncIterator[AgentInput]:
        yield MessageGiven(message=message_from("slack:T1:U2", "And Bergen?", "Bob"))
        await asyncio.Event().wait()

    events = [e async for e in build(acp, "all_of_it").run(turn(HELLO), inputs())]

    first, _, second = text_of(events).partition("history:\n\n")[2].partition("\n\nhistory:\n")
    assert "Hello?" in first
    assert "Hello?" in second
    assert 'user: [from "Bob"]\nAnd Bergen?' in second


# --- faults -------------------------------------------------------------------------------------


RUN = {"run_id": "r1", "agent_name": "echo", "session_id": "s1", "output": []}


def run(status: str, **more: Any) -> Any:
    return {"type": f"run.{status}", "run": {**RUN, "status": status, **more}}


def part(text: str) -> Any:
    return {"type": "message.part", "part": {"content": text}}


@pytest.mark.parametrize(("stream", "words"), [
    ([run("created"), part("Hi")], "ended before"),
    ([part("Hi"), {"type": "error", "error": {"code": "server_error", "message": KEY}}],
     "does not answer"),
    ([part("Hi"), run("failed", error={"code": "invalid_input", "message": KEY})], "refused"),
    ([part("Hi"), run("cancelled")], "was cancelled"),
])  # fmt: skip
async def test_a_broken_stream_keeps_the_text_before_the_error(
    stream: list[Any], words: str
) -> None:
    async with model_server(Answer(sse(*stream)), Answer([b"{}"], 200, JSON)) as api:
        events = await answer(build(api.url))

    assert text_of(events) == "Hi"
    assert isinstance(events[-1], TurnFailed)
    assert words in events[-1].reason
    assert KEY not in str(events)


async def test_a_server_that_sends_only_complete_messages_is_read() -> None:
    completed = [{"type": "message.completed", "message": {"role": "agent", "parts": [
        {"content": "Whole."}]}}, run("completed")]  # fmt: skip
    async with model_server(Answer(sse(*completed))) as api:
        events = await answer(build(api.url))

    assert text_of(events) == "Whole."


async def test_a_request_has_the_key_and_the_agents_name() -> None:
    async with model_server(Answer(sse(part("Hi"), run("completed")))) as api:
        events = await answer(build(api.url))

    assert f"authorization: Bearer {KEY}" in api.heads[0]
    assert api.requests[0]["agent_name"] == "echo"
    assert is_memory(read_part(parts_of(events)[-1]))


async def test_an_abandoned_run_is_cancelled_on_its_server() -> None:
    begun_run = sse(run("created"), part("Hi"))
    async with model_server(Answer(begun_run, then="hang"), Answer([b"{}"], 200, JSON)) as api:
        events = await answer(build(api.url, total_seconds=2))

    assert isinstance(events[-1], TurnFailed)
    assert [head.split(" HTTP")[0] for head in api.heads] == [
        "POST /runs", "POST /runs/r1/cancel"
    ]  # fmt: skip
