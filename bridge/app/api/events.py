"""A room's events as Server-Sent Events: durable changes with a position, and growing answers.

A stream has no queue. It reads durable changes from the store as fast as its reader takes them. For
a growing answer it sends the deltas between the version that the reader has and the current one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import orjson
import structlog
from starlette.types import Receive, Scope, Send

from bridge.app.api.api_keys import Authenticator, Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem
from bridge.app.api.queries import message_view, position_of, position_text, you_of
from bridge.app.api.view import outside_view
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import StoreError
from bridge.model import MessageId
from bridge.model.archive_records import Position, RoomEvent
from bridge.uacs import (
    Delta,
    Message,
    MessageFinished,
    deltas_between,
    message_to_deltas,
    write,
)

log = structlog.get_logger()

HEARTBEAT = 15.0  # seconds without events after which a comment is sent
LOOK_AGAIN = 1.0  # seconds between polls of the store, for changes by other processes
SLOW = 10.0  # seconds to send one event; a slower reader gets an `end` event
STUCK = 30.0  # seconds to send one event, after which the connection is dropped
_GATHERED = 0.03  # seconds in which changes are gathered before they are sent
_AT_ONCE = 100  # durable changes per read
MOST_STREAMS = 10  # open at the same time, for each token


class _StreamEnd(Exception):
    """The stream ends; the reader gets the reason and what to do."""

    def __init__(self, reason: str, todo: str) -> None:
        self.reason = reason
        self.todo = todo
        super().__init__(reason)


class Streams:
    """The open streams of all tokens."""

    def __init__(self, gateway: Gateway, authenticator: Authenticator) -> None:
        self.gateway = gateway
        self.authenticator = authenticator
        self.closing = False
        self._open: Counter[str] = Counter()
        self._wakes: set[asyncio.Event] = set()

    def close(self) -> None:
        """End all streams with the reason `stopping`; readers can connect again later."""
        self.closing = True
        for wake in self._wakes:
            wake.set()

    async def follow(
        self, caller: Caller, room: RoomView, after: str | None, *, deltas: bool
    ) -> EventStream:
        """A stream of the events after the position `after`; None: of new events only.

        Raises:
            Problem: 422 for a position that the room has not reached; 429 for too many streams.
        """
        newest = await self.gateway.store.position(room.conversation)
        at = newest if after is None else position_of(after)
        if at.posted > newest.posted or at.changed > newest.changed:
            raise Problem(
                422,
                "The room has not reached this position",
                value=after,
                todo=f"the newest position is {position_text(newest)}",
            )
        if self._open[caller.name] >= MOST_STREAMS:
            raise Problem(
                429,
                f"The token {caller.name!r} has {MOST_STREAMS} streams open already",
                todo="close one of them",
                headers={"Retry-After": "5"},
            )
        return EventStream(self, caller, room, at, deltas)

    def begin(self, caller: Caller, wake: asyncio.Event) -> None:
        self._open[caller.name] += 1
        self._wakes.add(wake)

    def end(self, caller: Caller, wake: asyncio.Event) -> None:
        self._open[caller.name] -= 1
        self._wakes.discard(wake)


@dataclass
class _SentAnswer:
    """The version of an answer that the reader has, and the number of deltas sent for it."""

    message: Message
    seq: int


@dataclass
class EventStream:
    """An ASGI response that streams the events of one room to one reader."""

    streams: Streams
    caller: Caller
    room: RoomView
    at: Position
    deltas: bool
    _send: Send | None = None
    _disconnected: bool = False
    _quiet_since: float = 0.0
    _sent_answers: dict[str, _SentAnswer] = field(default_factory=dict[str, _SentAnswer])
    _completed: set[str] = field(default_factory=set[str])  # sent as finished, still growing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._send = send
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with self.streams.gateway.reading() as news:
            leaving = asyncio.create_task(self._leave(receive, news))
            self.streams.begin(self.caller, news)
            try:
                await self._send_until_end(news)
            finally:
                self.streams.end(self.caller, news)
                leaving.cancel()
                await asyncio.gather(leaving, return_exceptions=True)

    async def _leave(self, receive: Receive, news: asyncio.Event) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._disconnected = True
        news.set()

    async def _send_until_end(self, news: asyncio.Event) -> None:
        try:
            await self._send_event("hello", self._hello())
            while not self._disconnected:
                await self._check_open()
                news.clear()
                if not await self._send_new() and not news.is_set():
                    await self._wait(news)
                await asyncio.sleep(_GATHERED)
        except _StreamEnd as end:
            await self._send_end(end.reason, end.todo)
        except StoreError as error:
            log.warning("stream_failed", token=self.caller.name, error=str(error))
            await self._send_end("trouble", "connect again with Last-Event-ID")
        except TimeoutError:
            log.info("stream_stalled", token=self.caller.name, room=self.room.id)

    async def _send_end(self, reason: str, todo: str) -> None:
        try:
            async with asyncio.timeout(STUCK):
                await self._write(_event("end", {"reason": reason, "todo": todo}, None))
                await self._write(b"", more=False)
        except TimeoutError:
            log.info("stream_stalled", token=self.caller.name, room=self.room.id)

    async def _check_open(self) -> None:
        """Raises _Ended when the reader may not receive more events."""
        if self.streams.closing:
            raise _StreamEnd("stopping", "the bridge stops; connect again with Last-Event-ID")
        if not await self.streams.authenticator.is_valid(self.caller):
            raise _StreamEnd("token_over", "the token was changed, revoked or has expired")
        rooms = self.streams.gateway.rooms()
        if all(room.conversation != self.room.conversation for room in rooms):
            raise _StreamEnd("room_gone", "the room is not configured any more")

    def _hello(self) -> dict[str, Any]:
        you = you_of(self.caller).model_dump()
        return {"room": self.room.id, "position": position_text(self.at), "you": you}

    async def _wait(self, news: asyncio.Event) -> None:
        now = asyncio.get_running_loop().time
        self._quiet_since = self._quiet_since or now()
        try:
            async with asyncio.timeout(LOOK_AGAIN):
                await news.wait()
        except TimeoutError:
            if now() - self._quiet_since >= HEARTBEAT:
                self._quiet_since = now()
                await self._write(b"id: %s\n: alive\n\n" % position_text(self.at).encode())

    # --- changes ------------------------------------------------------------------------------

    async def _send_new(self) -> bool:
        """Send new changes and deltas; returns whether there were any."""
        sent_count = 0
        store = self.streams.gateway.store
        if await store.position(self.room.conversation) != self.at:
            events = await store.events_after(
                self.room.conversation, self.at, limit=_AT_ONCE, viewer=self.caller.actor
            )
            for event in events:
                await self._send_change(event)
                self.at = event.position
            sent_count = len(events)
        if self.deltas:
            growing = self.streams.gateway.growing(self.room.id)
            self._completed &= {message.message_id for message in growing}
            for message in growing:
                if message.message_id not in self._completed:
                    visible_message = outside_view(message, self.room.tools)
                    sent_count += await self._send_growth(visible_message, complete=False)
        return sent_count > 0

    async def _send_change(self, event: RoomEvent) -> None:
        message, state = event.stored.message, event.stored.state
        if state != "streaming" and message.message_id in self._sent_answers:
            if state != "deleted":
                await self._send_growth(outside_view(message, self.room.tools), complete=True)
            del self._sent_answers[message.message_id]
            self._completed.add(message.message_id)
        position = position_text(event.position)
        about: dict[str, Any] = {"room": self.room.id, "position": position}
        if state == "deleted":
            if event.what != "said":
                deletion = {**about, "message_id": message.message_id}
                await self._send_event("message_deleted", deletion, position)
        elif event.what in ("reacted", "rated"):
            name = "reactions" if event.what == "reacted" else "feedback"
            entries = getattr(read_bridge_metadata(message)[0], name)
            entry_dicts = [entry.model_dump(mode="json", exclude_unset=True) for entry in entries]
            about |= {"message_id": message.message_id, name: entry_dicts}
            await self._send_event(f"{name}_changed", about, position)
        else:
            kind = "message_posted" if event.what == "said" else "message_changed"
            gateway = self.streams.gateway
            view = await message_view(gateway, self.caller, self.room, event.stored)
            whole = {**view, "position": position}
            await self._send_event(kind, whole, position)

    async def _send_growth(self, message: Message, *, complete: bool) -> int:
        """Send the deltas from the reader's version to this one; returns their number."""
        growing = self._sent_answers.get(message.message_id)
        if growing is None:
            deltas = list(message_to_deltas(message, chunk=1_000_000))
        else:
            deltas = list(deltas_between(growing.message, message, seq=growing.seq))
        if not complete:
            deltas = [delta for delta in deltas if not isinstance(delta, MessageFinished)]
        for delta in deltas:
            await self._send_delta(MessageId(message.message_id), delta)
        seq = growing.seq if growing else 0
        self._sent_answers[message.message_id] = _SentAnswer(message, seq + len(deltas))
        return len(deltas)

    async def _send_delta(self, message: MessageId, delta: Delta) -> None:
        body = {"room": self.room.id, "message_id": message, "delta": orjson.Fragment(write(delta))}
        await self._send_event("delta", body, None)

    # --- sending ------------------------------------------------------------------------------

    async def _send_event(self, kind: str, body: dict[str, Any], position: str | None = "") -> None:
        """Send one event. Its id is `position`; empty: the current position; None: no id."""
        where = position_text(self.at) if position == "" else position
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with asyncio.timeout(STUCK):
            await self._write(_event(kind, body, where))
        self._quiet_since = 0.0
        if loop.time() - began > SLOW:
            if where is not None:
                self.at = position_of(where)
            raise _StreamEnd(
                "too_slow",
                f"it took more than {SLOW:g} s to send an event; connect again with "
                "Last-Event-ID, and read faster",
            )

    async def _write(self, content: bytes, *, more: bool = True) -> None:
        if self._send is not None and not self._disconnected:
            await self._send({"type": "http.response.body", "body": content, "more_body": more})


def _event(kind: str, body: dict[str, Any], position: str | None) -> bytes:
    number = b"" if position is None else b"id: %s\n" % position.encode()
    return b"%sevent: %s\ndata: %s\n\n" % (number, kind.encode(), orjson.dumps(body))
