"""URLs of strangers are fetched from open hosts only, within limits, and reveal no token."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import socket
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver
from structlog.testing import capture_logs

from bridge.app.files.addresses import Addresses, socket_to_open
from bridge.app.files.fetch import FetchLimits, GuardedFetcher, may_see
from bridge.content.media.types import HTML, UNKNOWN
from bridge.errors import (
    FileError,
    FileGone,
    FileRefused,
    FileTooLarge,
    FileUnavailable,
    StoreFull,
    StoreUnreachable,
)
from bridge.ports.blobs import BlobRef, BlobTotal
from bridge.ports.fetch import Bearer, Fetched
from bridge.runtime.clock import SystemClock
from bridge.testing.blobs_contract import PNG, read
from bridge.testing.memory_blobs import MemoryBlobs
from tests.app.hosts import Handler, Names, certificate_for, repeats, says, serving, speaking
from tests.waiting import pass_time

# Long deadlines, so that a busy machine decides no test; tests of deadlines have their own.
LIMITS = FetchLimits(size=100_000, seconds=60.0, window=30.0, pace=1)
HASTY = FetchLimits(size=100_000, seconds=60.0, window=0.3, pace=1000)
TOKEN = "xoxb-very-secret-token"
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs(SystemClock())


@asynccontextmanager
async def fetching(
    blobs: MemoryBlobs,
    limits: FetchLimits = LIMITS,
    *,
    loopback: bool = True,
    resolver: AbstractResolver | None = None,
    trust: ssl.SSLContext | None = None,
) -> AsyncGenerator[GuardedFetcher]:
    fetcher = GuardedFetcher(blobs, limits, loopback=loopback, resolver=resolver, trust=trust)
    try:
        yield fetcher
    finally:
        await fetcher.close()


@pytest.fixture
async def fetcher(blobs: MemoryBlobs) -> AsyncIterator[GuardedFetcher]:
    async with fetching(blobs) as made:
        yield made


def answers(
    content: bytes = PNG, media_type: str = "image/png", status: int = 200, **headers: str
) -> Handler:
    """The same answer to every request."""

    async def handle(_request: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(
            body=content, status=status, headers={"Content-Type": media_type, **named}
        )

    return handle


def leads_to(target: Callable[[web.Request], str], status: int = 302) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Location": target(request)})

    return handle


async def test_a_file_that_cannot_be_stored_now_comes_later() -> None:
    class Away(MemoryBlobs):
        async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
            raise StoreUnreachable("The files in s3://files cannot be reached")

    async with serving(answers()) as port, fetching(Away(SystemClock())) as fetcher:
        with pytest.raises(FileUnavailable, match="s3://files cannot be reached"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/a.png")


# --- the file -----------------------------------------------------------------------------------


async def test_a_file_is_stored_with_its_type(fetcher: GuardedFetcher, blobs: MemoryBlobs) -> None:
    async with serving(answers()) as port:
        fetched = await fetcher.fetch(f"http://127.0.0.1:{port}/a.png")

    assert fetched.media_type == "image/png"
    assert await blobs.stat(fetched.blob.file_id) == fetched.blob
    assert await read(blobs, fetched.blob.file_id) == PNG


@pytest.mark.parametrize(
    ("content", "header", "declared", "media_type"),
    [
        (PNG, "image/png", "", "image/png"),
        (PNG, "text/html", "", "image/png"),
        (PNG, "application/octet-stream", "", "image/png"),
        (PNG, "image/png", "image/jpeg", "image/png"),
        (PNG, "image/png", "application/octet-stream", "image/png"),
        (b"<html>", "image/png", "", HTML),
        (b"<svg onload=alert(1)>", "image/png", "image/png", "image/svg+xml"),
        (b"a,b\n1,2\n", "text/plain", "text/csv", "text/csv"),
        (b"a,b\n1,2\n", "text/csv; charset=x", "application/octet-stream", "text/csv"),
        (b"\x00\x01", "image/png", "", UNKNOWN),
        (b"", "image/png", "", UNKNOWN),
    ],
)
async def test_the_type_is_the_declared_one_unless_the_bytes_contradict(
    fetcher: GuardedFetcher, content: bytes, header: str, declared: str, media_type: str
) -> None:
    async with serving(answers(content, header)) as port:
        fetched = await fetcher.fetch(f"http://127.0.0.1:{port}/", media_type=declared)

    assert fetched.media_type == media_type


@pytest.mark.parametrize(
    ("declared", "header"),
    [("image/png", "text/html"), ("image/png", ""), ("text/plain", "text/html")],
)
async def test_a_sign_in_page_is_not_taken_for_the_file(
    fetcher: GuardedFetcher, declared: str, header: str
) -> None:
    async with serving(answers(b"<!DOCTYPE html><title>Sign in", header)) as port:
        with pytest.raises(FileGone, match="web page instead"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/", media_type=declared)


async def test_a_page_is_stored_where_a_page_is_expected(fetcher: GuardedFetcher) -> None:
    async with serving(answers(b"<html><p>Report", "text/html")) as port:
        fetched = await fetcher.fetch(f"http://127.0.0.1:{port}/", media_type="text/html")

    assert fetched.media_type == HTML


async def test_many_files_are_fetched_at_once(blobs: MemoryBlobs) -> None:
    everybody = asyncio.Barrier(20)

    async def together(request: web.Request) -> web.Response:
        await everybody.wait()  # one after another they would wait for ever
        return web.Response(body=request.path.encode())

    async with serving(together) as port, fetching(blobs) as fetcher:
        fetches = [fetcher.fetch(f"http://127.0.0.1:{port}/{n}") for n in range(20)]
        fetched = await asyncio.gather(*fetches)

    assert len({file.blob.file_id for file in fetched}) == 20


# --- addresses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/",
        "http://[::1]:{port}/",
        "http://[::ffff:127.0.0.1]:{port}/",
        "http://[::ffff:7f00:1]:{port}/",
        "http://localhost:{port}/",
        "http://127.1:{port}/",
        "http://2130706433:{port}/",
        "http://0x7f.1:{port}/",
        "http://0x7f000001:{port}/",
        "http://0177.0.0.1:{port}/",
        "http://127.0.0.1.:{port}/",
        "http://①②⑦.⓪.⓪.①:{port}/",
        "http://0.0.0.0:{port}/",
        "http://[::]:{port}/",
        "http://[64:ff9b::7f00:1]:{port}/",
        "http://[2002:7f00:1::]:{port}/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://[fe80::1%25lo]:{port}/",
        "http://168.63.129.16/machine",
        "http://100.100.100.200/",
        "http://10.0.0.1/",
        "http://192.168.0.1/",
        "http://172.31.255.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://192.0.0.192/",
    ],
)
async def test_hosts_that_are_not_allowed_get_no_request(blobs: MemoryBlobs, url: str) -> None:
    async def handle(_request: web.Request) -> web.Response:
        pytest.fail("it was asked")

    async with serving(handle) as port, fetching(blobs, loopback=False) as fetcher:
        with pytest.raises((FileRefused, FileUnavailable)) as caught:
            await fetcher.fetch(url.format(port=port))

    # A host that is no address in any notation is an unknown name.
    assert caught.type is FileRefused or "0x" in url or "0177" in url


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://files.test/a",
        "gopher://files.test/",
        "data:text/plain,x",
        "javascript:alert(1)",
        "//files.test/a",
        "/etc/passwd",
        "http://",
        "http:///a",
        "",
        "http://user:secret@files.test/",
        "http://files.test:22/",
        "http://files.test:6379000/",
        "http://files.test:0/",
        "http://[::1/",
        "http://a b\x00/",
    ],
)
async def test_only_http_addresses_are_requested(blobs: MemoryBlobs, url: str) -> None:
    names = Names()
    async with fetching(blobs, resolver=names) as fetcher:
        with pytest.raises((FileRefused, FileUnavailable)) as caught:
            await fetcher.fetch(url)

    assert names.hosts_asked == ([] if caught.type is FileRefused else ["a b\x00"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fe80::1"]
)
async def test_a_name_that_resolves_to_a_private_address_is_refused(
    blobs: MemoryBlobs, address: str
) -> None:
    names = Names(evil_test=[["93.184.216.34", address]])
    async with fetching(blobs, loopback=False, resolver=names) as fetcher:
        with pytest.raises(FileRefused, match=r"evil\.test is no host of the open internet"):
            await fetcher.fetch("http://evil.test/a.png")

    assert names.hosts_asked == ["evil.test"]


async def test_a_name_is_looked_up_once_and_its_second_answer_changes_nothing(
    blobs: MemoryBlobs,
) -> None:
    """DNS rebinding: the checked address is the one that is connected to."""
    names = Names(evil_test=[["127.0.0.1"], ["10.0.0.1"]])
    async with serving(answers()) as port, fetching(blobs, resolver=names) as fetcher:
        await fetcher.fetch(f"http://evil.test:{port}/")
        with pytest.raises(FileRefused):
            await fetcher.fetch(f"http://EVIL.test:{port + 1}/")

    assert names.hosts_asked == ["evil.test", "evil.test"]


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "169.254.169.254"])
def test_no_socket_is_opened_to_a_refused_address(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with pytest.raises(FileRefused):
        socket_to_open(Addresses(), (family, socket.SOCK_STREAM, 6, "", (address, 80)))

    with socket_to_open(Addresses(), (family, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 80))) as made:
        assert made.family == family


async def test_the_host_is_verified_by_its_name_and_certificate(
    blobs: MemoryBlobs, tmp_path: Path
) -> None:
    """Host, SNI and the certificate have the name, although the connection goes to an address."""
    names_seen: list[str] = []
    server, client = certificate_for("files.test", tmp_path)
    server.sni_callback = lambda _socket, name, _context: names_seen.append(str(name))

    async def handle(request: web.Request) -> web.Response:
        names_seen.append(request.host)
        return web.Response(body=PNG)

    names = Names(files_test=[["127.0.0.1"]], other_test=[["127.0.0.1"]])
    async with (
        serving(handle, server) as port,
        fetching(blobs, resolver=names, trust=client) as fetcher,
    ):
        await fetcher.fetch(f"https://files.test:{port}/")
        with pytest.raises(FileUnavailable, match="Certificate"):
            await fetcher.fetch(f"https://other.test:{port}/")

    assert names_seen == ["files.test", f"files.test:{port}", "other.test"]


# --- redirects ----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed(fetcher: GuardedFetcher, status: int) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/begin":
            return await leads_to(lambda _request: "end?sig=1", status)(request)
        return web.Response(body=request.path_qs.encode())

    async with serving(handle) as port:
        fetched = await fetcher.fetch(f"http://127.0.0.1:{port}/begin")

    assert fetched.blob.size == len("/end?sig=1")


@pytest.mark.parametrize(
    "target",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2130706433:1/",
        "http://private.test/",
        "file:///etc/passwd",
        "http://127.0.0.1:22/",
        "//10.0.0.1/",
    ],
)
async def test_a_redirect_to_a_host_that_is_not_allowed_is_refused(
    blobs: MemoryBlobs, target: str
) -> None:
    names = Names(private_test=[["192.168.1.1"]])
    async with (
        serving(leads_to(lambda _request: target)) as port,
        fetching(blobs, resolver=names) as fetcher,
    ):
        with pytest.raises(FileRefused):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


async def test_a_redirect_from_an_allowed_host_to_this_machine_is_refused(
    blobs: MemoryBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This machine plays the open host: only its first address counts as open."""
    paths: list[str] = []
    is_open = Addresses.is_open

    def pretended(self: Addresses, address: str) -> bool:
        return address == "127.0.0.9" or is_open(self, address)

    async def handle(request: web.Request) -> web.Response:
        paths.append(request.path)
        port = request.url.port
        return web.Response(status=302, headers={"Location": f"http://127.0.0.1:{port}/inside"})

    monkeypatch.setattr(Addresses, "is_open", pretended)
    names = Names(open_test=[["127.0.0.9"]])
    async with (
        serving(handle, host="127.0.0.9") as port,
        fetching(blobs, loopback=False, resolver=names) as fetcher,
    ):
        with pytest.raises(FileRefused, match=r"127\.0\.0\.1 is no host"):
            await fetcher.fetch(f"http://open.test:{port}/")

    assert paths == ["/"]


async def test_a_fetch_follows_at_most_five_redirects(fetcher: GuardedFetcher) -> None:
    request_numbers = itertools.count()

    def next_one(_request: web.Request) -> str:
        return f"/{next(request_numbers)}"

    async with serving(leads_to(next_one)) as port:
        with pytest.raises(FileRefused, match="more than 5 times"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert next(request_numbers) == 6


@pytest.mark.parametrize("target", ["", "http://[", "http://:0:0/"])
async def test_a_redirect_without_a_valid_target_is_refused(
    fetcher: GuardedFetcher, target: str
) -> None:
    async with serving(leads_to(lambda _request: target)) as port:
        with pytest.raises((FileGone, FileRefused)):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


# --- the token ----------------------------------------------------------------------------------


def shows_token(seen: list[str | None]) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        if request.query:
            return web.Response(status=302, headers={"Location": request.query["to"]})
        return web.Response(body=PNG)

    return handle


async def test_the_token_goes_to_its_hosts_only(fetcher: GuardedFetcher) -> None:
    seen: list[str | None] = []
    async with serving(shows_token(seen)) as port:
        for hosts in (("127.0.0.1",), ("127.0.0.*",), ("files.test", "*.127.0.0.1"), ()):
            await fetcher.fetch(f"http://127.0.0.1:{port}/", bearer=Bearer(TOKEN, hosts))

    assert seen == [f"Bearer {TOKEN}", f"Bearer {TOKEN}", None, None]


@pytest.mark.parametrize(
    ("host", "known", "may"),
    [
        ("files.slack.test", "files.slack.test", True),
        ("FILES.slack.test", "files.slack.test", True),
        ("files.slack.test.evil.test", "files.slack.test", False),
        ("evilfiles.slack.test", "files.slack.test", False),
        ("a.slack.test", "*.slack.test", True),
        ("slack.test", "*.slack.test", False),
        ("evilslack.test", "*.slack.test", False),
        ("a.slack.test.evil.test", "*.slack.test", False),
    ],
)
def test_the_token_goes_only_to_a_host_whose_whole_name_matches(
    host: str, known: str, may: bool
) -> None:
    assert may_see(host, Bearer(TOKEN, (known,))) is may


async def test_the_token_stays_within_its_host_and_goes_to_no_other(
    fetcher: GuardedFetcher,
) -> None:
    seen: list[str | None] = []
    bearer = Bearer(TOKEN, ("127.0.0.1", "localhost"))
    async with serving(shows_token(seen)) as port, serving(shows_token(seen)) as other:
        back = f"http://127.0.0.1:{port}/"
        for target in (
            "/same",
            f"http://127.0.0.1:{other}/",
            f"http://localhost:{other}/?to={back}",
        ):
            await fetcher.fetch(f"{back}?to={target}", bearer=bearer)

    sent = f"Bearer {TOKEN}"
    assert seen == [sent, sent, sent, None, sent, None, None]


async def test_the_token_is_never_sent_in_the_clear(blobs: MemoryBlobs) -> None:
    seen: list[str | None] = []
    names = Names(files_test=[["127.0.0.1"]])
    async with serving(shows_token(seen)) as port, fetching(blobs, resolver=names) as fetcher:
        await fetcher.fetch(f"http://files.test:{port}/", bearer=Bearer(TOKEN, ("files.test",)))

    assert seen == [None]


async def test_the_token_goes_to_no_other_port_of_its_host(
    blobs: MemoryBlobs, tmp_path: Path
) -> None:
    """On a shared host another port may belong to any program."""
    seen: list[str | None] = []
    server, client = certificate_for("files.test", tmp_path)
    names = Names(files_test=[["127.0.0.1"]])
    async with (
        serving(shows_token(seen), server) as port,
        fetching(blobs, resolver=names, trust=client) as fetcher,
    ):
        await fetcher.fetch(f"https://files.test:{port}/", bearer=Bearer(TOKEN, ("files.test",)))

    assert seen == [None]


async def test_a_request_has_only_the_necessary_headers(fetcher: GuardedFetcher) -> None:
    headers_seen: list[dict[str, str]] = []

    async def handle(request: web.Request) -> web.Response:
        headers_seen.append(
            {name: value for name, value in request.headers.items() if name != "Host"}
        )
        return web.Response(body=PNG, headers={"Set-Cookie": "a=b"})

    async with serving(handle) as port:
        await fetcher.fetch(f"http://127.0.0.1:{port}/")
        await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert headers_seen == 2 * [
        {"User-Agent": "uacs-bridge", "Accept-Encoding": "identity", "Accept": "*/*"}
    ]


async def test_errors_contain_neither_tokens_nor_signed_addresses(blobs: MemoryBlobs) -> None:
    bearer = Bearer(TOKEN, ("127.0.0.1",))
    handlers = [
        answers(status=403),
        answers(status=503),
        answers(bytes(200_000)),
        leads_to(lambda _request: "http://10.0.0.1/?sig=signed"),
        leads_to(lambda _request: "http://[?sig=signed"),
        answers(content=b"<html>"),
        answers(Content_Encoding="br"),
    ]
    texts = [repr(bearer)]
    with capture_logs() as logs:
        for handler in handlers:
            async with serving(handler) as port, fetching(blobs) as fetcher:
                url = f"http://127.0.0.1:{port}/path/signed?sig=signed"
                with pytest.raises(FileError) as caught:
                    await fetcher.fetch(url, media_type="image/png", bearer=bearer)
                assert caught.value.__cause__ is None
                texts.append(f"{caught.value!r}")

    assert [text for text in texts if "signed" in text or TOKEN in text] == []
    assert logs == []


# --- size and time ------------------------------------------------------------------------------


async def test_an_announced_size_beyond_the_limit_is_not_read(blobs: MemoryBlobs) -> None:
    head = OK + b"Content-Length: 100001\r\n\r\n"
    async with speaking(repeats(head, b"", pause=1)) as port, fetching(blobs) as fetcher:
        with pytest.raises(FileTooLarge, match=r"100001 bytes, more than 100000"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


async def test_an_endless_stream_is_stopped_at_the_size_limit(blobs: MemoryBlobs) -> None:
    async with speaking(repeats(OK + b"\r\n", bytes(5000))) as port, fetching(blobs) as fetcher:
        with pytest.raises(FileTooLarge, match="more than 100000 bytes"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert await blobs.total() == BlobTotal(0, 0)


async def test_a_caller_may_set_a_lower_limit_but_no_higher_one(fetcher: GuardedFetcher) -> None:
    async with serving(answers(bytes(5000))) as port:
        with pytest.raises(FileTooLarge, match="more than 4999"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/", limit=4999)
        await fetcher.fetch(f"http://127.0.0.1:{port}/", limit=5000)
    async with serving(answers(bytes(100_001))) as port:
        with pytest.raises(FileTooLarge, match="more than 100000"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/", limit=10**9)


async def test_a_file_shorter_than_announced_is_not_stored(blobs: MemoryBlobs) -> None:
    speaker = says(OK + b"Content-Length: 1000\r\n\r\n", bytes(500))
    async with speaking(speaker) as port, fetching(blobs) as fetcher:
        with pytest.raises(FileUnavailable, match="broke off"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert await blobs.total() == BlobTotal(0, 0)


@pytest.mark.parametrize("pause", [0.0, 0.1])
async def test_a_file_longer_than_announced_is_cut_there_or_refused(
    blobs: MemoryBlobs, pause: float
) -> None:
    speaker = says(OK + b"Content-Length: 10\r\n\r\n" + bytes(10), bytes(1000), pause=pause)
    async with speaking(speaker) as port, fetching(blobs) as fetcher:
        with contextlib.suppress(FileUnavailable):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert await blobs.total() in (BlobTotal(1, 10), BlobTotal(0, 0))


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"Content-Length: abc\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"X: " + b"y" * 1_000_000 + b"\r\n\r\n",
        b"X: y\r\n" * 100_000 + b"\r\n",
    ],
)
async def test_a_broken_answer_is_refused(blobs: MemoryBlobs, head: bytes) -> None:
    async with speaking(says(OK + head, bytes(10))) as port, fetching(blobs) as fetcher:
        with pytest.raises(FileUnavailable):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert await blobs.total() == BlobTotal(0, 0)


async def test_a_stream_below_the_minimum_pace_is_stopped(blobs: MemoryBlobs) -> None:
    async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            pass_time(20)
            await asyncio.sleep(0.02)

    pass_time(0)
    limits = FetchLimits(size=100_000, seconds=3600.0, window=30.0, pace=1000)
    async with speaking(drip) as port, fetching(blobs, limits) as fetcher:
        with pytest.raises(FileUnavailable, match="bytes a second"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


async def test_a_stream_that_falls_silent_is_stopped(blobs: MemoryBlobs) -> None:
    speaker = repeats(OK + b"\r\nabc", b"", pause=5)
    async with speaking(speaker) as port, fetching(blobs, HASTY) as fetcher:
        with pytest.raises(FileUnavailable, match=r"no data for 0\.3 s"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    ("head", "piece"),
    [(OK, b"X: y\r\n"), (OK + b"\r\n", b"x" * 100), (b"", b"HTTP/1.1 100 C\r\n\r\n")],
)
async def test_a_fetch_has_a_total_deadline(blobs: MemoryBlobs, head: bytes, piece: bytes) -> None:
    limits = FetchLimits(size=10**9, seconds=0.5, window=30.0, pace=1)
    async with (
        speaking(repeats(head, piece, pause=0.05)) as port,
        fetching(blobs, limits) as fetcher,
    ):
        with pytest.raises(FileUnavailable):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


async def test_a_slow_host_does_not_delay_other_fetches(blobs: MemoryBlobs) -> None:
    limits = FetchLimits(size=10**6, seconds=600.0, window=600.0, pace=1)
    async with (
        speaking(repeats(OK + b"\r\n", b"x", pause=0.1)) as slow,
        serving(answers()) as port,
        fetching(blobs, limits) as fetcher,
    ):
        waiting = [
            asyncio.create_task(fetcher.fetch(f"http://127.0.0.1:{slow}/")) for _ in range(20)
        ]
        await asyncio.sleep(0.1)
        await fetcher.fetch(f"http://127.0.0.1:{port}/")
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


# --- packed -------------------------------------------------------------------------------------


async def test_compression_is_not_requested_and_compressed_answers_are_unpacked(
    fetcher: GuardedFetcher,
) -> None:
    contents = (PNG, b"", b"x" * 65536, b"x" * 65537, bytes(range(256)) * 300)
    for content in contents:
        for packed, name in ((gzip.compress(content), "gzip"), (zlib.compress(content), "deflate")):
            async with serving(answers(packed, Content_Encoding=name)) as port:
                fetched = await fetcher.fetch(f"http://127.0.0.1:{port}/")

            assert fetched.blob.size == len(content)


async def test_a_gzip_file_is_stored_as_it_is(fetcher: GuardedFetcher) -> None:
    packed = gzip.compress(bytes(10_000))
    async with serving(answers(packed, "application/gzip")) as port:
        fetched = await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert fetched == Fetched(fetched.blob, "application/gzip")
    assert fetched.blob.size == len(packed)


class Unpacker:
    """A decompressor of zlib that counts its output."""

    unpacked = 0

    def __init__(self, wbits: int, made: Any = zlib.decompressobj) -> None:
        self._made = made(wbits=wbits)

    def decompress(self, data: bytes, most: int) -> bytes:
        piece = self._made.decompress(data, most)
        Unpacker.unpacked += len(piece)
        return piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


async def test_a_gzip_bomb_is_stopped_at_the_size_limit(
    blobs: MemoryBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.app.files.fetch.zlib.decompressobj", Unpacker)
    monkeypatch.setattr(Unpacker, "unpacked", 0)
    bomb = gzip.compress(bytes(50_000_000))
    assert len(bomb) < LIMITS.size

    async with serving(answers(bomb, Content_Encoding="gzip")) as port, fetching(blobs) as fetcher:
        with pytest.raises(FileTooLarge, match="more than 100000"):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert LIMITS.size < Unpacker.unpacked <= 2 * LIMITS.size
    assert await blobs.total() == BlobTotal(0, 0)


async def test_endless_compressed_input_without_output_is_stopped(blobs: MemoryBlobs) -> None:
    """Empty blocks of deflate: endless input without any output."""
    head = OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10]
    empty = b"\x00\x00\x00\xff\xff" * 1000
    async with speaking(repeats(head, empty)) as port, fetching(blobs) as fetcher:
        with pytest.raises(FileTooLarge):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    ("content", "encoding", "error"),
    [
        (gzip.compress(PNG)[:-10], "gzip", FileUnavailable),
        (b"not packed", "gzip", FileGone),
        (PNG, "br", FileGone),
        (PNG, "gzip, gzip", FileGone),
    ],
    ids=["cut off", "not packed", "unknown", "twice"],
)
async def test_a_file_that_cannot_be_decompressed_is_refused(
    blobs: MemoryBlobs, content: bytes, encoding: str, error: type[FileError]
) -> None:
    async with (
        serving(answers(content, Content_Encoding=encoding)) as port,
        fetching(blobs) as fetcher,
    ):
        with pytest.raises(error):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert await blobs.total() == BlobTotal(0, 0)


# --- answers and errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, FileGone),
        (401, FileGone),
        (403, FileGone),
        (404, FileGone),
        (410, FileGone),
        (204, FileGone),
        (206, FileGone),
        (304, FileGone),
        (408, FileUnavailable),
        (429, FileUnavailable),
        (500, FileUnavailable),
        (503, FileUnavailable),
    ],
)
async def test_the_status_of_an_answer_decides_whether_to_retry(
    fetcher: GuardedFetcher, status: int, error: type[FileError]
) -> None:
    async with serving(answers(b"", status=status)) as port:
        with pytest.raises(error, match=str(status)):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    ("header", "wait"), [("7", 7.0), ("9" * 20, 86400.0), ("soon", None), ("-1", None), ("²", None)]
)
async def test_a_busy_host_may_name_the_time_of_the_retry(
    fetcher: GuardedFetcher, header: str, wait: float | None
) -> None:
    async with serving(answers(status=429, Retry_After=header)) as port:
        with pytest.raises(FileUnavailable) as caught:
            await fetcher.fetch(f"http://127.0.0.1:{port}/")

    assert caught.value.retry_after == wait


async def test_an_unreachable_host_is_retried(blobs: MemoryBlobs) -> None:
    async with serving(answers()) as port:
        pass
    async with fetching(blobs, resolver=Names()) as fetcher:
        for url in (
            f"http://127.0.0.1:{port}/",
            "http://nowhere.test/",
            f"http://{'a' * 70}.test/",
        ):
            with pytest.raises(FileUnavailable, match="cannot be reached"):
                await fetcher.fetch(url)


async def test_a_full_disk_has_its_own_error() -> None:
    async with serving(answers()) as port, fetching(_Full(SystemClock())) as fetcher:
        with pytest.raises(StoreFull):
            await fetcher.fetch(f"http://127.0.0.1:{port}/")


class _Full(MemoryBlobs):
    async def put(self, chunks: AsyncIterable[bytes], *, limit: int) -> BlobRef:
        raise StoreFull("No room left")


def test_every_error_of_the_http_client_is_translated() -> None:
    """All of aiohttp's errors are subclasses of the translated ones."""
    known = (aiohttp.ClientError, OSError, UnicodeError)
    errors = [
        value
        for value in vars(aiohttp).values()
        if isinstance(value, type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
        and not value.__name__.startswith(("WS", "WebSocket", "EofStream"))  # not of requests
    ]

    assert len(errors) > 15
    assert [error for error in errors if not issubclass(error, known)] == []


async def test_a_fetch_that_is_cancelled_leaves_nothing(blobs: MemoryBlobs) -> None:
    limits = FetchLimits(size=10**9, seconds=60, window=30, pace=1)
    async with (
        speaking(repeats(OK + b"\r\n", b"x" * 1000, pause=0.01)) as port,
        fetching(blobs, limits) as fetcher,
    ):
        task = asyncio.create_task(fetcher.fetch(f"http://127.0.0.1:{port}/"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert await blobs.total() == BlobTotal(0, 0)
