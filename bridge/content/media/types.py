"""What a file is: its first bytes, and what others say of it -> a media type and its kind. Pure."""

from __future__ import annotations

import codecs
import re
from typing import Literal

import filetype

Kind = Literal["image", "video", "audio", "file"]

HEAD = 8192  # bytes of a file that are looked at
UNKNOWN = "application/octet-stream"
TEXT = "text/plain"
HTML = "text/html"
SVG = "image/svg+xml"
XML = "text/xml"
_MARKUP = (HTML, SVG, XML)

# Pictures made of pixels. Nothing else is an image: SVG may hold programs.
IMAGES = frozenset(
    f"image/{name}"
    for name in ("png", "jpeg", "gif", "webp", "avif", "heic", "heif", "bmp", "tiff", "x-icon")
)
# What every browser shows by itself, without running anything.
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
# One container holds films and sounds: its first bytes do not tell which.
_CONTAINERS = (
    {"video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "audio/3gpp", "video/3gpp2",
     "audio/3gpp2"},
    {"video/webm", "audio/webm", "video/matroska", "audio/matroska"},
    {"video/ogg", "audio/ogg", "audio/opus"},
    {"video/x-ms-wmv", "audio/x-ms-wma", "video/x-ms-asf"},
    {"video/mpeg", "video/mp2t"},
)  # fmt: skip
# Formats whose files may be text throughout.
_WRITTEN = ("application/pdf", "application/rtf", "application/postscript")

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# As browsers recognise it (WHATWG, MIME Sniffing, 7.1).
_HTML = re.compile(
    r"(?:<!doctype html|<(?:html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)"
    r"(?=[\s/>])|<!--)",
    re.IGNORECASE,
)
_SVG = re.compile(r"<(?:[a-z]\w{0,20}:)?svg(?=[\s/>])", re.IGNORECASE)
_LATER_HTML = re.compile(r"<(?:!doctype\s+)?html(?=[\s/>])", re.IGNORECASE)


def kind_of(media_type: str) -> Kind:
    """How a file of this type is shown; the type as `sniffed_type` or `agreed_type` give it."""
    if media_type in IMAGES:
        return "image"
    if media_type.startswith("video/"):
        return "video"
    return "audio" if media_type.startswith("audio/") else "file"


def registered_type(declared: str) -> str:
    """A type as somebody wrote it -> its registered name without parameters; `UNKNOWN` for what
    says nothing or is no type."""
    name = declared.partition(";")[0].strip().lower()
    return _NAMES.get(name, name) if _TYPE.fullmatch(name) else UNKNOWN


def sniffed_type(head: bytes) -> str:
    """The type that the first bytes of a file (`HEAD` of them, or all) are proof of."""
    if markup := _markup_type(_characters(head[:HEAD])):
        return markup
    guess = filetype.guess(head[:HEAD]) if head else None
    name = UNKNOWN if guess is None else registered_type(str(guess.mime))
    if is_text(head[:HEAD]) and name not in _WRITTEN:
        return TEXT  # two letters such as BM or MZ begin words, too
    return name


def agreed_type(declared: str, sniffed: str) -> str:
    """The type to go by. What is declared counts unless the bytes contradict it: a picture, film
    or sound is one only if its bytes are not something else, and a page is never anything else."""
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
    """Whether these first bytes of a file are UTF-8 (or say that they are UTF-16) and hold no
    control characters."""
    encoding = "utf-16" if head.startswith(_UTF16) else "utf-8"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return bool(text) and not _CONTROLS.search(text)


def _is_source(media_type: str) -> bool:
    """Types that a file which begins with a tag may rightly have; all of them are shown as text
    or kept, never run."""
    return media_type.startswith("text/") or media_type.endswith(("+xml", "json", "javascript"))


def _characters(head: bytes) -> str:
    """Enough of the text to see tags in it, whatever its encoding."""
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
