"""Limits everything in a request but its body in size, number and time. uvicorn's parser accepts
heads, chunk extensions and trailers of any length without a deadline, and any number of requests
behind one that is not answered yet."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bridge.app.api.problems import Problem

MOST_BYTES = 64 * 1024  # a JSON web token has 2 KB, the headers of a proxy a few more
MOST_HEADERS = 256  # including trailers
MOST_SECONDS = 10.0
MOST_WAITING = 32  # requests of a connection that wait for an earlier answer
PIECE = 16 * 1024  # bytes for each call of the parser: the precision of the limits


class BoundedHeads(HttpToolsProtocol):
    """Closes a connection whose next request has too many bytes besides its body, or is too slow.

    These bytes are the request line, headers, chunk sizes, chunk extensions, trailers, and bytes
    between two requests. At most MOST_BYTES of them may be adjacent; in a chunked body, all of them
    may be MOST_BYTES more than the body.
    """

    _began = False  # a request began in the current piece
    _open = False  # a request is incomplete
    _body = 0  # bytes of this request's body
    _other = 0  # bytes of this request besides its body
    _run = 0  # ... since its last byte of body
    _refusal: tuple[int, str] | None = None
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            if self.transport.is_closing():
                return
            self._parse(data[start : start + PIECE])

    def _parse(self, piece: bytes) -> None:
        self._began = False
        before = self._body
        if not self._open:
            self._wait()
        super().data_received(piece)
        if not self._began:
            self._count(len(piece), self._body - before)
        if self._refusal is not None:
            self._refuse(*self._refusal)

    def _count(self, size: int, body: int) -> None:
        self._other += size - body
        self._run = 0 if body else self._run + size
        if self._run > MOST_BYTES or self._other > MOST_BYTES + self._body:
            self._refusal = self._refusal or (431, f"at most {MOST_BYTES:,} bytes are taken")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._began = self._open = True
        self._body = self._other = self._run = 0
        self._wait()

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) < MOST_HEADERS:
            super().on_header(name, value)
        else:
            self._refusal = self._refusal or (431, f"at most {MOST_HEADERS} headers are taken")

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        if len(self.pipeline) >= MOST_WAITING:
            self._refusal = self._refusal or (429, f"at most {MOST_WAITING} requests may wait")
        if self._refusal is None:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body += len(body)
        if self._refusal is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._open = False
        if self._refusal is None:
            super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP like other refusals, and close the connection."""
        if self._is_answering() and self.cycle.response_started:
            self.transport.abort()  # the client would read our text as a part of that answer
        else:
            self._answer(Problem(400, msg.rstrip("."), todo="send a request of HTTP/1.1"))

    def _refuse(self, status: int, reason: str) -> None:
        """Answer with the reason, unless another answer is being sent; then only close."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        if self._is_answering():
            self.transport.abort()
        else:
            problem = Problem(status, f"The request has too much beside its body: {reason}")
            self._answer(problem)

    def _is_answering(self) -> bool:
        cycle = self.cycle  # None before the first request, whatever its type says
        return bool(cycle) and not cycle.response_complete

    def _answer(self, problem: Problem) -> None:
        answer = problem.response()
        headers = {**dict(answer.headers), "connection": "close"}
        lines = [b"HTTP/1.1 %d %s\r\n" % (answer.status_code, problem.title.encode())]
        lines += [f"{name}: {value}\r\n".encode("latin-1") for name, value in headers.items()]
        self.transport.write(b"".join([*lines, b"\r\n", bytes(answer.body)]))
        self.transport.close()

    def _wait(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(MOST_SECONDS, self._head_timed_out)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _head_timed_out(self) -> None:
        """Close if a head was not complete in time. Blank lines after a request that is still being
        answered are permitted: some clients send one after a body."""
        self._stop_waiting()
        if self._open or not self._is_answering():
            self.transport.abort()
