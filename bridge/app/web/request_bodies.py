"""Request bodies, bounded in size and time before any handler sees them."""

from __future__ import annotations

import asyncio
import sys

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridge.app.api.problems import Problem

MOST_BYTES = 4 * 1024 * 1024  # the largest body of a platform is a Bot Framework activity, 256 KB
MOST_SECONDS = 10.0
_DIGITS = 18  # of a Content-Length that are parsed
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


class BoundedBodies:
    """ASGI middleware: answers 413 to a body that is too large, 408 to one that never ends."""

    def __init__(
        self, app: ASGIApp, most_bytes: int = MOST_BYTES, most_seconds: float = MOST_SECONDS
    ) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._most_seconds):
                body = await self._body(scope, receive)
        except TimeoutError:
            seconds = f"{self._most_seconds:g} s"
            problem = Problem(
                408, f"The body was not received within {seconds}", todo="send it anew",
                headers=_CLOSE,
            )  # fmt: skip
            await problem.response()(scope, receive, send)
            return
        except ClientDisconnect:
            return  # the client is gone
        if body is None:
            problem = Problem(
                413, f"The body is larger than {self._most_bytes:,} bytes", headers=_CLOSE,
                todo="send less at once; send files by URL",
            )  # fmt: skip
            await problem.response()(scope, receive, send)
            return
        await self._app(scope, _replayed_body(body, receive), send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None if it is too large. Raises ClientDisconnect."""
        if _announced_length(scope) > self._most_bytes:
            return None
        parts: list[bytes] = []
        length = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientDisconnect
            parts.append(message.get("body", b""))
            length += len(parts[-1])
            if length > self._most_bytes:
                return None
            if not message.get("more_body", False):
                return b"".join(parts)


def _has_body(scope: Scope) -> bool:
    names = {name for name, _ in scope["headers"]}
    return b"content-length" in names or b"transfer-encoding" in names


def _announced_length(scope: Scope) -> int:
    text = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if not text.isdigit():
        return 0
    return int(text) if len(text) <= _DIGITS else sys.maxsize


def _replayed_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` with the body in one message, then the server's further messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
