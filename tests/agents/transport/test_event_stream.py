"""Streams as servers write them: ends of lines, byte order marks, lines that are broken."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.agents.a2a.agent import agent_type as a2a
from bridge.agents.transport.http import read_event_stream
from bridge.errors import AgentError
from bridge.model.turns import ToolCalled, TurnDone, TurnFailed
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import HELLO, answer, nothing, text_of, tools, turn
from tests.agents.vendors import JSON, VENDORS, Vendor, chat_calls, chat_says

every_vendor = pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
CHAT = VENDORS["openai-chat"]


async def _pieces(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _data(*pieces: bytes) -> list[bytes]:
    return [one.data async for one in read_event_stream(_pieces(pieces))]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@given(cuts=st.sets(st.integers(0, 80)))
async def test_all_line_ends_are_read_alike_at_any_chunk_boundary(
    end: bytes, cuts: set[int]
) -> None:
    stream = end.join([b"\xef\xbb\xbfdata: 1", b"", b": ping", b"data:2", b"data: 3", b"", b""])
    edges = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(edges)]

    assert await _data(*pieces) == [b"1", b"2\n3"]


async def test_an_event_that_ends_with_a_bare_cr_does_not_wait_for_the_next_chunk() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"data: 1\r\r"
        raise AssertionError("nobody asked for more")

    sent = read_event_stream(pieces())

    assert (await anext(sent)).data == b"1"
    await sent.aclose()


async def test_an_event_without_an_end_is_limited_in_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bridge.agents.transport.http._LARGEST_EVENT", 1000)

    with pytest.raises(AgentError, match="too large"):
        await _data(*[b"data: word word word\n"] * 100)


@every_vendor
@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
async def test_an_answer_with_other_line_ends_is_read(vendor: Vendor, end: bytes) -> None:
    whole = [piece.replace(b"\n", end) for piece in sse(*vendor.says("Hello you!"))]
    async with model_server(Answer([b"\xef\xbb\xbf" + whole[0], *whole[1:]])) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == "Hello you!"
    assert isinstance(events[-1], TurnDone)


@every_vendor
async def test_one_broken_line_does_not_end_the_answer(vendor: Vendor) -> None:
    whole = sse(*vendor.says("Hello you!"))
    async with model_server(Answer([*whole[:3], b'data: {"broken\n\n', *whole[3:]])) as api:
        events = await answer(vendor, api.url)

    assert text_of(events) == "Hello you!"
    assert isinstance(events[-1], TurnDone)


async def test_events_without_a_separating_empty_line_are_read_one_by_one() -> None:
    lines = [b"data: %s\n" % json.dumps(answer).encode() for answer in chat_says("Hello you!")]
    async with model_server(Answer([*lines, b"data: [DONE]\n\n"])) as api:
        events = await answer(CHAT, api.url)

    assert text_of(events) == "Hello you!"


async def test_a_call_that_may_be_incomplete_is_not_made() -> None:
    whole = sse(*chat_calls("c1", "remove", {"path": "/tmp/a"}))
    async with model_server(Answer([whole[0], b"data: {oh\n\n", *whole[1:]])) as api:
        events = await answer(CHAT, api.url)

    assert not [event for event in events if isinstance(event, ToolCalled)]
    assert isinstance(events[-1], TurnFailed)
    assert "could not be read" in events[-1].reason


async def test_a_stream_of_broken_lines_alone_is_no_answer() -> None:
    async with model_server(Answer([b"data: {oh\n\n", b"data: <html>\n\n"])) as api:
        events = await answer(CHAT, api.url)

    assert isinstance(events[-1], TurnFailed)


LATE = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {
    "state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T00:00:00"}}}  # fmt: skip
SAID = {"message": {"messageId": "m", "role": "ROLE_AGENT",
                    "parts": [{"text": "Hello\u2028you\x85!"}]}}  # fmt: skip


def _written(event: Any, **style: Any) -> bytes:
    """An event of A2A, each line of its JSON as a line of data."""
    body = json.dumps({"jsonrpc": "2.0", "id": "1", "result": event}, **style)
    return b"".join(b"data: %s\n" % line.encode() for line in body.split("\n")) + b"\n"


WRITTEN = [_written(LATE), _written(SAID, ensure_ascii=False)]
PRETTY = [_written(one, indent=1, ensure_ascii=False) for one in (LATE, SAID)]


@pytest.mark.parametrize("pieces", [
    pytest.param(WRITTEN, id="one line"),
    pytest.param([one.replace(b"\n", b"\r") for one in WRITTEN], id="cr"),
    pytest.param([one.replace(b"\n", b"\r\n") for one in WRITTEN], id="crlf"),
    pytest.param([b"\xef\xbb\xbf" + WRITTEN[0], *WRITTEN[1:]], id="byte order mark"),
    pytest.param([WRITTEN[0], b'data: {"broken\n\n', WRITTEN[1]], id="a broken line"),
    pytest.param(PRETTY, id="several lines"),
    pytest.param([one.replace(b"\n", b"\r") for one in PRETTY], id="several lines, cr"),
    pytest.param([one.removesuffix(b"\n") for one in WRITTEN], id="no empty lines"),
    pytest.param([*WRITTEN, b"data: [DONE]\n\n"], id="an end that is no JSON"),
])  # fmt: skip
async def test_streams_of_a2a_are_read_like_those_of_other_apis(pieces: list[bytes]) -> None:
    pytest.importorskip("a2a", reason="the extra a2a is not installed")
    async with model_server(Answer(())) as api:
        api.answers = [_card(api.url), Answer(pieces)]
        settings = a2a.settings.model_validate({"base_url": api.url, "retries": 0})
        agent = a2a.build("bot", settings, tools())
        events = [event async for event in agent.run(turn(HELLO), nothing())]

    assert text_of(events) == "Hello\u2028you\x85!"
    assert isinstance(events[-1], TurnDone)


async def test_an_error_event_of_a2a_is_reported() -> None:
    pytest.importorskip("a2a", reason="the extra a2a is not installed")
    async with model_server(Answer(())) as api:
        api.answers = [_card(api.url), Answer([b"event: error\ndata: oh\ndata: no\n\n"])]
        settings = a2a.settings.model_validate({"base_url": api.url, "retries": 0})
        agent = a2a.build("bot", settings, tools())
        events = [event async for event in agent.run(turn(HELLO), nothing())]

    assert isinstance(events[-1], TurnFailed)
    assert "refused" in events[-1].reason


def _card(url: str) -> Answer:
    ways = [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
    body = {"name": "x", "description": "x", "version": "1", "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [], "supportedInterfaces": ways}  # fmt: skip
    return Answer([json.dumps(body).encode()], 200, JSON)
