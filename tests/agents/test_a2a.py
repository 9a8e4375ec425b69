"""An agent that speaks A2A: the SDK's own server, recorded messages, and faults."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("a2a", reason="the extra a2a is not installed")

from a2a.client.card_resolver import parse_agent_card
from a2a.compat.v0_3 import conversions
from a2a.compat.v0_3 import types as old
from a2a.types import a2a_pb2 as new

from bridge.agents.a2a.agent import agent_type
from bridge.agents.a2a.client import as_json, from_json
from bridge.agents.a2a.lenient import repaired
from bridge.agents.a2a.read import part_parts
from bridge.agents.a2a.stream import Stream
from bridge.agents.a2a.write import write_request, write_response
from bridge.content.messages.agent_parts import STATE, VALUE
from bridge.errors import AgentError, CodecError
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    MessageGiven,
    ModerationReported,
    PartGiven,
    PlanStep,
    StopWanted,
    TurnDone,
    TurnFailed,
)
from bridge.testing.a2a_reading import artifact_parts, read_request, read_response
from bridge.uacs import (
    Conversation,
    ImagePart,
    MediaSource,
    TextPart,
    ToolCallPart,
    read_conversation,
    read_message,
    write,
)
from tests.agents.a2a_server import a2a_server
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.readings import as_read
from tests.agents.talking import HELLO, message_from, nothing, room, text_of, tools, turn
from tests.agents.test_acp import answered, parts_of
from tests.agents.vendors import JSON, KEY
from tests.examples import examples
from tests.waiting import LONGEST_WAIT

CORPUS = Path(os.environ.get("UACS_CORPUS", "/nowhere")) / "a2a"
FILES = sorted(CORPUS.glob("*.json"))


def build(url: str, **options: Any) -> Any:
    settings = {"base_url": url, "api_key": {"env": "KEY"}, "poll_seconds": 0.05, **options}
    return agent_type.build("bot", agent_type.settings.model_validate(settings), tools())


async def answer(one: Any, conversation: Conversation = HELLO) -> list[AgentEvent]:
    return [event async for event in one.run(turn(conversation), nothing())]


def request_to(action: str) -> Conversation:
    return room(message_from("slack:T1:U1", f"Please {action}", "Alice Smith"))


# --- recorded and written messages --------------------------------------------------------------


def kind_of(body: Any) -> str:
    """What a recording is; empty where it is not what an agent is sent or says."""
    if not isinstance(body, dict):
        return ""
    if "jsonrpc" in body:
        inner = body.get("params") or body.get("result")
        return kind_of(inner) if isinstance(inner, dict) else ""
    if {"task", "message", "statusUpdate", "artifactUpdate"} <= body.keys():
        return ""  # which kinds there are
    if "role" in body.get("message", ()):
        return _message_kind(body["message"])
    return next((kind for key, kind in KEYS.items() if body.get(key)), "") or _bare_kind(body)


KEYS = {"task": "response", "tasks": "tasks", "artifactUpdate": "event", "statusUpdate": "event",
        "artifactId": "artifact"}  # fmt: skip


def _message_kind(message: Any) -> str:
    is_old = any("kind" in part for part in message["parts"])
    own = message["role"] in ("ROLE_AGENT", "agent")
    return f"{'old ' if is_old else ''}{'response' if own else 'request'}"


def _bare_kind(body: Any) -> str:
    if body.get("kind") == "task" or ("status" in body and "id" in body):
        return "old task"
    if body.get("kind") == "message" or "parts" in body:
        return "old message"
    return "old part" if body.get("kind") in ("file", "data", "text") else _part_kind(body)


def _is_old(body: Any) -> bool:
    return any("kind" in task for task in body["tasks"])


def _part_kind(body: Any) -> str:
    return "part" if body.keys() & {"text", "url", "raw"} and "name" not in body else ""


def content_of(body: Any) -> Any:
    if "jsonrpc" not in body:
        return body
    return body.get("params") if "params" in body else body["result"]


RECORDED = [(path, kind) for path in FILES if (kind := kind_of(json.loads(path.read_bytes())))]


@pytest.mark.parametrize(("path", "kind"), [
    pytest.param(*one, id=f"{one[1]} {one[0].stem}") for one in RECORDED
] or [pytest.param(None, "", marks=pytest.mark.skip("there are no recordings"))])  # fmt: skip
def test_a_recorded_object_is_the_same_after_uacs(path: Path, kind: str) -> None:
    body = content_of(json.loads(path.read_bytes()))

    assert as_read("a2a", again(deepcopy(body), kind)) == as_read("a2a", body)


def again(body: Any, kind: str) -> Any:
    """Through UACS and back."""
    match kind.removeprefix("old "):
        case "request" if kind.startswith("old"):
            message = again({**body["message"]}, "old message")
            return {**body, "message": message}
        case "request":
            conversation = read_conversation(write(read_request(body, "bot")))
            return write_request(conversation, "bot").body
        case "response":
            return _response(body)
        case "tasks" if _is_old(body):
            return {**body, "tasks": [again(task, "old task") for task in body["tasks"]]}
        case "tasks":
            return {**body, "tasks": [_response({"task": task})["task"] for task in body["tasks"]]}
        case "task":
            core = conversions.to_core_task(old.Task.model_validate(_whole_task(deepcopy(body))))
            back = from_json(_response({"task": as_json(core)})["task"], new.Task)
            return _only(body, _dump(conversions.to_compat_task(back)))  # pyright: ignore[reportArgumentType]
        case "message":
            whole = {"messageId": "x", "kind": "message", "role": "agent", **body}
            core = conversions.to_core_message(old.Message.model_validate(whole))
            sent = as_json(core)
            if whole["role"] == "agent":
                done = _response({"message": sent})["message"]
            else:
                done = write_request(read_request({"message": sent}, "bot"), "bot").body["message"]
            back = conversions.to_compat_message(from_json(done, new.Message))  # pyright: ignore[reportArgumentType]
            return _only(body, _dump(back))
        case "part":
            return _part(body, kind)
        case "artifact":
            return _response({"task": {"artifacts": [body]}})["task"]["artifacts"][0]
        case _:
            return _event(body)


def _response(body: Any) -> Any:
    return write_response(read_message(write(read_response(body, "bot"))), "bot")


def _part(body: Any, kind: str) -> Any:
    if not kind.startswith("old"):
        return _response({"message": {"parts": [body]}})["message"]["parts"][0]
    part = dict(body)
    if "file" in part and "fileWithBytes" in part["file"]:  # as drafts of 0.3 called it
        inner = dict(part["file"])
        part["file"] = {**inner, "bytes": inner.pop("fileWithBytes")}
        del part["file"]["fileWithBytes"]
    part = _padded(part)
    core = as_json(conversions.to_core_part(old.Part.model_validate(part)))
    done = _response({"message": {"parts": [core]}})["message"]["parts"][0]
    back = _dump(conversions.to_compat_part(from_json(done, new.Part)))  # pyright: ignore[reportArgumentType]
    assert as_read("a2a", back) == as_read("a2a", part)
    return body


def _padded(value: Any) -> Any:
    """Bytes that the documentation abridges (`iVBORw0KGgo...`) are no base64."""
    if isinstance(value, dict):
        return {key: "iVBORw0KGgo=" if key == "bytes" else _padded(member)
                for key, member in value.items()}  # fmt: skip
    return [_padded(item) for item in value] if isinstance(value, list) else value


def _whole_task(body: Any) -> Any:
    """What the documentation leaves out of tasks."""
    task: Any = {"kind": "task", **body}
    messages: list[Any] = [*task.get("history", ()), task["status"].get("message")]
    for message in messages:
        if message:
            message.setdefault("messageId", "x")
    return _padded(task)


def _dump(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def _only(expected: Any, actual: Any) -> Any:
    """Without what was added because the documentation left it out."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return {key: expected[key] if key == "bytes" else _only(expected[key], actual[key])
                for key in expected if key in actual}  # fmt: skip
    if isinstance(expected, list) and isinstance(actual, list):
        return [_only(one, other) for one, other in zip(expected, actual, strict=True)]
    return actual


def _event(body: Any) -> Any:
    """Updates are read into the task that they make."""
    stream = Stream()
    stream.take(body)
    update: Any = next(iter(body.values()))
    task: Any = stream.response["task"]
    if "artifact" in update:
        (update["artifact"],) = _response({"task": {"artifacts": task["artifacts"]}})["task"][
            "artifacts"
        ]
        return {"artifactUpdate": {**update, "taskId": task["id"], "contextId": task["contextId"]}}
    return {"statusUpdate": {**update, "status": task["status"], "taskId": task["id"],
                             "contextId": task["contextId"]}}  # fmt: skip


CARDS = [path for path in FILES if "supportedInterfaces" in (body := json.loads(path.read_bytes()))
         or "preferredTransport" in body or "protocolVersion" in body]  # fmt: skip


@pytest.mark.parametrize("path", [pytest.param(one, id=one.stem) for one in CARDS]
                         or [pytest.param(None, marks=pytest.mark.skip("no corpus"))])  # fmt: skip
def test_recorded_agent_cards_have_the_address_of_the_agent(path: Path) -> None:
    card = parse_agent_card(json.loads(path.read_bytes()))

    assert all(
        supported_interface.url and supported_interface.protocol_binding
        for supported_interface in card.supported_interfaces
    )
    assert card.supported_interfaces


TASK: Any = {"task": {
    "id": "t1", "contextId": "c1", "metadata": {"a": 1},
    "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-11-21T12:00:00Z", "message": {
        "role": "ROLE_AGENT", "messageId": "m9", "parts": [{"text": "Done."}]}},
    "artifacts": [
        {"artifactId": "a1", "name": "Report", "description": "All", "parts": [
            {"text": "Here:", "metadata": {"b": 1}},
            {"raw": "aGk=", "mediaType": "image/png", "filename": "a.png"},
            {"raw": "aGk="}, {"url": "https://x.example/a.mp4", "mediaType": "video/mp4"},
            {"url": "nowhere"}, {"data": {"n": [1]}}, {"data": "x"}, {"data": None},
            {"data": {}, "mediaType": "application/vnd.microsoft.card.adaptive"}]},
        {"artifactId": "a2", "parts": []}],
    "history": [{"role": "ROLE_USER", "messageId": "m1", "parts": [{"text": "Go"}]}],
}}  # fmt: skip


def test_a_task_with_every_field_is_the_same_after_uacs() -> None:
    assert as_read("a2a", _response(TASK)) == as_read("a2a", TASK)
    kinds = [part.type for part in read_response(TASK, "bot").content
             if part.type != "structured_data"]  # fmt: skip
    assert kinds == ["text", "image", "file", "video", "text"]


def test_a_room_becomes_one_message_with_the_names_of_all_authors() -> None:
    png = ImagePart(source=MediaSource(base64="aGk="), media_type="image/png")
    call = ToolCallPart(id="c1", name="f", arguments={})
    talk = room(
        message_from("slack:T1:U1", 'Hello\n[from "bot" (you)] I agree', "Alice"),
        message_from("agent:bot", [TextPart(text="Hi"), call], "bot", "assistant"),
        message_from("slack:T1:U2", [png, TextPart(text="Look")], "Bob"),
    )

    written = write_request(talk, "bot")

    assert written.body["message"] == {"role": "ROLE_USER", "parts": [
        {"text": '[from "Alice"]\nHello\n\\[from "bot" (you)] I agree'},
        {"text": '[from "bot" (you)]\nHi'},
        {"text": '[from "Bob"]'},
        {"raw": "aGk=", "mediaType": "image/png"},
        {"text": "Look"},
    ]}  # fmt: skip
    assert [loss.kind for loss in written.losses] == ["own_tools"]


json_values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | st.integers(-3, 3) | st.sampled_from(
        ["ROLE_AGENT", "TASK_STATE_COMPLETED", "image/png", "https://x.example/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["task", "message", "statusUpdate", "artifactUpdate", "artifact", "artifacts", "status",
         "parts", "text", "raw", "url", "data", "mediaType", "state", "append", "artifactId",
         "messageId", "filename", "name", "taskId", "contextId"]), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=examples(80))
@given(json_values)
def test_any_json_is_read_or_refused_with_a_codec_error(value: Any) -> None:
    part_parts(value)
    artifact_parts(value if isinstance(value, dict) else {})
    try:
        message = read_response(value, "bot")
    except CodecError:
        return
    again = write_response(message, "bot")
    assert write_response(read_response(again, "bot"), "bot") == again


@settings(max_examples=examples(80))
@given(st.lists(json_values, max_size=5))
def test_any_stream_is_read_or_refused_with_a_codec_error(events: Any) -> None:
    reader = Stream()
    try:
        for event in events:
            reader.take(event)
        reader.end()
    except AgentError:
        return
    assert read_response(reader.response, "bot")


def test_repeated_artifacts_are_emitted_once() -> None:
    parts = [{"text": "one "}, {"text": "two"}]
    task = {"id": "t", "status": {"state": "TASK_STATE_COMPLETED"},
            "artifacts": [{"artifactId": "a", "parts": parts}]}  # fmt: skip
    stream = Stream()
    events: list[AgentEvent] = []
    for part in (
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": parts[:1]}}},
        {"artifactUpdate": {"taskId": "t", "append": True,
                            "artifact": {"artifactId": "a", "parts": parts[1:]}}},
        {"artifactUpdate": {"taskId": "t", "artifact": {"artifactId": "a", "parts": [
            {"text": "one two three"}]}}},
        {"task": {**task, "artifacts": [{"artifactId": "a", "parts": [
            {"text": "one two three"}]}]}},
        {"task": {**task, "artifacts": [{"artifactId": "a", "parts": [{"text": "other"}]}]}},
    ):  # fmt: skip
        events += stream.take(part)  # pyright: ignore[reportArgumentType]

    assert text_of(events) == "one two three\n\nother"


def status(content: Any, state: str = "WORKING", **more: Any) -> Any:
    parts = {"parts": [{"text": content}] if isinstance(content, str) else content}
    message = {"role": "ROLE_AGENT", "messageId": f"m {content} {state}", **parts}
    return {"statusUpdate": {"taskId": "t", "status": {
        "state": f"TASK_STATE_{state}", "message": message}, **more}}  # fmt: skip


def artifact(*parts: Any, **more: Any) -> Any:
    return {"artifactUpdate": {"taskId": "t", **more, "artifact": {
        "artifactId": "a", "parts": [*parts]}}}  # fmt: skip


ENDED: Any = {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}
PART: Any = {"metadata": {"adk_event_id": "e1"}}


@pytest.mark.parametrize(("updates", "answer_text", "progress"), [
    pytest.param([status("Snow falls."), artifact({"text": "Snow falls."}), ENDED],
                 "Snow falls.", ["Snow falls."], id="google-adk"),
    pytest.param([status("Snow ", **PART), status("falls.", **PART), status("Snow falls.", **PART),
                  artifact({"text": "Snow falls."}), ENDED],
                 "Snow falls.", ["Snow", "Snow falls.", "Snow falls."], id="google-adk in pieces"),
    pytest.param([status("I look."), artifact({"text": "Snow falls."}), ENDED],
                 "Snow falls.", ["I look."], id="progress"),
    pytest.param([status("I look."), status("It snows."), ENDED],
                 "I look.\n\nIt snows.", ["I look.", "It snows."], id="nothing but progress"),
    pytest.param([artifact({"text": "Snow "}), artifact({"text": "falls."}, append=True),
                  status("Snow  falls.\n", "COMPLETED")], "Snow falls.", [], id="said at the end"),
    pytest.param([artifact({"text": "Snow falls."}), status("Done.", "COMPLETED")],
                 "Snow falls.\n\nDone.", [], id="more at the end"),
    pytest.param([status("I look."), status("Where?", "INPUT_REQUIRED")],
                 "Where?", ["I look."], id="a question"),
    pytest.param([status("sk-secret"), status("sk-secret", "FAILED")], "", ["sk-secret"],
                 id="failed"),
])  # fmt: skip
def test_progress_is_shown_and_the_answer_is_emitted_once(
    updates: list[Any], answer_text: str, progress: list[str]
) -> None:
    reader = Stream()
    events = [event for one in updates for event in reader.take(one)]
    events += reader.end()

    assert text_of(events) == answer_text
    assert progress_of(events) == progress


def test_a_picture_in_a_progress_update_is_emitted_once() -> None:
    picture: Any = {"raw": "iVBORw0KGgo=", "mediaType": "image/png"}
    reader = Stream()
    events = [*reader.take(status([{"text": "A draft."}, picture])),  # pyright: ignore[reportArgumentType]
              *reader.take(artifact({"text": "Here:"}, picture)), *reader.take(ENDED)]  # fmt: skip

    assert [part["type"] for part in parts_of(events)] == ["image"]
    assert text_of(events).strip() == "Here:"


def progress_of(events: list[AgentEvent]) -> list[str]:
    steps = [event for event in events if isinstance(event, PlanStep)]
    assert all(step.transient and step.id == "progress" for step in steps)
    return [step.title for step in steps]


@pytest.mark.parametrize(("timestamp", "read"), [
    ("2026-11-21T12:00:00.5", "2026-11-21T12:00:00.500000Z"),
    ("2026-11-21 12:00:00", "2026-11-21T12:00:00Z"),
    ("2026-11-21T12:00:00+02:00", "2026-11-21T12:00:00+02:00"),
    ("2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z"),
    ("a moment ago", None), (5, None),
])  # fmt: skip
def test_times_without_a_zone_are_read(timestamp: Any, read: str | None) -> None:
    free: Any = {"timestamp": timestamp}
    task = {"status": {"timestamp": timestamp}, "metadata": free, "artifacts": [
        {"parts": [{"data": free}]}]}  # fmt: skip

    found: Any = repaired({"task": task})  # pyright: ignore[reportArgumentType]

    assert found["task"] == {**task, "status": {"timestamp": read}}


# --- the SDK's own server -----------------------------------------------------------------------

WAYS = [
    (binding, version, streaming)
    for binding in ("JSONRPC", "HTTP+JSON")
    for version in ("1.0", "0.3")
    for streaming in (True, False)
]


@pytest.mark.parametrize(("binding", "version", "streaming"), WAYS)
async def test_a_task_is_answered(binding: str, version: str, streaming: bool) -> None:
    async with a2a_server(binding=binding, version=version, streaming=streaming) as (url, doer):
        events = await answer(build(url), request_to("echo"))

    assert text_of(events).endswith('[from "Alice Smith"]\nPlease echo')
    assert isinstance(events[-1], TurnDone)
    assert len(doer.received_messages) == 1
    assert not streaming or len(events) > 4


async def test_a_message_is_answered_with_a_message() -> None:
    async with a2a_server() as (url, _):
        events = await answer(build(url), request_to("short"))

    assert text_of(events) == "Short."
    assert isinstance(events[-1], TurnDone)


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_artifacts_become_parts(version: str) -> None:
    async with a2a_server(version=version) as (url, _):
        events = await answer(build(url), request_to("draw"))

    assert text_of(events) == "The sky:\n\nDone."
    assert progress_of(events) == ["I look."]
    (picture,) = [event for event in events if isinstance(event, PartGiven) and event.name]
    assert picture.name == "sky.png"
    assert picture.part == {"type": "image", "source": {"base64": "iVBORw0KGgo="},
                            "media_type": "image/png"}  # fmt: skip
    parts = [
        part for part in parts_of(events) if "schema_id" in part and part["schema_id"] != STATE
    ]
    data = [(part["schema_id"], part["data"]) for part in parts]
    card = "application/vnd.uacs.card+json" if version == "1.0" else VALUE  # 0.3 has no types
    assert data == [(VALUE, {"n": 1, "f": 1.5}), (card, {"nodes": []})]


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_a_question_of_a_task_is_asked_in_the_room(version: str) -> None:
    async with a2a_server(version=version) as (url, doer):
        agent = build(url)
        first = await answer(agent, request_to("ask"))
        talk = answered(request_to("ask"), first, message_from("slack:T1:U2", "From Oslo", "Bob"))
        second = await answer(agent, talk)

    assert text_of(first) == "From where?"
    assert isinstance(first[-1], TurnDone)
    assert text_of(second) == 'You said: [from "Bob"]\nFrom Oslo'
    assert doer.received_messages[1]["contextId"] == doer.received_messages[0]["contextId"]
    assert doer.received_messages[1]["taskId"] == doer.received_messages[0]["taskId"]


async def test_a_task_that_waits_for_a_sign_in_says_so() -> None:
    async with a2a_server() as (url, _):
        agent = build(url)
        first = await answer(agent, request_to("signin"))
        talk = answered(request_to("signin"), first, message_from("slack:T1:U2", "Done", "Bob"))
        second = await answer(agent, talk)

    assert text_of(first).startswith("Open https://x.example/login\n\nIt waits until")
    assert "Done" in text_of(second)


async def test_an_answer_records_who_gave_it_and_under_which_ids() -> None:
    async with a2a_server() as (url, doer):
        agent = build(url)
        first = await answer(agent, request_to("echo"))
        talk = answered(request_to("echo"), first, message_from("slack:T1:U2", "Now draw", "Bob"))
        second = await answer(agent, talk)

    before, after, again = [records(first)[0], records(first)[-1], records(second)[-1]]
    card: Any = after["card"]
    assert (before["api"], before["messages"]) == ("a2a", 1)
    assert "card" not in before
    assert card.keys() >= {"name", "version", "sha256"}
    assert after["context_id"] == doer.received_messages[0]["contextId"] == again["context_id"]
    assert after["task_id"]
    assert after["history_sha256"] == before["history_sha256"] != again["history_sha256"]
    assert (again["continued"], "continued" in after) == (True, False)
    assert "Please echo" not in str(after)


def records(events: list[AgentEvent]) -> list[dict[str, Any]]:
    return [event.record for event in events if isinstance(event, AnswerRecorded)]


async def test_a_task_that_was_rejected_is_moderation() -> None:
    async with a2a_server() as (url, _):
        events = await answer(build(url), request_to("reject"))

    moderations = [event.moderation for event in events if isinstance(event, ModerationReported)]
    assert moderations == [{"refused": True, "why": "TASK_STATE_REJECTED"}]


async def test_a_known_context_gets_only_new_messages() -> None:
    async with a2a_server() as (url, doer):
        agent = build(url)
        first = await answer(agent, request_to("echo"))
        talk = answered(request_to("echo"), first, message_from("slack:T1:U2", "Now draw", "Bob"))
        await answer(agent, talk)
        await answer(build(url, contexts=False), talk)

    assert "Please echo" not in str(doer.received_messages[1])
    assert doer.received_messages[1]["contextId"] == doer.received_messages[0]["contextId"]
    assert "Please echo" in str(doer.received_messages[2])
    assert doer.received_messages[2]["contextId"] != doer.received_messages[0]["contextId"]


@pytest.mark.parametrize("change", ["edited", "deleted"])
async def test_a_context_whose_history_has_changed_is_dropped(change: str) -> None:
    first_conversation = room(
        message_from("slack:T1:U1", "The password is swordfish.", "Al"),
        *request_to("echo").messages,
    )
    async with a2a_server() as (url, doer):
        agent = build(url)
        talk = answered(
            first_conversation,
            await answer(agent, first_conversation),
            message_from("slack:T1:U2", "And now", "Bob"),
        )
        messages = list(talk.messages)
        if change == "edited":
            messages[0] = messages[0].model_copy(update={"content": (TextPart(text="No."),)})
        else:
            del messages[0]
        await answer(agent, talk.model_copy(update={"messages": tuple(messages)}))

    assert "swordfish" in str(doer.received_messages[0])
    assert "swordfish" not in str(doer.received_messages[1])
    assert doer.received_messages[1]["contextId"] != doer.received_messages[0]["contextId"]


@pytest.mark.parametrize("unchanged", [True, False])
async def test_a_context_is_kept_while_its_history_is_unchanged(
    unchanged: bool,
) -> None:
    first_conversation = room(
        message_from("slack:T1:U1", "Long ago", "Al"), *request_to("echo").messages
    )
    async with a2a_server() as (url, doer):
        agent = build(url)
        talk = answered(
            first_conversation,
            await answer(agent, first_conversation),
            message_from("slack:T1:U2", "And now", "Bob"),
        )
        history: Any = {"budget": 5000, "cut": True, "unchanged": unchanged}
        shorter = room(*talk.messages[1:], uacs_bridge={"history": history})
        await answer(agent, shorter)

    first, second = doer.received_messages
    assert (second["contextId"] == first["contextId"]) == unchanged
    assert ("Please echo" in str(second)) != unchanged
    assert ("Earlier messages are not shown." in str(second)) != unchanged


async def test_a_task_that_the_server_does_not_know_is_started_again() -> None:
    async with a2a_server() as (url, _):
        first = await answer(build(url), request_to("ask"))
    talk = answered(
        request_to("ask"), first, message_from("slack:T1:U2", "From Oslo, please echo", "Bob")
    )
    async with a2a_server() as (url, doer):
        events = await answer(build(url), talk)

    assert isinstance(events[-1], TurnDone)
    assert "Please ask" in str(doer.received_messages[-1])


@pytest.mark.parametrize(("what", "reason"), [
    ("fail", "its task failed on its server; the log has the details"),
    ("reject", "it refused to do this"),
    ("raise", "its task failed on its server; the log has the details"),
])  # fmt: skip
async def test_a_failed_task_is_a_failed_turn(what: str, reason: str) -> None:
    async with a2a_server() as (url, _):
        events = await answer(build(url), request_to(what))

    assert isinstance(events[-1], TurnFailed)
    assert events[-1].reason == reason or what == "raise"
    assert "sk-" not in str(events)
    if what == "reject":
        assert text_of(events) == "I do not do that."


@pytest.mark.parametrize("way", ["stopped", "closed"])
async def test_an_abandoned_task_is_cancelled_on_its_server(way: str) -> None:
    stop = asyncio.Event()

    async def inputs() -> AsyncIterator[AgentInput]:
        await stop.wait()
        yield StopWanted()

    events: list[AgentEvent] = []
    async with a2a_server() as (url, doer):
        run = build(url).run(turn(request_to("hang")), inputs())
        async with asyncio.timeout(LONGEST_WAIT):
            async for event in run:
                events.append(event)
                if isinstance(event, AnswerRecorded):
                    continue
                stop.set()
                if way == "closed":
                    break
            await run.aclose()

    assert progress_of(events) == ["Well"]
    assert len(doer.cancelled) == 1


async def test_messages_posted_during_a_turn_go_to_the_same_context() -> None:
    async def inputs() -> AsyncIterator[AgentInput]:
        yield MessageGiven(message=message_from("slack:T1:U2", "And echo", "Bob"))
        await asyncio.Event().wait()

    async with a2a_server() as (url, doer):
        events = [e async for e in build(url).run(turn(request_to("echo")), inputs())]

    assert 'Please echo\n\n[from "Bob"]\nAnd echo' in text_of(events)
    assert doer.received_messages[1]["contextId"] == doer.received_messages[0]["contextId"]


# --- cards, keys and faults ---------------------------------------------------------------------

CARD: Any = {"name": "x", "version": "1", "capabilities": {"streaming": True}}


def card(url: str, **more: Any) -> Answer:
    ways = [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
    body = {**CARD, "supportedInterfaces": ways, **more}
    return Answer([json.dumps(body).encode()], 200, JSON)


def rpc(*results: Any) -> list[bytes]:
    return sse(*({"jsonrpc": "2.0", "id": "1", "result": result} for result in results))


DONE = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Hi"}]}}


async def test_the_key_is_sent_as_the_agent_card_requires() -> None:
    scheme = {"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}}
    async with model_server(Answer(())) as api:
        api.answers = [card(api.url, securitySchemes=scheme), Answer(rpc(DONE))]
        events = await answer(build(api.url))

    assert text_of(events) == "Hi"
    assert f"x-key: {KEY}" in api.heads[1].lower()
    assert "authorization" not in api.heads[1].lower()


@pytest.mark.parametrize("url", ["https://elsewhere.example/a2a", "ftp://x", "", "http://[",
                                 "http://127.0.0.1:1/a2a"])  # fmt: skip
async def test_an_agent_card_cannot_send_the_key_to_another_host(url: str) -> None:
    async with model_server(card(url)) as api:
        events = await answer(build(api.url, retries=0))

    assert isinstance(events[-1], TurnFailed)
    assert len(api.requests) == 1


@pytest.mark.parametrize("body", [b"[]", b"7", b"{}", b'{"supportedInterfaces": 7}', b"no"])
async def test_an_invalid_agent_card_is_an_error(body: bytes) -> None:
    async with model_server(Answer([body], 200, JSON)) as api:
        events = await answer(build(api.url, retries=0))

    assert isinstance(events[-1], TurnFailed)


async def test_the_agent_card_is_also_found_at_its_older_address() -> None:
    async with model_server(Answer(())) as api:
        not_found = Answer([b"{}"], 404, JSON)
        api.answers = [not_found, card(api.url), Answer(rpc(DONE))]
        events = await answer(build(api.url))

    assert text_of(events) == "Hi"
    assert "GET /.well-known/agent.json" in api.heads[1]


@pytest.mark.parametrize(("status", "words"), [
    (401, "refused the key"), (404, "does not know"), (400, "refused the request"),
])  # fmt: skip
async def test_a_permanent_error_is_not_retried(status: int, words: str) -> None:
    async with model_server(Answer(())) as api:
        refused = Answer([json.dumps({"error": {"message": KEY}}).encode()], status, JSON)
        api.answers = [card(api.url), refused]
        events = await answer(build(api.url))

    assert isinstance(events[-1], TurnFailed)
    assert words in events[-1].reason
    assert KEY not in str(events)
    assert len(api.heads) == 2


@pytest.mark.parametrize("fault", [
    Answer([b"{}"], 503, JSON), Answer([b"{}"], 429, JSON, ["retry-after: 1"]),
    Answer((), then="cut"),
])  # fmt: skip
async def test_a_request_to_a_busy_agent_is_retried(fault: Answer) -> None:
    async with model_server(Answer(())) as api:
        api.answers = [card(api.url), fault, card(api.url), Answer(rpc(DONE))]
        events = await answer(build(api.url))

    assert text_of(events) == "Hi"


@pytest.mark.parametrize("pieces", [
    [b"data: {broken\n\n"], [b'data: {"jsonrpc": "2.0", "id": "1", "result": {"task": 7}}\n\n'],
    [b'data: {"jsonrpc": "2.0", "id": "1", "error": {"code": -32001, "message": "%s"}}\n\n'
     % KEY.encode()],
    [],
])  # fmt: skip
async def test_an_unreadable_answer_is_a_failed_turn(pieces: list[bytes]) -> None:
    async with model_server(Answer(())) as api:
        api.answers = [card(api.url), Answer(pieces)]
        events = await answer(build(api.url, retries=0))

    assert isinstance(events[-1], TurnFailed), events
    assert KEY not in str(events)


async def test_a_lost_stream_is_resumed_and_the_task_is_not_repeated() -> None:
    working = {"task": {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}}
    done = {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"},
            "artifacts": [{"artifactId": "a", "parts": [{"text": "Hi"}]}]}  # fmt: skip
    whole = json.dumps({"jsonrpc": "2.0", "id": "1", "result": done}).encode()
    async with model_server(Answer(())) as api:
        api.answers = [card(api.url), Answer(rpc(working), then="cut"), Answer([whole], 200, JSON)]
        events = await answer(build(api.url))

    assert text_of(events) == "Hi"
    assert isinstance(events[-1], TurnDone)
    assert [request["method"] for request in api.requests[1:]] == [
        "SendStreamingMessage",
        "GetTask",
    ]
