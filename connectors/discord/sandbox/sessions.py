"""Gateway sessions: numbered dispatches, kept for a while so that a lost socket can resume."""

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
    """The last thing in an outbox: close the socket with this code."""

    code: int
    reason: str


class Outbox(asyncio.Queue["bytes | Closing"]):
    """What a socket still has to send, in order."""


@dataclass
class Session:
    """One identified gateway session of an app; `outbox` is its socket's, when it has one."""

    id: str
    app: App
    intents: int
    outbox: Outbox | None = None
    seq: int = 0
    left_at: float | None = None  # when it lost its socket
    # Sequence, name, data; the data are shared by all sessions that keep them.
    dispatches: deque[tuple[int, str, bytes]] = field(
        default_factory=lambda: deque[tuple[int, str, bytes]](maxlen=MAX_DISPATCHES)
    )

    def dispatch(self, name: str, data: bytes) -> None:
        """Number a dispatch, keep it and send it if there is a socket. `data` is JSON."""
        self.seq += 1
        self.dispatches.append((self.seq, name, data))
        if self.outbox is not None:
            self.outbox.put_nowait(_dispatch_frame(self.seq, name, data))

    def acknowledge(self, seq: int) -> None:
        """The client has got everything up to `seq`: nothing of it will be asked again."""
        while self.dispatches and self.dispatches[0][0] <= seq:
            self.dispatches.popleft()

    def can_resume_from(self, seq: int) -> bool:
        first = self.dispatches[0][0] if self.dispatches else self.seq + 1
        return first - 1 <= seq <= self.seq

    def resume(self, seq: int, outbox: Outbox) -> None:
        """Send what was missed after `seq`, then RESUMED."""
        if self.outbox is not None:
            self.outbox.put_nowait(Closing(4000, "Resumed elsewhere"))
        self.acknowledge(seq)
        for missed in self.dispatches:
            outbox.put_nowait(_dispatch_frame(*missed))
        self.outbox = outbox
        self.left_at = None
        self.dispatch("RESUMED", b"{}")


def frame(op: int, data: Json | bool | int | None) -> bytes:
    """A frame that is no dispatch."""
    return orjson.dumps({"t": None, "s": None, "op": op, "d": data})


def _dispatch_frame(seq: int, name: str, data: bytes) -> bytes:
    return b'{"t":"%b","s":%d,"op":0,"d":%b}' % (name.encode(), seq, data)
