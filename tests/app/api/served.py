"""Clients of the API: of a whole bridge beside the sandbox, or of a router with fake connectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import orjson
from starlette.applications import Starlette

from bridge.app.api.api_keys import TokenRequest, new_token
from bridge.app.api.gateway import RoomView
from bridge.app.api.routes import Api
from bridge.errors import CodecError
from bridge.model import ActorId, ChannelRef, Event, MessageId, RoomId
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.ports.store.whole import Store
from bridge.router import Router
from bridge.router.turns.visitors import Visitors
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import ContentPart, Message
from tests.router.conftest import RouterRig
from tests.waiting import LONGEST_WAIT

ROOM = "general"


async def token_for(store: Store, clock: Clock, name: str, **changes: Any) -> str:
    """A token in the store, as `uacs-bridge tokens add` makes it."""
    fields: dict[str, Any] = {
        "rooms": (ROOM,), "scopes": ("read", "post", "interact"), "per_minute": 100_000,
    }  # fmt: skip
    record, token = new_token(TokenRequest(name, **{**fields, **changes}), clock.time())
    await store.put_token(record)
    return token


def client(url: str, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=LONGEST_WAIT)


@dataclass
class ServerEvent:
    """One Server-Sent Event."""

    id: str
    event: str
    data: Any


async def read_server_events(lines: AsyncIterator[str]) -> AsyncIterator[ServerEvent]:
    """The events of a stream, read as browsers do: an id holds until the next one."""
    own_id, event, data = "", "message", list[str]()
    async for line in lines:
        if not line:
            if data:
                yield ServerEvent(own_id, event, orjson.loads("\n".join(data)))
            event, data = "message", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            own_id = value
        elif name == "event":
            event = value
        elif name == "data":
            data.append(value)


class Reader:
    """Reads /events of a room in the background."""

    def __init__(self) -> None:
        self.events: list[ServerEvent] = []

    def of(self, kind: str) -> list[Any]:
        return [event.data for event in self.events if event.event == kind]

    @property
    def last_id(self) -> str:
        return self.events[-1].id

    async def until(self, *kinds: str, seconds: float = LONGEST_WAIT) -> list[ServerEvent]:
        """Wait until an event of each of these kinds was received."""
        async with asyncio.timeout(seconds):
            while not {*kinds} <= {event.event for event in self.events}:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return self.events

    async def event_with(
        self, words: str, kind: str = "message_posted", seconds: float = LONGEST_WAIT
    ) -> Any:
        """Wait for the event of this kind whose message contains the words."""
        async with asyncio.timeout(seconds):
            while True:
                for data in self.of(kind):
                    if words in str(data["message"]["content"]):
                        return data
                await asyncio.sleep(0.01)


@asynccontextmanager
async def reading(
    http: httpx.AsyncClient, room: str = ROOM, **params: str
) -> AsyncGenerator[Reader]:
    """A reader that has received `hello`."""
    reader = Reader()

    async def read() -> None:
        async with http.stream("GET", f"/v1/rooms/{room}/events", params=params) as answer:
            if answer.status_code != 200:
                raise AssertionError(f"{answer.status_code}: {await answer.aread()!r}")
            async for server_event in read_server_events(answer.aiter_lines()):
                reader.events.append(server_event)

    task = asyncio.create_task(read())
    try:
        await asyncio.wait(
            {asyncio.create_task(reader.until("hello")), task},
            return_when=asyncio.FIRST_COMPLETED,
        )
        if task.done():
            task.result()
        yield reader
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


# --- with fake connectors -----------------------------------------------------------------------


class RigGateway:
    """A Gateway over the router of a rig."""

    def __init__(self, rig: RouterRig, router: Router) -> None:
        self._rig = rig
        self._router = router
        self._blobs = MemoryBlobs(rig.clock)
        self.accesses: list[tuple[str, str, dict[str, object]]] = []

    def note_access(self, who: str, what: str, **facts: object) -> None:
        self.accesses.append((who, what, facts))

    @property
    def store(self) -> Store:
        return self._rig.store

    @property
    def clock(self) -> Clock:
        return self._rig.clock

    @property
    def blobs(self) -> Blobs:
        return self._blobs

    def rooms(self) -> Sequence[RoomView]:
        return [
            RoomView(
                room.id,
                room.conversation,
                tuple(member.channel for member in room.members),
                tuple(membership.agent for membership in room.agents),
            )
            for room in self._rig.rooms
        ]

    def name_of(self, channel: ChannelRef) -> str:
        return f"Fake #{channel.channel}"

    async def process_event(self, event: Event, key: str) -> str | None:
        return await self._router.process_event(event, key)

    async def cancel(self, question: MessageId) -> None:
        await self._router.operations.cancel(question)

    async def decide_approval(
        self, own_id: str, actor: ActorId, channel: ChannelRef, *, allowed: bool
    ) -> bool:
        operations = self._router.operations
        return await operations.decide_approval(own_id, actor, channel, allowed=allowed)

    def growing(self, room: RoomId) -> Sequence[Message]:
        return self._router.operations.growing(room)

    def reading(self) -> AbstractContextManager[asyncio.Event]:
        return self._router.operations.reading()

    @property
    def visitors(self) -> Visitors:
        return self._router.operations.visitors

    def complete(self, message: Message) -> Message:
        return self._router.operations.complete(message)

    def card_faults(self, parts: Sequence[ContentPart]) -> list[CodecError]:
        return self._router.operations.card_faults(parts)


def in_process(gateway: RigGateway, token: str) -> httpx.AsyncClient:
    """Requests without a socket, which cannot read streams."""
    app = Starlette(routes=list(Api(gateway).routes()))
    headers = {"Authorization": f"Bearer {token}"}
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    return httpx.AsyncClient(transport=transport, base_url="http://bridge", headers=headers)
