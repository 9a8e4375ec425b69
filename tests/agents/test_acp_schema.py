"""Bodies of ACP's messages: names as paths, members as the proposal spells them, schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.agents.acp.read import read_response
from bridge.agents.acp.write import write_request, write_response
from bridge.model import MessageId
from bridge.model.turns import (
    AgentEvent,
    AnswerRecorded,
    MessageGiven,
    PartGiven,
    TurnDone,
    TurnFailed,
)
from bridge.router.turns.answer import Answer as GrowingAnswer
from bridge.uacs import ImagePart, MediaSource, TextPart, read_message, write
from tests.agents.model.test_agent import inputs_of as steering
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import message_from, room, text_of, turn
from tests.agents.test_acp import answer, answered, build, run
from tests.agents.vendors import JSON

SOURCE: Any = {"name": "/src/a.py", "content_type": "text/x-python", "content": "cHJpbnQoKQ==",
               "content_encoding": "base64"}  # fmt: skip
TEST: Any = {**SOURCE, "name": "/test/a.py"}


def run_with(*parts: Any) -> Any:
    """The stream of a run that says these parts."""
    return sse(*({"type": "message.part", "part": part} for part in parts), run("completed"))


async def test_parts_with_one_name_in_two_folders_stay_distinct_for_another_agent() -> None:
    async with model_server(Answer(run_with(SOURCE, TEST))) as api:
        events = await answer(build(api.url))
    growing = GrowingAnswer(MessageId("agent:coder:1"), "coder", 0.0)
    for event in events:
        growing.take(event)
    message = read_message(write(growing.message()))

    written = write_request(room(message, message_from("slack:T:U1", "Review it")), "bot")

    parts: Any = [part for item in written.body["input"] for part in item["parts"]]  # pyright: ignore
    assert [part["name"] for part in parts if "name" in part] == ["/src/a.py", "/test/a.py"]
    files = [one for one in events if isinstance(one, PartGiven) and one.name]
    assert [file.name for file in files] == ["a.py", "a.py"]


def test_an_agents_own_parts_keep_their_paths() -> None:
    body: Any = {"output": [{"role": "agent/bot", "parts": [SOURCE, TEST]}]}

    message = read_message(write(read_response(body, "bot")))

    assert write_response(message, "bot") == body


def test_fields_are_read_in_the_spelling_of_the_proposal() -> None:
    body: Any = {"output": [{"role": "agent/bot", "parts": [
        {"contentType": "image/png", "contentUrl": "https://x.example/a.png"},
        {"contentType": "image/png", "content": "iVBORw0KGgo=", "contentEncoding": "base64"},
        {"contentType": "text/plain", "content": "Hi"}]}]}  # fmt: skip

    message = read_response(body, "bot")

    kinds = [part.type for part in message.content if part.type != "structured_data"]
    assert kinds == ["image", "image", "text"]
    assert write_response(read_message(write(message)), "bot") == body


PICTURE = ImagePart(source=MediaSource(base64="iVBORw0KGgo="), media_type="image/png")
WITH_PICTURE = room(message_from("slack:T:U1", [TextPart(text="What is it?"), PICTURE], "Alice"))
WORDS = [{"content_type": "text/*"}]


async def events_and_requests(conversation: Any, **options: Any) -> tuple[list[AgentEvent], Any]:
    async with model_server(Answer(run_with({"content": "A sky."}))) as api:
        events = await answer(build(api.url, **options), conversation)
    return events, api.requests


async def test_a_part_that_an_agent_does_not_accept_is_described_in_text() -> None:
    events, requests = await events_and_requests(WITH_PICTURE, accepts=WORDS)

    parts = [part for request in requests[0]["input"] for part in request["parts"]]
    assert {part["content_type"] for part in parts} == {"text/plain"}
    assert "[a part image/png]" in [part["content"] for part in parts]
    record = next(event.record for event in events if isinstance(event, AnswerRecorded))
    assert "not_accepted" in str(record["losses"])


async def test_an_agent_gets_no_request_without_the_parts_that_it_requires() -> None:
    expected = [*WORDS, {"content_type": "image/*", "required": True}]

    asked_so, sent = await events_and_requests(WITH_PICTURE, accepts=expected)
    refused, requests = await events_and_requests(
        room(message_from("slack:T:U1", "What is it?", "Alice")), accepts=expected
    )

    assert isinstance(asked_so[-1], TurnDone)
    assert "image/png" in str(sent)
    assert requests == []
    assert isinstance(refused[-1], TurnFailed)
    assert "requires a part 'image/*'" in refused[-1].reason


async def test_an_agent_that_accepts_no_part_of_the_message_gets_no_request() -> None:
    events, requests = await events_and_requests(
        room(message_from("slack:T:U1", "What is it?", "Alice")),
        accepts=[{"content_type": "image/*"}, {"content_type": "audio/wav"}],
    )

    assert requests == []
    assert isinstance(events[-1], TurnFailed)
    expected = "accepts no part of this question, only a part 'image/*' and a part 'audio/wav'"
    assert expected in events[-1].reason


NEEDS_PICTURE = [*WORDS, {"content_type": "image/*", "required": True}]
LATER = message_from("slack:T:U2", "And now?", "Bob")


async def test_a_continued_session_also_checks_the_required_parts() -> None:
    known_session = Answer(
        [json.dumps({"id": "s", "history": ["/messages/1"]}).encode()], 200, JSON
    )
    async with model_server(Answer(run_with({"content": "A sky."})), known_session) as api:
        agent = build(api.url, accepts=NEEDS_PICTURE)
        first = await answer(agent, WITH_PICTURE)
        second = await answer(agent, answered(WITH_PICTURE, first, LATER))

    assert isinstance(first[-1], TurnDone)
    assert isinstance(second[-1], TurnFailed)
    assert "requires a part 'image/*'" in second[-1].reason
    assert [head.split(" HTTP")[0] for head in api.heads] == ["POST /runs", "GET /sessions/s1"]


async def test_messages_posted_during_a_turn_are_checked_for_required_parts() -> None:
    async with model_server(Answer(run_with({"content": "A sky."}))) as api:
        agent = build(api.url, accepts=NEEDS_PICTURE)
        steered = steering(MessageGiven(message=LATER))
        events = [event async for event in agent.run(turn(WITH_PICTURE), steered)]

    assert text_of(events) == "A sky."
    assert isinstance(events[-1], TurnFailed)
    assert "requires a part 'image/*'" in events[-1].reason
    assert len(api.requests) == 1


async def test_an_answer_to_a_question_of_a_run_needs_no_required_part() -> None:
    question = {"type": "message", "message": {"role": "agent", "parts": [{"content": "Sure?"}]}}
    waits = sse(run("awaiting", await_request=question))
    async with model_server(Answer(waits), Answer(run_with({"content": "A sky."}))) as api:
        agent = build(api.url, accepts=NEEDS_PICTURE)
        steered = steering(MessageGiven(message=message_from("slack:T:U2", "Yes.", "Bob")))
        events = [event async for event in agent.run(turn(WITH_PICTURE), steered)]

    assert text_of(events) == "Sure?\n\nA sky."
    assert isinstance(events[-1], TurnDone)
    assert "Yes." in str(api.requests[1]["await_resume"])


@pytest.mark.parametrize(("returns", "mismatches"), [
    ([{"content_type": "text/**"}], None),
    ([], None),
    ([{"content_type": "image/*", "required": True}],
     ["a part text/plain is not among what it gives",
      "a part 'image/*' is required, and missing"]),
])  # fmt: skip
async def test_an_answer_that_violates_its_schema_is_shown_and_logged(
    returns: Any, mismatches: Any
) -> None:
    events, _ = await events_and_requests(WITH_PICTURE, returns=returns)

    assert text_of(events) == "A sky."
    records = [event.record for event in events if isinstance(event, AnswerRecorded)]
    assert records[-1].get("faults") == mismatches
