"""Pictures of authors on the bridge's web server: agents' files and drawn initials.

Their URLs are signed, so that only the bridge decides what is drawn. They never expire, because
platforms fetch them when somebody looks at an old message. A URL has everything that the answer
needs.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from bridge.content.media.initials import color_of, draw_initials, initials
from bridge.content.media.types import sniffed_type
from bridge.errors import ConfigError
from bridge.model import ActorId

_PURPOSE = b"uacs-bridge: pictures of authors, 1"
_DRAWN, _FILE = b"i", b"f"
_MAC = 12  # bytes
_LONGEST_TOKEN = 100
_YEAR = 365 * 86_400
LARGEST = 1_000_000  # bytes of an agent's picture
_TYPES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_SAFE = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}


@dataclass(frozen=True)
class AgentPicture:
    """An agent's picture: a URL elsewhere, or bytes that the bridge serves."""

    url: str = ""
    content: bytes = b""
    media_type: str = ""

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.content).digest()[:16]


def is_address(picture: str) -> bool:
    return "://" in picture


def agent_picture(picture: str) -> AgentPicture:
    """The picture that the setting names.

    Raises:
        ConfigError: The picture cannot be loaded, or platforms do not accept its type.
    """
    if is_address(picture):
        if not picture.lower().startswith("https://") or any(map(str.isspace, picture)):
            raise ConfigError(f"{picture!r} is no https address; platforms fetch no other")
        return AgentPicture(url=picture)
    try:
        with Path(picture).open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(
            f"{picture!r} cannot be read ({error.strerror}); give an https address or a PNG file"
        ) from None
    media_type = sniffed_type(content)
    if media_type not in _TYPES:
        formats = "PNG, JPEG, GIF or WebP"
        raise ConfigError(f"{picture!r} is {media_type}; platforms take {formats} for authors")
    if len(content) > LARGEST:
        raise ConfigError(f"{picture!r} is larger than {LARGEST:,} bytes; make it smaller")
    return AgentPicture(content=content, media_type=media_type)


class AuthorPictures:
    """The port `Pictures`. Without a `base_url` it has only URLs elsewhere, because platforms
    cannot reach the bridge."""

    def __init__(
        self, key: bytes, base_url: str | None, agents: Mapping[str, AgentPicture]
    ) -> None:
        self._key = hmac.digest(key, _PURPOSE, "sha256")
        self._base = base_url.rstrip("/") if base_url else None
        self._agents: Mapping[str, AgentPicture] = {}
        self._files: Mapping[bytes, AgentPicture] = {}
        self.change(agents)

    def change(self, agents: Mapping[str, AgentPicture]) -> None:
        """Replace the agents' pictures; earlier files are still served."""
        self._agents = dict(agents)
        files = {agent.digest: agent for agent in agents.values() if agent.content}
        self._files = {**self._files, **files}

    def of_agent(self, agent: str) -> str | None:
        picture = self._agents.get(agent)
        if picture is None:
            return self.drawn(ActorId(f"agent:{agent}"), agent)
        return picture.url or self._address(_FILE + picture.digest, _TYPES[picture.media_type])

    def drawn(self, actor: ActorId, name: str) -> str | None:
        content = _DRAWN + bytes([color_of(actor)]) + initials(name).encode()
        return self._address(content, "png")

    async def serve(self, request: Request) -> Response:
        """Answer `GET /pictures/<token>.<type>`."""
        token, _, _ = request.path_params["name"].partition(".")
        content = self._read(token)
        if content is None:
            return Response("Not found", 404, media_type="text/plain")
        if content.startswith(_FILE):
            picture = self._files.get(content[1:])
            if picture is None:
                return Response("Not found", 404, media_type="text/plain")
            body, media_type = picture.content, picture.media_type
        else:
            letters = content[2:].decode("ascii", "replace")
            body = await asyncio.to_thread(_drawn, letters, content[1])
            media_type = "image/png"
        headers = {**_SAFE, "Cache-Control": f"public, immutable, max-age={_YEAR}"}
        return Response(body, media_type=media_type, headers=headers)

    def routes(self) -> list[BaseRoute]:
        return [Route("/pictures/{name}", self.serve, methods=["GET"])]

    def _address(self, content: bytes, extension: str) -> str | None:
        if self._base is None:
            return None
        signed = content + self._mac(content)
        token = base64.urlsafe_b64encode(signed).rstrip(b"=").decode()
        return f"{self._base}/pictures/{token}.{extension}"

    def _read(self, token: str) -> bytes | None:
        """The contents of a token; None if its signature is not valid."""
        if len(token) > _LONGEST_TOKEN or not token.isascii():
            return None
        try:
            signed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_")
        except binascii.Error:
            return None
        content, mac = signed[:-_MAC], signed[-_MAC:]
        is_ours = hmac.compare_digest(mac, self._mac(content))
        return content if is_ours and len(content) > 1 else None

    def _mac(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, hashlib.sha256)[:_MAC]


@lru_cache(maxsize=256)
def _drawn(letters: str, color: int) -> bytes:
    return draw_initials(letters, color)
