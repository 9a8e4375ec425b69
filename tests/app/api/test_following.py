"""A reader of /events gets each event once, at its own pace, and a reason at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from bridge.app.api import events as following
from bridge.app.api.api_keys import Authenticator
from bridge.app.api.events import MOST_STREAMS, Streams
from bridge.app.api.problems import Problem
from bridge.uacs import Accumulator, Message, TextPart, read_delta
from tests.app.api.served import ServerEvent, read_server_events
from tests.app.api.test_gate import WHERE, Served, served
from tests.waiting import LONGEST_WAIT


@dataclass
class Reader:
    """A slow ASGI client: takes `pause` seconds for each piece."""

    pause: float = 0.0
    pieces: list[bytes] = field(default_factory=list[bytes])
    ended: bool = False
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await asyncio.sleep(self.pause)
        if message["type"] == "http.response.body":
            self.pieces.append(message["body"])
            self.ended = not message.get("more_body", False)

    async def events(self) -> list[ServerEvent]:
        async def lines() -> AsyncGenerator[str]:
            for line in b"".join(self.pieces).decode().split("\n"):
                yield line

        return [event async for event in read_server_events(lines())]

    async def until(self, count: int) -> list[ServerEvent]:
        async with asyncio.timeout(LONGEST_WAIT):
            while len(found := await self.events()) < count:  # noqa: ASYNC110 - pieces come
                await asyncio.sleep(0.005)
        return found


@asynccontextmanager
async def following_room(
    api: Served, reader: Reader, streams: Streams | None = None, after: str | None = None
) -> AsyncGenerator[asyncio.Task[None]]:
    streams = streams or all_streams(api)
    caller = await streams.authenticator.caller(api.http.headers["authorization"])
    stream = await streams.follow(caller, api.gateway.rooms()[0], after, deltas=True)
    task = asyncio.create_task(stream({"type": "http"}, reader.receive, reader.send))
    try:
        await reader.until(1)
        yield task
    finally:
        reader.left.set()
        await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), LONGEST_WAIT)


def all_streams(api: Served) -> Streams:
    return Streams(api.gateway, Authenticator(api.rig.store, api.rig.clock))


async def test_a_reader_from_the_beginning_gets_each_event_once() -> None:
    async with served() as api:
        live, later = Reader(), Reader()
        async with following_room(api, live):
            message_ids = [(await api.post(f"number {n}")).json()["message_id"] for n in range(3)]
            await live.until(4)
            await api.http.put(f"{WHERE}/messages/{message_ids[0]}", json={"text": "changed"})
            await live.until(5)
            await api.http.delete(f"{WHERE}/messages/{message_ids[1]}")
            events = await live.until(6)
        async with following_room(api, later, after="0.0"):
            again = await later.until(5)

    assert [event.event for event in events] == [
        "hello", *["message_posted"] * 3, "message_changed", "message_deleted",
    ]  # fmt: skip
    assert [event.id for event in events] == ["0.0", "1.0", "2.0", "3.0", "3.1", "3.2"]
    assert [(event.event, event.id) for event in again] == [
        ("hello", "0.0"), ("message_posted", "1.0"), ("message_posted", "3.0"),
        ("message_changed", "3.1"), ("message_deleted", "3.2"),
    ]  # fmt: skip
    assert again[1].data["message"]["content"][0]["text"] == "changed"


class Growing:
    """An answer whose text a test sets."""

    def __init__(self, base: Message) -> None:
        self._base = base
        self.id: Any = base.message_id
        self.visible = True
        self.text = ""

    def message(self) -> Message:
        return self._base.model_copy(update={"content": (TextPart(text=self.text),)})


async def test_an_answer_grows_in_deltas_that_each_reader_can_add_up() -> None:
    async with served() as api:
        own = (await api.post("the base")).json()["message_id"]
        stored = await api.rig.store.message(own)
        assert stored
        answer = Growing(stored.message)
        reader = Reader()
        room = api.rig.rooms[0].id
        async with following_room(api, reader):
            for words in ("Hello", " there", ", all"):
                answer.text += words
                api.router.parts.rooms.feed.grows(room, answer)
                await reader.until(len(await reader.events()) + 1)
            await api.rig.store.change_message(answer.message(), "complete")
            api.router.parts.rooms.feed.ended(room, answer.id)
            events = await reader.until(len(await reader.events()) + 2)

    accumulator = Accumulator()
    for event in events:
        if event.event == "delta":
            accumulator.add(read_delta(orjson.dumps(event.data["delta"])))
    assert accumulator.message == answer.message()
    assert events[-1].event == "message_changed"


async def test_a_slow_reader_gets_the_error_too_slow_and_can_reconnect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served() as api:
        reader, again = Reader(), Reader()
        async with following_room(api, reader) as task:
            with monkeypatch.context() as hasty:
                hasty.setattr(following, "SLOW", 0.02)
                reader.pause = 0.05
                for number in range(3):
                    await api.post(f"number {number}")
                await asyncio.wait_for(task, LONGEST_WAIT)
            events = await reader.events()
        async with following_room(api, again, after=events[-2].id):
            rest = await again.until(3)

    assert [event.event for event in events] == ["hello", "message_posted", "end"]
    assert events[-1].data["reason"] == "too_slow"
    assert reader.ended
    assert [event.id for event in rest] == ["1.0", "2.0", "3.0"]


async def test_a_reader_that_stops_reading_is_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served() as api:
        reader = Reader()
        async with following_room(api, reader) as task:
            monkeypatch.setattr(following, "STUCK", 0.05)
            reader.pause = 2 * LONGEST_WAIT
            await api.post("hello")
            await asyncio.wait_for(task, LONGEST_WAIT)

    assert not reader.ended


async def test_readers_get_the_reason_when_the_bridge_stops() -> None:
    async with served() as api:
        reader, streams = Reader(), all_streams(api)
        async with following_room(api, reader, streams) as task:
            streams.close()
            await asyncio.wait_for(task, LONGEST_WAIT)

    assert (await reader.events())[-1].data["reason"] == "stopping"
    assert reader.ended


async def test_a_quiet_stream_sends_keep_alives_with_its_position(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "LOOK_AGAIN", 0.01)
    monkeypatch.setattr(following, "HEARTBEAT", 0.03)
    async with served() as api:
        reader = Reader()
        async with following_room(api, reader):
            async with asyncio.timeout(LONGEST_WAIT):
                while b": alive" not in b"".join(reader.pieces):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

    assert b"id: 0.0\n: alive\n\n" in b"".join(reader.pieces)


async def test_streams_per_token_are_limited_and_invalid_positions_are_refused() -> None:
    async with served() as api:
        streams = all_streams(api)
        caller = await streams.authenticator.caller(api.http.headers["authorization"])
        room = api.gateway.rooms()[0]
        for _ in range(MOST_STREAMS):
            streams.begin(caller, asyncio.Event())

        with pytest.raises(Problem, match="streams open") as many:
            await streams.follow(caller, room, None, deltas=True)
        for wrong in ("9.9", "x", "1", "-1.0", "1.0.0"):
            with pytest.raises(Problem) as caught:
                await streams.follow(caller, room, wrong, deltas=True)
            assert caught.value.status == 422

    assert many.value.status == 429
