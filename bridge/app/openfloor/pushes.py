"""Answers that agents give after an envelope was answered go to the peer's own address, if the
configuration allows its host. They are kept, and sent after a restart as well."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import orjson
import structlog

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.transport.http import Deadlines, Request, open_http
from bridge.errors import BridgeError
from bridge.model import AccountId
from bridge.ports.clock import Clock
from bridge.ports.store.key_values import KeyValueStore

log = structlog.get_logger()

_ACCOUNT = AccountId("(openfloor pushes)")
_DEADLINES = Deadlines(connect=5.0, idle=10.0)
_PAUSES = (1.0, 5.0, 30.0, 120.0)  # seconds before each further attempt
_LARGEST = 65_536  # bytes of an answer that is read


@dataclass(frozen=True)
class PushTarget:
    """The conversation of a peer that waits for answers, and where they go.

    - `program`: the name of its token; `room`, `talk`: the room, and the peer's conversation id.
    - `questions`: the ids of what it said and what is not answered yet, a line each.
    - `root`, `version`, `speaker`: of its envelope; the answer has the same.
    """

    program: str
    room: str
    talk: str
    questions: str
    url: str
    root: str
    version: str
    speaker: str

    @property
    def key(self) -> str:
        return f"{self.program}:{self.room}:{self.talk}"


@dataclass(frozen=True)
class Late:
    """An envelope with answers that came late, and what to do when the peer has it."""

    body: Json
    delivered: Callable[[], Awaitable[None]]


_FIELDS = [field.name for field in fields(PushTarget)]
_Awaited = Callable[[PushTarget], Awaitable[Late | None]]


class Pushes:
    """The conversations that wait for answers. `awaited` returns the envelope when all agents have
    answered; None where there is nothing to say. `private` tells whether an address may be on this
    machine or in a private network."""

    def __init__(
        self, store: KeyValueStore, clock: Clock, awaited: _Awaited, private: Callable[[], bool]
    ) -> None:
        self._store = store
        self._clock = clock
        self._awaited = awaited
        self._private = private
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Go on with what the last run left. Raises StoreError."""
        for target in await self._stored():
            self._watch(target)

    async def close(self) -> None:
        """Stop; what is not sent is sent after the next start."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def put(self, target: PushTarget) -> None:
        """Send the answers when they are there. Raises StoreError."""
        written = orjson.dumps(asdict(target)).decode()
        await self._store.put_value(_ACCOUNT, target.key, written)
        self._watch(target)

    async def drop(self, program: str, room: str, talk: str) -> None:
        """Send nothing: the peer asks again itself, and gets the answers then. Raises
        StoreError."""
        key = f"{program}:{room}:{talk}"
        if (task := self._tasks.pop(key, None)) is not None:
            task.cancel()
            await self._store.remove_value(_ACCOUNT, key)

    async def _stored(self) -> Sequence[PushTarget]:
        found: list[PushTarget] = []
        for key in await self._store.value_keys(_ACCOUNT, ""):
            value = obj(orjson.loads(await self._store.get_value(_ACCOUNT, key) or "{}"))
            members: dict[str, Any] = {name: text(value.get(name)) for name in _FIELDS}
            found.append(PushTarget(**members))
        return found

    def _watch(self, target: PushTarget) -> None:
        task = asyncio.create_task(self._push(target), name="openfloor push")
        self._tasks[target.key] = task
        task.add_done_callback(lambda done: self._forget(target.key, done))

    def _forget(self, key: str, done: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is done:
            del self._tasks[key]

    async def _push(self, target: PushTarget) -> None:
        try:
            late = await self._awaited(target)
            if late is not None:
                await self._send(target, late.body)
                await late.delivered()
        except BridgeError as error:
            # It is not lost: the peer has it with its next envelope.
            log.warning("openfloor_push_failed", peer=target.program, error=str(error))
        await self._store.remove_value(_ACCOUNT, target.key)

    async def _send(self, target: PushTarget, body: Json) -> None:
        for pause in (*_PAUSES, None):
            try:
                async with (
                    open_http(_DEADLINES, open_hosts_only=not self._private()) as http,
                    http.answer(Request(target.url, {}, body)) as response,
                ):
                    await response.whole(_LARGEST)
            except BridgeError as error:
                if pause is None:
                    raise
                log.info("openfloor_push_repeated", peer=target.program, error=str(error))
                await self._clock.sleep(pause)
            else:
                log.info("openfloor_push_sent", peer=target.program, room=target.room)
                return
