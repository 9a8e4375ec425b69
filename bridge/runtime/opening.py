"""Opens the bytes of a message's part: in the message itself, in the blob store, or on the
network."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from pydantic_core import to_json

from bridge.content.messages.negotiation import part_named
from bridge.errors import FileDamaged, FileMissing
from bridge.ports.files import Files
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    StructuredDataPart,
    TextPart,
    VideoPart,
    write,
)

_PIECE = 64 * 1024
_JSON = "application/json"


@dataclass(frozen=True)
class Opened:
    """The bytes of one part, in pieces of bounded size, and their MIME type. Text is UTF-8."""

    media_type: str
    chunks: AsyncIterator[bytes]


@asynccontextmanager
async def open_named(message: Message, name: str, files: Files) -> AsyncGenerator[Opened]:
    """Open the part of this name, such as `/sources/1`.

    Raises:
        FileMissing: the message has no such part.
        FileError: as in `open_part`.
    """
    named_part = part_named(message, name)
    if named_part is None:
        raise FileMissing(f"The message {message.message_id!r} has no part named {name[:80]!r}")
    async with open_part(named_part.part, files) as opened:
        yield opened


@asynccontextmanager
async def open_part(part: ContentPart, files: Files) -> AsyncGenerator[Opened]:
    """Open the content of a part, within a `with` block.

    The fetcher downloads and stores media from the network. Text, structured data and all other
    parts are returned as they stand in the message.

    Raises:
        FileMissing: the file id is not one of the bridge's (a platform's own id), or unknown.
        FileDamaged: the part's base64 is invalid.
        FileError: the fetcher cannot fetch the URL.
    """
    match part:
        case ImagePart() | VideoPart() | AudioPart() | FilePart():
            async with _media(part.source, part.media_type, files) as opened:
                yield opened
        case TextPart():
            kind = "text/markdown" if part.is_markdown else "text/plain"
            yield Opened(kind, _pieces(part.text.encode()))
        case StructuredDataPart():
            yield Opened(_JSON, _pieces(to_json(part.data)))
        case _:
            yield Opened(_JSON, _pieces(write(part)))


@asynccontextmanager
async def _media(source: MediaSource, media_type: str, files: Files) -> AsyncGenerator[Opened]:
    url = source.url or ""
    if source.base64 is not None:
        yield Opened(media_type, _pieces(_decoded(source.base64)))
        return
    if url[:5].lower() == "data:":
        yield _data_url(url, media_type)
        return
    file_id = source.file_id or ""
    if url:
        fetched = await files.fetcher.fetch(url, media_type=media_type)
        file_id, media_type = fetched.blob.file_id, fetched.media_type
    async with files.blobs.open(file_id) as chunks:
        yield Opened(media_type, chunks)


def _data_url(url: str, media_type: str) -> Opened:
    """RFC 2397: `data:image/png;base64,...`."""
    head, _, body = url[5:].partition(",")
    kind, *parameters = head.split(";")
    if any(parameter.strip().lower() == "base64" for parameter in parameters):
        content = _decoded(unquote_to_bytes(body).decode("ascii", "replace"))
    else:
        content = unquote_to_bytes(body)
    return Opened(kind.strip() or media_type, _pieces(content))


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise FileDamaged(f"What should be base64 is none: {error}") from error


async def _pieces(content: bytes) -> AsyncGenerator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
