"""Fetches URLs from messages into stored files: bounded in size and time, from open hosts only."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from bridge.app.files.addresses import Addresses, OpenResolver, socket_to_open
from bridge.content.media.types import HTML, UNKNOWN, agreed_type, registered_type
from bridge.errors import (
    BridgeError,
    FileGone,
    FileRefused,
    FileTooLarge,
    FileUnavailable,
    StoreUnreachable,
)
from bridge.ports.blobs import Blobs
from bridge.ports.fetch import Bearer, Fetched

MOST_REDIRECTS = 5
_AT_ONCE = 32  # files fetched at the same time; many, so that slow hosts do not hold up others
_MOVED = (301, 302, 303, 307, 308)
_HTTPS = 443
_LATER = (408, 425, 429)
_PIECE = 64 * 1024
_LONGEST_WAIT = 24 * 3600.0  # the longest Retry-After that is accepted, in seconds


@dataclass(frozen=True)
class FetchLimits:
    """`size` in bytes; `seconds` for a whole file. In each `window` (seconds) a host must send at
    least `pace` bytes a second, because slow files take a place that others wait for."""

    size: int = 100 * 1024 * 1024
    seconds: float = 120.0
    window: float = 10.0
    pace: int = 1024


class GuardedFetcher:
    """The bridge's Fetcher. `resolver` and `trust` (certificates) are for tests."""

    def __init__(
        self,
        blobs: Blobs,
        limits: FetchLimits | None = None,
        *,
        loopback: bool = False,
        resolver: AbstractResolver | None = None,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        self._blobs = blobs
        self._limits = limits or FetchLimits()
        self._addresses = Addresses(loopback=loopback)
        self._resolver = resolver
        self._trust = trust
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._session: aiohttp.ClientSession | None = None

    async def fetch(
        self,
        url: str,
        *,
        media_type: str = "",
        bearer: Bearer | None = None,
        limit: int | None = None,
    ) -> Fetched:
        size_limit = self._limits.size if limit is None else min(limit, self._limits.size)
        async with self._turns:
            with _file_errors(self._limits):
                async with (
                    asyncio.timeout(self._limits.seconds),
                    self._answer(self._addresses.check_url(url), bearer) as answer,
                ):
                    return await self._keep(answer, media_type, size_limit)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def _answer(
        self, url: URL, bearer: Bearer | None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The first answer that is no redirect. Each redirect's URL is checked like the first one;
        the token is not sent to another origin."""
        for _ in range(MOST_REDIRECTS + 1):
            headers = self._authorization(url, bearer)
            async with self._http_session().get(
                url, headers=headers, allow_redirects=False
            ) as answer:
                target = self._target(answer)
                if target is None:
                    _check_status(answer)
                    yield answer
                    return
            if target.origin() != url.origin():
                bearer = None
            url = target
        raise FileRefused(f"A URL redirects more than {MOST_REDIRECTS} times")

    async def _keep(self, answer: aiohttp.ClientResponse, declared: str, limit: int) -> Fetched:
        if (answer.content_length or 0) > limit:
            raise _too_large(answer, limit)
        try:
            blob = await self._blobs.put(_file(answer, self._limits, limit), limit=limit)
        except StoreUnreachable as error:
            raise FileUnavailable(str(error)) from error
        content_type = answer.headers.get("Content-Type", "")
        if _is_page_instead(declared, content_type, blob.media_type):
            raise FileGone(
                f"{answer.url.raw_host} gave a web page instead of the file; the token may lack "
                "the permission to read files"
            )
        media_type = content_type if registered_type(declared) == UNKNOWN else declared
        return Fetched(blob, agreed_type(media_type, blob.media_type))

    def _http_session(self) -> aiohttp.ClientSession:
        """The session without cookies, proxy and decompression; made at its first use."""
        if self._session is None:
            connector = aiohttp.TCPConnector(
                resolver=OpenResolver(
                    self._resolver or aiohttp.ThreadedResolver(), self._addresses
                ),
                socket_factory=partial(socket_to_open, self._addresses),
                use_dns_cache=False,
                limit=2 * _AT_ONCE,
                ssl=self._trust or True,
            )
            window = self._limits.window
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(sock_connect=window, sock_read=window),
                headers={"User-Agent": "uacs-bridge", "Accept-Encoding": "identity"},
                auto_decompress=False,
            )
        return self._session

    def _authorization(self, url: URL, bearer: Bearer | None) -> dict[str, str]:
        """The header with the token, only for HTTPS on port 443, or for this machine if `loopback`
        permits it."""
        host = url.raw_host or ""
        if bearer is None or not may_see(host, bearer):
            return {}
        web = url.scheme == "https" and url.port == _HTTPS
        if not web and not self._addresses.is_this_machine(host):
            return {}
        return {"Authorization": f"Bearer {bearer.token}"}

    def _target(self, answer: aiohttp.ClientResponse) -> URL | None:
        """The checked URL of a redirect; None for other answers."""
        if answer.status not in _MOVED:
            return None
        where = answer.headers.get("Location", "")
        try:
            target = answer.url.join(URL(where))
        except ValueError:
            target = None
        if not where or target is None:
            raise FileGone(f"{answer.url.raw_host} redirects to an invalid URL")
        return self._addresses.check_url(target)


# --- answers ------------------------------------------------------------------------------------


def _check_status(answer: aiohttp.ClientResponse) -> None:
    """Raises a FileError for every status but 200: only 200 has the whole file."""
    host, status = answer.url.raw_host, answer.status
    if status >= 500 or status in _LATER:
        wait = _retry_after(answer.headers.get("Retry-After", ""))
        raise FileUnavailable(f"{host} answers {status}; try again later", retry_after=wait)
    if status in (401, 403):
        raise FileGone(f"{host} answers {status}: the file may not be read with this token or link")
    if status != 200:
        raise FileGone(f"{host} answers {status}: it does not have the file")


def _retry_after(text: str) -> float | None:
    return min(float(text), _LONGEST_WAIT) if text.isascii() and text.isdigit() else None


def _is_page_instead(declared: str, content_type: str, detected: str) -> bool:
    """Whether the answer is a web page instead of the file: platforms answer 200 with their sign-in
    page to a token that may not read the file."""
    declared_type = registered_type(declared)
    if detected != HTML or declared_type in (HTML, UNKNOWN):
        return False
    return agreed_type(declared_type, detected) == HTML or registered_type(content_type) == HTML


def _file(answer: aiohttp.ClientResponse, limits: FetchLimits, limit: int) -> AsyncGenerator[bytes]:
    """The bytes of the file, decompressed if the host compressed them."""
    received = _bounded(answer, limits, limit)
    encoding = answer.headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return received
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _unpacked(received)
    raise FileGone(f"{answer.url.raw_host} compresses files in a way that was not requested")


async def _bounded(
    answer: aiohttp.ClientResponse, limits: FetchLimits, limit: int
) -> AsyncGenerator[bytes]:
    """The received bytes. Raises FileTooLarge, and FileUnavailable for a host that sends too
    slowly."""
    now = asyncio.get_running_loop().time
    since, received, total = now(), 0, 0
    async for chunk in answer.content.iter_any():
        received += len(chunk)
        total += len(chunk)
        if total > limit:
            raise _too_large(answer, limit)
        passed = now() - since
        if passed >= limits.window:
            if received < passed * limits.pace:
                raise FileUnavailable(
                    f"{answer.url.raw_host} gives {received / passed:.0f} bytes a second; try "
                    "again later"
                )
            since, received = now(), 0
        yield chunk


async def _unpacked(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
    """Decompress in pieces, so that a caller who counts the bytes can stop early. Bytes after the
    end of the compressed data are ignored."""
    packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # detects gzip and zlib by their headers
    async for chunk in chunks:
        remaining, piece = chunk, b""
        while not packed.eof and (remaining or len(piece) == _PIECE):
            piece = packed.decompress(remaining, _PIECE)
            remaining = packed.unconsumed_tail
            yield piece
        if packed.eof:
            return
    raise FileUnavailable("A file's host sent only a part of a compressed file; try again later")


def _too_large(answer: aiohttp.ClientResponse, limit: int) -> FileTooLarge:
    length = f"{answer.content_length} bytes, " if answer.content_length else ""
    return FileTooLarge(f"A file at {answer.url.raw_host} has {length}more than {limit} bytes")


@contextmanager
def _file_errors(limits: FetchLimits) -> Generator[None]:
    """Turn errors of the network into FileErrors, whose texts have no URL because it may be
    signed."""
    try:
        yield
    except BridgeError:
        raise
    except TimeoutError:
        raise FileUnavailable(
            f"A file was not received within {limits.seconds:g} s, or no data for "
            f"{limits.window:g} s; try again later"
        ) from None
    except aiohttp.InvalidURL:
        raise FileRefused("An address cannot be read; nothing was asked") from None
    except zlib.error:
        raise FileGone("A file is compressed and cannot be decompressed") from None
    except (aiohttp.ClientError, OSError, UnicodeError) as error:
        raise FileUnavailable(
            f"A file's host cannot be reached, or broke off ({type(error).__name__}); try again "
            "later"
        ) from None


def may_see(host: str, bearer: Bearer) -> bool:
    """Whether the token may be sent to this host."""
    return any(fnmatchcase(host.lower(), pattern.lower()) for pattern in bearer.hosts)
