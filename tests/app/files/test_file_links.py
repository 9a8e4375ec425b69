"""Links to stored files: signed, expiring, and served so that nothing in a file can run."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from starlette.applications import Starlette

from bridge.app.build import build
from bridge.app.checks.examine import examine
from bridge.app.files.file_links import FileLinks, Linked, file_routes
from bridge.app.redaction import hide_secrets
from bridge.app.settings.file import read_settings, settings_of
from bridge.app.web.server import WebServer, web_app
from bridge.content.cards.tree import Asset
from bridge.errors import ConfigError
from bridge.ports.blobs import BlobRef, Blobs
from bridge.store.blobs import open_blobs
from bridge.testing.blobs_contract import INVALID_IDS, PNG, numbers, put
from bridge.testing.clock import START, ManualClock
from bridge.testing.memory_blobs import MemoryBlobs
from tests.app.running import write

KEY = bytes(range(32))
DAY = 86_400
BASE = "https://bridge.test"
FILM = numbers(700_000)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def links(clock: ManualClock) -> FileLinks:
    return FileLinks(KEY, f"{BASE}/", 30 * DAY, clock)


@pytest.fixture
def blobs(clock: ManualClock) -> MemoryBlobs:
    return MemoryBlobs(clock)


@pytest.fixture
async def http(
    links: FileLinks, blobs: Blobs, clock: ManualClock
) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=file_routes(links, blobs, clock))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as client:
        yield client


def token_and_name(link: str) -> tuple[str, str]:
    _, _, token, name = urlsplit(link).path.split("/")
    return token, unquote(name)


def link_to(links: FileLinks, ref: BlobRef, name: str = "a.png", media_type: str = "") -> str:
    return links.link(ref.file_id, name, media_type or ref.media_type)


# --- the link -----------------------------------------------------------------------------------


async def test_a_link_serves_the_file_under_its_name_and_type(
    links: FileLinks, blobs: Blobs
) -> None:
    ref = await put(blobs, PNG)

    link = link_to(links, ref, "my cat ☕.png")

    assert re.fullmatch(rf"{BASE}/files/[A-Za-z0-9_-]+/my%20cat%20%E2%98%95\.png", link)
    linked = links.read(*token_and_name(link))
    assert linked is not None
    assert linked == Linked(ref.file_id, "my cat ☕.png", "image/png", linked.expires)
    assert 30 * DAY <= linked.expires - START <= 30 * DAY * 9 / 8


async def test_two_links_made_soon_after_each_other_are_equal(
    links: FileLinks, blobs: Blobs, clock: ManualClock
) -> None:
    ref = await put(blobs, PNG)
    made = {link_to(links, ref)}
    for _ in range(30):
        clock.now += DAY
        made.add(link_to(links, ref))

    assert 8 <= len(made) <= 9


async def test_a_link_expires(links: FileLinks, blobs: Blobs, clock: ManualClock) -> None:
    token, name = token_and_name(link_to(links, await put(blobs, PNG)))
    linked = links.read(token, name)
    assert linked is not None

    clock.now = linked.expires - 1
    assert links.read(token, name) == linked
    clock.now = linked.expires
    assert links.read(token, name) is None


async def test_a_link_with_any_changed_byte_is_refused(links: FileLinks, blobs: Blobs) -> None:
    token, name = token_and_name(link_to(links, await put(blobs, PNG)))
    content = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))

    for at in range(len(content)):
        changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        other = base64.urlsafe_b64encode(changed).rstrip(b"=").decode()
        assert links.read(other, name) is None


async def test_a_link_with_an_invalid_signature_is_refused(
    links: FileLinks, blobs: Blobs, clock: ManualClock
) -> None:
    ref = await put(blobs, PNG)
    token, name = token_and_name(link_to(links, ref))
    stranger = FileLinks(bytes(32), BASE, 30 * DAY, clock)
    foreign, _ = token_and_name(link_to(stranger, ref))

    tokens = ["", "A", "A" * 80, "A" * 100_000, "é" * 80, token[:-1], f"{token}A", f"{token}=",
              token + "/" + token, foreign, "\x00" * 80, "=" * 80]  # fmt: skip
    assert [text for text in tokens if links.read(text, name) is not None] == []
    names = ["", "b.png", name.upper(), f"{name} ", f"{name}\x00", "\ud800"]
    assert [text for text in names if links.read(token, text) is not None] == []


@pytest.mark.parametrize("file_id", INVALID_IDS)
def test_only_stored_files_have_links(links: FileLinks, file_id: str) -> None:
    with pytest.raises(ValueError, match="is no id of a stored file"):
        links.link(file_id, "a", "image/png")


async def test_an_asset_has_a_link_of_ours_if_it_is_stored_else_its_own_address(
    links: FileLinks, blobs: Blobs
) -> None:
    ref = await put(blobs, PNG)
    held = Asset(
        file_id=ref.file_id,
        name="a.png",
        media_type="image/png",
        url="https://x.test/",
        private=True,
    )

    assert links.url_of(held) == link_to(links, ref)
    assert links.url_of(Asset(url="https://x.test/a")) == "https://x.test/a"
    assert links.url_of(Asset(url="https://x.test/a", private=True, file_id="F012")) == ""


async def test_a_link_in_a_log_is_hidden(links: FileLinks, blobs: Blobs) -> None:
    link = link_to(links, await put(blobs, PNG))
    token, _ = token_and_name(link)

    assert token not in hide_secrets(f"GET {link} 200")
    assert "/files/T012AB3CD/F0123" in hide_secrets("https://x.test/files/T012AB3CD/F0123")


# --- serving ------------------------------------------------------------------------------------


async def test_a_picture_is_served_inline_under_a_policy_without_scripts(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs
) -> None:
    ref = await put(blobs, PNG)

    answer = await http.get(link_to(links, ref, "my cat.png"))

    assert (answer.status_code, answer.content) == (200, PNG)
    assert dict(answer.headers) == {
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex",
        "cache-control": "private, immutable, max-age=86400",
        "etag": f'"{ref.file_id.removeprefix("blob:sha256-")}"',
        "content-type": "image/png",
        "content-disposition": "inline; filename=\"my cat.png\"; filename*=UTF-8''my%20cat.png",
        "accept-ranges": "bytes",
        "content-length": str(len(PNG)),
    }


@pytest.mark.parametrize(
    ("media_type", "served", "way"),
    [
        ("image/jpeg", "image/jpeg", "inline"),
        ("image/webp", "image/webp", "inline"),
        ("video/mp4", "video/mp4", "inline"),
        ("audio/ogg", "audio/ogg", "inline"),
        ("image/svg+xml", "application/octet-stream", "attachment"),
        ("image/heic", "application/octet-stream", "attachment"),
        ("text/html", "application/octet-stream", "attachment"),
        ("text/xml", "application/octet-stream", "attachment"),
        ("application/xhtml+xml", "application/octet-stream", "attachment"),
        ("application/javascript", "application/octet-stream", "attachment"),
        ("application/x-shockwave-flash", "application/octet-stream", "attachment"),
        ("multipart/x-mixed-replace", "application/octet-stream", "attachment"),
        ("image/png\r\nX: y", "application/octet-stream", "attachment"),
        ("", "application/octet-stream", "attachment"),
        ("text/plain", "text/plain; charset=utf-8", "attachment"),
        ("application/pdf", "application/pdf", "attachment"),
    ],
)
async def test_only_types_that_run_no_code_are_served_as_themselves(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, media_type: str, served: str, way: str
) -> None:
    ref = await put(blobs, b"<script>alert(1)</script>")

    answer = await http.get(links.link(ref.file_id, "a", media_type))

    assert answer.headers["content-type"] == served
    assert answer.headers["content-disposition"].startswith(f"{way}; ")
    assert answer.headers["x-content-type-options"] == "nosniff"
    plays = served.startswith(("video/", "audio/"))
    assert answer.headers["content-security-policy"] == (
        "sandbox allow-same-origin; default-src 'none'; media-src 'self'"  # no allow-scripts
        if plays
        else "sandbox; default-src 'none'"
    )


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ('a"; filename="b.exe', "filename=\"a_; filename=_b.exe\"; "
                                "filename*=UTF-8''a_%3B%20filename%3D_b.exe"),
        ("a\r\nSet-Cookie: x=y", "filename=\"aSet-Cookie_ x=y\"; "
                                 "filename*=UTF-8''aSet-Cookie_%20x%3Dy"),
        ("../../etc/passwd", "filename=\"passwd\"; filename*=UTF-8''passwd"),
        ("ünï☕.txt", "filename=\"_n__.txt\"; filename*=UTF-8''%C3%BCn%C3%AF%E2%98%95.txt"),
        ("a\\b'c.txt", "filename=\"b'c.txt\"; filename*=UTF-8''b%27c.txt"),
        ("", "filename=\"file\"; filename*=UTF-8''file"),
        ("#?&;=+ %41.txt", "filename=\"#_&;=+ _41.txt\"; "
                           "filename*=UTF-8''%23_%26%3B%3D%2B%20_41.txt"),
    ],
)  # fmt: skip
async def test_a_file_name_cannot_inject_headers_or_path_segments(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, name: str, header: str
) -> None:
    ref = await put(blobs, b"\x00")
    link = links.link(ref.file_id, name, "")

    answer = await http.get(link)

    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f"attachment; {header}"
    assert "set-cookie" not in answer.headers
    assert re.fullmatch(r"[A-Za-z0-9_.~%-]+", link.removeprefix(f"{BASE}/files/").split("/")[1])


async def test_head_answers_with_all_headers_and_no_bytes(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs
) -> None:
    link = link_to(links, await put(blobs, PNG))

    head, whole = await http.head(link), await http.get(link)

    assert (head.status_code, head.content) == (200, b"")
    assert head.headers == whole.headers


async def test_wrong_expired_and_removed_links_get_the_same_answer(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, clock: ManualClock
) -> None:
    removed = await put(blobs, b"gone")
    gone, link = link_to(links, removed), link_to(links, await put(blobs, PNG))
    await blobs.remove(removed.file_id)
    wrong = (gone, f"{link}x", link.replace("/files/", "/files/A"), f"{BASE}/files/x/y")

    answers = [await http.get(url) for url in wrong]
    clock.now += 40 * DAY
    answers.append(await http.get(link))

    assert {(answer.status_code, answer.content) for answer in answers} == {(404, b"")}
    assert {frozenset(answer.headers.items()) for answer in answers} == {
        frozenset({("cache-control", "no-store"), ("content-length", "0")})
    }


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_files_accept_only_reading_methods(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, method: str
) -> None:
    link = link_to(links, await put(blobs, PNG))

    assert (await http.request(method, link)).status_code == 405


async def test_a_file_that_the_client_has_is_not_sent_again(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs
) -> None:
    link = link_to(links, await put(blobs, PNG))
    tag = (await http.get(link)).headers["etag"]

    same = await http.get(link, headers={"If-None-Match": f'W/"x", {tag}'})
    other = await http.get(link, headers={"If-None-Match": '"x"'})

    assert (same.status_code, same.content, other.status_code) == (304, b"", 200)


@pytest.mark.parametrize(
    ("byte_range", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, 700_000),
        ("bytes=100-199", 100, 200),
        ("bytes=699999-", 699_999, 700_000),
        ("bytes=-1", 699_999, 700_000),
        ("bytes=-9999999", 0, 700_000),
        ("bytes=5-99999999", 5, 700_000),
        ("Bytes = 5-6 ", 5, 7),
    ],
)
async def test_a_range_of_a_file_is_served(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, byte_range: str, start: int, end: int
) -> None:
    link = link_to(links, await put(blobs, FILM), "film.mp4", "video/mp4")

    answer = await http.get(link, headers={"Range": byte_range})

    assert answer.status_code == 206
    assert answer.content == FILM[start:end]
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/700000"
    assert answer.headers["content-length"] == str(end - start)


@pytest.mark.parametrize(
    "byte_range",
    ["bytes=0-1,5-6", "bytes=a-b", "bytes=-", "bytes=5-4", "lines=1-2", "bytes", "bytes=0x1-2",
     "bytes=-1-2", "bytes=+1-2", f"bytes={'9' * 5000}-", "bytes=²-3", "bytes=1--2"],
)  # fmt: skip
async def test_an_invalid_range_gets_the_whole_file(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, byte_range: str
) -> None:
    link = link_to(links, await put(blobs, PNG))

    answer = await http.get(link, headers=[(b"Range", byte_range.encode())])

    assert (answer.status_code, answer.content) == (200, PNG)


@pytest.mark.parametrize("byte_range", ["bytes=108-", "bytes=500-600", "bytes=-0"])
async def test_a_range_beyond_the_end_is_refused(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs, byte_range: str
) -> None:
    ref = await put(blobs, bytes(108))

    answer = await http.get(link_to(links, ref), headers={"Range": byte_range})

    assert (answer.status_code, answer.content) == (416, b"")
    assert answer.headers["content-range"] == "bytes */108"


async def test_a_range_for_another_version_gets_the_whole_file(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs
) -> None:
    link = link_to(links, await put(blobs, PNG))

    answer = await http.get(link, headers={"Range": "bytes=0-1", "If-Range": '"other"'})

    assert (answer.status_code, answer.content) == (200, PNG)


async def test_an_empty_file_is_served(
    http: httpx.AsyncClient, links: FileLinks, blobs: Blobs
) -> None:
    link = link_to(links, await put(blobs, b""))

    whole, part = await http.get(link), await http.get(link, headers={"Range": "bytes=0-"})

    assert (whole.status_code, whole.headers["content-length"]) == (200, "0")
    assert part.status_code == 416


# --- in the bridge ------------------------------------------------------------------------------


async def test_the_bridge_serves_its_files_and_aborts_damaged_ones(tmp_path: Path) -> None:
    path = tmp_path / "b.sqlite3"
    bridge = await build(
        settings_of({"store": {"path": str(path)}, "web": {"public_url": "https://bridge.test/"}})
    )
    server = WebServer(web_app(bridge), "127.0.0.1", 0)
    await server.start()
    try:
        ref = await put(bridge.files.blobs, FILM)
        asset = Asset(file_id=ref.file_id, name="film.mp4", media_type="video/mp4")
        link = bridge.files.url_of(asset).replace("https://bridge.test", server.url)
        async with httpx.AsyncClient() as http:
            whole = await http.get(link)
            part = await http.get(link, headers={"Range": "bytes=300000-300009"})
            head = await http.head(link)
            wrong = await http.get(f"{link}x")
            digest = ref.file_id.removeprefix("blob:sha256-")
            (tmp_path / "b.blobs" / digest[:2] / digest).write_bytes(FILM[:-1] + b"!")
            with pytest.raises(httpx.RemoteProtocolError):
                await http.get(link)
    finally:
        await server.stop()
        await bridge.close()

    assert whole.content == FILM
    assert part.content == FILM[300_000:300_010]
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(FILM)))
    assert (wrong.status_code, wrong.content) == (404, b"")


async def test_without_a_public_address_there_are_no_links(tmp_path: Path) -> None:
    bridge = await build(settings_of({"store": {"path": str(tmp_path / "b.sqlite3")}}))
    app = web_app(bridge)
    try:
        ref = await put(bridge.files.blobs, PNG)
        asset = Asset(file_id=ref.file_id, url="https://x.test/a.png")

        assert bridge.files.url_of(asset) == "https://x.test/a.png"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as http:
            assert (await http.get("/files/a/b")).status_code == 404
    finally:
        await bridge.close()


async def test_files_survive_a_restart(tmp_path: Path) -> None:
    settings = settings_of({"store": {"path": str(tmp_path / "b.sqlite3")}})
    bridge = await build(settings)
    ref = await put(bridge.files.blobs, PNG)
    await bridge.close()

    bridge = await build(settings)
    found = await bridge.files.blobs.stat(ref.file_id)
    await bridge.close()

    assert found == ref


async def test_disk_and_memory_stores_serve_the_same_answers(
    tmp_path: Path, links: FileLinks
) -> None:
    clock = ManualClock()
    disk = await open_blobs(tmp_path / "b.blobs", clock=clock)
    answers: list[tuple[int, bytes]] = []
    for blobs in (disk, MemoryBlobs(clock)):
        link = link_to(links, await put(blobs, FILM))
        app = Starlette(routes=file_routes(links, blobs, clock))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as http:
            answer = await http.get(link, headers={"Range": "bytes=5-500000"})
            answers.append((answer.status_code, answer.content))
    await disk.close()

    assert answers == 2 * [(206, FILM[5:500_001])]


@pytest.mark.parametrize(
    ("settings", "expected", "level"),
    [
        ({}, "public_url is not set: a file that a platform does not take", "ok"),
        ({"files": {"allow_loopback": True}}, "files.allow_loopback is on", "warning"),
    ],
)
async def test_check_reports_how_files_are_shown(
    tmp_path: Path, settings: dict[str, object], expected: str, level: str
) -> None:
    store = {"path": str(tmp_path / "b.sqlite3")}
    config = write(
        tmp_path / "bridge.yaml", json.dumps({**settings, "store": store, "web": {"port": 0}})
    )

    chapters = dict(await examine(config, read_settings(config)))

    assert [found.level for found in chapters["Web server"] if expected in found.what] == [level]


def test_no_account_can_have_the_name_files() -> None:
    account = {"platform": "discord", "bot_token": {"env": "TOKEN"}}

    with pytest.raises(ConfigError, match=r"accounts\.files: this is an address of the bridge"):
        settings_of({"accounts": {"files": account}})
