"""Response URLs: messages from apps after an interaction; five uses within half an hour.

Texts and limits: docs.slack.dev "Handling user interaction" (2026-08). The answer after the last
use is not documented; clients report `used_url` and `expired_url`.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from bridge.sandbox.faults import Fault
from bridge.sandbox.platform import SandboxContext
from connectors.slack.sandbox.arguments import ApiError, Arguments
from connectors.slack.sandbox.broken import Broken
from connectors.slack.sandbox.content import edited_content, new_content
from connectors.slack.sandbox.state import App, Channel, Draft, Json, Message, Workspace
from connectors.slack.sandbox.state_changes import StateChanges

SECONDS = 1800.0
USES = 5
_MAX_OPEN = 10_000
_LARGEST = 1 << 20


@dataclass(slots=True)
class Reply:
    """One response URL: its recipient, its channel, its message."""

    app: App
    team: Workspace
    channel: Channel
    message: Message | None  # None for a command
    person: str
    until: float
    uses: int = 0


class Replies:
    """All response URLs. Faults: `slack:response_url:<channel>`."""

    def __init__(self, context: SandboxContext, changes: StateChanges) -> None:
        self._context = context
        self._changes = changes
        self._open: dict[str, Reply] = {}

    def routes(self) -> list[BaseRoute]:
        path = "/slack/actions/{team}/{number}/{key}"
        return [Route(path, self._answer, methods=["POST"])]

    def open(
        self, app: App, team: Workspace, channel: Channel, message: Message | None, person: str
    ) -> str:
        key = secrets.token_urlsafe(18)
        until = self._changes.now() + SECONDS
        self._open[key] = Reply(app, team, channel, message, person, until)
        while len(self._open) > _MAX_OPEN:
            del self._open[next(iter(self._open))]
        number = secrets.randbelow(10**13)
        return f"{self._context.base_url}/slack/actions/{team.id}/{number}/{key}"

    async def _answer(self, request: Request) -> Response:
        reply = self._open.get(request.path_params["key"])
        where = f"slack:response_url:{reply.channel.id if reply else '-'}"
        if fault := self._context.faults.take(where, "status", "rate_limited", "hang"):
            return await self._fail(fault)
        try:
            self._act(reply, _parsed(await request.body()))
        except ApiError as error:
            return self._refuse(404 if error.code.endswith("_url") else 400, error.code)
        if self._context.faults.take(where, "lose_answer"):
            return Broken()
        return PlainTextResponse("ok")

    def _act(self, reply: Reply | None, body: Json) -> None:
        if reply is None or self._changes.now() > reply.until:
            raise ApiError("expired_url")
        if reply.uses >= USES:
            raise ApiError("used_url")
        args = Arguments(body)
        if reply.message is not None and args.flag("delete_original"):
            self._delete(reply, reply.message)
        elif reply.message is not None and args.flag("replace_original"):
            self._replace(reply, reply.message, args)
        else:
            self._say(reply, args)
        reply.uses += 1

    def _delete(self, reply: Reply, message: Message) -> None:
        if message.audience is not None:
            reply.channel.whispers.pop(message.at, None)
        elif message.at in reply.channel.messages:
            self._changes.delete(reply.team, reply.channel, message)

    def _replace(self, reply: Reply, message: Message, args: Arguments) -> None:
        content = edited_content(args, message, reply.team, reply.app)
        if message.audience is None:
            if message.at not in reply.channel.messages:
                raise ApiError("message_not_found")
            self._changes.edit(reply.team, reply.channel, message, content, reply.app.bot_user)
            return
        for name, value in content.items():
            setattr(message, name, value)

    def answer(self, url: str, body: Json) -> None:
        """Handle the body of an acknowledgement as if it had been sent to its response URL."""
        self._say(self._open[url.rpartition("/")[2]], Arguments(body))

    def _say(self, reply: Reply, args: Arguments) -> None:
        """Post a new message: ephemeral, unless the app chooses the channel."""
        draft = Draft(reply.app.bot_user, app=reply.app, **new_content(args, reply.team, reply.app))
        thread = args.moment("thread_ts", "invalid_thread_ts")
        parent = reply.channel.messages.get(thread) if thread is not None else None
        if parent is None and reply.message and reply.message.thread is not None:
            parent = reply.channel.messages.get(reply.message.thread)
        draft.parent = parent.at if parent is not None else None
        if args.text("response_type") == "in_channel":
            self._changes.post(reply.team, reply.channel, draft)
        else:
            self._changes.whisper(reply.channel, draft, reply.person)

    async def _fail(self, fault: Fault) -> Response:
        if fault.kind == "rate_limited":
            self._context.feed.refused("slack", "429", "response_url")
            wait = {"Retry-After": str(max(1, int(fault.seconds)))}
            return PlainTextResponse("ratelimited", 429, wait)
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
        return self._refuse(504 if fault.kind == "hang" else fault.status, "error")

    def _refuse(self, status: int, code: str) -> Response:
        self._context.feed.refused("slack", code, "response_url")
        return Response(
            orjson.dumps({"ok": False, "error": code}), status, media_type="application/json"
        )


def _parsed(body: bytes) -> dict[str, Any]:
    if len(body) > _LARGEST:
        raise ApiError("request_too_large")
    try:
        result = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ApiError("invalid_payload") from error
    if not isinstance(result, dict):
        raise ApiError("invalid_payload")
    return result
