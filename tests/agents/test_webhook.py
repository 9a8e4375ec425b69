"""An agent that is a program behind an address: what it is sent, what it may answer, and the
signatures of both."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bridge.agents.transport.signing import check, sign, signing_key
from bridge.agents.webhook.agent import agent_type
from bridge.content.messages.agent_parts import REASONING, STATE
from bridge.errors import AgentError, ConfigError
from bridge.model import ActorId, MessageId, RoomId
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    Feedback,
    MessageGiven,
    ModerationReported,
    PartGiven,
    PlanStep,
    StateKept,
    TextDelta,
    ToolAnswered,
    ToolCalled,
    ToolResultGiven,
    TurnDone,
    TurnFailed,
    UsageReported,
)
from bridge.uacs import (
    Conversation,
    StructuredDataPart,
    TextPart,
    ToolResultPart,
    read_conversation,
)
from tests.agents.model_server import Answer, ModelServer, model_server, sse
from tests.agents.talking import HELLO, Tools, message_from, nothing, room, text_of, tools, turn
from tests.agents.vendors import JSON, KEY
from tests.free_ports import free_port
from tests.waiting import LONGEST_WAIT

DOCS = Path(__file__).parents[2] / "docs" / "agents.md"
WEATHER = {"name": "get_weather", "description": "Weather.", "parameters": {"type": "object"}}


def agent(url: str, given: Tools | None = None, **options: Any) -> Any:
    settings = {"url": url, "private_addresses": True, **options}
    return agent_type.build("bot", agent_type.settings.model_validate(settings), given or tools())


async def answered(
    answer: Answer, conversation: Conversation = HELLO, **options: Any
) -> tuple[list[AgentEvent], ModelServer]:
    async with model_server(answer) as api:
        webhook_agent = agent(api.url, **options)
        events = [e async for e in webhook_agent.run(turn(conversation), nothing())]
        assert isinstance(events[0], AnswerRecorded)
        return events[1:], api


def whole(value: Any) -> Answer:
    return Answer([json.dumps(value).encode()], 200, JSON)


def failed(events: list[AgentEvent]) -> str:
    assert isinstance(events[-1], TurnFailed), events
    assert KEY not in events[-1].reason
    return events[-1].reason


async def test_a_turn_is_sent_as_uacs_with_the_asker_and_the_place() -> None:
    events, api = await answered(whole({"text": "Hello *Alice*"}))

    (body,) = api.requests
    assert read_conversation(json.dumps(body["conversation"]).encode()) == HELLO
    assert (body["version"], body["turn"], body["agent"], body["room"]) == (1, "t1", "bot", "r")
    assert body["trigger"] == HELLO.messages[-1].message_id
    assert text_of(events) == "Hello *Alice*"
    assert isinstance(events[-1], TurnDone)


@pytest.mark.parametrize("body", [
    [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}],
    {"content": [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]},
])  # fmt: skip
async def test_text_parts_of_a_message_stay_separate(body: Any) -> None:
    events, _ = await answered(whole(body))

    assert [event.part for event in events if isinstance(event, PartGiven)] == [
        {"type": "text", "text": "One"}, {"type": "text", "text": "Two"}
    ]  # fmt: skip


async def test_usage_record_and_moderation_are_read_from_the_metadata() -> None:
    metadata = {
        "usage": {"input_tokens": 3}, "record": {"version": "7"}, "moderation": {"refused": False},
        "agents": {"bot": {"mood": "good"}, "other": {"mood": "bad"}}, "latency": "mine",
    }  # fmt: skip
    body = {"content": [{"type": "text", "text": "x"}], "metadata": metadata}

    events, _ = await answered(whole(body))

    (recorded,) = [event.record for event in events if isinstance(event, AnswerRecorded)]
    assert (recorded["api"], recorded["host"]) == ("webhook", "127.0.0.1")
    assert recorded["program"] == {"version": "7"}
    assert recorded["messages"] == 1
    assert UsageReported(usage={"input_tokens": 3}) in events
    assert ModerationReported(moderation={"refused": False}) in events
    assert [event for event in events if isinstance(event, StateKept)] == [
        StateKept(state={"mood": "good"})
    ]


async def test_the_stored_state_of_a_program_is_limited() -> None:
    body = [{"type": "state_kept", "state": {"all": "x" * 20_000}}]

    events, _ = await answered(whole(body))

    assert "at most 16000 bytes" in failed(events)


@pytest.mark.parametrize("answer", [whole(None), Answer((), 204, JSON), Answer((), 200, JSON)])
async def test_an_empty_answer_of_a_program_is_valid(answer: Answer) -> None:
    events, _ = await answered(answer)

    assert events == [TurnDone()]


@pytest.mark.parametrize("body", [
    {"hello": "world"}, 7, "Hello", [7], [{"type": "image"}], {"content": [{"type": "text"}]},
    [{"type": "text_delta", "words": "x"}],
])  # fmt: skip
async def test_an_answer_that_is_not_uacs_is_an_error(body: Any) -> None:
    events, _ = await answered(whole(body))

    assert len(events) == 1
    assert failed(events)


async def test_uacs_deltas_are_shown_as_they_come() -> None:
    envelope = {"message_id": "m", "timestamp": "2026-11-21T12:00:00Z",
                "actor": {"id": "x", "role": "assistant"}}  # fmt: skip
    deltas = [
        {"type": "message_started", "seq": 0, "envelope": envelope},
        {"type": "part_started", "seq": 1, "index": 0, "part": {"type": "text", "text": "Hel"}},
        {"type": "text_appended", "seq": 2, "index": 0, "text": "lo"},
        {"type": "part_started", "seq": 3, "index": 1, "part": {"type": "text", "text": "Tw"}},
        {"type": "text_appended", "seq": 4, "index": 1, "text": "o"},
        {"type": "metadata_merged", "seq": 5, "metadata": {"usage": {"output_tokens": 2}}},
        {"type": "message_finished", "seq": 6},
    ]

    events, _ = await answered(Answer(sse(*deltas)))

    assert events == [
        TextDelta(text="Hel"), TextDelta(text="lo"), UsageReported(usage={"output_tokens": 2}),
        PartGiven(part={"type": "text", "text": "Two"}), TurnDone(),
    ]  # fmt: skip


async def test_agent_events_are_passed_on_unchanged() -> None:
    step = {"type": "plan_step", "id": "1", "title": "Look", "status": "complete"}
    sent_events = [
        {"type": "text_delta", "text": "Hi"},
        step,
        {"text": " there"},
        {"type": "turn_done"},
    ]

    events, _ = await answered(Answer(sse(*sent_events)))

    assert text_of(events) == "Hi there"
    assert PlanStep(id="1", title="Look", status="complete") in events


async def test_a_program_may_give_the_reason_of_its_failure() -> None:
    events, _ = await answered(Answer(sse({"type": "turn_failed", "reason": f"no {KEY}"})))

    assert failed(events) == "no [hidden]"


@pytest.mark.parametrize("events", [
    [{"type": "text_delta", "text": "Hi"}],
    [{"text": "Hi"}, {"type": "part_removed", "seq": 1, "index": 0}],
    [{"text": "Hi"}, {"type": "part_started", "seq": 1, "index": 7,
                      "part": {"type": "text", "text": "x"}}],
])  # fmt: skip
async def test_a_stream_that_breaks_the_rules_keeps_the_text_so_far(events: list[Any]) -> None:
    found, _ = await answered(Answer(sse(*events)))

    assert text_of(found) == "Hi"
    assert failed(found)


async def test_the_bridge_runs_its_tools_for_a_program() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}}
    conversation = room(message_from("slack:T1:U1", "Weather?", "Alice"), tools=[WEATHER])
    queue: asyncio.Queue[AgentInput] = asyncio.Queue()
    events: list[AgentEvent] = []
    async with model_server(whole([call]), whole({"text": "Rain."})) as api:
        async for event in agent(api.url).run(turn(conversation), queued(queue)):
            events.append(event)
            if isinstance(event, ToolCalled):
                result = ToolResultPart(tool_call_id="c1", content={"sky": "rain"})
                queue.put_nowait(ToolResultGiven(part=result))

    assert text_of(events) == "Rain."
    assert any(isinstance(one, ToolAnswered) for one in events)
    again = api.requests[1]
    assert again["conversation"]["messages"][-1]["content"][1]["content"] == {"sky": "rain"}
    assert again["inputs"][0]["type"] == "tool_result_given"
    assert "webhook-id: t1\r" in api.heads[0]
    assert "webhook-id: t1/1\r" in api.heads[1]


async def test_a_call_of_a_tool_that_was_not_offered_is_answered() -> None:
    call = {"type": "tool_call", "id": "c1", "name": "launch", "arguments": {}}
    again = whole([{**call, "id": "c2"}, {"type": "text", "text": "I cannot."}])
    async with model_server(whole([call]), again) as api:
        events = [one async for one in agent(api.url).run(turn(HELLO), nothing())]

    results = [candidate.part for candidate in events if isinstance(candidate, ToolAnswered)]
    assert [result.tool_call_id for result in results] == ["c1", "c2"]
    assert all(
        result.is_error and result.content == "There is no tool 'launch' here."
        for result in results
    )
    assert api.requests[1]["inputs"][0]["part"]["content"] == "There is no tool 'launch' here."
    assert len(api.requests) == 2  # the same again is answered, and not asked about once more
    assert isinstance(events[-1], TurnDone)


async def test_messages_posted_during_a_turn_are_sent_before_it_ends() -> None:
    more = MessageGiven(message=message_from("slack:T:U2", "And in Bergen?", "Bob"))

    async def given() -> AsyncIterator[AgentInput]:
        yield more
        await asyncio.Event().wait()

    async with model_server(whole({"text": "Rain."}), whole({"text": "Snow."})) as api:
        events = [one async for one in agent(api.url).run(turn(HELLO), given())]

    assert text_of(events) == "Rain.\n\nSnow."
    assert "Bergen" in str(api.requests[1]["conversation"]["messages"][-1])


async def test_private_state_of_other_agents_is_not_sent() -> None:
    secret = StructuredDataPart(schema_id=STATE, data={"api": "gemini", "item": "SIGNED"})
    thought = StructuredDataPart(schema_id=REASONING, data={"text": "SECRETLY"})
    additions = {"uacs_bridge": {"version": 1, "parts": {"2": {"alt": "A"}}}}
    metadata = {"agents": {"other": {"x": "SIGNED"}, "bot": {"y": 1}}, **additions}
    parts = [thought, secret, TextPart(text="Hi")]
    other = message_from("agent:other", parts, "other", "assistant", metadata=metadata)
    own = message_from("agent:bot", [thought, TextPart(text="Mine")], "bot", "assistant")

    _, api = await answered(whole(None), room(other, own, message_from("slack:T:U1", "Well?")))

    first, second, _ = api.requests[0]["conversation"]["messages"]
    assert "SIGNED" not in str(api.requests)
    assert [block["type"] for block in first["content"]] == ["text"]
    assert first["metadata"]["uacs_bridge"]["parts"] == {"0": {"alt": "A"}}
    assert first["metadata"]["agents"] == {"bot": {"y": 1}}
    assert "SECRETLY" in str(second)


# --- signatures ---------------------------------------------------------------------------------


def signed(api: ModelServer, body: bytes, *, key: str = KEY, age: float = 0) -> Mapping[str, str]:
    del api
    when = str(int(time.time() - age))
    signature = sign(key.encode(), "answer:t1", when, body)
    return {"webhook-timestamp": when, "webhook-signature": signature}


SECRET: Any = {"secret": {"env": "KEY"}}


async def test_requests_are_signed() -> None:
    _, api = await answered(whole(None), **SECRET)

    head = dict(line.split(": ", 1) for line in api.heads[0].split("\r\n")[1:] if line)
    body = api.raw[0]
    when = head["webhook-timestamp"]
    check(KEY.encode(), "t1", when, body, head["webhook-signature"], time.time())
    assert head["idempotency-key"] == head["webhook-id"] == "t1"
    assert KEY not in api.heads[0]


@pytest.mark.parametrize(("fault", "words"), [
    ({}, ""), ({"key": "another"}, "no valid signature"), ({"age": 400}, "is too old"),
    ({"age": -400}, "is too old"), (None, "no valid signature"),
])  # fmt: skip
async def test_an_answer_without_a_valid_signature_is_refused(fault: Any, words: str) -> None:
    body = json.dumps({"text": "Hi"}).encode()
    async with model_server(Answer([body], 200, JSON)) as api:
        if fault is not None:
            lines = [f"{name}: {value}" for name, value in signed(api, body, **fault).items()]
            api.answers = [Answer([body], 200, JSON, lines)]
        events = [e async for e in agent(api.url, **SECRET).run(turn(HELLO), nothing())]

    if words:
        assert words in failed(events)
        assert not text_of(events)
    else:
        assert text_of(events) == "Hi"


async def test_a_request_sent_back_as_the_answer_is_refused() -> None:
    """Signed by the same secret, and sent back."""
    async with model_server(Answer((), 200, JSON)) as api:
        body = b'{"text": "Hi"}'
        when = str(int(time.time()))
        lines = [f"webhook-timestamp: {when}",
                 f"webhook-signature: {sign(KEY.encode(), 't1', when, body)}"]  # fmt: skip
        api.answers = [Answer([body], 200, JSON, lines)]
        events = [e async for e in agent(api.url, **SECRET).run(turn(HELLO), nothing())]

    assert "no valid signature" in failed(events)


@pytest.mark.parametrize("fault", ["", "one left out", "forged", "unsigned"])
async def test_each_event_of_a_stream_is_signed(fault: str) -> None:
    when = str(int(time.time()))
    chunks = [b'{"text": "One "}', b'{"text": "two "}', b'{"text": "three"}', b"[DONE]"]
    numbers = [0, 1, 2, 3]
    if fault == "one left out":
        del chunks[1], numbers[1]
    ids = [sign(KEY.encode(), f"answer:t1/{n}", when, one)
           for n, one in zip(numbers, chunks, strict=True)]  # fmt: skip
    if fault == "forged":
        chunks[1] = b'{"text": "2 "}'
    pieces = [b"id: %s\ndata: %s\n\n" % (own.encode() if fault != "unsigned" else b"", one)
              for own, one in zip(ids, chunks, strict=True)]  # fmt: skip

    events, _ = await answered(
        Answer(pieces, headers=[f"webhook-timestamp: {when}"]), **SECRET
    )  # fmt: skip

    if not fault:
        assert text_of(events) == "One two three"
        assert isinstance(events[-1], TurnDone)
    else:
        assert "no valid signature" in failed(events)
        assert text_of(events) in ("", "One ")


def test_a_secret_of_standard_webhooks_is_base64() -> None:
    assert signing_key("whsec_aGVsbG8=") == b"hello"
    assert signing_key("hello") == b"hello"
    with pytest.raises(ConfigError):
        signing_key("whsec_hello!")


def test_two_signatures_are_accepted_while_a_secret_changes() -> None:
    good = sign(b"new", "answer:t", "100", b"x")

    check(b"new", "answer:t", "100", b"x", f"v1,old {good}", 120)
    with pytest.raises(AgentError):
        check(b"new", "answer:t", "100", b"x", "v1,old", 120)


# --- the network --------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254"])
async def test_private_addresses_get_no_request(host: str) -> None:
    webhook_agent = agent(f"http://{host}:1/turn", private_addresses=False, retries=0)

    events = [e async for e in webhook_agent.run(turn(HELLO), nothing())]

    assert "private_address" in failed(events)


async def test_a_retry_has_the_same_id() -> None:
    busy = Answer([b"{}"], 503, JSON)
    agent_tools = tools()
    async with model_server(busy, whole({"text": "Hi"})) as api:
        events = [e async for e in agent(api.url, agent_tools).run(turn(HELLO), nothing())]

    assert text_of(events) == "Hi"
    assert all("webhook-id: t1\r" in head for head in api.heads)
    assert len(api.heads) == 2


async def test_an_answer_that_is_too_large_is_refused() -> None:
    events, _ = await answered(whole({"text": "x" * 20_000}), max_answer_mb=0.01)
    streamed, _ = await answered(Answer(sse(*[{"text": "x" * 999}] * 20)), max_answer_mb=0.01)

    assert "too large" in failed(events)
    assert "too large" in failed(streamed)


# --- the documentation --------------------------------------------------------------------------


@pytest.mark.process
async def test_the_program_of_the_documentation_is_an_agent(tmp_path: Path) -> None:
    match = re.search(r"<!-- webhook -->\n```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert match
    program = tmp_path / "agent.py"
    program.write_text(match.group(1))
    async with running_program(program) as port:
        webhook_agent = agent(f"http://127.0.0.1:{port}/", **SECRET)
        events = [e async for e in webhook_agent.run(turn(HELLO), nothing())]
        stranger = agent(f"http://127.0.0.1:{port}/")
        refused = [e async for e in stranger.run(turn(HELLO), nothing())]

    assert text_of(events) == "Hello Alice Smith!"
    assert isinstance(events[-1], TurnDone)
    assert failed(refused)


@asynccontextmanager
async def running_program(program: Path) -> AsyncGenerator[int]:
    port = free_port()
    environment = {"WEBHOOK_SECRET": KEY, "PORT": str(port)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(LONGEST_WAIT):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    break
        yield port
    finally:
        process.kill()
        await process.wait()


async def queued(queue: asyncio.Queue[AgentInput]) -> AsyncIterator[AgentInput]:
    while True:
        yield await queue.get()


async def test_feedback_is_sent_like_a_turn_and_signed() -> None:
    feedback = Feedback(
        agent="bot", room=RoomId("r"), message=MessageId("agent:bot:t1"),
        actor=ActorId("slack:T1:U1"), sense="bad", comment="too long",
        given_at=datetime(2026, 11, 1, tzinfo=UTC),
    )  # fmt: skip
    async with model_server(Answer((), 204, JSON)) as api:
        webhook_agent = agent(api.url, feedback=True, **SECRET)
        assert webhook_agent.takes_feedback
        await webhook_agent.take_feedback(feedback)

    (body,), (head,) = api.requests, api.heads
    assert body == {"version": 1, "type": "feedback", **feedback.model_dump(mode="json")}
    assert "webhook-id: feedback:agent:bot:t1:slack:T1:U1:1793491200000" in head
    assert "webhook-signature: v1," in head
    assert not agent(api.url).takes_feedback
