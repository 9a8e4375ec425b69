"""Responses of A2A servers in the form that the SDK can read. The SDK refuses timestamps without a
time zone, which pydantic-ai's server writes, and events that are not JSON, and ends the answer
there (2026-11)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import UTC, datetime

import httpx
import orjson
import structlog
from pydantic import JsonValue

from bridge.agents.codec.json_values import text
from bridge.agents.codec.stream_reader import BROKEN_LINE, DONE
from bridge.agents.transport.http import read_event_stream, read_events, read_json
from bridge.errors import AgentError

log = structlog.get_logger()

_LARGEST = 64_000_000  # bytes of one response: it may contain a picture in base64
_FREE = frozenset(("data", "metadata", "raw", "text"))  # contents of the agent, not of the protocol
_Reader = Callable[[httpx.Response], AsyncGenerator[bytes]]
_UNREAD = frozenset(("content-encoding", "content-length", "transfer-encoding"))


def repaired(value: JsonValue) -> JsonValue:
    """Return JSON with timestamps as the protocol requires them. A time without a zone is taken as
    UTC; an unreadable time is removed."""
    match value:
        case dict():
            members = {
                key: member if key in _FREE else repaired(member) for key, member in value.items()
            }
            if "timestamp" in members:
                members["timestamp"] = _time(text(members["timestamp"]))
            return members
        case list():
            return [repaired(item) for item in value]
        case _:
            return value


def _time(timestamp: str) -> str | None:
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    if moment.tzinfo is not None and "T" in timestamp:
        return timestamp
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return zoned.isoformat().replace("+00:00", "Z")


def lenient_client(client: httpx.AsyncClient) -> httpx.AsyncClient:
    """Return a client that sends requests through this one and repairs the responses. It needs no
    closing."""
    return httpx.AsyncClient(
        transport=_Mending(client), headers=client.headers, timeout=client.timeout, trust_env=False
    )


class _Mending(httpx.AsyncBaseTransport):
    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._client.send(request, stream=True)
        headers = [
            multi_item
            for multi_item in answer.headers.multi_items()
            if multi_item[0].lower() not in _UNREAD
        ]
        kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        stream = _Body(answer, _events if kind == "text/event-stream" else _whole)
        return httpx.Response(answer.status_code, headers=headers, stream=stream)


class _Body(httpx.AsyncByteStream):
    def __init__(
        self, answer: httpx.Response, reader: Callable[[httpx.Response], AsyncGenerator[bytes]]
    ) -> None:
        self._answer = answer
        self._reader = reader

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._reader(self._answer):
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


async def _whole(answer: httpx.Response) -> AsyncGenerator[bytes]:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > _LARGEST:
            raise httpx.ReadError("the answer is too large")
    yield _json(bytes(body))


async def _events(answer: httpx.Response) -> AsyncGenerator[bytes]:
    """Yield each event with its data on one line and in ASCII: the SDK takes other line ends, and
    Unicode line separators within a text, for the end of a line. Events that are not JSON are
    dropped."""
    async for sent in read_event_stream(answer.aiter_bytes()):
        if sent.event == "error":
            yield b"event: error\ndata: " + b" ".join(sent.data.splitlines()) + b"\n\n"
            continue
        for event in read_events(sent.data):
            if event == BROKEN_LINE:
                log.warning("agent_stream_broken", server=answer.url.host, lines=1)
            elif event != DONE:
                yield b"data: " + json.dumps(repaired(event)).encode() + b"\n\n"


def _json(body: bytes) -> bytes:
    try:
        return orjson.dumps(repaired(read_json(body)))
    except AgentError:
        return body
