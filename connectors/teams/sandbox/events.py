"""Delivers signed activities to the endpoints of bots, in order within a conversation."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from bridge.sandbox.platform import SandboxContext
from connectors.teams.sandbox.state import Bot, Json
from connectors.teams.sandbox.tokens import PushTokens

_TRY_AGAIN = frozenset({502, 503, 504})
_LATEST_REORDER = 5.0
_LARGEST_ANSWER = 1 << 20


@dataclass(frozen=True)
class Delivering:
    """Deadlines in seconds and retries of deliveries.

    Reports agree that Teams repeats an event after 15 s without a response (msteams-docs #6084,
    #4592), and on nothing beyond. Invokes are sent once: a person waits for the answer.
    """

    answer_within: float = 15.0
    retries: int = 1
    retry_after: float = 1.0
    answer_invokes_within: float = 10.0


@dataclass(frozen=True)
class Lost:
    """An event that its bot did not accept, and the reason."""

    app_id: str
    activity_id: str
    conversation: str
    reason: str


@dataclass(frozen=True)
class InvokeAnswer:
    """A bot's answer to an invoke; status 0: no answer in time, for `reason`."""

    status: int
    body: Any = None
    reason: str = ""


@dataclass(frozen=True)
class _Event:
    bot: Bot
    conversation: str
    activity_id: str
    service_url: str
    body: bytes
    done: asyncio.Future[str] | None = (
        None  # "" if the bot accepted it, else the reason of the loss
    )


class _Lane:
    """The queue of one bot in one conversation."""

    def __init__(self) -> None:
        self.waiting: deque[_Event] = deque()
        self.held: _Event | None = None  # by a `reorder` fault, until the next event is delivered
        self.holding: asyncio.Task[None] | None = None  # releases it if no next event comes
        self.task: asyncio.Task[None] | None = None


class Outbox:
    """Delivers activities. `handed_over` has accepted activity ids by app, `lost` the lost events,
    `taken` the accepted bodies in order."""

    def __init__(self, context: SandboxContext, tokens: PushTokens, tenant_id: str) -> None:
        self.delivering = Delivering()
        self.handed_over: defaultdict[str, list[str]] = defaultdict(list)
        self.taken: list[bytes] = []
        self.lost: list[Lost] = []
        self._context = context
        self._tokens = tokens
        self._tenant_id = tenant_id
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._late: set[asyncio.Task[None]] = set()
        self._awaited: set[asyncio.Future[str]] = set()
        self._client: aiohttp.ClientSession | None = None
        self._closed = False

    def push(self, bot: Bot, conversation: str, activity: Json) -> None:
        """Deliver an activity after the earlier ones of its conversation."""
        if not bot.endpoint:
            return
        url = activity["serviceUrl"]
        event = _Event(bot, conversation, activity["id"], url, orjson.dumps(activity))
        self._push_faulty(event)

    async def tell(self, bot: Bot, conversation: str, activity: Json) -> str:
        """Deliver an activity and wait; return "" if the bot accepted it, else the reason."""
        if not bot.endpoint:
            return "the bot has no endpoint"
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._awaited.add(done)
        done.add_done_callback(self._awaited.discard)
        url = activity["serviceUrl"]
        body = orjson.dumps(activity)
        self._push_faulty(_Event(bot, conversation, activity["id"], url, body, done))
        return await done

    async def ask(self, bot: Bot, conversation: str, activity: Json) -> InvokeAnswer:
        """Post an invoke and return its answer."""
        if not bot.endpoint:
            return InvokeAnswer(0, reason="the bot has no endpoint")
        where = f"teams:invoke:{conversation}"
        fault = self._context.faults.take(where, "drop", "delay")
        if fault is not None and fault.kind == "drop":
            return InvokeAnswer(0, reason="dropped by a fault")
        url = activity["serviceUrl"]
        event = _Event(bot, conversation, activity["id"], url, orjson.dumps(activity))
        try:
            async with asyncio.timeout(self.delivering.answer_invokes_within):
                if fault is not None:
                    await asyncio.sleep(fault.seconds)
                return await self._post_invoke(bot.endpoint, event)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return InvokeAnswer(0, reason=f"no answer: {type(error).__name__}")

    async def _post_invoke(self, endpoint: str, event: _Event) -> InvokeAnswer:
        async with self._session().post(
            endpoint, data=event.body, headers=self._headers(event)
        ) as response:
            raw = await response.content.read(_LARGEST_ANSWER + 1)
            while not response.content.at_eof() and len(raw) <= _LARGEST_ANSWER:
                raw += await response.content.read(_LARGEST_ANSWER + 1)
        if len(raw) > _LARGEST_ANSWER:
            return InvokeAnswer(response.status, reason="the answer is too large")
        try:
            return InvokeAnswer(response.status, orjson.loads(raw) if raw.strip() else None)
        except orjson.JSONDecodeError:
            return InvokeAnswer(response.status, reason="the answer is not JSON")

    async def idle(self) -> None:
        """Wait until every event is delivered or lost."""
        while tasks := [*self._late, *(lane.task for lane in self._lanes.values() if lane.task)]:
            await asyncio.wait(tasks)

    async def break_connections(self) -> None:
        """Break the connections of running deliveries; each counts as a try without a response."""
        if client := self._client:
            self._client = None
            await client.close()

    async def close(self) -> None:
        self._closed = True
        tasks = [*self._late, *(lane.task for lane in self._lanes.values() if lane.task)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for done in list(self._awaited):
            if not done.done():
                done.set_result("the local Teams was closed")
        self._lanes.clear()
        await self.break_connections()

    def _push_faulty(self, event: _Event) -> None:
        where = f"teams:event:{event.conversation}"
        fault = self._context.faults.take(where, "drop", "delay", "duplicate", "reorder")
        if fault is None:
            self._enqueue(event)
        elif fault.kind == "drop":
            self._lose(event, "dropped by a fault")
        elif fault.kind == "delay":
            self._later(self._enqueue, event, fault.seconds)
        elif fault.kind == "duplicate":
            self._enqueue(event)
            self._enqueue(event)
        else:
            self._hold(event, fault.seconds or _LATEST_REORDER)

    def _hold(self, event: _Event, seconds: float) -> None:
        lane = self._lane(event)
        if lane.held is not None:
            self._enqueue(event)
            return
        lane.held = event
        lane.holding = self._later(self._release, event, seconds)

    def _release(self, event: _Event) -> None:
        lane = self._lane(event)
        if lane.held is event:
            lane.held = None
            self._enqueue(event)

    def _later(
        self, then: Callable[[_Event], None], event: _Event, seconds: float
    ) -> asyncio.Task[None]:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            then(event)

        task = asyncio.create_task(wait())
        self._late.add(task)
        task.add_done_callback(self._late.discard)
        return task

    def _lane(self, event: _Event) -> _Lane:
        return self._lanes.setdefault((event.bot.app_id, event.conversation), _Lane())

    def _enqueue(self, event: _Event) -> None:
        lane = self._lane(event)
        lane.waiting.append(event)
        if lane.held is not None:
            lane.waiting.append(lane.held)
            lane.held = None
            if lane.holding:
                lane.holding.cancel()
        if lane.task is None:
            lane.task = asyncio.create_task(self._work_off(lane))

    async def _work_off(self, lane: _Lane) -> None:
        try:
            while lane.waiting:
                await self._deliver(lane.waiting.popleft())
        finally:
            lane.task = None

    async def _deliver(self, event: _Event) -> None:
        for tries_left in range(self.delivering.retries, -1, -1):
            reason, again = await self._try(event)
            if not reason:
                self.handed_over[event.bot.app_id].append(event.activity_id)
                self.taken.append(event.body)
                _settle(event, "")
                return
            if not again or not tries_left:
                self._lose(event, reason)
                return
            await asyncio.sleep(self.delivering.retry_after)

    async def _try(self, event: _Event) -> tuple[str, bool]:
        """Post an event once; return the failure ("" for success) and whether a retry can help."""
        if not event.bot.endpoint:
            return "the bot has no endpoint any more", False
        deadline = aiohttp.ClientTimeout(total=self.delivering.answer_within)
        try:
            async with self._session().post(
                event.bot.endpoint, data=event.body, headers=self._headers(event), timeout=deadline
            ) as response:
                await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return f"no answer: {type(error).__name__}", True
        status = response.status
        return ("", False) if status < 300 else (f"status {status}", status in _TRY_AGAIN)

    def _headers(self, event: _Event) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": "Microsoft-SkypeBotApi (Microsoft-BotFramework/3.0)",
            "x-ms-conversation-id": event.conversation,
            "x-ms-tenant-id": self._tenant_id,
        }
        if event.bot.auth:
            token = self._tokens.token(event.bot.app_id, event.service_url)
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _session(self) -> aiohttp.ClientSession:
        if self._closed:
            raise aiohttp.ClientConnectionError("the local Teams was closed")
        if self._client is None or self._client.closed:
            self._client = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=200))
        return self._client

    def _lose(self, event: _Event, reason: str) -> None:
        lost = Lost(event.bot.app_id, event.activity_id, event.conversation, reason)
        self.lost.append(lost)
        _settle(event, reason)


def _settle(event: _Event, reason: str) -> None:
    if event.done is not None and not event.done.done():
        event.done.set_result(reason)
