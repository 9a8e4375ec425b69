"""Media of a message for APIs: data URLs, file names, media types, texts in files. Pure."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import re
from urllib.parse import urlsplit

from bridge.agents.codec.native_parts import Piece
from bridge.content.media.types import HEAD, kind_of, sniffed_type
from bridge.content.messages.agent_parts import DOCUMENT
from bridge.content.messages.parts import MediaPart
from bridge.errors import InvalidUacs
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    StructuredDataPart,
    VideoPart,
)

_DATA = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_TEXTUAL = re.compile(
    r"text/.*|application/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|.*\+(json|xml))"
)


def data_url(media_type: str, content: str) -> str:
    """Return the data URL (RFC 2397) of base64 content."""
    return f"data:{media_type};base64,{content}"


def read_data_url(url: str) -> tuple[str, str] | None:
    """Return media type and base64 of a data URL; None for any other address."""
    match = _DATA.fullmatch(url)
    return (match.group(1), match.group(2)) if match else None


def media_part(source: MediaSource, media_type: str) -> MediaPart:
    """Return the part for a media type: image, audio or video, and a file for all other types."""
    match media_type.partition("/")[0]:
        case "image":
            return ImagePart(source=source, media_type=media_type)
        case "audio":
            return AudioPart(source=source, media_type=media_type)
        case "video":
            return VideoPart(source=source, media_type=media_type)
        case _:
            return FilePart(source=source, media_type=media_type)


def url_source(url: str) -> MediaSource | None:
    """Return the source for an address; None if UACS does not accept the address."""
    try:
        return MediaSource(url=url)
    except InvalidUacs:
        return None


def image_of_url(url: str) -> ImagePart | None:
    """Return the image of a data URL or of another address; None if it is not an image."""
    if inline := read_data_url(url):
        kind, content = inline
        is_image = kind.startswith("image/")
        return ImagePart(source=MediaSource(base64=content), media_type=kind) if is_image else None
    source = url_source(url)
    return ImagePart(source=source, media_type=guessed_type(url, "image/*")) if source else None


def file_of_data_url(url: str) -> FilePart | None:
    """Return the file of a data URL; None for another address, and for text, which the writers send
    as text."""
    inline = read_data_url(url)
    if inline is None or inline[0].startswith("text/"):
        return None
    return FilePart(source=MediaSource(base64=inline[1]), media_type=inline[0])


def seen_type(content: str, fallback: str) -> str:
    """Return the media type that the first bytes of base64 content prove, if it fits the declared
    type (`image/*`); else `fallback`."""
    try:
        head = base64.b64decode(content[: HEAD * 4 // 3 // 4 * 4 or 4], validate=True)
    except (binascii.Error, ValueError):
        return fallback
    sniffed = sniffed_type(head)
    declared_kind = fallback.partition("/")[0]
    return sniffed if declared_kind in (kind_of(sniffed), "application") else fallback


def guessed_type(url: str, fallback: str) -> str:
    """Return the media type by the file extension of an address; `fallback` if the extension is
    unknown or contradicts it."""
    try:
        guess = mimetypes.guess_type(urlsplit(url).path)[0]
    except ValueError:
        return fallback
    kind = fallback.partition("/")[0]
    if guess is None or (kind != "application" and not guess.startswith(f"{kind}/")):
        return fallback
    return guess


def name_of(piece: Piece) -> str:
    """Return the file's name as its author gave it, in one line of at most 200 characters; empty if
    there is none."""
    return " ".join((piece.details.name or "").split())[:200]


def text_in(part: MediaPart) -> str | None:
    """Return the text of a text file; None if it is not a text file or its bytes are not inline."""
    if part.source.base64 is None or not _TEXTUAL.fullmatch(part.media_type.partition(";")[0]):
        return None
    try:
        return base64.b64decode(part.source.base64, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def document_of(part: ContentPart | None) -> tuple[str, str] | None:
    """Return title and text of a retrieved document; None for any other part."""
    match part:
        case StructuredDataPart(schema_id=schema, data={"text": str(content), **rest}) if (
            schema == DOCUMENT
        ):
            title = rest.get("title")
            return (title if isinstance(title, str) else ""), content
        case _:
            return None


def as_file_text(name: str, media_type: str, content: str) -> str:
    """Return a file's text as Markdown, in a fence that nothing in the content can end."""
    ticks = max((len(run) for run in re.findall(r"`{3,}", content)), default=2) + 1
    fence = "`" * ticks
    file_label = (
        "".join(
            character for character in name if character.isprintable() and character not in "`[]"
        )
        or "file"
    )
    return f"[file {file_label}, {media_type}]\n{fence}\n{content}\n{fence}"
