"""Files of a conversation for a model: our own (`blob:` ids) become base64, up to a limit."""

from __future__ import annotations

import base64

from bridge.content.messages.parts import MediaPart
from bridge.errors import FileError
from bridge.model import Loss
from bridge.model.blob_ids import sha256_of
from bridge.ports.files import Files
from bridge.uacs import (
    ContentPart,
    Conversation,
    MediaSource,
    Message,
)


async def inline_files(
    conversation: Conversation, files: Files | None, limit: int
) -> tuple[Conversation, tuple[Loss, ...]]:
    """The newest files first, until `limit` bytes are in the request. Those that do not fit, or
    are not there, stay as they are: the API's codec says their names instead."""
    losses: list[Loss] = []
    left = limit
    messages: list[Message] = []
    for number in range(len(conversation.messages) - 1, -1, -1):
        message = conversation.messages[number]
        parts: list[ContentPart] = []
        for index, part in enumerate(message.content):
            if not _is_ours(part):
                parts.append(part)
                continue
            found, size, why = await _inlined(part, files, left)
            left -= size
            parts.append(found)
            if why:
                path = f"/messages/{number}/content/{index}"
                losses.append(Loss(path=path, kind="file_not_sent", what=why, shown_as="its name"))
        same = all(one is other for one, other in zip(parts, message.content, strict=True))
        changed = message if same else message.model_copy(update={"content": tuple(parts)})
        messages.append(changed)
    whole = conversation.model_copy(update={"messages": tuple(reversed(messages))})
    return whole, tuple(losses)


def _is_ours(part: ContentPart) -> bool:
    """Media in the blob store."""
    return isinstance(part, MediaPart) and sha256_of(part.source.file_id or "") is not None


async def _inlined(
    part: ContentPart, files: Files | None, left: int
) -> tuple[ContentPart, int, str]:
    """The part with its bytes, how many they are, and why they are not there."""
    if not isinstance(part, MediaPart):
        return part, 0, ""
    if files is None:
        return part, 0, "no files are kept here"
    file_id = part.source.file_id or ""
    ref = await files.blobs.stat(file_id)
    if ref is None:
        return part, 0, "it is not kept any more"
    if ref.size > left:
        return part, 0, f"{ref.size} bytes are more than fit into the request"
    try:
        async with files.blobs.open(file_id) as chunks:
            content = b"".join([chunk async for chunk in chunks])
    except FileError as error:
        return part, 0, str(error)
    source = MediaSource(base64=base64.b64encode(content).decode())
    return part.model_copy(update={"source": source}), len(content), ""
