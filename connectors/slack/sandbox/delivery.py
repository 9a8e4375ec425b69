"""Events and interactions -> the apps: over Socket Mode or signed HTTP, with faults on request.

First attempts keep the order of a channel. An event without an acknowledgement is retried three
times, at once, after one minute and after five minutes, whether or not the app is connected; then
it is lost (docs.slack.dev "Events API", 2026-08). Socket Mode gets the same retries, as its own are
not documented.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
import uuid
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import aiohttp
import orjson
import structlog
from pydantic import BaseModel, ConfigDict

from bridge.errors import ConfigError
from bridge.sandbox.faults import Fault, Faults
from connectors.slack.sandbox.events import Event, event_callback
from connectors.slack.sandbox.sockets import Sockets
from connectors.slack.sandbox.state import App

Json = dict[str, Any]
log = structlog.get_logger(__name__)
_LONGEST_REORDER_S = 5.0
_MAX_REDIRECTS = 2


class Pace(BaseModel):
    """The deadlines of Slack, and the time from the answer to the share of a file; tests shorten
    them."""

    model_config = ConfigDict(extra="forbid")

    ack_seconds: float = 3.0
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    share_seconds: float = 0.2


@dataclass(slots=True, eq=False)
class Parcel:
    """One payload for one app; over HTTP only `payload` is sent."""

    app: App
    kind: str  # the envelope's type: "events_api"
    lane: str  # the channel
    payload: Json
    attempt: int = 0
    reason: str = ""
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an interaction: its `payload`, or in `failed` the reason why none came."""

    failed: str = ""
    payload: Json = field(default_factory=dict[str, Any])


INTERACTIVE, SLASH_COMMANDS = "interactive", "slash_commands"  # envelope types
TIMED_OUT = "The app did not respond in time"


class Delivery:
    """Delivers events to apps until `close`."""

    def __init__(self, sockets: Sockets, faults: Faults, pace: Pace) -> None:
        self.pace = pace
        self.lost = 0
        self._sockets = sockets
        self._faults = faults
        self._unacked: dict[str, Parcel] = {}
        self._awaited: dict[str, asyncio.Future[Any]] = {}
        self._held: dict[tuple[str, str], list[Parcel]] = {}
        self._lanes: dict[tuple[str, str], deque[Parcel]] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._http: aiohttp.ClientSession | None = None
        self._closed = False

    def tell(self, app: App, event: Event) -> None:
        """Send an event to an app, unless a fault intervenes."""
        if self._closed:
            return
        callback = event_callback(app, event, f"Ev{uuid.uuid4().hex[:10].upper()}")
        parcel = Parcel(app, "events_api", event.channel, callback)
        where = f"slack:event:{event.channel}"
        if self._faults.take(where, "disconnect"):
            self.disconnect(app)
        fault = self._faults.take(where, "drop", "delay", "duplicate", "reorder")
        if fault is None:
            self._deliver(parcel)
        else:
            self._deliver_with_fault(parcel, fault)

    async def ask(
        self, app: App, payload: Json, channel: str, *, answerable: bool, kind: str = INTERACTIVE
    ) -> Answer:
        """Send an interaction or a command once, and wait for its answer.

        Faults: `slack:interaction:<channel>`, `drop`, `delay`, `duplicate` and `disconnect`.
        """
        where = f"slack:interaction:{channel or '-'}"
        if self._faults.take(where, "disconnect"):
            self.disconnect(app)
        fault = self._faults.take(where, "drop", "delay", "duplicate")
        if fault is not None and fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.kind == "drop":
            await asyncio.sleep(self.pace.ack_seconds)
            return Answer(TIMED_OUT)
        task = self._ask(app, payload, kind, answerable=answerable)
        if fault is not None and fault.kind == "duplicate":
            again = self._ask(app, payload, kind, answerable=answerable)
            first, _ = await asyncio.gather(task, again)
            return first
        return await task

    def acknowledge(self, _app: App, envelope_id: str, payload: Any = None) -> None:
        if (waiting := self._awaited.pop(envelope_id, None)) is not None:
            if not waiting.done():
                waiting.set_result(payload)
            return
        parcel = self._unacked.pop(envelope_id, None)
        if parcel and parcel.timer:
            parcel.timer.cancel()

    def disconnect(self, app: App | None = None, reason: str = "") -> None:
        """Close sockets: with Slack's `reason`, or for "crash" without a close frame.

        "warning" is what Slack sends about ten seconds before: the socket stays open.
        """
        for socket in self._sockets.of(app):
            if reason == "crash":
                socket.drop()
            else:
                socket.leave(reason or "refresh_requested", close=reason != "warning")

    async def verify_url(self, app: App, url: str) -> None:
        """The handshake of a new request URL (`url_verification`). Raises ConfigError when it
        fails."""
        challenge = secrets.token_urlsafe(32)
        body = orjson.dumps(
            {"token": app.verification_token, "challenge": challenge, "type": "url_verification"}
        )
        try:
            async with self._post(app, url, body, {}) as answer:
                text, status = await answer.text(), answer.status
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ConfigError(
                f"Request URL {url!r} did not answer the challenge: {error!r}"
            ) from error
        if status != 200 or challenge not in text:
            raise ConfigError(
                f"Request URL {url!r} answered {status} without the challenge; "
                "answer url_verification with its `challenge`"
            )

    async def close(self) -> None:
        self._closed = True
        for socket in self._sockets.of():
            socket.drop()
        for timer in self._timers | {p.timer for p in self._unacked.values() if p.timer}:
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._http is not None:
            await self._http.close()

    async def _ask(self, app: App, payload: Json, kind: str, *, answerable: bool) -> Answer:
        if app.request_url is not None:
            return await self._ask_over_http(app, app.request_url, payload, kind)
        socket = self._sockets.choose(app)
        if socket is None:
            return Answer("The app is not connected")
        envelope_id = str(uuid.uuid4())
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._awaited[envelope_id] = waiting
        socket.send(
            {
                "envelope_id": envelope_id, "payload": payload, "type": kind,
                "accepts_response_payload": answerable,
            }
        )  # fmt: skip
        try:
            async with asyncio.timeout(self.pace.ack_seconds):
                answer = await waiting
        except TimeoutError:
            return Answer(TIMED_OUT)
        finally:
            self._awaited.pop(envelope_id, None)
        return Answer(payload=answer if isinstance(answer, dict) else {})

    async def _ask_over_http(self, app: App, url: str, payload: Json, kind: str) -> Answer:
        """Send one signed form, as interactions and commands use over HTTP."""
        whole = {"payload": orjson.dumps(payload).decode()} if kind == INTERACTIVE else payload
        body = urlencode(whole).encode()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            async with self._post(app, url, body, {}, form) as answer:
                text, status = await answer.read(), answer.status
        except TimeoutError:
            return Answer(TIMED_OUT)
        except (aiohttp.ClientError, ValueError) as error:
            return Answer(f"The app could not be reached: {type(error).__name__}")
        if status >= 300:
            return Answer(f"The app responded with status code {status}")
        reply = text.decode("utf-8", "replace").strip()
        if kind == SLASH_COMMANDS and reply and not reply.startswith("{"):
            return Answer(payload={"text": reply})
        return Answer(payload=_json_object(text))

    def _deliver_with_fault(self, parcel: Parcel, fault: Fault) -> None:
        match fault.kind:
            case "delay":
                self._later(fault.seconds, lambda: self._deliver(parcel))
            case "duplicate":
                self._deliver(parcel)
                self._deliver(Parcel(parcel.app, parcel.kind, parcel.lane, parcel.payload))
            case "reorder":
                held_parcels = self._held.setdefault((parcel.app.id, parcel.lane), [])
                held_parcels.append(parcel)
                self._later(fault.seconds or _LONGEST_REORDER_S, lambda: self._release(parcel))
            case _:
                pass  # dropped

    def _deliver(self, parcel: Parcel) -> None:
        self._attempt(parcel)
        for late in self._held.pop((parcel.app.id, parcel.lane), ()):
            self._attempt(late)

    def _release(self, parcel: Parcel) -> None:
        """Send a reordered event that no other event followed."""
        key = (parcel.app.id, parcel.lane)
        if parcel in (held_parcels := self._held.get(key, [])):
            held_parcels.remove(parcel)
            self._attempt(parcel)

    def _attempt(self, parcel: Parcel) -> None:
        if parcel.app.request_url is None:
            self._send_frame(parcel)
            return
        key = (parcel.app.id, parcel.lane)
        lane = self._lanes.get(key)
        if lane is None:
            self._lanes[key] = deque((parcel,))
            self._spawn(self._drain(key))
        else:
            lane.append(parcel)

    def _send_frame(self, parcel: Parcel) -> None:
        socket = self._sockets.choose(parcel.app)
        if socket is None:
            self._failed(parcel, "no_connection")
            return
        envelope_id = str(uuid.uuid4())
        frame: Json = {
            "envelope_id": envelope_id, "payload": parcel.payload, "type": parcel.kind,
            "accepts_response_payload": False, "retry_attempt": parcel.attempt,
            "retry_reason": parcel.reason,
        }  # fmt: skip
        self._unacked[envelope_id] = parcel
        loop = asyncio.get_running_loop()
        parcel.timer = loop.call_later(self.pace.ack_seconds, self._unanswered, envelope_id)
        socket.send(frame)

    def _unanswered(self, envelope_id: str) -> None:
        if parcel := self._unacked.pop(envelope_id, None):
            self._failed(parcel, "timeout")

    async def _drain(self, key: tuple[str, str]) -> None:
        lane = self._lanes[key]
        try:
            while lane:
                parcel = lane.popleft()
                if reason := await self._request(parcel):
                    self._failed(parcel, reason)
        finally:
            del self._lanes[key]

    async def _request(self, parcel: Parcel) -> str:
        """Send one signed POST, and return why it failed, or "" (`x-slack-no-retry` counts as
        success)."""
        url = parcel.app.request_url
        if url is None:
            return "connection_failed"
        retry = {"X-Slack-Retry-Num": str(parcel.attempt), "X-Slack-Retry-Reason": parcel.reason}
        body = orjson.dumps(parcel.payload)
        try:
            async with self._post(parcel.app, url, body, retry if parcel.attempt else {}) as answer:
                await answer.read()
                given_up = answer.headers.get("X-Slack-No-Retry") == "1"
                return "" if answer.status < 300 or given_up else "http_error"
        except TimeoutError:
            return "http_timeout"
        except aiohttp.TooManyRedirects:
            return "too_many_redirects"
        except aiohttp.ClientSSLError:
            return "ssl_error"
        except aiohttp.ClientConnectionError:
            return "connection_failed"
        except (aiohttp.ClientError, ValueError):
            return "unknown_error"

    def _post(
        self,
        app: App,
        url: str,
        body: bytes,
        headers: dict[str, str],
        kind: dict[str, str] | None = None,
    ) -> aiohttp.client._RequestContextManager:  # pyright: ignore[reportPrivateUsage]  # aiohttp names it nowhere else
        if self._closed:
            raise aiohttp.ClientConnectionError("the local Slack was closed")
        if self._http is None:
            self._http = aiohttp.ClientSession()
        return self._http.post(
            url, data=body,
            headers=headers | signed_headers(app.signing_secret, body) | (kind or {}),
            timeout=aiohttp.ClientTimeout(total=self.pace.ack_seconds),
            max_redirects=_MAX_REDIRECTS,
        )  # fmt: skip

    def _failed(self, parcel: Parcel, reason: str) -> None:
        if parcel.attempt >= len(self.pace.retry_delays):
            self.lost += 1
            log.info("slack_event_lost", app=parcel.app.id, channel=parcel.lane, reason=reason)
            return
        wait = self.pace.retry_delays[parcel.attempt]
        parcel.attempt += 1
        parcel.reason = reason
        self._later(wait, lambda: self._attempt(parcel))

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        if self._closed:
            return

        def run() -> None:
            self._timers.discard(timer)
            act()

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _json_object(text: bytes) -> Json:
    try:
        value = orjson.loads(text) if text.strip() else {}
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def signed_headers(signing_secret: str, body: bytes, now: float | None = None) -> dict[str, str]:
    """The headers of Slack's request signature, version 0."""
    stamp = str(int(time.time() if now is None else now))
    base = b"v0:" + stamp.encode() + b":" + body
    digest = hmac.new(signing_secret.encode(), base, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest}",
    }
