"""HTTP requests to agent APIs: JSON in, events of a stream out, errors of the bridge's tree.

No other shared module of the agents knows httpx."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache

import httpx
import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, obj
from bridge.agents.codec.stream_reader import BROKEN_LINE, DONE
from bridge.agents.transport.api_errors import api_error
from bridge.content.safety.open_addresses import is_open
from bridge.errors import AgentError, BridgeError, Refused, Unavailable, Unsettled

_LARGEST_EVENT = 64_000_000  # bytes: a picture in base64 is one event
_LARGEST_ERROR = 65_536
_LONGEST_TEXT = 4000  # characters of an error that is not JSON
_BOM = b"\xef\xbb\xbf"
_EVENT_LINE_END = re.compile(rb"\r\n|\r|\n")
_JSON_LINE_END = re.compile(rb"\r?\n")
# Servers close an idle connection after 5 s (uvicorn, Node.js) or later, and httpx keeps it for 5:
# a request that is sent at that moment is lost, and it is unknown whether it was processed.
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)
_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl")


@dataclass(frozen=True)
class Deadlines:
    """Seconds until the connection must be open, and between two chunks of a response."""

    connect: float
    idle: float


@dataclass(frozen=True)
class Request:
    """One request. A body of bytes is sent unchanged, an object as JSON."""

    url: str
    headers: Mapping[str, str]
    body: Json | bytes | None = None
    method: str = "POST"


@dataclass(frozen=True)
class ServerSentEvent:
    """One server-sent event: its data, its `id` and its type."""

    data: bytes
    id: str = ""
    event: str = ""


class Response:
    """An API's response: a body that can be read once, as a whole or as a stream."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    @property
    def kind(self) -> str:
        """The media type in lower case, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def whole(self, max_bytes: int) -> bytes:
        """Return all bytes. Raises AgentError if there are more than `most`."""
        return await _whole(self._response, max_bytes)

    def sent(self) -> AsyncGenerator[ServerSentEvent]:
        """Yield the server-sent events of the body."""
        return read_event_stream(self._response.aiter_bytes())

    def lines(self) -> AsyncGenerator[bytes]:
        """Yield the lines of the body that are not empty, without their line ends."""
        return _lines(self._response.aiter_bytes())


def bearer(key: str) -> dict[str, str]:
    """Return the header with a bearer key; none for an empty key."""
    return {"authorization": f"Bearer {key}"} if key else {}


class Http:
    """An HTTP client for the length of one turn."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client  # for SDKs that need one

    @asynccontextmanager
    async def answer(self, request: Request) -> AsyncGenerator[Response]:
        """Send a request and yield its 2xx response. Raises RateLimited, Unavailable and Refused
        for other statuses, and Unsettled if the connection breaks, also within the block."""
        body = request.body
        content = orjson.dumps(body) if isinstance(body, dict) else body
        headers = {"content-type": "application/json", **request.headers}
        with translated():
            async with self.client.stream(
                request.method, request.url, content=content, headers=headers
            ) as response:
                if not response.is_success:
                    raise await _refusal(response)
                yield Response(response)

    async def json(self, request: Request) -> JsonValue:
        """Return the JSON of a whole response; None if it is empty. Raises as `answer`, and
        AgentError for a body that is not JSON."""
        async with self.answer(request) as response:
            body = await response.whole(_LARGEST_EVENT)
            return read_json(body) if body.strip() else None

    async def events(self, request: Request) -> AsyncGenerator[JsonValue]:
        """Yield the JSON of each server-sent event; a plain JSON response is one event, a JSON list
        several. `BROKEN_LINE` replaces a line of a stream that is not JSON.

        Raises RateLimited, Unavailable and Refused before the first event, Unsettled if the stream
        breaks, and AgentError for a plain response that is not JSON."""
        async with self.answer(request) as response:
            if response.kind == "application/json":
                whole = read_json(await response.whole(_LARGEST_EVENT))
                for event in whole if isinstance(whole, list) else [whole]:
                    yield event
                return
            if response.kind in _LINES:
                async for line in response.lines():
                    yield _event_of(line)
                return
            async for event in response.sent():
                for read_event in read_events(event.data):
                    yield read_event


@asynccontextmanager
async def open_http(deadlines: Deadlines, *, open_hosts_only: bool = False) -> AsyncGenerator[Http]:
    """Yield a client. It follows no redirects, which would take the key to another host. With
    `open_hosts_only` it refuses addresses of private networks, whatever name resolves to them."""
    timeout = httpx.Timeout(deadlines.idle, connect=deadlines.connect)
    transport: httpx.AsyncBaseTransport = httpx.AsyncHTTPTransport(
        verify=_trust(), trust_env=False, limits=_LIMITS
    )
    if open_hosts_only:
        transport = _OpenHosts(transport)
    async with httpx.AsyncClient(timeout=timeout, transport=transport, trust_env=False) as client:
        yield Http(client)


class _OpenHosts(httpx.AsyncBaseTransport):
    """Resolves names itself and connects to the address that it checked, so that a second DNS
    answer changes nothing."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        address = await _open_address(host, request.url.port or 443)
        request.url = request.url.copy_with(host=address)
        request.extensions = {**request.extensions, "sni_hostname": host}
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _open_address(host: str, port: int) -> str:
    try:
        resolved = await asyncio.get_running_loop().getaddrinfo(host, port)
    except OSError as error:
        raise httpx.ConnectError("no such host") from error
    addresses = [str(socket_address[0]) for *_, socket_address in resolved]
    if not addresses or not all(map(is_open, addresses)):
        raise Refused(
            f"{host[:100]!r} is not a public internet host; `private_addresses: true` allows it",
            code="private_address",
        )
    return addresses[0]


@cache
def _trust() -> ssl.SSLContext:
    """Return the TLS context. It is built once: this takes 20 ms."""
    return httpx.create_ssl_context()


@contextmanager
def translated() -> Generator[None]:
    """Translate httpx's errors into the bridge's. Their texts contain addresses, so they are not
    repeated."""
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise Unavailable("The API cannot be reached: the connection timed out") from error
    except httpx.ConnectError as error:
        raise Unavailable("The API cannot be reached; check `base_url`") from error
    except httpx.PoolTimeout as error:
        raise Unavailable("No connection became free in time") from error
    except httpx.TimeoutException as error:
        raise Unavailable("The API sent nothing for too long") from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
        raise Refused("The API's address is invalid; check `base_url`") from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise Unsettled(f"The connection broke ({type(error).__name__})") from error


async def read_event_stream(chunks: AsyncIterator[bytes]) -> AsyncGenerator[ServerSentEvent]:
    """Yield the events of a `text/event-stream` (WHATWG HTML, section 9.2). The last event needs no
    empty line after it. Raises AgentError for an event of more than 64 MB."""
    fields: dict[bytes, list[bytes]] = {}
    size = 0
    async for line in _ended(chunks, _EVENT_LINE_END):
        size = size + len(line) if line else 0
        if size > _LARGEST_EVENT:
            raise AgentError("the API sent an event that is too large")
        if event := _line(line, fields):
            yield event
    if event := _line(b"", fields):
        yield event


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    async for line in _ended(chunks, _JSON_LINE_END):
        if stripped := line.strip():
            yield stripped


async def _ended(chunks: AsyncIterator[bytes], end: re.Pattern[bytes]) -> AsyncGenerator[bytes]:
    """Yield lines without their ends and without a byte order mark; the last line needs no end.

    A CR at the end of a chunk ends its line at once: the LF of a CRLF may be in the next chunk,
    which may come much later."""
    pending: list[bytes] = []
    size = 0
    first = True
    after_cr = False
    async for chunk in chunks:
        rest_of_chunk = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = end is _EVENT_LINE_END and (chunk.endswith(b"\r") or (after_cr and not chunk))
        *lines, rest = end.split(rest_of_chunk)
        for line in lines:
            whole = b"".join((*pending, line)) if pending else line
            yield whole.removeprefix(_BOM) if first else whole
            pending, size, first = [], 0, False
        if rest:
            pending.append(rest)
            size += len(rest)
        if size > _LARGEST_EVENT:
            raise AgentError("the API sent an event that is too large")
    whole = b"".join(pending)
    yield whole.removeprefix(_BOM) if first else whole


def _line(line: bytes, fields: dict[bytes, list[bytes]]) -> ServerSentEvent | None:
    """Take one line; return the event if the line ends one that has data."""
    if line:
        name, _, value = line.partition(b":")
        if name in (b"data", b"id", b"event"):
            fields.setdefault(name, []).append(value.removeprefix(b" "))
        return None
    data = b"\n".join(fields.get(b"data", ())).strip()
    own_id, event = (fields.get(name, [b""])[-1].decode("utf-8", "replace")
                     for name in (b"id", b"event"))  # fmt: skip
    fields.clear()
    return ServerSentEvent(data, own_id, event) if data else None


def read_events(data: bytes) -> list[JsonValue]:
    """Return the JSON of one server-sent event; `BROKEN_LINE` replaces data that is not JSON. Some
    servers omit the empty line between two events: if the data is not JSON as a whole, each of its
    lines is read separately."""
    whole = _event_of(data)
    if whole != BROKEN_LINE or b"\n" not in data:
        return [whole]
    return [_event_of(line) for line in data.split(b"\n") if line.strip()]


def _event_of(data: bytes) -> JsonValue:
    if data.strip() == DONE.encode():
        return DONE
    try:
        return read_json(data)
    except AgentError:
        return BROKEN_LINE


def read_json(data: bytes) -> JsonValue:
    """Return parsed JSON. Raises AgentError for anything else."""
    try:
        return orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError:
        raise AgentError("the API sent something that is not JSON") from None


async def _whole(response: httpx.Response, max_bytes: int) -> bytes:
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > max_bytes:
            raise AgentError("the API sent an answer that is too large")
    return bytes(body)


async def _refusal(response: httpx.Response) -> BridgeError:
    """Return the error for a response that is not 2xx. Some servers send plain text."""
    body: JsonValue = None
    with suppress(AgentError, httpx.HTTPError):
        raw = await _whole(response, _LARGEST_ERROR)
        body = raw.decode("utf-8", "replace")[:_LONGEST_TEXT]
        body = read_json(raw)  # if this raises, the text stays
    first = obj((arr(body) or [body])[0])  # Gemini sends a list
    reported = first.get("error", first.get("detail", first.get("message") and first))
    if isinstance(body, str):
        reported = body
    if response.is_redirect:
        return Refused(f"The API's address has moved ({response.status_code})", code="moved")
    error = api_error(reported, response.status_code, response.headers)
    error.answer = body
    return error
