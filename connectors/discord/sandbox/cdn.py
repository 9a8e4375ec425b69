"""Signed addresses of files that expire, as on Discord's CDN (docs: reference, CDN).

`?ex=<expiry>&is=<issued>&hm=<signature>&`, times in seconds as hexadecimal numbers.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit

from bridge.sandbox.files import StoredFile

LIFETIME_S = 24 * 3600
_MEDIA = "/discord/media"


@dataclass(slots=True)
class Attachment:
    """A file of a message; `original_name` is the upload's name before it was made plain."""

    id: int
    filename: str
    original_name: str
    content_type: str
    stored: StoredFile
    title: str | None = None
    description: str | None = None
    dimensions: tuple[int, int] | None = None
    spoiler: bool = False
    ephemeral: bool = False
    seconds: float | None = None  # of a voice message
    waveform: str = ""


class Cdn:
    """Builds and verifies addresses; `now` returns seconds since 1970."""

    def __init__(self, base_url: str, now: Callable[[], float]) -> None:
        self.base_url = base_url
        self._now = now
        self._key = secrets.token_bytes(32)

    def url(self, channel_id: int, attachment: Attachment) -> str:
        file = _path(channel_id, attachment)
        return self._signed("/discord" + file, file)

    def proxy_url(self, channel_id: int, attachment: Attachment) -> str:
        file = _path(channel_id, attachment)
        return self._signed(_MEDIA + file, file)

    def external(self, url: str) -> str:
        """Return the proxy address of an external picture; it redirects, nothing is fetched."""
        scheme, _, address = url.partition("://")
        mark = hashlib.sha256(url.encode()).hexdigest()[:43]
        return f"{self.base_url}/discord/external/{mark}/{scheme}/{quote(address, safe='/')}"

    def refreshed(self, url: str) -> str | None:
        """Return a new address of the same file, expired or not; None for other URLs."""
        path = urlsplit(url).path
        file = path.removeprefix(_MEDIA).removeprefix("/discord")
        if not file.startswith("/attachments/"):
            return None
        return self._signed(path, file)

    def allows(self, file: str, query: str) -> bool:
        """Return whether the query's signature is valid for the file and not expired."""
        parameters = {name: values[0] for name, values in parse_qs(query).items()}
        ends, issued_at = parameters.get("ex", ""), parameters.get("is", "")
        expected = self._signature(file, ends, issued_at)
        if not hmac.compare_digest(expected, parameters.get("hm", "")):
            return False
        return int(ends, 16) > self._now()

    def _signed(self, path: str, file: str) -> str:
        issued_at = int(self._now())
        ends = f"{issued_at + LIFETIME_S:x}"
        mark = self._signature(file, ends, f"{issued_at:x}")
        return f"{self.base_url}{path}?ex={ends}&is={issued_at:x}&hm={mark}&"

    def _signature(self, file: str, ends: str, issued_at: str) -> str:
        text = f"{file}|{ends}|{issued_at}".encode()
        return hmac.new(self._key, text, hashlib.sha256).hexdigest()


def _path(channel_id: int, attachment: Attachment) -> str:
    return f"/attachments/{channel_id}/{attachment.id}/{attachment.filename}"
