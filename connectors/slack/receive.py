"""Slack's events -> rows of the inbox, stored before they are acknowledged.

Socket Mode: slack_sdk's aiohttp client, without Bolt. HTTP: Bolt behind a signed route below
/<account>/.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TypeVar, cast

import aiohttp
import structlog
from slack_bolt.adapter.starlette.async_handler import to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bridge.errors import AuthFailed, PlatformError, RateLimited, Unauthorized, Unavailable
from bridge.model import AccountId, Raw
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from bridge.runtime.keyed_locks import KeyedLocks
from connectors.slack import ids
from connectors.slack.decode import CREDENTIALS, POST_SUBTYPES
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, dumped, object_at, objects_at, text_at, whole_at
from connectors.slack.payload import channel_of, echo_in, team_of
from connectors.slack.send import proxy_for

Result = TypeVar("Result")
log = structlog.get_logger(__name__)
PING_SECONDS = 5.0  # between two pings; after four without a pong the socket counts as dead
_CLOSE_SECONDS = 2.0
_JOINS = frozenset({"member_joined_channel", "channel_join", "group_join"})
_REVOKED = frozenset({"app_uninstalled", "tokens_revoked"})
_LOOK_SECONDS = 0.5
# Slack still counts a connection for some time after it broke without a close frame.
_OTHERS_AFTER = 60.0
_OTHERS_AGAIN = 300.0
CONNECT_SECONDS = 15.0
SIGNATURE_SECONDS = 300  # docs.slack.dev "Verifying requests", 2026-08
_LONGEST_NUMBER = 18
Write = Callable[[Json], Awaitable[None]]  # stores a payload, or raises
LARGEST_BODY = 4 * 1024 * 1024
_RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
_INTERACTIVE = frozenset(
    {
        "block_actions",
        "block_suggestion",
        "dialog_submission",
        "dialog_cancellation",
        "dialog_suggestion",
        "interactive_message",
        "message_action",
        "shortcut",
        "view_submission",
        "view_closed",
        "workflow_step_edit",
    }
)


# --- payload -> row -------------------------------------------------------------------------


def raw_of(account: AccountId, body: Json, identity: Identity | None, now: float) -> Raw:
    """The inbox row of a payload from Slack.

    `now` (seconds since 1970) is the order key of a payload without a time. Credentials move from
    the body to their own field.
    """
    kind = _kind_of(body)
    event = object_at(body, "event")
    dedupe_key = _dedupe_key(kind, body, event)
    credentials = _take_credentials(body, CREDENTIALS[kind])
    team, channel = team_of(body, identity), channel_of(body)
    order_key = _order_key(kind, body, event)
    # Only Slack's own time may move a channel's cursor: our clock may be ahead.
    is_ordered = bool(channel) and order_key is not None
    return Raw(
        account=account,
        kind=kind,
        dedupe_key=dedupe_key,
        order_key=order_key or ids.order_key_at(now),
        channel=ids.channel_ref(team, channel) if is_ordered else None,
        echo=echo_in(event, identity) if kind == "message" else None,
        payload=dumped(body),
        credentials=credentials,
    )


def _kind_of(body: Json) -> str:
    event = object_at(body, "event")
    kind = text_at(event, "type")
    if kind in ("message", "app_mention") and text_at(event, "subtype") in POST_SUBTYPES:
        whole = ids.is_ts(text_at(event, "ts")) and bool(text_at(event, "channel"))
        return "message" if whole else "event_callback"
    if event or text_at(body, "type") == "event_callback":
        return "event_callback"
    if text_at(body, "type") in _INTERACTIVE:
        return "interactive"
    return "slash_commands" if text_at(body, "command") else "other"


def _dedupe_key(kind: str, body: Json, event: Json) -> str:
    if kind == "message":
        return ids.post_key(text_at(event, "channel"), text_at(event, "ts"))
    if event_id := text_at(body, "event_id"):
        return ids.event_key(event_id)
    return ids.payload_key(hashlib.sha256(dumped(body)).hexdigest())


def _order_key(kind: str, body: Json, event: Json) -> str | None:
    """The order key from Slack's own time; None when the payload has none."""
    actions = objects_at(body, "actions")
    times = [
        *([text_at(event, "ts")] if kind == "message" else []),
        text_at(event, "event_ts"),
        text_at(event, "ts"),
        *(text_at(action, "action_ts") for action in actions),
    ]
    if ts := next((ts for ts in times if ids.is_ts(ts)), None):
        return ids.order_key(ts)
    seconds = whole_at(body, "event_time")
    return ids.order_key_at(seconds) if seconds is not None and 0 < seconds < 10**11 else None


def _take_credentials(body: Json, pointers: Sequence[str]) -> dict[str, str]:
    """Remove the values at the pointers from the body, and return them by pointer."""
    credentials: dict[str, str] = {}
    for pointer in pointers:
        _take_path(body, pointer.removeprefix("/").split("/"), "", credentials)
    return credentials


def _take_path(value: object, path: Sequence[str], done: str, credentials: dict[str, str]) -> None:
    if path[0] == "*" and isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            _take_path(item, path[1:], f"{done}/{index}", credentials)
    elif isinstance(value, dict) and path[0] in value:
        inside = cast("Json", value)
        if len(path) > 1:
            _take_path(inside[path[0]], path[1:], f"{done}/{path[0]}", credentials)
        elif isinstance(inside[path[0]], str):
            credentials[f"{done}/{path[0]}"] = inside.pop(path[0])


# --- into the inbox, in order ---------------------------------------------------------------


class InboxWriter(AsyncMiddleware):
    """Stores payloads in the inbox: the socket calls `write`, and HTTP requests pass it as the
    first middleware in Bolt, which then answers 200.

    It answers every request itself, so Bolt's events filter, listeners and 404 are never reached.
    When the inbox raises, the answer is 503 (HTTP) or nothing (socket), and Slack sends the payload
    again.
    """

    def __init__(
        self,
        account: AccountId,
        inbox: Inbox,
        identity: Callable[[], Awaitable[Identity]],
        clock: Clock,
        observe: Callable[[Json], None],
    ) -> None:
        self.account = account
        self._inbox = inbox
        self._identity = identity
        self._clock = clock
        self._observe = observe
        # slack_sdk starts one task for each frame, in order.
        self._channels = KeyedLocks[str]()

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's own name
    ) -> BoltResponse | None:
        if req.body.get("type") == "url_verification":
            return await next()
        await self.write(req.body)
        return BoltResponse(status=200, body="")

    async def write(self, body: Json) -> None:
        """Store one payload; the payloads of one channel are stored one after the other.

        Raises whatever the inbox raises, and PlatformError while our identity is unknown.
        """
        async with self._channels.hold(channel_of(body)):
            identity = await self._identity()
            raw = raw_of(self.account, body, identity, self._clock.time())
            if raw.channel is not None and _is_own_join(body, identity.user):
                self._inbox.session_began(self.account, raw.channel)
            await self._inbox.accept(raw)
        self._observe(body)


def is_token_revocation(body: Json) -> bool:
    """Whether the event reports a revoked token, which may be ours or a person's."""
    return text_at(object_at(body, "event"), "type") in _REVOKED


def _is_own_join(body: Json, user: str) -> bool:
    """Whether the event reports that this user joined a channel: earlier messages never arrived."""
    event = object_at(body, "event")
    kinds = (text_at(event, "type"), text_at(event, "subtype"))
    return text_at(event, "user") == user and any(kind in _JOINS for kind in kinds)


def bolt_app(inbox_writer: InboxWriter, api_url: str) -> AsyncApp:
    """A Bolt app with the inbox writer before everything else."""
    app = AsyncApp(
        name="uacs-bridge",
        signing_secret="unused",  # noqa: S106 - requests are checked before Bolt parses them
        client=AsyncWebClient(base_url=api_url),
        authorize=_authorize,
        before_authorize=inbox_writer,
        request_verification_enabled=False,
        ignoring_self_events_enabled=False,
    )

    async def refuse_event(error: Exception) -> BoltResponse:
        _log_failed_write(inbox_writer.account, error)
        return BoltResponse(status=503, body="")

    app.error(refuse_event)
    return app


def _log_failed_write(account: AccountId, error: Exception) -> None:
    log.error(
        "slack_event_write_failed", account=account, error=type(error).__name__, reason=str(error)
    )


async def _authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
    """An empty authorization: no handler behind it needs a token."""
    return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id)


# --- Socket Mode ----------------------------------------------------------------------------


class Socket(SocketModeClient):
    """slack_sdk's client for one connection.

    It does not reconnect: slack_sdk would retry a dead address for ever (3.47). Every loss of the
    connection sets `lost`. Frames bypass slack_sdk's queue and listeners and Bolt's dispatch: the
    bridge uses none of their features, and they cost CPU and wake-ups for each event.
    """

    def __init__(self, account: AccountId, address: str, write: Write, api_url: str) -> None:
        super().__init__(
            app_token="unused",  # noqa: S106 - the address was asked for already
            web_client=AsyncWebClient(base_url=api_url),
            ping_interval=PING_SECONDS,
        )
        self.proxy = proxy_for(address)
        self.wss_uri = address
        self.greeted = False
        self.connections = 0  # of the app, including this one, from Slack's hello frame
        self.decided = asyncio.Event()  # greeted or lost
        self.lost = asyncio.Event()
        self._account = account
        self._write = write
        self._frames: set[asyncio.Task[None]] = set()

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        """Report the loss instead of reconnecting."""
        del force
        self.lost.set()
        self.decided.set()

    async def until_lost(self) -> None:
        """Wait until the connection is lost: slack_sdk notices a broken connection only at its next
        ping."""
        while not self.lost.is_set() and self.current_session and not self.current_session.closed:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.lost.wait(), _LOOK_SECONDS)

    async def enqueue_message(self, message: str) -> None:
        """Handle a frame in a task of its own; tasks start in the order of the frames."""
        if not message.startswith("{"):  # Slack sends empty messages, too
            return
        try:
            frame = json.loads(message)
        except (ValueError, RecursionError):
            frame = {}
        match text_at(frame, "type"):
            case "hello":
                self.greeted = True
                self.connections = whole_at(frame, "num_connections") or 0
                self.decided.set()
            case "disconnect":
                await self.connect_to_new_endpoint(force=True)
            case _ if text_at(frame, "envelope_id") and isinstance(frame.get("payload"), dict):
                task = asyncio.create_task(self._store(frame["envelope_id"], frame["payload"]))
                self._frames.add(task)
                task.add_done_callback(self._frames.discard)
            case _:
                log.warning("slack_frame_unreadable", account=self._account, size=len(message))

    async def close(self) -> None:
        """Close the connection and end every task, including those that handle frames."""
        try:
            # aiohttp waits 10 s for a close frame from the other side, which may be unreachable.
            with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await super().close()
            own_tasks = (
                self.message_processor,
                self.current_session_monitor,
                self.message_receiver,
            )
            tasks = [task for task in (*own_tasks, *self._frames) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:  # also after a second cancellation
            await self.aiohttp_client_session.close()

    async def _store(self, envelope_id: str, payload: Json) -> None:
        """Store the payload and then acknowledge its envelope; without that Slack sends it again.

        Source: docs.slack.dev "Using Socket Mode", "Acknowledge events" (2026-08).
        """
        try:
            await self._write(payload)
        except Exception as error:  # noqa: BLE001 - whatever the inbox raises, Slack sends it again
            _log_failed_write(self._account, error)
            return
        session = self.current_session
        if session is not None:
            with contextlib.suppress(ConnectionError):
                await session.send_str(json.dumps({"envelope_id": envelope_id}))


async def listen_on_socket(
    account: AccountId,
    write: Write,
    open_address: Callable[[], Awaitable[str]],
    api_url: str,
    clock: Clock,
    connected: Callable[[int | None], None],
    shared: Callable[[bool], None],
) -> None:
    """Keep one connection open after another until cancelled.

    `connected` is called with the number of the app's connections when one of them is open here,
    and with None when it is not any more; `shared` reports whether another program is connected
    with the same app token. Raises AuthFailed; retries every other failure.
    """

    async def count_others() -> int:
        return await _count_others(account, await open_address(), write, api_url)

    async def watch_others(connections: int) -> None:
        await watch_for_others(connections, count_others, clock, shared)

    failures = 0
    while True:
        address = await retry_until_done(account, open_address, clock)
        if await _hold_connection(account, address, write, api_url, connected, watch_others):
            failures = 0
        else:
            await _wait_after(account, "the socket did not open", failures, clock)
            failures += 1


async def watch_for_others(
    connections: int,
    count: Callable[[], Awaitable[int]],
    clock: Clock,
    shared: Callable[[bool], None],
) -> None:
    """Report whether other programs hold connections of our app, until there are none.

    `connections`: how many the app had when Slack greeted ours. A second one may be a connection
    that we just lost, so it is reported only if `count`, a minute later, still finds others.
    """
    if connections <= 1:
        shared(False)
        return
    pause = _OTHERS_AFTER
    while True:
        await clock.sleep(pause)
        pause = _OTHERS_AGAIN
        try:
            others = await count()
        except PlatformError as error:
            log.info("slack_connection_count_failed", reason=str(error))
            continue
        shared(others > 0)
        if not others:
            return


async def _count_others(account: AccountId, address: str, write: Write, api_url: str) -> int:
    """The number of the app's connections besides ours.

    Only a hello frame has the number, so this opens one more connection for a moment; events that
    arrive on it are stored as usual.
    """
    socket = Socket(account, address, write, api_url)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await socket.connect()
            await socket.decided.wait()
        if not socket.greeted:
            raise Unavailable("Slack did not greet a second connection")
        return max(0, socket.connections - 2)
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise Unavailable(f"a second connection did not open: {type(error).__name__}") from error
    finally:
        await socket.close()


async def retry_until_done(
    account: AccountId, work: Callable[[], Awaitable[Result]], clock: Clock
) -> Result:
    """Repeat `work` until it succeeds, with growing pauses, and return its result.

    Raises AuthFailed: only a person can solve that.
    """
    failures = 0
    while True:
        try:
            return await work()
        except AuthFailed:
            raise
        except PlatformError as error:
            retry_after = error.retry_after if isinstance(error, RateLimited) else 0.0
            await _wait_after(account, str(error), failures, clock, at_least=retry_after)
            failures += 1


async def _wait_after(
    account: AccountId, reason: str, failures: int, clock: Clock, at_least: float = 0.0
) -> None:
    wait = max(at_least, _RETRY_SECONDS[min(failures, len(_RETRY_SECONDS) - 1)])
    log.warning("slack_connection_failed", account=account, reason=reason, retry_in_s=wait)
    await clock.sleep(wait)


async def _hold_connection(
    account: AccountId,
    address: str,
    write: Write,
    api_url: str,
    connected: Callable[[int | None], None],
    watch_others: Callable[[int], Coroutine[None, None, None]],
) -> bool:
    """Run one connection from hello to its end; False when Slack sent no hello."""
    socket = Socket(account, address, write, api_url)
    watching: asyncio.Task[None] | None = None
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await socket.connect()
            await socket.decided.wait()
        if socket.greeted:
            connected(socket.connections)
            watching = asyncio.create_task(
                watch_others(socket.connections), name="other connections"
            )
            await socket.until_lost()
            log.info("slack_socket_lost", account=account)
    except TimeoutError:
        log.warning("slack_socket_silent", account=account, after_s=CONNECT_SECONDS)
    finally:
        connected(None)
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        await socket.close()
    return socket.greeted


# --- HTTP -----------------------------------------------------------------------------------


def events_route(
    account: AccountId,
    app: AsyncApp,
    signing_secret: Callable[[], Awaitable[str]],
    clock: Clock,
) -> Route:
    """The route `POST /events`: a request that Slack did not sign within the last 300 s is answered
    401 and not stored.

    Source: docs.slack.dev "Verifying requests" (2026-08).
    """

    async def events(request: Request) -> Response:
        try:
            body = await signed_body(request, await signing_secret(), clock)
            bolt_request = AsyncBoltRequest(
                body=body.decode(), query=str(request.query_params), headers=dict(request.headers)
            )
        except Unauthorized as error:
            log.warning("slack_request_refused", account=account, reason=str(error))
            return JSONResponse({"error": str(error)}, status_code=401)
        except (ValueError, AttributeError, TypeError, RecursionError):
            return JSONResponse({"error": "the body is neither JSON nor a form"}, status_code=400)
        return to_starlette_response(await app.async_dispatch(bolt_request))

    return Route("/events", events, methods=["POST"])


async def signed_body(request: Request, secret: str, clock: Clock) -> bytes:
    """The body after its signature was verified on the raw bytes. Raises Unauthorized."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise Unauthorized(f"the body is longer than {LARGEST_BODY} bytes")
    timestamp = request.headers.get("x-slack-request-timestamp", "")
    signature = request.headers.get("x-slack-signature", "")
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > _LONGEST_NUMBER:
        raise Unauthorized("x-slack-request-timestamp is missing or not a number")
    if abs(clock.time() - int(timestamp)) > SIGNATURE_SECONDS:
        raise Unauthorized(
            "x-slack-request-timestamp is more than 300 s off; check this machine's clock"
        )
    whole = bytes(body)
    expected = SignatureVerifier(secret).generate_signature(timestamp=timestamp, body=whole)
    if expected is None or not hmac.compare_digest(expected.encode(), signature.encode()):
        raise Unauthorized("x-slack-signature is wrong; check signing_secret")
    return whole
