"""Uploaded bytes: kept within bounds, read by many at once; multipart bodies in pieces."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sandbox.files import FileStore, TooMuch
from bridge.sandbox.multipart import BadMultipart, Bounds, Part, read_multipart
from bridge.sandbox.picture_sizes import is_animated, picture_size
from connectors.discord.sandbox.pictures import avatar_png

FORM = "multipart/form-data; boundary=X"
ROOMY = Bounds(file=10_000_000, values=100_000, body=20_000_000)
BODY = (
    b"preamble\r\n--X\r\n"
    b'Content-Disposition: form-data; name="payload_json"\r\nContent-Type: application/json\r\n\r\n'
    b'{"a": 1}\r\n--X\r\n'
    b'Content-Disposition: form-data; name="files[0]"; filename="a \\"b\\".txt"\r\n\r\n'
    b"one\r\n--Y not the end\r\ntwo\r\n--X\r\n"
    b"content-disposition: form-data; name=n; filename=\"x\"; filename*=utf-8''na%C3%AFve.png\r\n"
    b"Content-Type: image/png\r\n\r\n\r\n--X\r\n\r\nno head\r\n--X--\r\nepilogue"
)


async def pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def contents_of(store: FileStore, parts: list[Part]) -> list[tuple[Any, ...]]:
    return [
        (p.name, p.filename, p.content_type, store.read(p.file) if p.file else p.value)
        for p in parts
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
async def test_a_form_is_read_the_same_in_pieces_of_any_size(size: int) -> None:
    store = FileStore()

    parts = await read_multipart(FORM, pieces(BODY, size), store, ROOMY)

    assert contents_of(store, parts) == [
        ("payload_json", None, "application/json", b'{"a": 1}'),
        ("files[0]", 'a "b".txt', "", b"one\r\n--Y not the end\r\ntwo"),
        ("n", "naïve.png", "image/png", b""),
        ("", None, "", b"no head"),
    ]


@given(st.binary(max_size=300), st.integers(1, 50))
async def test_any_bytes_come_out_of_a_form_as_they_went_in(data: bytes, size: int) -> None:
    head = b'--bnd-0123456789\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    body = head + data + b"\r\n--bnd-0123456789--"
    store = FileStore()

    kind = 'multipart/form-data; boundary="bnd-0123456789"'
    parts = await read_multipart(kind, pieces(body, size), store, ROOMY)

    assert [row[3] for row in contents_of(store, parts)] == [data]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", BODY),
        (FORM, b"--X\r\n\r\nno end"),
        (FORM, b"--X\r\n\r\nx\r\n--Xjunk"),
        (FORM, b"--X\r\n" + b"a" * 20_000),
        (FORM, b"--X\r\n\r\n\r\n" * 101 + b"--X--"),
        (FORM, b""),
    ],
)
async def test_an_invalid_form_is_refused(kind: str, body: bytes) -> None:
    store = FileStore()

    with pytest.raises(BadMultipart):
        await read_multipart(kind, pieces(body, 100), store, ROOMY)

    assert len(store) == store.bytes == 0


@pytest.mark.parametrize(
    "bounds",
    [Bounds(5, 1000, 1000), Bounds(1000, 5, 1000), Bounds(1000, 1000, 100)],
)
async def test_a_form_that_is_too_large_is_refused_and_leaves_no_file(bounds: Bounds) -> None:
    store = FileStore()

    with pytest.raises(TooMuch):
        await read_multipart(FORM, pieces(BODY, 50), store, bounds)

    assert len(store) == store.bytes == 0


async def test_a_large_file_goes_to_the_disk_and_comes_back(tmp_path: Any) -> None:
    store, data = FileStore(), bytes(range(256)) * 10_000

    file = await store.take(pieces(data, 100_000))

    assert (file.size, file.head) == (len(data), data[: 256 * 1024])
    first, other = store.chunks(file), store.chunks(file)
    assert first
    assert other
    together = list(zip(first, other, strict=True))
    assert b"".join(a for a, _ in together) == b"".join(b for _, b in together) == data


async def test_the_oldest_files_are_removed_when_the_store_is_full() -> None:
    store = FileStore(max_bytes=100)

    files = [store.keep(bytes(40)) for _ in range(3)]

    assert [store.read(file) for file in files] == [None, bytes(40), bytes(40)]
    assert (len(store), store.bytes) == (2, 80)
    with pytest.raises(TooMuch):
        await store.take(pieces(bytes(101), 10))
    assert len(store) == 2


async def test_a_forgotten_store_leaves_no_open_file() -> None:
    store = FileStore()
    store.keep(bytes(3_000_000))

    del store
    gc.collect()  # an open file would warn, and warnings are errors here


PNG = avatar_png("x")


@pytest.mark.parametrize(
    ("head", "size", "moves"),
    [
        (PNG, (64, 64), False),
        (b"GIF89a\x0a\x00\x05\x00" + bytes(10) + b"NETSCAPE2.0", (10, 5), True),
        (b"GIF87a\x0a\x00\x05\x00", (10, 5), False),
        (
            b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x11\x08\x00\x20\x00\x30" + bytes(12),
            (48, 32), False,
        ),
        (b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0", (16, 32), False),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x0f\xc0\x07\x00", (16, 32), False),
        (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x10\x00\x20\x00", (16, 32), False),
        (b"RIFF\0\0\0\0WEBPNONE", None, False),
        (b"\x89PNG\r\n\x1a\n", None, False),
        (b"\xff\xd8\xff\xda", None, False),
        (b"\xff\xd8" + bytes(20), None, False),
        (b"", None, False),
        (b"<svg/>", None, False),
    ],
)  # fmt: skip
def test_the_size_of_a_picture_is_read_from_its_first_bytes(
    head: bytes, size: tuple[int, int] | None, moves: bool
) -> None:
    assert (picture_size(head), is_animated(head)) == (size, moves)
