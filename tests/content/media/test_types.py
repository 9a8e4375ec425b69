"""A file's type is what its bytes prove, and what was declared as far as they do not deny it."""

from __future__ import annotations

import random
import time

import pytest

from bridge.content.media.types import (
    HEAD,
    HTML,
    SVG,
    TEXT,
    UNKNOWN,
    XML,
    agreed_type,
    kind_of,
    registered_type,
    sniffed_type,
)

PADDING = bytes(100)
HEADS = {
    "image/png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "image/gif": b"GIF89a\x01\x00\x01\x00",
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "image/avif": b"\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1miaf",
    "image/heic": b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic",
    "image/bmp": b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00",
    "image/tiff": b"II*\x00\x08\x00\x00\x00",
    "image/x-icon": b"\x00\x00\x01\x00\x01\x00\x10\x10",
    "video/mp4": b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00isomiso2avc1mp41",
    "video/quicktime": b"\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  ",
    "video/webm": b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\x82\x84webm",
    "video/x-msvideo": b"RIFF\x24\x00\x00\x00AVI LIST",
    "audio/mp4": b"\x00\x00\x00\x1cftypM4A \x00\x00\x00\x00M4A mp42isom",
    "audio/mpeg": b"ID3\x04\x00\x00\x00\x00\x00\x23",
    "audio/ogg": b"OggS\x00\x02" + bytes(20) + b"\x01\x13OpusHead",
    "audio/wav": b"RIFF\x24\x00\x00\x00WAVEfmt ",
    "audio/flac": b"fLaC\x00\x00\x00\x22",
    "application/pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "application/zip": b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
    "application/gzip": b"\x1f\x8b\x08\x00",
}


@pytest.mark.parametrize(("media_type", "head"), HEADS.items())
def test_the_media_type_is_found_from_the_first_bytes(media_type: str, head: bytes) -> None:
    assert sniffed_type(head + PADDING) == media_type


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"", UNKNOWN),
        (b"\x00\x01\x02\x03", UNKNOWN),
        (b"Hello, world", TEXT),
        ("Grüße ☕".encode(), TEXT),
        (("☕" * 3000).encode(), TEXT),
        ("\ufeffHello".encode("utf-16-le"), TEXT),
        (b"BMW is a car", TEXT),
        (b"MZ are the first letters of a name", TEXT),
        (b"BZhang wrote this", TEXT),
        (b'{"a": 1}', TEXT),
        (b"%PDF-1.4\nall of it in ASCII", "application/pdf"),
    ],
)
def test_text_that_begins_like_a_file_signature_is_text(content: bytes, media_type: str) -> None:
    assert sniffed_type(content) == media_type


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"<!DOCTYPE html><p>", HTML),
        (b"\xef\xbb\xbf \r\n\t<HTML>", HTML),
        (b"<script>alert(1)</script>", HTML),
        (b"<!-- a comment --><p>", HTML),
        (b"<a href=x>", HTML),
        (b"<iframe\x00/", UNKNOWN),
        (b"<b>bold</b>\x00\xff", HTML),
        ("\ufeff<script>alert(1)</script>".encode("utf-16-le"), HTML),
        ("\ufeff<html>".encode("utf-16-be"), HTML),
        (b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">', HTML),
        (b'<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="x">', SVG),
        (b"<svg onload=alert(1)>", SVG),
        (b"<s:svg xmlns:s='http://www.w3.org/2000/svg'>", SVG),
        (b"<!-- made by hand --><svg>", SVG),
        (b'<?xml version="1.0"?><feed>', XML),
        (b"<3 you all", TEXT),
        (b"<alpha> is no tag of pages", TEXT),
    ],
)
def test_html_and_svg_are_recognized_by_their_tags(content: bytes, media_type: str) -> None:
    assert sniffed_type(content) == media_type


@pytest.mark.parametrize(
    ("declared", "sniffed", "agreed"),
    [
        ("image/png", "image/png", "image/png"),
        ("image/png", "image/jpeg", "image/jpeg"),
        ("image/vnd.microsoft.icon", "image/x-icon", "image/x-icon"),
        ("image/jpg; q=1", "image/jpeg", "image/jpeg"),
        ("", "image/gif", "image/gif"),
        ("application/octet-stream", "video/mp4", "video/mp4"),
        ("binary/octet-stream", "audio/mpeg", "audio/mpeg"),
        ("rubbish", "image/gif", "image/gif"),
        ("text/html", "image/png", "image/png"),
        ("image/png", HTML, HTML),
        ("image/png", SVG, SVG),
        ("image/png", TEXT, TEXT),
        ("image/png", UNKNOWN, UNKNOWN),
        ("image/png", "application/zip", "application/zip"),
        ("video/mp4", HTML, HTML),
        ("application/pdf", HTML, HTML),
        ("video/mp2t", TEXT, TEXT),  # as files of TypeScript are declared
        ("audio/mpegurl", TEXT, TEXT),
        ("video/mp4", "image/png", "image/png"),
        ("video/mp2t", UNKNOWN, "video/mp2t"),
        ("audio/midi", UNKNOWN, "audio/midi"),
        ("audio/webm", "video/webm", "audio/webm"),
        ("audio/mp4", "video/mp4", "audio/mp4"),
        ("video/ogg", "audio/ogg", "video/ogg"),
        ("text/markdown", TEXT, "text/markdown"),
        ("text/markdown", HTML, "text/markdown"),
        ("text/plain; charset=utf-8", HTML, TEXT),
        ("image/svg+xml", SVG, SVG),
        ("image/svg+xml", TEXT, SVG),
        ("application/json", TEXT, "application/json"),
        ("application/vnd.oasis.opendocument.text", "application/zip",
         "application/vnd.oasis.opendocument.text"),
        ("application/msword", UNKNOWN, "application/msword"),
    ],
)  # fmt: skip
def test_the_declared_type_counts_unless_the_bytes_contradict_it(
    declared: str, sniffed: str, agreed: str
) -> None:
    assert agreed_type(declared, sniffed) == agreed


@pytest.mark.parametrize("declared", ["image/png", "image/svg+xml", "video/mp4", "audio/ogg", ""])
@pytest.mark.parametrize("content", [b"<script>", b"<svg onload=x>", b"<html>", b"hello"])
def test_active_content_and_text_are_never_pictures(declared: str, content: bytes) -> None:
    assert kind_of(agreed_type(declared, sniffed_type(content))) == "file"


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("image/png", "image"),
        ("image/heic", "image"),
        ("image/svg+xml", "file"),
        ("image/vnd.adobe.photoshop", "file"),
        ("video/mp4", "video"),
        ("audio/ogg", "audio"),
        ("text/html", "file"),
        ("application/pdf", "file"),
        (UNKNOWN, "file"),
        ("", "file"),
    ],
)
def test_each_media_type_has_a_kind_of_part(media_type: str, kind: str) -> None:
    assert kind_of(media_type) == kind


@pytest.mark.parametrize(
    ("declared", "registered"),
    [
        ("Image/PNG", "image/png"),
        (" audio/mp3 ;x=y", "audio/mpeg"),
        ("image/png\r\nX: y", UNKNOWN),
        ("image/png, text/html", UNKNOWN),
        ("image/", UNKNOWN),
        ("image/" + "x" * 100, UNKNOWN),
        ("image/pñg", UNKNOWN),
    ],
)
def test_a_declared_media_type_is_normalized_or_unknown(declared: str, registered: str) -> None:
    assert registered_type(declared) == registered


def test_any_bytes_get_a_type_quickly() -> None:
    chance = random.Random(7)
    begun = time.process_time()
    for number in range(3000):
        head = bytearray(chance.choice(list(HEADS.values())) + PADDING)
        for _ in range(chance.randrange(5)):
            head[chance.randrange(len(head))] = chance.randrange(256)
        assert "/" in sniffed_type(bytes(head[: number % (len(head) + 1)]))
    for hard in (b"<", b"<a", b"<!", b"<?xml <s", b"<svg:", b" "):
        assert "/" in sniffed_type(hard * HEAD)

    assert time.process_time() - begun < 5
