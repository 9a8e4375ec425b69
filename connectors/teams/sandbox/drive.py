"""Files of people and of bots: pictures inside messages, and documents in people's drives.

Bots fetch pictures from the connector with their token (msteams-docs, "Fetch inline images from
message"). Documents have expiring addresses that need no token; uploads follow OneDrive: Microsoft
Graph, "Upload bytes to the upload session".

Faults: `teams:file.download:<conversation>` and `teams:file.upload:<conversation>`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import mimetypes
import re
import secrets
import time
from dataclasses import dataclass, field
from urllib.parse import quote
from uuid import uuid4

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridge.content.media.types import agreed_type, sniffed_type
from bridge.sandbox.faults import Fault
from bridge.sandbox.files import StoredFile, TooMuch, Writing, file_response
from bridge.sandbox.picture_sizes import picture_size
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.user_actions import FileUpload
from connectors.teams.sandbox.refusals import BrokenAnswer, answer
from connectors.teams.sandbox.state import Conversation, Json, SharedFile, rfc3339

DOWNLOAD_SECONDS = 300  # "only valid for a few minutes"
UPLOAD_SECONDS = 3600
MAX_FRAGMENT = 60 * 1024 * 1024
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif"})
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})\Z")
_MAX_SESSIONS = 10_000


@dataclass
class _Session:
    """An upload session: the file and its received pieces."""

    file: SharedFile
    until: float
    total: int | None = None
    pieces: list[StoredFile] = field(default_factory=lambda: list[StoredFile]())

    @property
    def received(self) -> int:
        return sum(piece.size for piece in self.pieces)


class Drive:
    """Stores all files of the local Teams and serves the documents."""

    def __init__(self, context: SandboxContext) -> None:
        self._context = context
        self._files = context.files
        self._key = secrets.token_bytes(32)
        self._shared: dict[str, SharedFile] = {}
        self._sessions: dict[str, _Session] = {}

    def routes(self) -> list[BaseRoute]:
        upload = ["PUT", "GET", "DELETE"]
        return [
            Route("/drive/download/{id}", self._download),
            Route("/drive/documents/{id}/{name}", self._open_in_browser),
            Route("/drive/upload/{session}", self._upload, methods=upload),
        ]

    def keep(self, upload: FileUpload, conversation: Conversation) -> SharedFile:
        """Store a person's file: a picture in a message, or else a document in the drive."""
        stored = self._files.keep(upload.data)
        guessed = upload.content_type or mimetypes.guess_type(upload.name)[0] or ""
        content_type = agreed_type(guessed, sniffed_type(stored.head))
        own_id = _picture_id() if content_type in _PICTURES else _drive_id()
        file = SharedFile(
            own_id, upload.name, content_type, conversation, stored, upload.alt,
            picture_size(stored.head),
        )  # fmt: skip
        self._shared[own_id] = file
        return file

    def find(self, own_id: str) -> SharedFile | None:
        return self._shared.get(own_id)

    def read(self, own_id: str) -> bytes | None:
        """Return the bytes of a file; None if there are none."""
        file = self._shared.get(own_id)
        return self._files.read(file.stored) if file is not None and file.stored else None

    def served(self, file: SharedFile) -> Response | None:
        if file.stored is None:
            return None
        return file_response(
            self._files, file.stored, file.content_type or "application/octet-stream"
        )

    def download_url(self, file: SharedFile, seconds: float = DOWNLOAD_SECONDS) -> str:
        """Return a download address that needs no token and is valid for `seconds`."""
        until = str(int(time.time() + seconds))
        mark = self._mark(file.id, until)
        base = self._context.base_url
        return (
            f"{base}/teams/drive/download/{file.id}?UniqueId={file.id}&ends={until}&tempauth={mark}"
        )

    def content_url(self, file: SharedFile) -> str:
        """Return the page on which people open the file after signing in; bots cannot."""
        return f"{self._context.base_url}/teams/drive/documents/{file.id}/{quote(file.name)}"

    def begin_upload(self, name: str, conversation: Conversation) -> tuple[SharedFile, str]:
        """Return a new file for an upload of a bot, and the upload address."""
        guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
        file = SharedFile(_drive_id(), name, guessed, conversation)
        self._shared[file.id] = file
        session = secrets.token_urlsafe(32)
        self._sessions[session] = _Session(file, time.time() + UPLOAD_SECONDS)
        while len(self._sessions) > _MAX_SESSIONS:
            self._end(next(iter(self._sessions)))
        return file, f"{self._context.base_url}/teams/drive/upload/{session}"

    async def _download(self, request: Request) -> Response:
        file = self._shared.get(request.path_params["id"])
        query = request.query_params
        ends, mark = query.get("ends", ""), query.get("tempauth", "")
        if file is None or not hmac.compare_digest(self._mark(file.id, ends), mark):
            return self._refuse(401, "unauthenticated", "The caller is not authenticated.")
        if fault := await self._fault("file.download", file):
            return fault
        if int(ends) <= time.time():
            return self._refuse(401, "unauthenticated", "The download address has ended.")
        return self.served(file) or self._refuse(404, "itemNotFound", "Item not found.")

    async def _open_in_browser(self, _request: Request) -> Response:
        return Response("401 UNAUTHORIZED", 401, media_type="text/plain")

    async def _upload(self, request: Request) -> Response:
        key = request.path_params["session"]
        session = self._sessions.get(key)
        if session is None or session.until <= time.time():
            self._end(key)
            return self._refuse(404, "itemNotFound", "The upload session was not found")
        if fault := await self._fault("file.upload", session.file):
            return fault
        if request.method == "GET":
            return answer(_progress(session))
        if request.method == "DELETE":
            self._end(key)
            return Response(status_code=204)
        response = await self._take_fragment(request, key, session)
        if self._context.faults.take(_where("file.upload", session.file), "lose_answer"):
            return BrokenAnswer()
        return response

    async def _take_fragment(self, request: Request, key: str, session: _Session) -> Response:
        content_range = _RANGE.match(request.headers.get("content-range", ""))
        if content_range is None:
            return self._refuse(
                400, "invalidRequest", "The Content-Range header is missing or malformed."
            )
        first, last, total = map(int, content_range.groups())
        if last < first or last >= total or session.total not in (None, total):
            return self._refuse(
                400, "invalidRequest", "The Content-Range header does not fit the file."
            )
        if first != session.received:
            text = "The uploaded fragment overlaps with data that has already been received."
            return self._refuse(416, "invalidRange", text)
        length = last - first + 1
        if length > MAX_FRAGMENT:
            return self._refuse(413, "fragmentTooLarge", "A fragment has at most 60 MiB.")
        try:
            piece = await self._files.take(request.stream(), length)
        except ClientDisconnect:
            return Response(status_code=499)
        except TooMuch:
            piece = None
        if piece is None or piece.size != length:
            if piece is not None:
                self._files.forget(piece)
            return self._refuse(400, "invalidRequest", "The body does not fit its Content-Range.")
        session.total = total
        session.pieces.append(piece)
        if session.received < total:
            return answer(_progress(session), 202)
        return self._complete(key, session)

    def _complete(self, key: str, session: _Session) -> Response:
        file = session.file
        del self._sessions[key]
        file.stored = self._join(session.pieces)
        if file.stored is None:
            return self._refuse(507, "insufficientStorage", "The pieces are not there any more.")
        file.content_type = agreed_type(file.content_type, sniffed_type(file.stored.head))
        item = {
            "id": file.id, "name": file.name, "size": file.stored.size,
            "webUrl": self.content_url(file), "file": {"mimeType": file.content_type},
        }  # fmt: skip
        return answer(item, 201)

    def _join(self, pieces: list[StoredFile]) -> StoredFile | None:
        if len(pieces) == 1:
            return pieces[0]
        writing: Writing = self._files.begin()
        for piece in pieces:
            chunks = self._files.chunks(piece)
            if chunks is None:
                writing.abandon()
                return None
            for chunk in chunks:
                writing.write(chunk)
            self._files.forget(piece)
        return writing.done()

    def _end(self, key: str) -> None:
        session = self._sessions.pop(key, None)
        for piece in session.pieces if session else []:
            self._files.forget(piece)

    async def _fault(self, name: str, file: SharedFile) -> Response | None:
        kinds = ("status", "rate_limited", "hang")
        fault: Fault | None = self._context.faults.take(_where(name, file), *kinds)
        if fault is None:
            return None
        if fault.kind == "hang":
            await asyncio.sleep(fault.seconds)
        if fault.kind == "rate_limited":
            refused = self._refuse(429, "activityLimitReached", "Too many requests.")
            refused.headers["Retry-After"] = str(max(1, int(fault.seconds)))
            return refused
        status = 504 if fault.kind == "hang" else fault.status
        return self._refuse(status, "generalException", "An error has occurred.")

    def _refuse(self, status: int, code: str, text: str) -> Response:
        self._context.feed.refused("teams", str(status), "drive")
        return answer({"error": {"code": code, "message": text}}, status)

    def _mark(self, own_id: str, until: str) -> str:
        return hmac.new(self._key, f"{own_id}|{until}".encode(), hashlib.sha256).hexdigest()


def _where(name: str, file: SharedFile) -> str:
    return f"teams:{name}:{file.conversation.id}"


def _progress(session: _Session) -> Json:
    ends = rfc3339(session.until)
    return {"expirationDateTime": ends, "nextExpectedRanges": [f"{session.received}-"]}


def _picture_id() -> str:
    return f"0-eus-d1-{uuid4().hex}"


def _drive_id() -> str:
    return str(uuid4()).upper()
