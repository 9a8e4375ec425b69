"""A Call -> a Receipt, over our own aiohttp client; translates every error of the SDK and client.

botbuilder's client has at most 6 requests in flight and blocks the event loop for tokens.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import aiohttp
import msrest.exceptions
import orjson
from aiohttp.http_exceptions import HttpProcessingError
from botbuilder.core.channel_service_handler import BotActionNotImplementedError
from yarl import URL

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    StreamStopped,
    TokenRefused,
    Unavailable,
    Unsettled,
)
from bridge.model import Call, ChannelRef, Receipt
from bridge.ports.clock import Clock
from bridge.ports.secrets import SecretSource
from bridge.runtime.credential import Credential
from bridge.runtime.http_connections import notice_closed_connections, was_not_sent
from connectors.teams import ids
from connectors.teams.activity import Json, object_of, string
from connectors.teams.marks import REACTION
from connectors.teams.references import References
from connectors.teams.settings import TeamsSettings

DEADLINE = 15.0  # seconds for a request without a `send_deadline`
STREAM_METHOD = "STREAM"  # a POST to the conversation, also for an existing message
_LONGEST_CONNECT = 5.0
_LONGEST_TOKEN_WAIT = 8.0
# Seconds: servers close an idle connection after 5 (uvicorn, Node.js) or more. A request that is
# sent at that moment is lost, and the client cannot know whether the server accepted it.
_IDLE = 4.0
_MAX_ANSWER = 4 * 1024 * 1024
_BACKOFF = 2.0  # seconds after a 429 without Retry-After
_LONGEST_WAIT = 3600.0  # seconds; the upper bound of Retry-After
_LONGEST_TOKEN = 86_400.0  # seconds; the upper bound of a token's life
_FRESH_FOR = 300.0  # seconds before its end at which a token is renewed

# msteams-docs, "Status codes from bot conversational APIs", 2026.
_TODO = {
    "BotNotInConversationRoster": "install the app in this team or chat: Apps > Manage your apps > "
    "Upload, then Add to a team or chat",
    "ForbiddenOperationException": "install the app for this person, team or chat",
    "MessageWritesBlocked": "somebody has blocked the bot here; they must unblock it",
    "BotDisabledByAdmin": "an administrator has blocked the app; ask for it in the admin center",
    "MessageSizeTooBig": "the message is too large for Teams",
    "InvalidBotApiHost": "the service address is of another cloud; check service_hosts",
}


# --- deadlines --------------------------------------------------------------------------------


def token_within(deadline: float) -> float:
    """Return the seconds to wait for the bot's token in a request of `deadline` seconds.

    Together with twice `connect_within` (before and after a token renewal) it is less than
    `deadline`: an unsent request fails before its lane must treat it as possibly accepted.
    """
    return min(_LONGEST_TOKEN_WAIT, deadline / 4)


def connect_within(deadline: float) -> float:
    """Return the seconds to wait for a connection, name lookup included."""
    return min(_LONGEST_CONNECT, deadline / 4)


# --- errors -----------------------------------------------------------------------------------


@contextmanager
def translated(
    label: str = "Teams", *, repeatable: bool = False, sent: Callable[[], bool] = lambda: True
) -> Generator[None]:
    """Translate errors of the SDK and the HTTP client into PlatformError.

    `repeatable`: a repetition does no harm, so an unknown outcome is only Unavailable.
    `sent`: returns whether the request may have been sent; before, Teams cannot have accepted it.
    """
    try:
        yield
    except PlatformError:
        raise
    except msrest.exceptions.HttpOperationError as error:
        status, body = _sdk_answer(error)
        raise error_of(label, status, body, repeatable=repeatable) from error
    except aiohttp.ClientResponseError as error:
        raise error_of(label, error.status, {}, error.headers, repeatable=repeatable) from error
    except _NOT_CONNECTED as error:
        raise Unavailable(f"{label}: cannot connect: {error}") from error
    except _CREDENTIALS as error:
        raise AuthFailed(f"{label}: the credentials were refused: {error}") from error
    except _OURS_TO_MEND as error:
        raise Refused(f"{label}: this cannot be sent: {type(error).__name__}: {error}") from error
    except _TRANSPORT as error:
        text = f"{label}: {type(error).__name__}: {error}"
        if repeatable or not sent() or was_not_sent(error):
            raise Unavailable(text) from error
        late = isinstance(error, TimeoutError)
        raise Unsettled(f"{text}; Teams may have accepted it", late=late) from error


_NOT_CONNECTED = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ServerFingerprintMismatch,
)
_CREDENTIALS = (
    PermissionError,
    msrest.exceptions.AuthenticationError,
    msrest.exceptions.TokenExpiredError,
)
_OURS_TO_MEND = (
    BotActionNotImplementedError,
    aiohttp.InvalidURL,
    aiohttp.NonHttpUrlClientError,
    msrest.exceptions.SerializationError,  # pyright: ignore[reportPrivateImportUsage]  # re-exported
    msrest.exceptions.ValidationError,
)
_TRANSPORT = (
    HttpProcessingError,
    OSError,
    TimeoutError,
    aiohttp.ClientError,
    msrest.exceptions.ClientException,
    orjson.JSONDecodeError,
)


def error_of(
    label: str,
    status: int,
    body: Json,
    headers: Mapping[str, str] | None = None,
    *,
    repeatable: bool = False,
) -> PlatformError:
    """Return the error of an unsuccessful response."""
    code, reason = _code_and_text(body)
    text = f"{label}: {status} {code or 'error'}: {reason or 'no reason given'}"
    todo = _TODO.get(code)
    text = f"{text}; {todo}" if todo else text
    match status:
        case 401:
            return TokenRefused(f"{text}; check app_id, app_password and tenant_id", code=code)
        case 403 if code == "ContentStreamNotAllowed" and "by user" in reason:
            return StreamStopped(text, code=code)
        case 404:
            return NotFound(text, code=code)
        case 429:
            return RateLimited(text, retry_after=_retry_after(headers or {}), code=code)
        case 412 | 503:  # documented as "try again": the service accepted nothing
            return Unavailable(text, code=code)
        case 501:
            return Refused(f"{text}; Teams does not know this request", code=code)
        case _ if status >= 500 or status < 300 or status == 408:
            if repeatable:
                return Unavailable(text, code=code)
            return Unsettled(text, code=code, late=status == 504)
        case 400 | 413:
            return FormRefused(text, code=code)
        case _:
            return Refused(text, code=code)


def _sdk_answer(error: msrest.exceptions.HttpOperationError) -> tuple[int, Json]:
    named = getattr(getattr(error, "error", None), "error", None)
    body = {"error": {"code": getattr(named, "code", ""), "message": getattr(named, "message", "")}}
    return getattr(getattr(error, "response", None), "status_code", None) or 500, body


def _code_and_text(body: Json) -> tuple[str, str]:
    error = object_of(body, "error")
    if error:
        return string(error, "code"), string(error, "message")
    # The form of the identity provider; the part after the first sentences is for its support.
    description = string(body, "error_description").split(" Trace ID", 1)[0]
    return string(body, "error"), description or string(body, "message")


def _retry_after(headers: Mapping[str, str]) -> float:
    seconds = _seconds(headers.get("Retry-After", ""), _LONGEST_WAIT)
    return _BACKOFF if seconds is None else max(seconds, 0.1)


def _seconds(value: object, longest: float) -> float | None:
    """Return finite seconds, at most `longest`; None for any other value.

    Python parses `nan` and `inf` as numbers, and a wait for them would never end.
    """
    try:
        seconds = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        return None
    return min(seconds, longest) if math.isfinite(seconds) else None


# --- the HTTP client --------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A complete HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> Json:
        """Return the body as an object; {} if it is no JSON object."""
        try:
            return object_of({"body": orjson.loads(self.body)}, "body")
        except orjson.JSONDecodeError:
            return {}


class HttpClient:
    """One aiohttp session, opened at its first use; without redirects, with bounded responses."""

    def __init__(self, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def request(
        self,
        method: str,
        url: str,
        *,
        data: bytes | dict[str, str] | AsyncIterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = True,
        deadline: float | None = None,
    ) -> Answer:
        """Return the response of any status.

        Raises Unavailable, or Unsettled if the request was sent and must not be repeated.
        """
        if self._closed:
            raise Unavailable(f"{method} {_host(url)}: this account has been closed")
        progress = SimpleNamespace(sent=False)
        label = f"{method} {_host(url)}"
        with translated(label, repeatable=repeatable, sent=lambda: progress.sent):
            await notice_closed_connections()
            async with self._open().request(
                method,
                URL(url, encoded=True),
                data=data,
                headers=headers,
                allow_redirects=False,
                trace_request_ctx=progress,
                timeout=self._timeout(deadline or self._deadline),
            ) as response:
                return Answer(response.status, response.headers, await _read(response))

    async def fetch(self, url: str) -> bytes:
        """Return the body of a public document. Raises PlatformError."""
        answer = await self.request("GET", url)
        if not answer.good:
            raise error_of(f"GET {url}", answer.status, answer.json(), repeatable=True)
        return answer.body

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    @staticmethod
    def _timeout(seconds: float) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(total=seconds, connect=connect_within(seconds))

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            trace = aiohttp.TraceConfig()
            trace.on_request_headers_sent.append(_note_sent)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE),
                trace_configs=[trace],
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


async def _note_sent(_session: object, context: SimpleNamespace, _params: object) -> None:
    context.trace_request_ctx.sent = True


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > _MAX_ANSWER:
            raise aiohttp.ClientPayloadError(f"the answer is longer than {_MAX_ANSWER} bytes")
    return bytes(body)


def _host(url: str) -> str:
    return url.split("/v3/", 1)[0]


# --- the bot's token --------------------------------------------------------------------------


class BotToken:
    """The bot's access token by client credentials, cached until shortly before its end.

    It sends its own POST: msal blocks the event loop and accepts no identity provider on loopback.
    """

    def __init__(
        self,
        settings: TeamsSettings,
        tokens: SecretSource,
        http: HttpClient,
        clock: Clock,
        deadline: float = DEADLINE,
    ) -> None:
        """`deadline`: seconds of a whole request that needs the token."""
        self._within = token_within(deadline)
        self._settings = settings
        self._tokens = tokens
        self._http = http
        self._clock = clock
        self._token = ""
        self._until = 0.0
        self._fetching = asyncio.Lock()

    async def get(self) -> str:
        """Return a valid token.

        Raises AuthFailed if the app id or secret is refused, Unavailable if the identity provider
        cannot be reached; in both cases no message was sent.
        """
        try:
            async with asyncio.timeout(self._within), self._fetching:
                if not self._token or self._clock.monotonic() >= self._until:
                    await self._renew()
                return self._token
        except TimeoutError as error:
            text = f"No token from {self._settings.login_url} within {self._within:g} s"
            raise Unavailable(text) from error

    @property
    def lasts(self) -> float:
        """Seconds until the next `get` fetches a new token; 0 without a token."""
        return max(self._until - self._clock.monotonic(), 0.0) if self._token else 0.0

    def drop(self, token: str) -> None:
        """Forget a token that was refused."""
        if self._token == token:
            self._token = ""

    async def _renew(self) -> None:
        settings = self._settings
        url = f"{settings.login_url}/{settings.authority}/oauth2/v2.0/token"
        form = {
            "grant_type": "client_credentials",
            "client_id": settings.app_id,
            "client_secret": await self._tokens.secret(settings.app_password),
            "scope": settings.scope,
        }
        requested_at = self._clock.monotonic()
        answer = await self._http.request("POST", url, data=form)
        json = answer.json()
        token, lasts = string(json, "access_token"), json.get("expires_in")
        if not answer.good or not token:
            raise self._refusal(url, answer)
        seconds = _seconds(lasts, _LONGEST_TOKEN) or 0.0
        self._token = token
        self._until = requested_at + max(seconds - _FRESH_FOR, seconds / 2)

    def _refusal(self, url: str, answer: Answer) -> PlatformError:
        error = error_of(
            f"token from {url}", answer.status, answer.json(), answer.headers, repeatable=True
        )
        if answer.status in (400, 403, 404) or (answer.good and not answer.body):
            return TokenRefused(
                f"{error}; check app_id, app_password and tenant_id", code=error.code
            )
        return error


# --- the connector's REST API -----------------------------------------------------------------


class Sender:
    """Requests of the bot to Teams, each to the service address of its conversation."""

    def __init__(
        self,
        settings: TeamsSettings,
        references: References,
        token: BotToken,
        http: HttpClient,
        deadline: float = DEADLINE,
    ) -> None:
        """`deadline`: seconds of one request."""
        self.credential = Credential()
        self._settings = settings
        self._references = references
        self._token = token
        self._http = http
        self._deadline = deadline

    async def send(self, call: Call) -> Receipt:
        """Send one call and return its receipt. Raises PlatformError."""
        conversation = ids.conversation_of(call.channel, call.thread)
        path = f"/v3/conversations/{_quote_segment(conversation)}/activities"
        if call.method == STREAM_METHOD:
            return await self._stream(call, path)
        if call.native_id is not None:
            path += f"/{_quote_segment(call.native_id)}"
        if call.kind == "other" and call.method != "POST":
            return await self._react(call, path)
        repeatable = call.method != "POST"
        try:
            answer = await self._request(call.method, call.channel, path, call.body, repeatable)
        except NotFound as error:
            if call.kind == "delete" and error.code != "ConversationNotFound":
                return _deleted_receipt(call)
            raise
        if call.kind == "delete":
            return _deleted_receipt(call)
        native_id = call.native_id or string(answer.json(), "id")
        if not native_id and call.kind != "other":
            raise Unsettled(f"{call.method} {call.channel}: Teams answered without a message id")
        return Receipt(slot=call.slot, native_id=native_id, thread=call.thread)

    async def _stream(self, call: Call, path: str) -> Receipt:
        """Send a step of a stream.

        The first step creates the message; the others are repeatable by their sequence numbers.
        """
        first = call.native_id is None
        answer = await self._request("POST", call.channel, path, call.body, not first)
        native_id = call.native_id or string(answer.json(), "id")
        if not native_id:
            raise Unsettled(f"stream in {call.channel}: Teams answered without a message id")
        return Receipt(slot=call.slot, native_id=native_id, thread=call.thread)

    async def _react(self, call: Call, path: str) -> Receipt:
        """Add or remove a reaction. Raises FormRefused if the service refuses it."""
        done = Receipt(slot=call.slot, native_id=call.native_id or "", thread=call.thread)
        path += f"/reactions/{_quote_segment(str(call.body[REACTION]))}"
        try:
            await self._request(call.method, call.channel, path, {}, repeatable=True)
        except Refused as error:
            if error.code == "ActivityNotFoundInConversation":
                return done
            if isinstance(error, AuthFailed):
                raise
            raise FormRefused(str(error), code=error.code) from error
        return done

    async def replace(self, channel: ChannelRef, message: str, body: Mapping[str, Any]) -> None:
        """Replace the content of one of the bot's messages. Raises PlatformError."""
        conversation = _quote_segment(channel.channel)
        path = f"/v3/conversations/{conversation}/activities/{_quote_segment(message)}"
        await self._request("PUT", channel, path, {**body, "id": message}, repeatable=True)

    async def get(self, channel: ChannelRef, path: str) -> Json:
        """Return the JSON object at `path`; `channel` determines the service address.

        Raises PlatformError.
        """
        answer = await self._request("GET", channel, path, None, repeatable=True)
        return answer.json()

    async def open_chat(self, near: ChannelRef, bot: str, member: str) -> str:
        """Return the id of the chat with a person of `near`'s tenant; Teams opens a missing one.

        Raises PlatformError.
        """
        tenant = near.workspace
        body = {
            "bot": {"id": bot}, "members": [{"id": member}], "isGroup": False, "tenantId": tenant,
            "channelData": {"tenant": {"id": tenant}},
        }  # fmt: skip
        answer = await self._request("POST", near, "/v3/conversations", body, repeatable=True)
        return string(answer.json(), "id")

    async def _request(
        self, method: str, channel: ChannelRef, path: str, body: Any, repeatable: bool
    ) -> Answer:
        base = await self._base(channel)
        data = None if body is None or method == "DELETE" else orjson.dumps(body)
        with self.credential.watched():
            answer = await self._authorized(method, base + path, data, repeatable)
            if not answer.good:
                label = f"{method} {channel}"
                raise error_of(
                    label, answer.status, answer.json(), answer.headers, repeatable=repeatable
                )
            return answer

    async def _authorized(
        self, method: str, url: str, data: bytes | None, repeatable: bool
    ) -> Answer:
        """Send a request; after a 401, send it once more with a new token."""
        began = asyncio.get_running_loop().time()
        refused = False
        while True:
            token = await self._token.get()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            answer = await self._http.request(
                method, url, data=data, headers=headers, repeatable=repeatable,
                deadline=self._deadline,
            )  # fmt: skip
            late = asyncio.get_running_loop().time() - began > connect_within(self._deadline)
            if answer.status != 401 or refused or late:
                return answer
            self._token.drop(token)
            refused = True

    async def _base(self, channel: ChannelRef) -> str:
        url = await self._references.service_url(channel) or self._settings.default_service_url
        if url is None:
            raise Refused(
                f"No activity ever came from {channel}, so its service address is unknown; "
                "install the app there or mention the bot once, or set default_service_url",
                code="NoReference",
            )
        if not self._settings.may_be_called(url):
            raise Refused(
                f"The service address {url!r} of {channel} is not in service_hosts; add its host "
                "there if Microsoft documents it",
                code="UnknownServiceHost",
            )
        return url.rstrip("/")


def _deleted_receipt(call: Call) -> Receipt:
    """Return the receipt of a deletion, also if the copy was already deleted."""
    return Receipt(slot=call.slot, native_id=call.native_id or "", thread=call.thread, deleted=True)


def _quote_segment(segment: str) -> str:
    return quote(segment, safe="")
