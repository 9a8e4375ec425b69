"""Request heads, bounded in size and time: uvicorn's parser takes any, for ever."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bridge.app.api.problems import Problem

MOST_BYTES = 64 * 1024  # a JSON web token takes 2 KB, a proxy's headers a few
MOST_SECONDS = 10.0


class BoundedHeads(HttpToolsProtocol):
    """Closes a connection whose next request's head is too long, or does not come to its end."""

    _read = 0
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        waited = self._waiting
        super().data_received(data)
        if self._waiting is not None and self._waiting is waited:  # all of it was of one head
            self._read += len(data)
            if self._read > MOST_BYTES:
                self._give_up()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._wait()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered in the words of all refusals; the connection ends."""
        problem = Problem(400, msg.rstrip("."), todo="send a request of HTTP/1.1").response()
        headers = {**dict(problem.headers), "connection": "close"}
        lines = [b"HTTP/1.1 400 Bad Request\r\n"]
        lines += [f"{name}: {value}\r\n".encode("latin-1") for name, value in headers.items()]
        self.transport.write(b"".join([*lines, b"\r\n", bytes(problem.body)]))
        self.transport.close()

    def _wait(self) -> None:
        if self._waiting is None:
            self._read = 0
            self._waiting = self.loop.call_later(MOST_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()
