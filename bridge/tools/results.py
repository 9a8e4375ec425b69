"""What a server of tools answered -> UACS: a result for the model and the archive.

Text alone becomes a string, a structured value alone that value; several things become
`{"parts": [...]}`, UACS parts in their order, beside `structured` where there is such a value.
Pictures, sounds and files are kept as blobs, and named.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import orjson
import structlog
from pydantic import JsonValue

from bridge.content.text.sizes import readable_size
from bridge.errors import FileError, StoreError
from bridge.ports.files import Files
from bridge.uacs import ToolResultPart

log = structlog.get_logger()

Json = dict[str, JsonValue]
LARGEST_FILE = 20_000_000  # bytes
_MOST_BLOCKS = 50
_HIDDEN = "[hidden]"
_SHORTEST_SECRET = 4


class Redaction:
    """Takes secrets of a server out of what it says; a short value is no secret."""

    def __init__(self, secrets: Sequence[str]) -> None:
        found = {one for secret in secrets for one in (secret, *secret.split())}
        self._secrets = sorted((s for s in found if len(s) >= _SHORTEST_SECRET), key=len)[::-1]

    def text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text

    def value(self, value: Any) -> Any:
        """The same of every string in JSON."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {self.text(str(key)): self.value(member) for key, member in value.items()}
            case _:
                return value


async def result_part(
    call: str,
    blocks: Sequence[Mapping[str, Any]],
    structured: Any,
    *,
    is_error: bool,
    limit: int,
    redaction: Redaction,
    files: Files | None,
) -> ToolResultPart:
    """`blocks` are MCP's content blocks as JSON; `limit`: characters of text in all."""
    parts = [
        await _part(redaction.value(_without_bytes(block)), block, files)
        for block in blocks[:_MOST_BLOCKS]
    ]
    if len(blocks) > _MOST_BLOCKS:
        parts.append(_text(f"[{len(blocks) - _MOST_BLOCKS} more parts were left out]"))
    content = _together(_cut(parts, limit), redaction.value(structured), limit)
    more: dict[str, Any] = {"is_error": True} if is_error else {}
    return ToolResultPart(tool_call_id=call, content=content, **more)


def _together(parts: list[JsonValue], structured: JsonValue, limit: int) -> JsonValue:
    texts = [_text_of(part) for part in parts]
    only_text = all(text is not None for text in texts)
    said = "\n\n".join(text for text in texts if text is not None)
    if structured is None:
        return said if only_text else {"parts": parts}
    written = orjson.dumps(structured).decode()
    if len(written) > limit:
        return said if only_text else {"parts": parts}  # the server says the same as text
    if not only_text:
        return {"parts": parts, "structured": structured}
    if structured == {"result": said}:  # how servers wrap what is nothing but text
        return said
    if not said or _says(said, structured):
        return structured if isinstance(structured, dict) else {"value": structured}
    return {"text": said, "structured": structured}


def _says(said: str, structured: JsonValue) -> bool:
    """Whether the text is nothing but the structured value again."""
    try:
        told = json.loads(said)
    except ValueError:
        return False
    return told == structured or {"result": told} == structured


async def _part(block: Json, given: Mapping[str, Any], files: Files | None) -> JsonValue:
    match block:
        case {"type": "text", "text": str(said)}:
            return _text(said)
        case {"type": "image" | "audio" as kind}:
            media_type = str(block.get("mimeType") or "application/octet-stream")
            return await _media(str(kind), media_type, given.get("data"), "", files)
        case {"type": "resource_link"}:
            name, url = block.get("name") or "", block.get("uri") or ""
            return _text(f"[resource {name}: {url}]")
        case {"type": "resource", "resource": {"text": str(said), "uri": uri}}:
            return _text(f"[resource {uri}]\n{said}")
        case {"type": "resource", "resource": {"uri": uri} as inner}:
            media_type = str(inner.get("mimeType") or "application/octet-stream")
            data = (given.get("resource") or {}).get("blob")
            kind = media_type.partition("/")[0]
            kind = kind if kind in ("image", "audio", "video") else "file"
            return await _media(kind, media_type, data, str(uri), files)
        case _:
            return _text(f"[{block.get('type')}, which nobody here can read]")


async def _media(
    kind: str, media_type: str, data: object, name: str, files: Files | None
) -> JsonValue:
    """Kept as a blob; where it cannot be, a line says what it was."""
    try:
        content = base64.b64decode(str(data or ""), validate=True)
    except (binascii.Error, ValueError):
        return _text(f"[{kind}, {media_type}: its bytes cannot be read]")
    said = f"[{kind}{f' {name}' if name else ''}, {media_type}, {readable_size(len(content))}"
    if files is None:
        return _text(f"{said}: no files are kept here]")
    try:
        blob = await files.blobs.put(_chunks(content), limit=LARGEST_FILE)
    except (FileError, StoreError) as error:
        log.warning("tool_file_write_failed", error=str(error))
        return _text(f"{said}: it could not be kept]")
    return {"type": kind, "media_type": media_type, "source": {"file_id": blob.file_id}}


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _without_bytes(block: Mapping[str, Any]) -> dict[str, Any]:
    """Nobody looks for secrets in pictures."""
    kept = {key: value for key, value in block.items() if key != "data"}
    if isinstance(inner := kept.get("resource"), dict):
        kept["resource"] = {key: value for key, value in inner.items() if key != "blob"}
    return kept


def _cut(parts: list[JsonValue], limit: int) -> list[JsonValue]:
    """Text up to the limit in all; what is left out is told."""
    left, kept = limit, list[JsonValue]()
    for part in parts:
        said = _text_of(part)
        if said is None:
            kept.append(part)
            continue
        if len(said) <= left:
            kept.append(part)
        elif left > 0:
            gone = f"\n[cut: {len(said)} characters in all, {left} of them are shown]"
            kept.append(_text(said[:left] + gone))
        left = max(0, left - len(said))
    return kept


def _text(said: str) -> JsonValue:
    return {"type": "text", "text": said, "format": "plain"}


def _text_of(part: JsonValue) -> str | None:
    match part:
        case {"type": "text", "text": str(said)}:
            return said
        case _:
            return None
