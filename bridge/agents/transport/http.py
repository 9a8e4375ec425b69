"""Requests to agent APIs: JSON in, the events of a stream out, errors of the one tree.

The only module of the agents that knows httpx.
"""

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
_LONGEST_TEXT = 4000  # characters of an error that is no JSON
_BOM = b"\xef\xbb\xbf"
_EVENT_LINE_END = re.compile(rb"\r\n|\r|\n")
_JSON_LINE_END = re.compile(rb"\r?\n")
# Servers close an idle connection after 5 s (uvicorn, Node.js) or later, and httpx keeps it for 5:
# a request that crosses with that is lost without a sign of whether it was taken.
_LIMITS = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)
_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl")


@dataclass(frozen=True)
class Deadlines:
    """Seconds: until connected, and between two pieces of an answer."""

    connect: float
    idle: float


@dataclass(frozen=True)
class Request:
    """One request. A body of bytes is sent as it is."""

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
    """What an API answers: a body that is read once, whole or as a stream."""

    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer
        self.status = answer.status_code
        self.headers: Mapping[str, str] = answer.headers

    @property
    def kind(self) -> str:
        """The media type, without its parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def whole(self, most: int) -> bytes:
        """All bytes; AgentError where there are more than `most`."""
        return await _whole(self._answer, most)

    def sent(self) -> AsyncGenerator[ServerSentEvent]:
        return read_event_stream(self._answer.aiter_bytes())

    def lines(self) -> AsyncGenerator[bytes]:
        """The lines of a stream that hold something, without their ends."""
        return _lines(self._answer.aiter_bytes())


def bearer(key: str) -> dict[str, str]:
    """The header that shows a key; none without one."""
    return {"authorization": f"Bearer {key}"} if key else {}


class Http:
    """A client for the length of one turn."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client  # for an SDK that wants one

    @asynccontextmanager
    async def answer(self, request: Request) -> AsyncGenerator[Response]:
        """Raises RateLimited, Unavailable and Refused for what is no 2xx, Unsettled where the
        connection breaks off, also within the block."""
        body = request.body
        content = orjson.dumps(body) if isinstance(body, dict) else body
        headers = {"content-type": "application/json", **request.headers}
        with translated():
            async with self.client.stream(
                request.method, request.url, content=content, headers=headers
            ) as answer:
                if not answer.is_success:
                    raise await _refusal(answer)
                yield Response(answer)

    async def json(self, request: Request) -> JsonValue:
        """The JSON of a whole answer; None where it is empty."""
        async with self.answer(request) as answer:
            body = await answer.whole(_LARGEST_EVENT)
            return read_json(body) if body.strip() else None

    async def events(self, request: Request) -> AsyncGenerator[JsonValue]:
        """The JSON of each server-sent event; a plain JSON answer is one event (a list: several).
        `BROKEN_LINE` stands for a line of a stream that is no JSON.

        Raises RateLimited, Unavailable and Refused before the first event, Unsettled where the
        stream breaks off, AgentError for a plain answer that is no JSON.
        """
        async with self.answer(request) as answer:
            if answer.kind == "application/json":
                whole = read_json(await answer.whole(_LARGEST_EVENT))
                for one in whole if isinstance(whole, list) else [whole]:
                    yield one
                return
            if answer.kind in _LINES:
                async for line in answer.lines():
                    yield _event_of(line)
                return
            async for event in answer.sent():
                for read_event in read_events(event.data):
                    yield read_event


@asynccontextmanager
async def open_http(patience: Deadlines, *, open_hosts_only: bool = False) -> AsyncGenerator[Http]:
    """No redirects are followed: they would take the key elsewhere. With `open_hosts_only` no
    address of a private network is asked, under whatever name."""
    timeout = httpx.Timeout(patience.idle, connect=patience.connect)
    transport: httpx.AsyncBaseTransport = httpx.AsyncHTTPTransport(
        verify=_trust(), trust_env=False, limits=_LIMITS
    )
    if open_hosts_only:
        transport = _OpenHosts(transport)
    async with httpx.AsyncClient(timeout=timeout, transport=transport, trust_env=False) as client:
        yield Http(client)


class _OpenHosts(httpx.AsyncBaseTransport):
    """Looks names up itself and connects to what it found, so that a second answer for a name
    changes nothing."""

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
        found = await asyncio.get_running_loop().getaddrinfo(host, port)
    except OSError as error:
        raise httpx.ConnectError("no such host") from error
    addresses = [str(where[0]) for *_, where in found]
    if not addresses or not all(map(is_open, addresses)):
        raise Refused(
            f"{host[:100]!r} is no host of the open internet; `private_addresses: true` allows it",
            code="private_address",
        )
    return addresses[0]


@cache
def _trust() -> ssl.SSLContext:
    """Made once: it takes 20 ms."""
    return httpx.create_ssl_context()


@contextmanager
def translated() -> Generator[None]:
    """httpx's errors -> ours. Their texts hold addresses: not repeated."""
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise Unavailable("The API cannot be reached: no connection in time") from error
    except httpx.ConnectError as error:
        raise Unavailable("The API cannot be reached; check `base_url`") from error
    except httpx.PoolTimeout as error:
        raise Unavailable("No connection was free in time") from error
    except httpx.TimeoutException as error:
        raise Unavailable("The API was silent for too long") from error
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
        raise Refused("The address of the API is none; check `base_url`") from error
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise Unsettled(f"The connection broke off ({type(error).__name__})") from error


async def read_event_stream(pieces: AsyncIterator[bytes]) -> AsyncGenerator[ServerSentEvent]:
    """Bytes of a `text/event-stream` -> its events (WHATWG HTML, section 9.2). The last event needs
    no empty line after it. Raises AgentError for an event of more than 64 MB."""
    fields: dict[bytes, list[bytes]] = {}
    size = 0
    async for line in _ended(pieces, _EVENT_LINE_END):
        size = size + len(line) if line else 0
        if size > _LARGEST_EVENT:
            raise AgentError("the API sent an event that is too large")
        if event := _line(line, fields):
            yield event
    if event := _line(b"", fields):
        yield event


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    async for line in _ended(pieces, _JSON_LINE_END):
        if kept := line.strip():
            yield kept


async def _ended(pieces: AsyncIterator[bytes], end: re.Pattern[bytes]) -> AsyncGenerator[bytes]:
    """Lines without their ends and without a byte order mark; the last one needs no end.

    A CR that ends a piece ends its line at once: the LF of a CRLF may be in the next piece, which
    may come much later.
    """
    held: list[bytes] = []
    size = 0
    first = True
    after_cr = False
    async for given in pieces:
        piece = given[1:] if after_cr and given.startswith(b"\n") else given
        after_cr = end is _EVENT_LINE_END and (given.endswith(b"\r") or (after_cr and not given))
        *lines, rest = end.split(piece)
        for line in lines:
            whole = b"".join((*held, line)) if held else line
            yield whole.removeprefix(_BOM) if first else whole
            held, size, first = [], 0, False
        if rest:
            held.append(rest)
            size += len(rest)
        if size > _LARGEST_EVENT:
            raise AgentError("the API sent an event that is too large")
    whole = b"".join(held)
    yield whole.removeprefix(_BOM) if first else whole


def _line(line: bytes, fields: dict[bytes, list[bytes]]) -> ServerSentEvent | None:
    """Take one line; the event where it ends one that has data."""
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
    """The JSON of one server-sent event; `BROKEN_LINE` stands for what is no JSON. Some servers
    leave out the empty line between two events: where the data is no JSON as a whole, each of its
    lines is read by itself."""
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
    """Raises AgentError for what is no JSON."""
    try:
        return orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError:
        raise AgentError("the API sent something that is no JSON") from None


async def _whole(answer: httpx.Response, most: int) -> bytes:
    found = bytearray()
    async for piece in answer.aiter_bytes():
        found += piece
        if len(found) > most:
            raise AgentError("the API sent an answer that is too large")
    return bytes(found)


async def _refusal(answer: httpx.Response) -> BridgeError:
    """An answer that is no 200, as an error. Some servers tell it as plain text."""
    body: JsonValue = None
    with suppress(AgentError, httpx.HTTPError):
        raw = await _whole(answer, _LARGEST_ERROR)
        body = raw.decode("utf-8", "replace")[:_LONGEST_TEXT]
        body = read_json(raw)  # where it raises, the text stays
    first = obj((arr(body) or [body])[0])  # Gemini puts it into a list
    told = first.get("error", first.get("detail", first.get("message") and first))
    if isinstance(body, str):
        told = body
    if answer.is_redirect:
        return Refused(f"The address of the API has moved ({answer.status_code})", code="moved")
    fault = api_error(told, answer.status_code, answer.headers)
    fault.answer = body
    return fault
