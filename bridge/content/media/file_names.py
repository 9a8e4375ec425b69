"""A file's name from any source -> a name that is safe on any disk and in any header. Pure."""

from __future__ import annotations

import re
import unicodedata

MAX_LENGTH = 120  # characters
_MAX_BYTES = 200  # file systems take 255
_MAX_ENDING = 16
_JOINERS = "\u200c\u200d"  # Persian and emoji need them
_FORBIDDEN = re.compile(r'[<>:"|?*%]')  # on Windows; the last one in addresses
_DEVICES = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)")
_ENDINGS = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/avif": ".avif",
    "image/heic": ".heic",
    "image/bmp": ".bmp",
    "image/tiff": ".tif",
    "image/svg+xml": ".svg",
    "video/mp4": ".mp4",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
    "video/matroska": ".mkv",
    "audio/mpeg": ".mp3",
    "audio/mp4": ".m4a",
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "audio/flac": ".flac",
    "audio/aac": ".aac",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    "application/json": ".json",
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/markdown": ".md",
}


def safe_file_name(name: str, media_type: str = "") -> str:
    """Returns a safe name of at most `MAX_LENGTH` characters, never empty.

    It is the last part of the path in one line, without characters that hide, reverse or end a
    name. A file without a name is named after its kind.
    """
    last = re.split(r"[/\\]", name[: 64 * MAX_LENGTH].rstrip("/\\ "))[-1]
    visible = "".join(char for char in last if _is_visible(char))
    clean = _FORBIDDEN.sub("_", " ".join(visible.split())).strip(". ")
    if not clean.strip("_" + _JOINERS):
        return f"{_kind_word(media_type)}{_ENDINGS.get(media_type, '')}"
    return _shortened(f"_{clean}" if _DEVICES.match(clean) else clean)


def _is_visible(char: str) -> bool:
    """Spaces stay; controls, lone surrogates, unassigned and hidden characters do not."""
    return char in _JOINERS or not unicodedata.category(char).startswith("C")


def _kind_word(media_type: str) -> str:
    word = media_type.partition("/")[0]
    return word if word in ("image", "video", "audio") else "file"


def _shortened(name: str) -> str:
    """The name, shortened in its middle: the ending says what opens the file."""
    stem, dot, ending = name.rpartition(".")
    if not stem or " " in ending or len(ending) > _MAX_ENDING:
        stem, dot, ending = name, "", ""
    tail = dot + ending
    stem = stem[: MAX_LENGTH - len(tail)]
    while len((stem + tail).encode()) > _MAX_BYTES:
        stem = stem[:-1]
    return stem.rstrip(". ") + tail
