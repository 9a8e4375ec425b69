"""The URLs of Slack's files: uploads arrive at one, and downloads need a token."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bridge.sandbox.faults import Fault
from bridge.sandbox.files import StoredFile, TooMuch, file_response
from bridge.sandbox.multipart import BadMultipart, Bounds, read_multipart
from bridge.sandbox.platform import SandboxContext
from connectors.slack.sandbox import files
from connectors.slack.sandbox.broken import Broken
from connectors.slack.sandbox.state import App, File, Slack

_SLACK_OF_MULTIPART = 64 * 1024  # bytes for boundaries and part headers beside the file
_MAX_WAITING = 10_000  # unused upload URLs
_LOGIN_PAGE = "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body></body></html>"


class Uploads:
    """Upload URLs work once, for exactly the announced number of bytes.

    `share_later` runs the shares that Slack makes after its answer. Faults: `slack:files.upload:-`
    and `slack:files.download:-`.
    """

    def __init__(
        self, context: SandboxContext, slack: Slack,
        share_later: Callable[[Callable[[], object]], object],
    ) -> None:  # fmt: skip
        self.share_later = share_later
        self._context = context
        self._slack = slack
        self._waiting: dict[str, File] = {}

    def routes(self) -> list[BaseRoute]:
        tail = "/{key}/{name}"
        return [
            Route("/slack/upload/v1/{ticket}", self._take, methods=["POST"]),
            Route("/slack/files-pri" + tail, self._give),
            Route("/slack/files-pri/{key}/download/{name}", self._give_download),
            Route("/slack/files-tmb" + tail, self._give),
            Route("/slack/login", self._login),
        ]

    def open(self, file: File) -> str:
        """The upload URL of a new file."""
        ticket = secrets.token_urlsafe(32)
        self._waiting[ticket] = file
        while len(self._waiting) > _MAX_WAITING:
            del self._waiting[next(iter(self._waiting))]
        return f"{self._context.base_url}/slack/upload/v1/{ticket}"

    async def _take(self, request: Request) -> Response:
        fault = self._context.faults.take("slack:files.upload:-", "status", "rate_limited", "hang")
        if fault is not None:
            return await self._fail(fault, "files.upload")
        ticket = request.path_params["ticket"]
        file = self._waiting.get(ticket)
        if file is None:
            return self._refuse(404, "not found")
        try:
            stored = await self._received(request, file.size)
        except ClientDisconnect:
            return Response(status_code=499)
        except (TooMuch, BadMultipart) as error:
            return self._refuse(413 if isinstance(error, TooMuch) else 400, str(error))
        if stored.size != file.size:
            self._context.files.forget(stored)
            return self._refuse(400, f"{stored.size} bytes came, {file.size} were announced")
        del self._waiting[ticket]
        files.fill(file, stored)
        if self._context.faults.take("slack:files.upload:-", "lose_answer"):
            return Broken()
        return PlainTextResponse(f"OK - {stored.size}")

    async def _received(self, request: Request, size: int) -> StoredFile:
        kind = request.headers.get("content-type", "")
        if not kind.startswith("multipart/form-data"):
            return await self._context.files.take(request.stream(), size)
        bounds = Bounds(file=size, values=_SLACK_OF_MULTIPART, body=size + _SLACK_OF_MULTIPART)
        parts = await read_multipart(kind, request.stream(), self._context.files, bounds)
        files = [part.file for part in parts if part.file is not None]
        for extra in files[1:]:
            self._context.files.forget(extra)
        if not files:
            raise BadMultipart("no part is a file")
        return files[0]

    async def _give(self, request: Request) -> Response:
        return await self._served(request, download=False)

    async def _give_download(self, request: Request) -> Response:
        return await self._served(request, download=True)

    async def _served(self, request: Request, *, download: bool) -> Response:
        where = "slack:files.download:-"
        if fault := self._context.faults.take(where, "status", "rate_limited", "hang"):
            return await self._fail(fault, "files.download")
        team_id, _, file_id = request.path_params["key"].partition("-")
        team = self._slack.workspaces.get(team_id)
        file = team.files.get(file_id) if team else None
        app = self._app(request)
        if team is None or app is None or app.team != team_id or "files:read" not in app.scopes:
            # Slack redirects a client without access to its sign-in page.
            back = quote(str(request.url.path))
            return RedirectResponse(f"{self._context.base_url}/slack/login?redir={back}", 302)
        if file is None or file.stored is None or not files.may_see(team, app, file):
            return self._refuse(404, "file_not_found", "files.download")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
        kind = file.mimetype or "application/octet-stream"
        answer = file_response(
            self._context.files, file.stored, kind, headers if download else None
        )
        if answer is None:
            return self._refuse(404, "file_not_found", "files.download")
        if self._context.faults.take(where, "lose_answer"):
            return Broken()
        return answer

    async def _login(self, _request: Request) -> Response:
        return Response(_LOGIN_PAGE, media_type="text/html")

    def _app(self, request: Request) -> App | None:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        app = self._slack.bot_tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        return app if app is not None and app.active else None

    async def _fail(self, fault: Fault, where: str) -> Response:
        if fault.kind == "rate_limited":
            self._context.feed.refused("slack", "429", where)
            wait = {"Retry-After": str(max(1, int(fault.seconds)))}
            return Response(status_code=429, headers=wait)
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
        return self._refuse(504 if fault.kind == "hang" else fault.status, "error", where)

    def _refuse(self, status: int, text: str, where: str = "files.upload") -> Response:
        self._context.feed.refused("slack", str(status), where)
        return PlainTextResponse(text, status)
