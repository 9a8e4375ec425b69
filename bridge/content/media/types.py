"""The first bytes of a file, and its declared type -> its media type and its kind. Pure."""

from __future__ import annotations

import codecs
import re
from typing import Literal

import filetype

Kind = Literal["image", "video", "audio", "file"]

HEAD = 8192  # bytes at the start of a file that are inspected
UNKNOWN = "application/octet-stream"
TEXT = "text/plain"
HTML = "text/html"
SVG = "image/svg+xml"
XML = "text/xml"
_MARKUP = (HTML, SVG, XML)

# Raster pictures. Nothing else is an image: SVG may contain scripts.
IMAGES = frozenset(
    f"image/{name}"
    for name in ("png", "jpeg", "gif", "webp", "avif", "heic", "heif", "bmp", "tiff", "x-icon")
)
# Types that every browser shows without running anything.
SHOWN = frozenset(f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "avif", "bmp"))
# The names in use -> the registered ones (IANA, 2026-06).
_NAMES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "image/apng": "image/png",
    "image/vnd.mozilla.apng": "image/png",
    "image/x-ms-bmp": "image/bmp",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-flac": "audio/flac",
    "audio/x-aac": "audio/aac",
    "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4",
    "video/x-m4v": "video/mp4",
    "application/mp4": "video/mp4",
    "application/ogg": "audio/ogg",
    "application/x-matroska": "video/matroska",
    "video/x-matroska": "video/matroska",
    "audio/x-matroska": "audio/matroska",
    "application/svg+xml": SVG,
    "application/xml": XML,
    "application/binary": UNKNOWN,
    "binary/octet-stream": UNKNOWN,
    "application/unknown": UNKNOWN,
    "application/x-download": UNKNOWN,
    "application/force-download": UNKNOWN,
}
# A container may hold video or sound: its first bytes do not tell which.
_CONTAINERS = (
    {"video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "audio/3gpp", "video/3gpp2",
     "audio/3gpp2"},
    {"video/webm", "audio/webm", "video/matroska", "audio/matroska"},
    {"video/ogg", "audio/ogg", "audio/opus"},
    {"video/x-ms-wmv", "audio/x-ms-wma", "video/x-ms-asf"},
    {"video/mpeg", "video/mp2t"},
)  # fmt: skip
# Formats whose files may consist of text.
_WRITTEN = ("application/pdf", "application/rtf", "application/postscript")

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# Browsers recognise HTML by these tags (WHATWG, MIME Sniffing, 7.1).
_HTML = re.compile(
    r"(?:<!doctype html|<(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)"
    r"(?=[\s/>])|<!--)",
    re.IGNORECASE,
)
_SVG = re.compile(r"<(?:[a-z]\w{0,20}:)?svg(?=[\s/>])", re.IGNORECASE)
_LATER_HTML = re.compile(r"<(?:!doctype\s+)?html(?=[\s/>])", re.IGNORECASE)


def kind_of(media_type: str) -> Kind:
    """Returns how a file of this type is shown.

    Args:
        media_type: A type that `sniffed_type` or `agreed_type` returned.
    """
    if media_type in IMAGES:
        return "image"
    if media_type.startswith("video/"):
        return "video"
    return "audio" if media_type.startswith("audio/") else "file"


def registered_type(declared: str) -> str:
    """Returns the registered name of a declared type, without parameters; `UNKNOWN` if it is no
    type."""
    name = declared.partition(";")[0].strip().lower()
    return _NAMES.get(name, name) if _TYPE.fullmatch(name) else UNKNOWN


def sniffed_type(head: bytes) -> str:
    """Returns the type that the first bytes of a file prove.

    Args:
        head: The first `HEAD` bytes of the file, or all of it.
    """
    if markup := _markup_type(_characters(head[:HEAD])):
        return markup
    guess = filetype.guess(head[:HEAD]) if head else None
    name = UNKNOWN if guess is None else registered_type(str(guess.mime))
    if is_text(head[:HEAD]) and name not in _WRITTEN:
        return TEXT  # magic numbers such as BM or MZ also begin words
    return name


def agreed_type(declared: str, sniffed: str) -> str:
    """Returns the type to use for a file.

    The declared type counts unless the bytes contradict it: a picture, video or sound is one only
    if its bytes are nothing else, and a web page is never anything else.

    Args:
        declared: The type that the source declares.
        sniffed: What `sniffed_type` returned.
    """
    declared_type = registered_type(declared)
    if declared_type in (UNKNOWN, sniffed):
        return sniffed
    declared_kind, sniffed_kind = kind_of(declared_type), kind_of(sniffed)
    if sniffed in _MARKUP:
        return declared_type if _is_source(declared_type) else sniffed
    if sniffed == UNKNOWN:
        return UNKNOWN if declared_kind == "image" else declared_type
    if declared_kind == "file":
        return declared_type if sniffed_kind == "file" else sniffed
    if any(declared_type in container and sniffed in container for container in _CONTAINERS):
        return declared_type
    return sniffed


def is_text(head: bytes) -> bool:
    """Whether the first bytes of a file are UTF-8 (or begin with the mark of UTF-16) without
    control characters."""
    encoding = "utf-16" if head.startswith(_UTF16) else "utf-8"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text) and not _CONTROLS.search(text)


def _is_source(media_type: str) -> bool:
    """Whether a file of this type may begin with a tag; all such types are shown as text or stored,
    and never run."""
    return media_type.startswith("text/") or media_type.endswith(("+xml", "json", "javascript"))


def _characters(head: bytes) -> str:
    """Enough of the text to recognise tags, whatever its encoding."""
    if head.startswith(_UTF16):
        return head.decode("utf-16", "replace")
    return head.removeprefix(codecs.BOM_UTF8).decode("latin-1")


def _markup_type(text: str) -> str:
    text = text.lstrip(" \t\n\r\f")
    if not text.startswith("<"):
        return ""
    if _LATER_HTML.search(text):
        return HTML
    if text.startswith(("<?xml", "<!", "<svg")) or _SVG.match(text):
        if _SVG.search(text):
            return SVG
        return HTML if _HTML.match(text) else XML
    return HTML if _HTML.match(text) else ""
