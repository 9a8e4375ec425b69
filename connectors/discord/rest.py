"""One request to Discord's REST API -> its JSON, or a PlatformError with a remedy.

Only `translated` turns errors of discord.py and aiohttp into the bridge's.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import aiohttp
import aiohttp.http_exceptions
import orjson
from pydantic import JsonValue

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from bridge.ports.clock import Clock
from bridge.runtime.credential import Credential
from bridge.runtime.http_connections import notice_closed_connections, was_not_sent
from connectors.discord import sdk
from connectors.discord.capabilities import GLOBAL

_CONNECT_S = 5.0
_UPLOAD_READ_S = 60.0
# Servers close an idle connection after 5 s (uvicorn, Node.js) or later; a request sent while the
# server closes is lost, and nobody knows whether Discord received it.
_IDLE_S = 4.0
_LONGEST_BAN_S = 86_400.0  # upper bound of the wait that Discord asks for
_LONGEST_WAIT_S = 5.0  # for an empty bucket within one send; the lane waits longer
_MAX_WAITS = 4
_MAX_BUCKETS = 4096
_MAX_RECENT, _RECENT_S = 45, 1.1  # slightly slower than allowed, because clocks differ
# Discord requires this form (docs: reference#user-agent).
_USER_AGENT = "DiscordBot (https://uacs-bridge.example, 0.1)"

# JSON error codes (docs: topics/opcodes-and-status-codes) -> what to do about them.
UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK = "10003", "10008", "10015"
TOO_MANY_WEBHOOKS, BAD_WEBHOOK_TOKEN, INVALID_FORM = "30007", "50027", "50035"
MISSING_ACCESS, MISSING_PERMISSIONS, ARCHIVED_THREAD = "50001", "50013", "50083"
THREAD_EXISTS, NEEDS_THREAD_NAME = "160004", "220001"
_TODO = {
    UNKNOWN_CHANNEL: "check the channel's id, and that the bot is in that server and may view it",
    UNKNOWN_MESSAGE: "the message was deleted or is in another channel",
    "10004": "invite the bot to that server (uacs-bridge setup discord)",
    UNKNOWN_WEBHOOK: "the webhook was deleted; the next post makes a new one",
    "20028": "the channel's write limit is reached; post less",
    TOO_MANY_WEBHOOKS: "delete one of the channel's 15 webhooks (Edit Channel, Integrations)",
    "30046": "a message older than an hour was edited too often; wait",
    "40005": "send a smaller file",
    MISSING_ACCESS: "give the bot's role View Channel and Read Message History there",
    "50003": "direct messages have neither webhooks nor threads",
    "50005": "only the author may edit a message",
    "50006": "the message was empty; send some text",
    "50007": "the person does not take direct messages from this server",
    "50008": "choose a text channel, or a thread in it",
    MISSING_PERMISSIONS: "give the bot's role the missing permission in that channel",
    BAD_WEBHOOK_TOKEN: "the webhook was created again; the next post finds it",
    ARCHIVED_THREAD: "the thread is archived; post into it or unarchive it",
    "160005": "the thread is locked; unlock it or give the bot Manage Threads",
    "160006": "the server has too many active threads; archive some",
    "200000": "the server's AutoMod blocked the text; exempt the bot's role",
    "200001": "the server's AutoMod blocked the name; exempt the bot's role",
    NEEDS_THREAD_NAME: "the channel is a forum; a post there needs a title",
    "240000": "the server blocks links to this address",
}


@dataclass(frozen=True)
class ApiAnswer:
    """Status, headers and body of a response, not yet interpreted."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@contextmanager
def translated(doing: str = "Talking to Discord") -> Generator[None]:
    """Raise errors of discord.py and aiohttp inside the block as PlatformError.

    `doing` begins the error's text. Raises Unavailable if the request was never sent, Unsettled if
    its outcome is unknown, and Refused for a wrong address.
    """
    try:
        yield
    except PlatformError:
        raise
    except sdk.ERRORS as error:
        raise sdk.to_platform_error(error, doing) from error
    except (aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectorError) as error:
        text = (
            f"{doing} failed: no connection to Discord ({_error_text(error)}); it will be retried"
        )
        raise Unavailable(text, code="connect") from error
    except (aiohttp.InvalidURL, aiohttp.TooManyRedirects) as error:
        # The text leaves the address out: a webhook's address holds its token.
        text = f"{doing} failed: {type(error).__name__}; check api_url in the account's settings"
        raise Refused(text, code="url") from error
    except (
        aiohttp.ClientError,
        aiohttp.WebSocketError,
        aiohttp.http_exceptions.HttpProcessingError,
        TimeoutError,
        OSError,
    ) as error:
        if was_not_sent(error):
            text = f"{doing} failed: the connection was closed; it will be retried"
            raise Unavailable(text, code="connect") from error
        text = f"{doing}: the outcome is unknown ({_error_text(error)}); the bridge looks for it"
        raise Unsettled(text, code="broken", late=isinstance(error, TimeoutError)) from error


@dataclass(frozen=True)
class FilePart:
    """A file sent with a request, as a stream of its bytes."""

    name: str
    media_type: str
    chunks: AsyncIterator[bytes]


def _data(
    body: Mapping[str, JsonValue] | None, files: Sequence[FilePart]
) -> bytes | aiohttp.FormData | None:
    """Return the request's data: JSON, or with files a multipart form with the JSON as a field.

    Source: docs, reference, "Uploading Files".
    """
    if not files:
        return None if body is None else orjson.dumps(body)
    form = aiohttp.FormData()
    form.add_field("payload_json", orjson.dumps(body).decode(), content_type="application/json")
    for index, file in enumerate(files):
        form.add_field(
            f"files[{index}]", file.chunks, filename=file.name, content_type=file.media_type
        )
    return form


class Rest:
    """Sends requests with the bot's token or a webhook's, and waits for empty rate limits."""

    def __init__(
        self,
        api_url: str,
        token: Callable[[], Awaitable[str]],
        clock: Clock,
        deadline: float = 30.0,
    ) -> None:
        """`deadline`: the longest duration of a request without files, in seconds."""
        self.credential = Credential()
        self._url = api_url.rstrip("/")
        self._whole = aiohttp.ClientTimeout(total=deadline, sock_connect=_CONNECT_S)
        # An upload has no total deadline here: the sender sets one.
        self._with_files = aiohttp.ClientTimeout(
            total=None, sock_connect=_CONNECT_S, sock_read=max(_UPLOAD_READ_S, deadline)
        )
        self._token = token
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._buckets: dict[str, _Bucket] = {}
        self._recent: deque[float] = deque()

    async def request(
        self,
        method: str,
        path: str,
        *,
        bucket: str,
        doing: str,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, JsonValue] | None = None,
        files: Sequence[FilePart] = (),
        authorised: bool = True,
    ) -> Any:
        """Send one request and return the JSON of the response (None if it has no body).

        `bucket` names the rate limit as far as it is known: the route with its channel or webhook.
        `authorised` is False for webhook routes: their token is in the path. Raises PlatformError.
        """
        await self._wait_for_bucket(bucket, doing)
        if authorised:
            await self._wait_for_global_limit()
        headers = {} if body is None or files else {"Content-Type": "application/json"}
        if authorised:
            headers["Authorization"] = f"Bot {await self._token()}"
        with self.credential.watched() if authorised else nullcontext():
            with translated(doing):
                answer = await self._ask(method, path, query, _data(body, files), headers)
            self._learn(bucket, answer.headers)
            return read_answer(answer, doing, authorised=authorised)

    async def read(
        self, path: str, *, bucket: str, doing: str, query: Mapping[str, str | int] | None = None
    ) -> Any:
        """Return the JSON of a GET; short rate limits are waited out.

        Another program with the same bot token may have used up the limit. Raises PlatformError.
        """
        for _ in range(_MAX_WAITS):
            try:
                return await self.request("GET", path, bucket=bucket, doing=doing, query=query)
            except RateLimited as error:
                if error.retry_after > _LONGEST_WAIT_S:
                    raise
                await self._clock.sleep(error.retry_after)
        return await self.request("GET", path, bucket=bucket, doing=doing, query=query)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | int] | None,
        data: bytes | aiohttp.FormData | None,
        headers: Mapping[str, str],
    ) -> ApiAnswer:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=self._whole,
                headers={"User-Agent": _USER_AGENT},
                connector=aiohttp.TCPConnector(keepalive_timeout=_IDLE_S),
            )
        form = isinstance(data, aiohttp.FormData)
        await notice_closed_connections()
        async with self._session.request(
            method, self._url + path, params=query, data=data, headers=headers,
            allow_redirects=False, timeout=self._with_files if form else self._whole,
        ) as answer:  # fmt: skip
            return ApiAnswer(answer.status, answer.headers, await answer.read())

    async def _wait_for_bucket(self, name: str, doing: str) -> None:
        bucket = self._buckets.get(name)
        if bucket is None:
            return
        if bucket.remaining <= 0:
            wait = bucket.reset_at - self._clock.monotonic()
            if wait > _LONGEST_WAIT_S:
                text = (
                    f"{doing}: Discord's rate limit is used up for {wait:.1f} s; it will be retried"
                )
                raise RateLimited(text, retry_after=wait, code="bucket")
            if wait > 0:
                await self._clock.sleep(wait)
            self._buckets.pop(name, None)
            return
        bucket.remaining -= 1

    async def _wait_for_global_limit(self) -> None:
        """Wait for the bot's global limit: 50 requests a second (docs, 2026-08).

        Catch-up of many channels would exceed it, and too many refusals ban the IP address.
        """
        while len(self._recent) >= _MAX_RECENT:
            wait = self._recent[0] + _RECENT_S - self._clock.monotonic()
            if wait <= 0:
                self._recent.popleft()
            else:
                await self._clock.sleep(wait)
        self._recent.append(self._clock.monotonic())

    def _learn(self, name: str, headers: Mapping[str, str]) -> None:
        remaining, reset = (
            headers.get("X-RateLimit-Remaining"),
            headers.get("X-RateLimit-Reset-After"),
        )
        now = self._clock.monotonic()
        if remaining is None or reset is None or not remaining.isdecimal():
            return
        if len(self._buckets) >= _MAX_BUCKETS:
            self._buckets = {n: b for n, b in self._buckets.items() if b.reset_at > now}
        self._buckets[name] = _Bucket(int(remaining), now + _seconds(reset, 0.0))


@dataclass
class _Bucket:
    """The state of one rate limit, from the headers of the last response."""

    remaining: int
    reset_at: float


def read_answer(answer: ApiAnswer, doing: str, *, authorised: bool = True) -> Any:
    """Return the JSON of a successful response (None without a body).

    Raises the PlatformError of `refusal` for any other status, Unsettled if the body is not JSON.
    """
    if 200 <= answer.status < 300:
        if answer.status == 204 or not answer.body:
            return None
        try:
            return orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            text = f"{doing}: Discord's answer was no JSON; the outcome is unknown"
            raise Unsettled(text, code="broken") from None
    raise refusal(answer, doing, authorised=authorised)


def refusal(answer: ApiAnswer, doing: str, *, authorised: bool = True) -> PlatformError:
    """Return the error that an error response means.

    `authorised`: the request carried the bot's token; without it a 401 is about the token in the
    path. Source: docs, topics/opcodes-and-status-codes.
    """
    body = _json_object(answer.body)
    code = str(body.get("code") or "") or str(answer.status)
    if answer.status == 401 and not authorised:
        code = BAD_WEBHOOK_TOKEN
    reason = str(body.get("message") or f"HTTP {answer.status}")
    if answer.status == 429:
        return _rate_limited(answer, body, doing)
    if answer.status == 501:
        return Refused(f"{doing}: HTTP 501: Discord does not know this request", code=code)
    if answer.status >= 500 or answer.status == 408:
        trouble = f"Discord is in trouble (HTTP {answer.status})"
        text = f"{doing}: {trouble}; the bridge looks for it, then retries"
        return Unsettled(text, code=code, late=answer.status == 504)
    text = f"{doing}: Discord says {reason!r} ({code})"
    if todo := _TODO.get(code):
        text += f"; {todo}"
    if answer.status == 401 and code != BAD_WEBHOOK_TOKEN:
        return TokenRefused(
            f"{doing}: Discord refused the bot token (401); reset it in the developer portal, page"
            " Bot, and put it where bot_token points to", code=code,
        )  # fmt: skip
    if code in (MISSING_ACCESS, MISSING_PERMISSIONS):
        return AuthFailed(text, code=code)
    if answer.status == 404:
        return NotFound(text, code=code)
    details = ", ".join(_form_errors(body.get("errors"), ""))
    kind = FormRefused if code == INVALID_FORM else Refused
    return kind(f"{text}: {details}" if details else text, code=code)


def _rate_limited(answer: ApiAnswer, body: Mapping[str, Any], doing: str) -> RateLimited:
    headers = answer.headers
    retry_after = body.get("retry_after")
    wait = (
        retry_after
        if isinstance(retry_after, int | float) and not isinstance(retry_after, bool)
        else None
    )
    if wait is None:
        # A 429 without JSON is Cloudflare's: it bans after 10,000 refused requests in 10 minutes.
        wait = _seconds(headers.get("Retry-After") or headers.get("X-RateLimit-Reset-After"), 5.0)
    everywhere = body.get("global") is True or "X-RateLimit-Global" in headers
    text = f"{doing}: Discord asks us to wait {wait:.2f} s{' with everything' * everywhere}"
    scope = (GLOBAL,) if everywhere else ()
    seconds = min(max(float(wait), 0.0), _LONGEST_BAN_S)
    return RateLimited(text, retry_after=seconds, code="429", scope=scope)


def _form_errors(errors: object, path: str) -> Iterator[str]:
    """Yield the nested errors of code 50035: `content: Must be 2000 or fewer in length.`"""
    if not isinstance(errors, dict):
        return
    for key, inner in errors.items():
        if key == "_errors" and isinstance(inner, list):
            for error in inner:
                reason = error.get("message") if isinstance(error, dict) else error
                yield f"{path or 'request'}: {reason}"
        elif len(path) < 200:
            yield from _form_errors(inner, f"{path}.{key}" if path else str(key))


def _json_object(body: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _seconds(value: str | None, default: float) -> float:
    match = re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", value or "")
    return float(match[0]) if match else default


def _error_text(error: BaseException) -> str:
    # The texts of these errors hold the address, and with it a webhook's token.
    if isinstance(error, aiohttp.ClientResponseError):
        return f"{type(error).__name__} {error.status}"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return type(error).__name__
    return str(error) or type(error).__name__
