"""Socket Mode: tickets, live WebSockets and their frames.

Frames as in docs.slack.dev "Using Socket Mode" (2026-08): hello, envelopes, disconnect; the app
acknowledges with {"envelope_id": ...}.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections.abc import Callable
from typing import Any

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect

from connectors.slack.sandbox.state import App

Json = dict[str, Any]
OnAck = Callable[[str, Any], None]  # the envelope's id, and the payload of its acknowledgement
MAX_SOCKETS = 10  # live sockets per app (docs, 2026-08)
_HOST = "applink-sandbox"


class Socket:
    """One live connection; it sends frames in order."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.leaving = False

    def send(self, frame: Json) -> None:
        self._frames.put_nowait(orjson.dumps(frame))

    def leave(self, reason: str, *, close: bool = True) -> None:
        """Tell the app to reconnect; no new envelope uses this socket."""
        self.leaving = True
        self.send({"type": "disconnect", "reason": reason, "debug_info": {"host": _HOST}})
        if close:
            self._frames.put_nowait(None)

    def drop(self) -> None:
        """Close without a disconnect frame."""
        self.leaving = True
        self._frames.put_nowait(None)

    async def run(self, on_ack: OnAck) -> None:
        """Run until either side closes."""
        writing = asyncio.create_task(self._write())
        reading = asyncio.create_task(self._read(on_ack))
        try:
            await asyncio.wait({writing, reading}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.leaving = True
            for task in (writing, reading):
                task.cancel()
            await asyncio.gather(writing, reading, return_exceptions=True)

    async def _write(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while (frame := await self._frames.get()) is not None:
                await self._websocket.send_text(frame.decode())
            await self._websocket.close()

    async def _read(self, on_ack: OnAck) -> None:
        while (frame := await self._websocket.receive())["type"] != "websocket.disconnect":
            acknowledged = _acknowledged(frame.get("text") or "")
            if acknowledged is not None:
                on_ack(*acknowledged)


class Sockets:
    """All live sockets, by app."""

    def __init__(self, base_url: str) -> None:
        self._link = f"ws{base_url.removeprefix('http')}/slack/socket/link/"
        self._tickets: dict[str, App] = {}
        self._live: dict[str, list[Socket]] = {}
        self._random = random.Random(7)  # noqa: S311 - no secret

    def open(self, app: App) -> str:
        """A WebSocket URL that works once (`apps.connections.open`)."""
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = app
        app.listening = True
        return f"{self._link}?ticket={ticket}&app_id={app.id}"

    def choose(self, app: App) -> Socket | None:
        """Any of the live sockets: an envelope goes to one of them, and apps must not assume a
        pattern ("Using Socket Mode", 2026-08)."""
        live = [socket for socket in self._live.get(app.id, ()) if not socket.leaving]
        return self._random.choice(live) if live else None

    def of(self, app: App | None = None) -> list[Socket]:
        if app is not None:
            return list(self._live.get(app.id, ()))
        return [socket for sockets in self._live.values() for socket in sockets]

    async def serve(self, websocket: WebSocket, on_ack: Callable[[App, str, Any], None]) -> None:
        """The endpoint behind the URL of `open`."""
        app = self._tickets.pop(websocket.query_params.get("ticket", ""), None)
        if app is None or not app.active:
            await websocket.close(1008)
            return
        await websocket.accept()
        socket = Socket(websocket)
        live = self._live.setdefault(app.id, [])
        if sum(not other.leaving for other in live) >= MAX_SOCKETS:
            socket.leave("too_many_websockets")
        else:
            socket.send(_hello(app, len(live) + 1))
        live.append(socket)
        try:
            await socket.run(lambda envelope_id, payload: on_ack(app, envelope_id, payload))
        finally:
            live.remove(socket)


def _hello(app: App, connections: int) -> Json:
    return {
        "type": "hello",
        "num_connections": connections,
        "connection_info": {"app_id": app.id},
        "debug_info": {"host": _HOST, "build_number": 1, "approximate_connection_time": 18060},
    }


def _acknowledged(text: str) -> tuple[str, Any] | None:
    """The envelope that a frame acknowledges, and the payload of the frame."""
    try:
        frame = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    envelope_id = frame.get("envelope_id") if isinstance(frame, dict) else None
    return (envelope_id, frame.get("payload")) if isinstance(envelope_id, str) else None
