"""Gateway sessions: numbered dispatches, stored so that a client can resume after a lost socket."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

import orjson

from connectors.discord.sandbox.shapes import Json
from connectors.discord.sandbox.state import App

MAX_DISPATCHES = 10_000


@dataclass(frozen=True, slots=True)
class Closing:
    """The last item of an outbox: the order to close the socket with this code."""

    code: int
    reason: str


class Outbox(asyncio.Queue["bytes | Closing"]):
    """The frames that a socket still has to send, in order."""


@dataclass
class Session:
    """One identified gateway session of an app; `outbox` is that of its socket, if it has one."""

    id: str
    app: App
    intents: int
    outbox: Outbox | None = None
    seq: int = 0
    left_at: float | None = None  # when it lost its socket
    # Sequence number, event name, data; sessions share the data bytes.
    dispatches: deque[tuple[int, str, bytes]] = field(
        default_factory=lambda: deque[tuple[int, str, bytes]](maxlen=MAX_DISPATCHES)
    )

    def dispatch(self, name: str, data: bytes) -> None:
        """Number a dispatch, store it, and send it if there is a socket. `data` is JSON."""
        self.seq += 1
        self.dispatches.append((self.seq, name, data))
        if self.outbox is not None:
            self.outbox.put_nowait(_dispatch_frame(self.seq, name, data))

    def acknowledge(self, seq: int) -> None:
        """Drop the dispatches up to `seq`: the client received them and will not ask for them."""
        while self.dispatches and self.dispatches[0][0] <= seq:
            self.dispatches.popleft()

    def can_resume_from(self, seq: int) -> bool:
        first = self.dispatches[0][0] if self.dispatches else self.seq + 1
        return first - 1 <= seq <= self.seq

    def resume(self, seq: int, outbox: Outbox) -> None:
        """Send the dispatches after `seq`, then RESUMED."""
        if self.outbox is not None:
            self.outbox.put_nowait(Closing(4000, "Resumed elsewhere"))
        self.acknowledge(seq)
        for missed in self.dispatches:
            outbox.put_nowait(_dispatch_frame(*missed))
        self.outbox = outbox
        self.left_at = None
        self.dispatch("RESUMED", b"{}")


def frame(op: int, data: Json | bool | int | None) -> bytes:
    """Return a frame that is not a dispatch."""
    return orjson.dumps({"t": None, "s": None, "op": op, "d": data})


def _dispatch_frame(seq: int, name: str, data: bytes) -> bytes:
    return b'{"t":"%b","s":%d,"op":0,"d":%b}' % (name.encode(), seq, data)
