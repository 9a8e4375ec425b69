"""The gateway v10: sockets, identify and resume, and events to every session that may get them."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
import zlib
from collections import deque
from collections.abc import Callable
from typing import Any

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from connectors.discord.sandbox.events import (
    KNOWN_INTENTS,
    PRIVILEGED,
    Event,
    Intent,
    may_read_content,
    may_receive,
)
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.sessions import Closing, Outbox, Session, frame
from connectors.discord.sandbox.shapes import (
    Json,
    app_flags,
    channel_json,
    guild_json,
    member_json,
    own_user_json,
    thread_json,
    without_content,
)
from connectors.discord.sandbox.state import App, Guild, State

HEARTBEAT_S = 41.25
_LATENCY_S = 0.05  # seconds
_SESSION_LASTS_S = 300.0
_LARGEST_PAYLOAD = 4096
_FRAMES_PER_MINUTE = 120


class _Close(Exception):
    """Close the socket with this code (docs: topics/opcodes-and-status-codes)."""

    def __init__(self, code: int, reason: str) -> None:
        self.closing = Closing(code, reason)
        super().__init__(reason)


class Gateway:
    """All sessions, and the sockets that carry them."""

    def __init__(self, state: State, ws_url: str) -> None:
        self.url = ws_url
        self._state = state
        self._sessions: dict[str, Session] = {}
        self._sockets: set[Outbox] = set()

    def deliver(self, event: Event) -> None:
        """Dispatch an event to every session that may receive it."""
        full_data = data_without_content = b""
        for session in self._sessions.values():
            user, app = session.app.user.id, session.app.id
            if not may_receive(event, user, session.intents):
                continue
            if event.message and not may_read_content(event.message, user, app, session.intents):
                data_without_content = data_without_content or orjson.dumps(
                    without_content(event.data)
                )
                session.dispatch(event.name, data_without_content)
            else:
                full_data = full_data or orjson.dumps(event.data)
                session.dispatch(event.name, full_data)

    def deliver_to_app(self, app: App, name: str, data: bytes) -> bool:
        """Dispatch to the sessions of one application; returns whether it has a session."""
        sessions = [session for session in self._sessions.values() if session.app is app]
        for session in sessions:
            session.dispatch(name, data)
        return bool(sessions)

    def show_guild(self, app: App, guild: Guild) -> None:
        """Dispatch `GUILD_CREATE` to the sessions of an application that came into a guild."""
        for session in self._sessions.values():
            if session.app is app and session.intents & Intent.GUILDS:
                session.dispatch("GUILD_CREATE", orjson.dumps(guild_create(guild, session)))

    def disconnect(self, reason: str = "") -> None:
        """Close every socket: at once, after op 7 ("reconnect"), or for good ("invalidate")."""
        if reason == "invalidate":
            self._sessions.clear()
        for outbox in list(self._sockets):
            if reason == "reconnect":
                outbox.put_nowait(frame(7, None))
            elif reason == "invalidate":
                outbox.put_nowait(frame(9, False))
            else:
                outbox.put_nowait(Closing(4000, "Unknown error"))

    async def close(self) -> None:
        """Close every socket and forget the sessions."""
        self._sessions.clear()
        for outbox in list(self._sockets):
            outbox.put_nowait(Closing(1001, "Going away"))
        for _ in range(100):
            if not self._sockets:
                return
            await asyncio.sleep(0.01)

    async def serve(self, ws: WebSocket) -> None:
        """Serve one socket, from hello to close."""
        await ws.accept()
        outbox = Outbox()
        self._sockets.add(outbox)
        if ws.query_params.get("v", "10") not in ("9", "10"):
            outbox.put_nowait(Closing(4012, "Invalid API version"))
        else:
            hello = {"heartbeat_interval": int(HEARTBEAT_S * 1000), "_trace": ["local"]}
            outbox.put_nowait(frame(10, hello))
        compress = ws.query_params.get("compress") == "zlib-stream"
        socket = _Socket(self, self._state, ws, outbox)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_send_all(ws, outbox, compress=compress))
                await socket.read()
                outbox.put_nowait(Closing(1000, ""))
        finally:
            self._sockets.discard(outbox)
            socket.leave()

    def open_session(self, app: App, intents: int, outbox: Outbox) -> Session:
        self._forget_old_sessions()
        session = Session(secrets.token_hex(16), app, intents, outbox)
        self._sessions[session.id] = session
        return session

    def session(self, session_id: str) -> Session | None:
        self._forget_old_sessions()
        return self._sessions.get(session_id)

    def end_session(self, session: Session) -> None:
        self._sessions.pop(session.id, None)

    def _forget_old_sessions(self) -> None:
        oldest = time.monotonic() - _SESSION_LASTS_S
        for session in list(self._sessions.values()):
            if session.left_at is not None and session.left_at < oldest:
                del self._sessions[session.id]


class _Socket:
    """The requests of one client over its socket."""

    def __init__(self, gateway: Gateway, state: State, ws: WebSocket, outbox: Outbox) -> None:
        self._gateway = gateway
        self._state = state
        self._ws = ws
        self._outbox = outbox
        self._session: Session | None = None
        self._times: deque[float] = deque()
        self._answers: dict[int, Callable[[Any], object]] = {
            1: self._heartbeat, 2: self._identify, 3: self._in_session, 4: self._in_session,
            6: self._resume, 8: self._request_members,
        }  # fmt: skip

    async def read(self) -> None:
        """Answer until the client leaves, sends invalid frames or stops its heartbeat."""
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_S * 2):
                    message = await self._ws.receive()
            except TimeoutError:
                self._outbox.put_nowait(Closing(4009, "Session timed out"))
                return
            if message["type"] == "websocket.disconnect":
                self._left(message.get("code", 1006))
                return
            try:
                self._take(message.get("text") or message.get("bytes") or "")
            except _Close as order:
                self._outbox.put_nowait(order.closing)

    def leave(self) -> None:
        session = self._session
        if session is not None and session.outbox is self._outbox:
            session.outbox = None
            session.left_at = time.monotonic()

    def _left(self, code: int) -> None:
        # A client that closes with 1000 or 1001 ends its session (docs: topics/gateway). Our own
        # closing frames also arrive here, with the code that we sent.
        if code in (1000, 1001) and self._session and self._session.outbox is self._outbox:
            self._gateway.end_session(self._session)

    def _take(self, raw: str | bytes) -> None:
        self._count(len(raw.encode() if isinstance(raw, str) else raw))
        try:
            payload = orjson.loads(raw)
            op = payload["op"]
            data = payload.get("d")
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
            raise _Close(4002, "Error while decoding payload.") from None
        answer = self._answers.get(op) if isinstance(op, int) else None
        if answer is None:
            raise _Close(4001, "Unknown opcode.")
        answer(data)

    def _count(self, size: int) -> None:
        now = time.monotonic()
        while self._times and self._times[0] <= now - 60:
            self._times.popleft()
        self._times.append(now)
        if len(self._times) > _FRAMES_PER_MINUTE:
            raise _Close(4008, "Rate limited.")
        if size > _LARGEST_PAYLOAD:
            raise _Close(4002, "Error while decoding payload.")

    def _heartbeat(self, data: Any) -> None:
        if self._session is not None and isinstance(data, int):
            self._session.acknowledge(data)
        # Answer with a network's latency: discord.py notes the send time only after sending.
        answer = self._outbox.put_nowait
        asyncio.get_running_loop().call_later(_LATENCY_S, answer, frame(11, None))

    def _identify(self, data: Any) -> None:
        if self._session is not None:
            raise _Close(4005, "Already authenticated.")
        if not isinstance(data, dict):
            raise _Close(4002, "Error while decoding payload.")
        app = self._app(data.get("token"))
        intents = data.get("intents")
        if not isinstance(intents, int) or intents & ~KNOWN_INTENTS or intents < 0:
            raise _Close(4013, "Invalid intent(s).")
        if intents & PRIVILEGED & ~app.granted:
            raise _Close(4014, "Disallowed intent(s).")
        self._session = self._gateway.open_session(app, intents, self._outbox)
        self._welcome(self._session)

    def _resume(self, data: Any) -> None:
        if not isinstance(data, dict):
            raise _Close(4002, "Error while decoding payload.")
        app = self._app(data.get("token"))
        session = self._gateway.session(str(data.get("session_id")))
        seq = data.get("seq")
        if session is None or session.app is not app or not isinstance(seq, int):
            self._outbox.put_nowait(frame(9, False))
            return
        if seq > session.seq:
            raise _Close(4007, "Invalid seq.")
        if not session.can_resume_from(seq):
            self._gateway.end_session(session)
            self._outbox.put_nowait(frame(9, False))
            return
        self._session = session
        session.resume(seq, self._outbox)

    def _request_members(self, data: Any) -> None:
        session = self._in_session(data)
        query: Json = data if isinstance(data, dict) else {}
        guild_field = query.get("guild_id")
        guild_id = str(
            guild_field[0] if isinstance(guild_field, list) and guild_field else guild_field
        )
        guild = self._state.guilds.get(int(guild_id)) if guild_id.isdecimal() else None
        if guild is None or session.app.user.id not in guild.members:
            return
        if query.get("query") == "" and not session.intents & Intent.GUILD_MEMBERS:
            raise _Close(4014, "Disallowed intent(s).")
        chunk = _member_chunk(guild, query)
        session.dispatch("GUILD_MEMBERS_CHUNK", orjson.dumps(chunk))

    def _in_session(self, _data: Any) -> Session:
        """Return the session; accept ops that need one (presence, voice) without effect."""
        if self._session is None:
            raise _Close(4003, "Not authenticated.")
        return self._session

    def _app(self, token: Any) -> App:
        app = self._state.apps.get(str(token).removeprefix("Bot "))
        if app is None:
            raise _Close(4004, "Authentication failed.")
        return app

    def _welcome(self, session: Session) -> None:
        app = session.app
        guilds = [g for g in self._state.guilds.values() if app.user.id in g.members]
        ready = {
            "v": 10,
            "user": own_user_json(app),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "resume_gateway_url": self._gateway.url,
            "application": {"id": str(app.id), "flags": app_flags(app)},
            "private_channels": [],
            "relationships": [],
            "presences": [],
            "session_type": "normal",
            "user_settings": {},
            "_trace": ["local"],
        }
        session.dispatch("READY", orjson.dumps(ready))
        if session.intents & Intent.GUILDS:
            for guild in guilds:
                session.dispatch("GUILD_CREATE", orjson.dumps(guild_create(guild, session)))


def guild_create(guild: Guild, session: Session) -> Json:
    """Return a guild as a new session gets it, with the members that its intents allow."""
    viewer = session.app.user.id
    everybody = bool(session.intents & Intent.GUILD_PRESENCES)
    members = [m for m in guild.members.values() if everybody or m.user.id == viewer]
    threads = [t for t in guild.threads.values() if t.thread and not t.thread.archived]
    return guild_json(guild) | {
        "joined_at": guild.members[viewer].joined_at,
        "large": False,
        "unavailable": False,
        "member_count": len(guild.members),
        "voice_states": [],
        "members": [member_json(member) for member in members],
        # Discord sends bots all channels, even those that they may not view.
        "channels": [channel_json(channel) for channel in guild.channels.values()],
        "threads": [
            thread_json(thread, viewer)
            for thread in threads
            if permissions_in(thread, viewer) & Permission.VIEW_CHANNEL
        ],
        "presences": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def _member_chunk(guild: Guild, request: Json) -> Json:
    ids = request.get("user_ids")
    query = str(request.get("query") or "").lower()
    members = [m for m in guild.members.values() if m.display_name.lower().startswith(query)]
    missing: list[str] = []
    if ids is not None:
        requested_ids = [str(item) for item in (ids if isinstance(ids, list) else [ids])]
        known_ids = {str(member) for member in guild.members}
        members = [m for m in guild.members.values() if str(m.user.id) in requested_ids]
        missing = [item for item in requested_ids if item not in known_ids]
    limit = request.get("limit") or len(members)
    return {
        "guild_id": str(guild.id),
        "members": [member_json(member) for member in members[: int(limit)]],
        "chunk_index": 0,
        "chunk_count": 1,
        "not_found": missing,
        **({"nonce": request["nonce"]} if request.get("nonce") else {}),
    }


async def _send_all(ws: WebSocket, outbox: Outbox, *, compress: bool) -> None:
    """Send the frames of the outbox until the order to close."""
    deflate = zlib.compressobj() if compress else None
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while not isinstance(item := await outbox.get(), Closing):
            if deflate is None:
                await ws.send({"type": "websocket.send", "text": item.decode()})
            else:
                data = deflate.compress(item) + deflate.flush(zlib.Z_SYNC_FLUSH)
                await ws.send({"type": "websocket.send", "bytes": data})
        if ws.client_state is WebSocketState.CONNECTED:
            await ws.close(item.code, item.reason)
