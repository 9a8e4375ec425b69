"""Streams as servers write them: ends of lines, byte order marks, lines that are broken."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.agents.http import server_sent
from bridge.errors import AgentError
from bridge.model.turns import ToolCalled, TurnDone, TurnFailed
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import answer, text_of
from tests.agents.vendors import VENDORS, Vendor, chat_calls, chat_says

every_vendor = pytest.mark.parametrize("vendor", VENDORS.values(), ids=list(VENDORS))
CHAT = VENDORS["openai-chat"]


async def _pieces(pieces: Sequence[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _data(*pieces: bytes) -> list[bytes]:
    return [one.data async for one in server_sent(_pieces(pieces))]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@given(cuts=st.sets(st.integers(0, 80)))
async def test_all_ends_of_lines_are_read_alike_wherever_the_pieces_are_cut(
    end: bytes, cuts: set[int]
) -> None:
    stream = end.join([b"\xef\xbb\xbfdata: 1", b"", b": ping", b"data:2", b"data: 3", b"", b""])
    edges = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    pieces = [stream[a:b] for a, b in pairwise(edges)]

    assert await _data(*pieces) == [b"1", b"2\n3"]


async def test_an_event_that_ends_with_a_bare_cr_does_not_wait_for_the_next_piece() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"data: 1\r\r"
        raise AssertionError("nobody asked for more")

    sent = server_sent(pieces())

    assert (await anext(sent)).data == b"1"
    await sent.aclose()


async def test_lines_without_an_end_of_the_event_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bridge.agents.http._LARGEST_EVENT", 1000)

    with pytest.raises(AgentError, match="too large"):
        await _data(*[b"data: word word word\n"] * 100)


@every_vendor
@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
async def test_an_answer_with_other_ends_of_lines_is_read(vendor: Vendor, end: bytes) -> None:
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


async def test_events_without_an_empty_line_between_them_are_read_one_by_one() -> None:
    lines = [b"data: %s\n" % json.dumps(one).encode() for one in chat_says("Hello you!")]
    async with model_server(Answer([*lines, b"data: [DONE]\n\n"])) as api:
        events = await answer(CHAT, api.url)

    assert text_of(events) == "Hello you!"


async def test_a_call_of_which_a_piece_may_be_missing_is_not_made() -> None:
    whole = sse(*chat_calls("c1", "remove", {"path": "/tmp/a"}))
    async with model_server(Answer([whole[0], b"data: {oh\n\n", *whole[1:]])) as api:
        events = await answer(CHAT, api.url)

    assert not [one for one in events if isinstance(one, ToolCalled)]
    assert isinstance(events[-1], TurnFailed)
    assert "could not be read" in events[-1].reason


async def test_a_stream_of_broken_lines_alone_is_no_answer() -> None:
    async with model_server(Answer([b"data: {oh\n\n", b"data: <html>\n\n"])) as api:
        events = await answer(CHAT, api.url)

    assert isinstance(events[-1], TurnFailed)
