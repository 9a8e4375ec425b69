"""One connection to a server: opened, registered, kept alive, and spoken to at a bounded pace."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from dataclasses import dataclass

import structlog

from bridge.errors import AuthFailed, ConfigError, PlatformError, Unavailable
from bridge.ports.clock import Clock
from connectors.irc.flood import TokenBucket
from connectors.irc.registration import Identity, Registration, closed
from connectors.irc.state import State
from connectors.irc.wire import Line, formatted, parse

log = structlog.get_logger()

_LONGEST_LINE = 65_536  # bytes that are read as one line; a server that sends more is broken
_OPEN_S = 60.0  # for connecting and registering; servers look up host names first
_QUIET_S = 60.0  # without a line from the server, until a PING asks for one
_DEAD_S = 30.0  # after that PING
_GOODBYE_S = 2.0
_LOOK_S = 0.25  # for which an urgent line may have to wait at most


@dataclass(frozen=True)
class Endpoint:
    """Where the server is; `ca_file` and `certificate` are paths of PEM files."""

    host: str
    port: int
    tls: bool = True
    ca_file: str | None = None
    certificate: str | None = None

    def context(self) -> ssl.SSLContext | None:
        """Raises ConfigError where a file cannot be read."""
        if not self.tls:
            return None
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.certificate:
                context.load_cert_chain(self.certificate)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"ca_file or client_certificate cannot be read: {error}") from error
        return context


@dataclass
class _Waiting:
    """Lines that go out one after the other; `written` is called after each."""

    lines: deque[bytes]
    written: Callable[[], None] | None
    urgent: bool = False
    together: bool = False


@contextlib.contextmanager
def translated() -> Generator[None]:
    """Errors of sockets, TLS and asyncio as ours."""
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise AuthFailed(
            f"The server's certificate is not trusted: {error}; set `ca_file` if "
            "it is one of your own"
        ) from error
    except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError, ValueError) as error:
        raise Unavailable(
            f"The connection failed: {type(error).__name__} {error}", code=type(error).__name__
        ) from error


class Link:
    """`open`, then read `lines` until they end. One reader; anybody may `put`."""

    def __init__(
        self, endpoint: Endpoint, identity: Identity, clock: Clock, bucket: TokenBucket
    ) -> None:
        self.state = State(identity.nick)
        self._endpoint = endpoint
        self._identity = identity
        self._clock = clock
        self._bucket = bucket
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._queue: deque[_Waiting] = deque()
        self._more = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._line_at = 0.0
        self._probed = False
        self.logged_in = False
        self.closing: PlatformError | None = None

    async def open(self) -> None:
        """Connect and register. Raises AuthFailed, Unavailable or ConfigError."""
        context = self._endpoint.context()
        try:
            with translated():
                async with asyncio.timeout(_OPEN_S):
                    self._reader, self._writer = await asyncio.open_connection(
                        self._endpoint.host, self._endpoint.port, ssl=context, limit=_LONGEST_LINE
                    )
                    await self._register()
        except BaseException:
            await self.close()
            raise
        self._line_at = self._clock.monotonic()
        self._tasks = [
            asyncio.create_task(self._write(), name="irc writer"),
            asyncio.create_task(self._watch(), name="irc keepalive"),
        ]

    async def _register(self) -> None:
        registration = Registration(self._identity, self.state)
        await self._send_now(registration.begin())
        while not registration.done:
            line = await self._next()
            if line is None:
                raise Unavailable("The server closed the connection before it let us in")
            self.state.observe(line)
            await self._send_now(registration.feed(line))
        self.logged_in = registration.logged_in

    async def _send_now(self, lines: Sequence[bytes]) -> None:
        if self._writer is not None and lines:
            self._writer.write(b"".join(lines))
            await self._writer.drain()

    async def _next(self) -> Line | None:
        """The next line; None when the connection has ended."""
        while self._reader is not None:
            raw = await self._reader.readline()
            if not raw:
                return None
            if (line := parse(raw)) is not None:
                return line
        return None

    async def lines(self) -> AsyncIterator[Line]:
        """Every line but PING, until the connection ends. Raises Unavailable when it breaks."""
        while True:
            with translated():
                line = await self._next()
            if line is None:
                return
            self._line_at = self._clock.monotonic()
            self._probed = False
            if line.command == "PING":
                self.put([formatted("PONG", line.last)], urgent=True)
                continue
            if line.command == "ERROR":
                self.closing = closed(line)
            yield line

    def put(
        self,
        lines: Sequence[bytes],
        *,
        urgent: bool = False,
        together: bool = False,
        written: Callable[[], None] | None = None,
    ) -> None:
        """Queue lines. `urgent` ones go before all others and wait for no pace; no other line
        comes between those that go `together`, which count against the pace of what follows;
        `written` is called when the first of them goes out."""
        waiting = _Waiting(deque(lines), written, urgent, together)
        if urgent:
            self._queue.appendleft(waiting)
        else:
            self._queue.append(waiting)
        self._more.set()

    def withdraw(self, written: Callable[[], None]) -> bool:
        """Take lines back that still wait; False where they have begun to go out."""
        for waiting in self._queue:
            if waiting.written == written:
                self._queue.remove(waiting)
                return True
        return False

    async def _write(self) -> None:
        try:
            while self._writer is not None:
                await self._more.wait()
                if not self._queue:
                    self._more.clear()
                    continue
                wait = self._bucket.wait(self._clock.monotonic())
                waiting = self._queue[0]
                if wait > 0 and not waiting.urgent:
                    await self._clock.sleep(min(wait, _LOOK_S))
                    continue
                count = len(waiting.lines) if waiting.together else 1
                lines = [waiting.lines.popleft() for _ in range(count)]
                if not waiting.lines:
                    self._queue.popleft()
                for _ in lines:
                    self._bucket.take(self._clock.monotonic())
                if waiting.written is not None:
                    waiting.written()
                    waiting.written = None
                self._writer.write(b"".join(lines))
                await self._writer.drain()
        except (OSError, RuntimeError) as error:
            log.info("irc_write_failed", error=str(error))
            self.abort()

    async def _watch(self) -> None:
        """Probe a silent connection with PING, and break one that does not answer."""
        while True:
            await self._clock.sleep(_QUIET_S / 4)
            quiet = self._clock.monotonic() - self._line_at
            if self._probed and quiet >= _QUIET_S + _DEAD_S:
                log.warning("irc_connection_dead", server=self._endpoint.host)
                self.abort()
                return
            if not self._probed and quiet >= _QUIET_S:
                self._probed = True
                self.put([formatted("PING", "alive")], urgent=True)

    def slow_down(self) -> None:
        self._bucket.slow_down()

    def abort(self) -> None:
        """Break the connection: `lines` ends."""
        if self._writer is not None:
            self._writer.transport.abort()

    async def close(self, farewell: str = "") -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        writer, self._writer, self._reader = self._writer, None, None
        if writer is None:
            return
        try:
            async with asyncio.timeout(_GOODBYE_S):
                if farewell:
                    writer.write(formatted("QUIT", farewell))
                    await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError, ssl.SSLError):
            writer.transport.abort()
