"""Requests to model APIs: JSON in, the events of a stream out, errors of the one tree.

The only module of the agents that knows httpx.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cache

import httpx
import orjson
from pydantic import JsonValue

from bridge.agents.faults import fault_of
from bridge.agents.json_values import Json, arr, obj
from bridge.agents.streams import DONE
from bridge.errors import AgentError, BridgeError, Refused, Unavailable, Unsettled

_LARGEST_EVENT = 64_000_000  # bytes: a picture in base64 is one event
_LARGEST_ERROR = 65_536


@dataclass(frozen=True)
class Patience:
    """Seconds: until connected, and between two pieces of an answer."""

    connect: float
    idle: float


@dataclass(frozen=True)
class Request:
    """One POST."""

    url: str
    headers: Mapping[str, str]
    body: Json


class Http:
    """A client for the length of one turn."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def events(self, request: Request) -> AsyncGenerator[JsonValue]:
        """The JSON of each server-sent event; a plain JSON answer is one event (a list: several).

        Raises RateLimited, Unavailable and Refused before the first event, Unsettled where the
        stream breaks off, AgentError for what is no JSON.
        """
        with translated():
            headers = {"content-type": "application/json", **request.headers}
            content = orjson.dumps(request.body)
            async with self._client.stream(
                "POST", request.url, content=content, headers=headers
            ) as answer:
                if answer.status_code != 200:
                    raise await _refusal(answer)
                kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
                if kind == "application/json":
                    whole = _json(await _whole(answer, _LARGEST_EVENT))
                    for one in whole if isinstance(whole, list) else [whole]:
                        yield one
                    return
                async for data in server_sent(answer.aiter_bytes()):
                    yield DONE if data == DONE.encode() else _json(data)


@asynccontextmanager
async def open_http(patience: Patience) -> AsyncGenerator[Http]:
    """No redirects are followed: they would take the key elsewhere."""
    timeout = httpx.Timeout(patience.idle, connect=patience.connect)
    async with httpx.AsyncClient(timeout=timeout, verify=_trust(), trust_env=False) as client:
        yield Http(client)


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


async def server_sent(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Bytes of a `text/event-stream` -> the data of each event (WHATWG HTML, section 9.2). The last
    event needs no empty line after it."""
    held = b""
    data: list[bytes] = []
    async for piece in pieces:
        held += piece
        if len(held) > _LARGEST_EVENT:
            raise AgentError("the API sent an event that is too large")
        *lines, held = held.replace(b"\r\n", b"\n").split(b"\n")
        for line in lines:
            if event := _line(line, data):
                yield event
    for line in (held, b""):
        if event := _line(line, data):
            yield event


def _line(line: bytes, data: list[bytes]) -> bytes:
    """Take one line; the data of an event where it ends one."""
    if line.startswith(b"data:"):
        data.append(line[5:].removeprefix(b" "))
    if line or not data:
        return b""
    event = b"\n".join(data).strip()
    data.clear()
    return event


def _json(data: bytes) -> JsonValue:
    try:
        return orjson.loads(data)
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
    """An answer that is no 200, as an error."""
    try:
        body = _json(await _whole(answer, _LARGEST_ERROR))
    except (AgentError, httpx.HTTPError):
        body = None
    first = obj((arr(body) or [body])[0])  # Gemini puts it into a list
    told = first.get("error", first.get("detail"))
    if answer.is_redirect:
        return Refused(f"The address of the API has moved ({answer.status_code})", code="moved")
    return fault_of(told, answer.status_code, answer.headers)
