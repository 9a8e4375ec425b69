"""A local model's API that does what a test tells it: whole answers, streams, and every fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Answer:
    """What is sent for one request; `then` is what happens after the last piece."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    kind: str = "text/event-stream"
    headers: Sequence[str] = ()
    then: Literal["end", "cut", "hang"] = "end"


@dataclass
class ModelServer:
    """`answers` are given one after another, the last one again and again."""

    answers: list[Answer]
    url: str = ""
    requests: list[Any] = field(default_factory=list[Any])
    heads: list[str] = field(default_factory=list[str])
    raw: list[bytes] = field(default_factory=list[bytes])

    @property
    def received_requests(self) -> list[tuple[str, Any]]:
        """Head and body of each request."""
        return list(zip(self.heads, self.requests, strict=False))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        lengths = [line for line in head.lower().split("\r\n") if line.startswith("content-length")]
        size = int(lengths[0].split(":")[1]) if lengths else 0
        self.raw.append(await reader.readexactly(size))
        self.requests.append(_read(self.raw[-1]))
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        lines = [f"HTTP/1.1 {answer.status} X", f"content-type: {answer.kind}",
                 "transfer-encoding: chunked", "connection: close", *answer.headers]  # fmt: skip
        writer.write("\r\n".join([*lines, "", ""]).encode())
        for piece in answer.pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        if answer.then == "end":
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        elif answer.then == "hang":
            await reader.read()  # until the client goes away
        else:
            writer.transport.abort()


def _read(body: bytes) -> Any:
    """None for what is no JSON, such as a file."""
    try:
        return json.loads(body)
    except ValueError:
        return None


@asynccontextmanager
async def model_server(*answers: Answer) -> AsyncGenerator[ModelServer]:
    held = ModelServer(list(answers))
    server = await asyncio.start_server(held.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    held.url = f"http://127.0.0.1:{port}"
    try:
        yield held
    finally:
        server.close()


def sse(*events: Any) -> list[bytes]:
    """Each event as one piece."""
    return [b"data: %s\n\n" % json.dumps(event).encode() for event in events]
