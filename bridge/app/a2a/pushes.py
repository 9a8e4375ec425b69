"""Notices to addresses of programs that a task is over, or waits for somebody. They are kept, and
sent after a restart as well."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, fields

import orjson
import structlog

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.transport.http import Deadlines, Request, open_http
from bridge.errors import BridgeError
from bridge.model import AccountId
from bridge.ports.clock import Clock
from bridge.ports.store.key_values import KeyValueStore

log = structlog.get_logger()

_ACCOUNT = AccountId("(a2a pushes)")
_DEADLINES = Deadlines(connect=5.0, idle=10.0)
_PAUSES = (1.0, 5.0, 30.0, 120.0)  # seconds before each further attempt
_LARGEST = 65_536  # bytes of an answer that is read


@dataclass(frozen=True)
class PushTarget:
    """Where the notices of a task go.

    - `program`, `room`, `agent`, `task`: whose task it is.
    - `headers`: with the credentials that the program gave.
    """

    program: str
    room: str
    agent: str
    task: str
    id: str
    url: str
    token: str = ""
    scheme: str = ""
    credentials: str = ""

    @property
    def key(self) -> str:
        return f"{self.program}:{self.room}:{self.task}:{self.id}"

    @property
    def headers(self) -> Mapping[str, str]:
        token = {"x-a2a-notification-token": self.token} if self.token else {}
        known = self.scheme and self.credentials
        return token | ({"authorization": f"{self.scheme} {self.credentials}"} if known else {})


_FIELDS = [field.name for field in fields(PushTarget)]
_Follow = Callable[[PushTarget], AsyncGenerator[Json]]


class Pushes:
    """The addresses of all tasks that are not over. `follow` yields what the address of a task is
    told, until the task is over. `private` tells whether an address may be on this machine or in a
    private network."""

    def __init__(
        self, store: KeyValueStore, clock: Clock, follow: _Follow, private: Callable[[], bool]
    ) -> None:
        self._store = store
        self._clock = clock
        self._follow = follow
        self._private = private
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Go on with the notices that the last run left. Raises StoreError."""
        for target in await self._stored(""):
            self._watch(target)

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def put(self, target: PushTarget) -> None:
        """Keep an address, and tell it. Raises StoreError."""
        written = orjson.dumps(asdict(target)).decode()
        await self._store.put_value(_ACCOUNT, target.key, written, sealed=True)
        self._watch(target)

    async def of(self, program: str, room: str, task: str) -> Sequence[PushTarget]:
        """Return the addresses of a task that were not told yet. Raises StoreError."""
        return await self._stored(f"{program}:{room}:{task}:")

    async def remove(self, target: PushTarget) -> None:
        """Tell an address nothing further. Raises StoreError."""
        await self._store.remove_value(_ACCOUNT, target.key)
        if (watching := self._tasks.pop(target.key, None)) is not None:
            watching.cancel()

    async def _stored(self, prefix: str) -> Sequence[PushTarget]:
        found: list[PushTarget] = []
        for key in await self._store.value_keys(_ACCOUNT, prefix):
            stored = await self._store.get_value(_ACCOUNT, key)
            value = obj(orjson.loads(stored or "{}"))
            found.append(PushTarget(**{name: text(value.get(name)) for name in _FIELDS}))
        return found

    def _watch(self, target: PushTarget) -> None:
        if target.key in self._tasks:
            return
        task = asyncio.create_task(self._tell(target), name="a2a push")
        self._tasks[target.key] = task
        task.add_done_callback(lambda _: self._tasks.pop(target.key, None))

    async def _tell(self, target: PushTarget) -> None:
        try:
            async with aclosing(self._follow(target)) as events:
                async for event in events:
                    await self._send(target, event)
            await self._store.remove_value(_ACCOUNT, target.key)
        except BridgeError as error:
            log.warning("task_push_failed", task=target.task, error=str(error))

    async def _send(self, target: PushTarget, event: Json) -> None:
        for pause in (*_PAUSES, None):
            try:
                async with open_http(_DEADLINES, open_hosts_only=not self._private()) as http:
                    request = Request(target.url, {**target.headers}, event)
                    async with http.answer(request) as response:
                        await response.whole(_LARGEST)
            except BridgeError as error:
                if pause is None:
                    raise
                log.info("task_push_repeated", task=target.task, error=str(error))
                await self._clock.sleep(pause)
            else:
                log.info("task_push_sent", task=target.task)
                return
