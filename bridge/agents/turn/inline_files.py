"""Files of a conversation for an agent: stored files (`blob:` ids) become base64, up to a limit."""

from __future__ import annotations

import base64

from bridge.content.messages.parts import MediaPart
from bridge.errors import FileError, StoreUnreachable
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
    """Return the conversation with its stored files as base64, the newest first, until `limit`
    bytes are used. Files that do not fit or no longer exist stay unchanged, each with a Loss: the
    API's codec sends their names instead."""
    losses: list[Loss] = []
    left = limit
    messages: list[Message] = []
    for number in range(len(conversation.messages) - 1, -1, -1):
        message = conversation.messages[number]
        parts: list[ContentPart] = []
        for index, part in enumerate(message.content):
            if not _is_stored(part):
                parts.append(part)
                continue
            inlined, size, reason = await _inlined(part, files, left)
            left -= size
            parts.append(inlined)
            if reason:
                path = f"/messages/{number}/content/{index}"
                losses.append(
                    Loss(path=path, kind="file_not_sent", what=reason, shown_as="its name")
                )
        is_unchanged = all(new is old for new, old in zip(parts, message.content, strict=True))
        changed = message if is_unchanged else message.model_copy(update={"content": tuple(parts)})
        messages.append(changed)
    changed_conversation = conversation.model_copy(update={"messages": tuple(reversed(messages))})
    return changed_conversation, tuple(losses)


def _is_stored(part: ContentPart) -> bool:
    """Return whether a part is media in the blob store."""
    return isinstance(part, MediaPart) and sha256_of(part.source.file_id or "") is not None


async def _inlined(
    part: ContentPart, files: Files | None, left: int
) -> tuple[ContentPart, int, str]:
    """Return the part with its bytes, how many they are, and the reason if they are missing."""
    if not isinstance(part, MediaPart):
        return part, 0, ""
    if files is None:
        return part, 0, "the bridge stores no files"
    file_id = part.source.file_id or ""
    try:
        ref = await files.blobs.stat(file_id)
        if ref is None:
            return part, 0, "it is no longer stored"
        if ref.size > left:
            return part, 0, f"{ref.size} bytes exceed the limit of the request"
        async with files.blobs.open(file_id) as chunks:
            content = b"".join([chunk async for chunk in chunks])
    except FileError as error:
        return part, 0, str(error)
    except StoreUnreachable as error:
        return part, 0, error.public
    source = MediaSource(base64=base64.b64encode(content).decode())
    return part.model_copy(update={"source": source}), len(content), ""
