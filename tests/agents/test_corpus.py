"""Recorded traffic: what a vendor reads is the same after UACS, and a stream says what its whole
answer says."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from bridge.agents.codec.deltas import deltas_of
from bridge.agents.transport.api_errors import api_error, turn_failure
from bridge.content.messages.agent_parts import STATE
from bridge.errors import PlatformError, Refused
from bridge.model.turns import AgentEvent, TurnDone
from bridge.uacs import (
    Accumulator,
    ContentPart,
    Message,
    StructuredDataPart,
    TextPart,
    envelope_of,
    read_conversation,
    read_message,
    write,
)
from tests.agents.apis import CODECS, Codec
from tests.agents.readings import as_read
from tests.agents.recorded import Recording, recordings

AGENT = "bot"
ALL = recordings()


def is_refusal(recording: Recording) -> bool:
    """Whether this is the error of an API. Whole answers may have an `error` that is null."""
    return recording.status != 200 or (
        isinstance(recording.body, dict) and bool(recording.body.get("error"))
    )


def refusals() -> list[Any]:
    recordings_ = [one for one in ALL if one.kind == "response" and is_refusal(one)]
    return [pytest.param(candidate, id=candidate.name) for candidate in recordings_] or [
        pytest.param(None, marks=pytest.mark.skip("UACS_CORPUS names no recordings"))
    ]


def of(kind: str, *, answered: bool = True) -> list[Any]:
    recordings_ = [one for one in ALL if one.kind == kind and one.api in CODECS]
    if answered:
        recordings_ = [candidate for candidate in recordings_ if not is_refusal(candidate)]
    return [pytest.param(candidate, id=candidate.name) for candidate in recordings_] or [
        pytest.param(None, marks=pytest.mark.skip("UACS_CORPUS names no recordings"))
    ]


@pytest.mark.parametrize("one", refusals())
def test_a_recorded_api_error_becomes_an_error_of_the_bridge(one: Recording) -> None:
    status = one.status if one.status != 200 else None
    error = api_error(one.body.get("error", one.body.get("detail")), status)

    assert isinstance(error, Refused)
    assert turn_failure(error).reason


@pytest.mark.parametrize("one", of("request", answered=False))
def test_a_request_is_the_same_after_uacs(one: Recording) -> None:
    codec = CODECS[one.api]

    conversation = codec.read_request(one.body, AGENT)
    read_back = read_conversation(write(conversation))
    written = codec.write_request(read_back, AGENT)

    assert as_read(one.api, written.body) == as_read(one.api, one.body)


@pytest.mark.parametrize("one", of("response"))
def test_a_response_is_the_same_after_uacs(one: Recording) -> None:
    codec = CODECS[one.api]

    message = read_message(write(codec.read_response(one.body, AGENT)))

    assert as_read(one.api, codec.write_response(message, AGENT)) == as_read(one.api, one.body)


@pytest.mark.parametrize("one", of("response"))
def test_private_state_of_a_vendor_does_not_repeat_the_text(one: Recording) -> None:
    message = CODECS[one.api].read_response(one.body, AGENT)

    assert repeated_words(message) == []


@pytest.mark.parametrize("one", of("stream", answered=False))
def test_a_stream_gives_the_same_message_as_the_whole_answer(one: Recording) -> None:
    codec = CODECS[one.api]
    if tells_a_fault(one.body):
        with pytest.raises(PlatformError):
            streamed(codec, one.body)
        return
    if is_abridged(one.body):
        pytest.skip("whoever recorded it left deltas out")

    events, response = streamed(codec, one.body)

    whole = codec.read_response(response, AGENT)
    found, expected = joined(accumulated(events, whole)), joined(whole.content)
    if one.file in OUT_OF_ORDER:
        found, expected = sorted(found, key=json.dumps), sorted(expected, key=json.dumps)
    assert found == expected
    assert as_read(one.api, codec.write_response(whole, AGENT)) == as_read(one.api, response)


# This server ends its thoughts when the answer that came after them has ended.
OUT_OF_ORDER = ("pai__openai_responses__test_openai_responses_raw_cot_stream_openrouter.json#0",)


def tells_a_fault(events: Sequence[Any]) -> bool:
    return any(event.get("type") in ("error", "response.failed") for event in events)


def is_abridged(events: Sequence[Any]) -> bool:
    """Whether the deltas of a text are less than the text."""
    deltas: dict[tuple[Any, Any], str] = defaultdict(str)
    for event in events:
        place = event.get("output_index"), event.get("content_index")
        if event.get("type") == "response.output_text.delta":
            deltas[place] += event["delta"]
        if event.get("type") == "response.output_text.done" and deltas[place] != event["text"]:
            return True
    return False


def streamed(codec: Codec, events: Sequence[Any]) -> tuple[list[AgentEvent], Any]:
    reader = codec.stream()
    agent_events = [one for event in events for one in reader.take(event)]
    agent_events += reader.end()
    return agent_events, reader.response


def accumulated(events: Sequence[AgentEvent], whole: Message) -> Sequence[ContentPart]:
    accumulator = Accumulator()
    for delta in deltas_of([*events, TurnDone()], envelope_of(whole)):
        accumulator.add(delta)
    return accumulator.message.content if accumulator.finished else ()


def joined(parts: Sequence[ContentPart]) -> list[Any]:
    """As JSON; texts side by side are one text, and nothing is said by an empty one."""
    recordings_: list[Any] = [json.loads(write(part)) for part in parts]
    recordings_ = [candidate for candidate in recordings_ if candidate.get("text") != ""]
    result: list[Any] = []
    for candidate in recordings_:
        if result and candidate["type"] == result[-1]["type"] == "text":
            result[-1] = {**result[-1], "text": result[-1]["text"] + candidate["text"]}
        else:
            result.append(candidate)
    return result


def repeated_words(message: Message) -> list[str]:
    """Texts of the answer that its private state has in it again: an edit would not reach those."""
    return [
        part.text
        for part, after in pairwise(message.content)
        if isinstance(part, TextPart) and len(part.text) > 20
        and isinstance(after, StructuredDataPart) and after.schema_id == STATE
        and part.text in strings(after.data)
    ]  # fmt: skip


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [string for inner in value.values() for string in strings(inner)]
    if isinstance(value, list | tuple):
        return [string for inner in value for string in strings(inner)]
    return [value] if isinstance(value, str) else []
