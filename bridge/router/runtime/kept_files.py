"""Files of messages as the blob store holds them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import islice
from typing import Annotated

import structlog
from pydantic import Field, JsonValue, TypeAdapter

from bridge.content.cards.messages import part_json
from bridge.content.cards.reader import Cards
from bridge.content.media.types import agreed_type
from bridge.content.messages.metadata import KeptFile
from bridge.content.messages.stored_files import with_kept, with_kept_file
from bridge.errors import FileError, StoreError
from bridge.model.blob_ids import sha256_of
from bridge.model.turns import PartGiven
from bridge.ports.files import Files
from bridge.runtime.opening import open_part
from bridge.uacs import (
    AudioPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    VideoPart,
    write,
)

log = structlog.get_logger()

_MOST = 20  # files that are made of one message
_PIECE = 64 * 1024
_JSON = "application/json"
_LARGEST = 100 * 1024 * 1024
_FETCH_TIMEOUT = 20.0  # seconds until a file that an agent names stays a link
_MEDIA: TypeAdapter[ImagePart | VideoPart | AudioPart | FilePart] = TypeAdapter(
    Annotated[ImagePart | VideoPart | AudioPart | FilePart, Field(discriminator="type")]
)


async def with_json_files(message: Message, cards: Cards, files: Files | None) -> Message:
    """The message with a kept file of JSON for each part that nothing can show; where it cannot be
    kept, the part is shown as text."""
    if files is None:
        return message
    kept_files: dict[str, KeptFile] = {}
    for place, part in islice(cards.unknown_parts(message), _MOST):
        content = part_json(part).encode()
        try:
            blob = await files.blobs.put(_pieces(content), limit=len(content))
        except StoreError as error:
            log.warning("part_write_failed", reason=str(error))
            continue
        kept_files[place] = KeptFile(file_id=blob.file_id, media_type=_JSON, size=blob.size)
    return with_kept(message, kept_files)


async def with_kept_media(event: PartGiven, files: Files | None) -> PartGiven:
    """The event of a file that an agent gives, with the file kept, so that it is shared as people's
    files are; the same event where the file cannot be fetched."""
    part = _MEDIA.validate_python(event.part) if _holds_media(event.part) else None
    if files is None or part is None or sha256_of(part.source.file_id or "") is not None:
        return event
    try:
        async with asyncio.timeout(_FETCH_TIMEOUT), open_part(part, files) as opened:
            blob = await files.blobs.put(opened.chunks, limit=_LARGEST)
    except (FileError, StoreError, TimeoutError) as error:
        log.warning("agent_file_fetch_failed", reason=str(error) or type(error).__name__)
        return event
    kept_file = KeptFile(
        file_id=blob.file_id,
        media_type=agreed_type(part.media_type, blob.media_type),
        size=blob.size,
    )
    key = part.source.file_id or part.source.url or ""
    own = part.model_copy(update={"source": MediaSource(file_id=key or "own")})
    part_with_file = with_kept_file(own, {key or "own": kept_file})
    return event.model_copy(update={"part": json.loads(write(part_with_file)), "size": blob.size})


def _holds_media(part: JsonValue) -> bool:
    return isinstance(part, dict) and part.get("type") in ("image", "video", "audio", "file")


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
