"""Results of tool servers -> UACS: a result for the model and the archive.

Text alone becomes a string, a structured value alone that value. Several parts become `{"parts":
[...]}`, UACS parts in order, beside `structured` if there is such a value. Images, sounds and files
are stored as blobs and referenced."""

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
    """Replaces a server's secrets in its output. Values of fewer than 4 characters are not
    secrets."""

    def __init__(self, secrets: Sequence[str]) -> None:
        values = {value for secret in secrets for value in (secret, *secret.split())}
        self._secrets = sorted((s for s in values if len(s) >= _SHORTEST_SECRET), key=len)[::-1]

    def text(self, text: str) -> str:
        """Return text with `[hidden]` in place of secrets."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text

    def value(self, value: Any) -> Any:
        """Return JSON with all its strings redacted."""
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
    """Return a call's result. `blocks` are MCP's content blocks as JSON; `limit` is in characters
    of all text."""
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
    joined_text = "\n\n".join(text for text in texts if text is not None)
    if structured is None:
        return joined_text if only_text else {"parts": parts}
    written = orjson.dumps(structured).decode()
    if len(written) > limit:
        return joined_text if only_text else {"parts": parts}  # the server sends the same as text
    if not only_text:
        return {"parts": parts, "structured": structured}
    if structured == {"result": joined_text}:  # servers wrap plain text so
        return joined_text
    if not joined_text or _is_same_value(joined_text, structured):
        return structured if isinstance(structured, dict) else {"value": structured}
    return {"text": joined_text, "structured": structured}


def _is_same_value(text: str, structured: JsonValue) -> bool:
    """Return whether a text is only the structured value again."""
    try:
        parsed = json.loads(text)
    except ValueError:
        return False
    return parsed == structured or {"result": parsed} == structured


async def _part(block: Json, native: Mapping[str, Any], files: Files | None) -> JsonValue:
    match block:
        case {"type": "text", "text": str(text)}:
            return _text(text)
        case {"type": "image" | "audio" as kind}:
            media_type = str(block.get("mimeType") or "application/octet-stream")
            return await _media(str(kind), media_type, native.get("data"), "", files)
        case {"type": "resource_link"}:
            name, url = block.get("name") or "", block.get("uri") or ""
            return _text(f"[resource {name}: {url}]")
        case {"type": "resource", "resource": {"text": str(text), "uri": uri}}:
            return _text(f"[resource {uri}]\n{text}")
        case {"type": "resource", "resource": {"uri": uri} as inner}:
            media_type = str(inner.get("mimeType") or "application/octet-stream")
            data = (native.get("resource") or {}).get("blob")
            kind = media_type.partition("/")[0]
            kind = kind if kind in ("image", "audio", "video") else "file"
            return await _media(kind, media_type, data, str(uri), files)
        case _:
            return _text(f"[{block.get('type')}, which the bridge cannot read]")


async def _media(
    kind: str, media_type: str, data: object, name: str, files: Files | None
) -> JsonValue:
    """Store bytes as a blob; if that fails, a line of text describes them."""
    try:
        content = base64.b64decode(str(data or ""), validate=True)
    except (binascii.Error, ValueError):
        return _text(f"[{kind}, {media_type}: its bytes cannot be read]")
    label = f"[{kind}{f' {name}' if name else ''}, {media_type}, {readable_size(len(content))}"
    if files is None:
        return _text(f"{label}: the bridge stores no files]")
    try:
        blob = await files.blobs.put(_chunks(content), limit=LARGEST_FILE)
    except (FileError, StoreError) as error:
        log.warning("tool_file_write_failed", error=str(error))
        return _text(f"{label}: it could not be stored]")
    return {"type": kind, "media_type": media_type, "source": {"file_id": blob.file_id}}


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _without_bytes(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block without its bytes, which are not searched for secrets."""
    members = {key: value for key, value in block.items() if key != "data"}
    if isinstance(inner := members.get("resource"), dict):
        members["resource"] = {key: value for key, value in inner.items() if key != "blob"}
    return members


def _cut(parts: list[JsonValue], limit: int) -> list[JsonValue]:
    """Return the parts with text up to the limit; a note says what was cut."""
    left, parts_kept = limit, list[JsonValue]()
    for part in parts:
        text = _text_of(part)
        if text is None:
            parts_kept.append(part)
            continue
        if len(text) <= left:
            parts_kept.append(part)
        elif left > 0:
            note = f"\n[cut: {len(text)} characters in all, {left} of them are shown]"
            parts_kept.append(_text(text[:left] + note))
        left = max(0, left - len(text))
    return parts_kept


def _text(text: str) -> JsonValue:
    return {"type": "text", "text": text, "format": "plain"}


def _text_of(part: JsonValue) -> str | None:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return None
