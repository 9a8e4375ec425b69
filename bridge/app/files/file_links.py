"""Signed links to stored files on the bridge's web server, which expire, and the route that serves
them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import struct
from dataclasses import dataclass
from urllib.parse import quote

import structlog
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from bridge.content.cards.rendering import public_url
from bridge.content.cards.tree import Asset
from bridge.content.media.file_names import safe_file_name
from bridge.content.media.types import SHOWN, UNKNOWN, kind_of, registered_type
from bridge.errors import FileError, StoreError
from bridge.model.blob_ids import file_id_of, sha256_of
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock

log = structlog.get_logger()

_PURPOSE = b"uacs-bridge: links to files, 1"
_HEAD = struct.Struct(">BQ32s")  # version, expiry in seconds since 1970, SHA-256 of the file
_VERSION = 1
_MAC = 16  # bytes
_LONGEST_TOKEN = 400
# A link made again within an eighth of its lifetime is the same, so a copy has the same bytes.
_STEPS = 8
_LONGEST_CACHED = 24 * 3600
_LOCKED = "sandbox; default-src 'none'"
# Chromium shows a video in a page that it generates, which loads the video again from the same
# origin. Scripts stay forbidden there.
_PLAYING = "sandbox allow-same-origin; default-src 'none'; media-src 'self'"
_SAFE = {
    "Content-Security-Policy": _LOCKED,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex",
}


@dataclass(frozen=True)
class Linked:
    """The contents of a link, which are signed."""

    file_id: str
    name: str
    media_type: str
    expires: int


class FileLinks:
    """Makes and reads links. The signing key is derived from `key`, which seals the store;
    `lifetime` is in seconds."""

    def __init__(self, key: bytes, base_url: str, lifetime: float, clock: Clock) -> None:
        self._key = hmac.digest(key, _PURPOSE, "sha256")
        self._base = base_url.rstrip("/")
        self._lifetime = max(int(lifetime), _STEPS)
        self._clock = clock

    def url_of(self, asset: Asset) -> str:
        """A URL at which anybody can fetch the file: a link for a stored file, else the file's
        public URL, else empty. For `Rendering.url_of`."""
        if sha256_of(asset.file_id) is None:
            return public_url(asset)
        return self.link(asset.file_id, asset.name, asset.media_type)

    def link(self, file_id: str, name: str, media_type: str) -> str:
        """A link that is valid for the lifetime, and up to an eighth longer.

        Raises:
            ValueError: `file_id` is no id of a stored file.
        """
        digest = sha256_of(file_id)
        if digest is None:
            raise ValueError(f"{file_id[:40]!r} is no id of a stored file")
        media_type = registered_type(media_type)
        name = safe_file_name(name, media_type)
        head = _HEAD.pack(_VERSION, self._expiry(), bytes.fromhex(digest)) + media_type.encode()
        token = _token(head + self._mac(head, name))
        return f"{self._base}/files/{token}/{quote(name, safe='')}"

    def read(self, token: str, name: str) -> Linked | None:
        """The contents of a link; None if its signature is not valid or it has expired."""
        content = _content(token)
        if content is None or len(content) < _HEAD.size + _MAC:
            return None
        head, mac = content[:-_MAC], content[-_MAC:]
        if not hmac.compare_digest(mac, self._mac(head, name)):
            return None
        version, expires, digest = _HEAD.unpack_from(head)
        if version != _VERSION or expires <= self._clock.time():
            return None
        return Linked(file_id_of(digest.hex()), name, head[_HEAD.size :].decode(), expires)

    def _expiry(self) -> int:
        step = self._lifetime // _STEPS
        return (int(self._clock.time()) + self._lifetime + step) // step * step

    def _mac(self, head: bytes, name: str) -> bytes:
        signed = len(head).to_bytes(4, "big") + head + name.encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, signed, hashlib.sha256)[:_MAC]


def _token(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _content(token: str) -> bytes | None:
    """The bytes of a token; None unless `_token` would write them in exactly this way."""
    if len(token) > _LONGEST_TOKEN or not token.isascii():
        return None
    try:
        content = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_")
    except binascii.Error:
        return None
    return content if _token(content) == token else None


# --- serving ------------------------------------------------------------------------------------


def file_routes(links: FileLinks, blobs: Blobs, clock: Clock) -> list[BaseRoute]:
    """The route `/files/<token>/<name>`: GET and HEAD, the whole file or one range."""

    async def serve(request: Request) -> Response:
        path = request.path_params
        linked = links.read(path["token"], path["name"])
        if linked is None:
            return _plain(404)
        try:
            blob = await blobs.stat(linked.file_id)
        except StoreError as error:
            log.warning("file_request_rejected", file=linked.file_id, error=str(error))
            return _plain(503)
        if blob is None:
            return _plain(404)
        return _answer(request, linked, blob.size, blobs, linked.expires - clock.time())

    return [Route("/files/{token}/{name}", serve, methods=["GET"])]


def _answer(
    request: Request, linked: Linked, size: int, blobs: Blobs, remaining: float
) -> Response:
    tag = f'"{sha256_of(linked.file_id)}"'
    headers = {
        **_SAFE,
        "Cache-Control": f"private, immutable, max-age={min(int(remaining), _LONGEST_CACHED)}",
        "ETag": tag,
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    headers |= {**safe_headers(linked), "Accept-Ranges": "bytes"}
    byte_range = requested_range(request.headers, tag, size)
    if byte_range is None:
        return FileResponse(200, headers, blobs, linked.file_id, 0, size, size)
    start, end = byte_range
    if start >= end:
        return _plain(416, {**_SAFE, "Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return FileResponse(206, headers, blobs, linked.file_id, start, end, size)


def safe_headers(linked: Linked) -> dict[str, str]:
    """Headers that keep a browser from running anything in the file."""
    playing = kind_of(linked.media_type) in ("video", "audio")
    return {
        **_SAFE,
        "Content-Security-Policy": _PLAYING if playing else _LOCKED,
        "Content-Type": _served_type(linked.media_type),
        "Content-Disposition": _disposition(linked),
    }


def requested_range(headers: Headers, tag: str, size: int) -> tuple[int, int] | None:
    """The requested range, from `start` to before `end`; an empty one cannot be satisfied (416).
    None for the whole file: no Range, several ranges, an invalid one, or one of another version."""
    unit, equals, text = headers.get("range", "").partition("=")
    if unit.strip().lower() != "bytes" or not equals or headers.get("if-range", tag) != tag:
        return None
    first, dash, last = text.strip().partition("-")
    if not dash or not all(bound == "" or _is_number(bound) for bound in (first, last)):
        return None
    if first == "":
        return None if last == "" else (max(size - int(last), 0) if int(last) else size, size)
    if last != "" and int(last) < int(first):
        return None
    return int(first), size if last == "" else min(int(last) + 1, size)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


def _is_shown(media_type: str) -> bool:
    """Whether a browser may show the type inline: video, audio and raster images run no code."""
    return media_type in SHOWN or kind_of(media_type) in ("video", "audio")


def _served_type(media_type: str) -> str:
    """The type itself if it cannot run code; otherwise plain bytes, which a browser only saves."""
    if _is_shown(media_type) or media_type == "application/pdf":
        return media_type
    return "text/plain; charset=utf-8" if media_type == "text/plain" else UNKNOWN


def _disposition(linked: Linked) -> str:
    """The Content-Disposition header with the name in ASCII and in UTF-8 (RFC 6266). The name comes
    from `safe_file_name`; bytes that could end the header are replaced."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else "_"
                    for c in linked.name)  # fmt: skip
    way = "inline" if _is_shown(linked.media_type) else "attachment"
    return f"{way}; filename=\"{plain}\"; filename*=UTF-8''{quote(linked.name, safe='')}"


def _plain(status: int, headers: dict[str, str] | None = None) -> Response:
    """An answer without a body, so that guessed links reveal nothing."""
    return Response(status_code=status, headers={**(headers or {}), "Cache-Control": "no-store"})


class FileResponse(Response):
    """Streams a stored file or a part of it. If the file is damaged, the connection ends before all
    announced bytes were sent, so that a client notices."""

    def __init__(
        self,
        status: int,
        headers: dict[str, str],
        blobs: Blobs,
        file_id: str,
        start: int,
        end: int,
        size: int,
    ) -> None:
        super().__init__(status_code=status, headers=headers)
        self.headers["Content-Length"] = str(end - start)
        self._blobs = blobs
        self._file_id = file_id
        self._range = (start, None if end == size and start == 0 else end)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":
            await self._begin(send)
            await send({"type": "http.response.body", "body": b""})
            return
        try:
            await self._stream(send)
        except (FileError, StoreError) as error:
            log.error("file_transfer_failed", file=self._file_id, error=str(error))  # noqa: TRY400 - no traceback needed

    async def _stream(self, send: Send) -> None:
        start, end = self._range
        async with self._blobs.open(self._file_id, start=start, end=end) as pieces:
            await self._begin(send)
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Send) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
