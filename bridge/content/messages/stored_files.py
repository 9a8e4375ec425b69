"""Media parts whose bytes the blob store holds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bridge.content.messages.metadata import (
    BridgeMetadata,
    KeptFile,
    read_bridge_metadata,
    with_bridge_metadata,
)
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    Message,
    VideoPart,
)

MEDIA = (ImagePart, VideoPart, AudioPart, FilePart)

KeptFiles = Mapping[str, KeptFile]
"""The files of a message that the blob store holds, by the key that each has in the message."""
NO_FILES: KeptFiles = MappingProxyType({})


def with_kept(message: Message, files: KeptFiles) -> Message:
    """Returns the message with these files named as the blob store holds them."""
    if not files:
        return message
    parts = tuple(with_kept_file(part, files) for part in message.content)
    additions, _ = read_bridge_metadata(message)
    together: dict[str, object] = {"kept": {**additions.kept, **files}}
    noted: BridgeMetadata = additions.model_copy(update=together)
    return with_bridge_metadata(message.model_copy(update={"content": parts}), noted)


def with_kept_file(part: ContentPart, files_by_key: KeptFiles) -> ContentPart:
    """Returns the media part with its file named as the blob store holds it; its type stays within
    its kind."""
    if not isinstance(part, MEDIA):
        return part
    file = files_by_key.get(part.source.file_id or part.source.url or "")
    if file is None:
        return part
    changes: dict[str, object] = {"source": MediaSource(file_id=file.file_id)}
    if part.type == "file" or file.media_type.startswith(f"{part.type}/"):
        changes["media_type"] = file.media_type
    return part.model_copy(update=changes)
