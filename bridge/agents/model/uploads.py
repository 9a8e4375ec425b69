"""Large files of a conversation, uploaded once to a vendor's file API and referenced by id.

The ids are a cache: stored by the agent's API and the hash of the bytes, with the time of their
expiry. If the vendor no longer knows an id, the file is uploaded once more."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import structlog

from bridge.agents.codec.json_values import obj, text
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.api_errors import without_keys
from bridge.agents.transport.http import Http
from bridge.content.messages.metadata import PartDetails, read_bridge_metadata
from bridge.content.messages.parts import MediaPart
from bridge.errors import BridgeError, NotFound, StoreError
from bridge.model.blob_ids import sha256_of, sha256_of_key
from bridge.ports.agent import AgentTools
from bridge.ports.blobs import BlobRef
from bridge.ports.files import Files
from bridge.uacs import ContentPart, Conversation, MediaSource, Message

log = structlog.get_logger()

UPLOADED = "file:"  # of the keys of uploaded files
_SOON = 300.0  # seconds: an id that expires within a turn is not used


@dataclass(frozen=True)
class LocalFile:
    """A file of the bridge."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class UploadedFile:
    """Where the vendor has the file, and until when (seconds since 1970; None: unknown)."""

    source: MediaSource
    expires_at: float | None = None


@dataclass(frozen=True)
class FileApi:
    """A vendor's file API."""

    upload: Callable[[Http, ModelSettings, str, LocalFile], Awaitable[UploadedFile]]
    """Uploads a file with the key. Raises BridgeError."""
    takes: Callable[[MediaPart], bool]
    """Whether the vendor's models accept such a file by its id."""
    delete: Callable[[Http, ModelSettings, str, MediaSource], Awaitable[None]]
    """Deletes a file at the vendor with the key. Raises NotFound if there is none, BridgeError."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of requests that reference files."""


class Uploads:
    """The uploads of one turn, or those to delete."""

    def __init__(
        self, agent: str, api: FileApi, settings: ModelSettings, key: str, tools: AgentTools
    ) -> None:
        self._agent = agent
        self._api = api
        self._settings = settings
        self._key = key
        self._tools = tools
        self._key_values = tools.key_values(agent)
        self._reused: set[str] = set()

    async def with_uploaded_files(self, conversation: Conversation, http: Http) -> Conversation:
        """Return the conversation with ids in place of files larger than `upload_over_mb`. A file
        that cannot be uploaded stays."""
        over = self._settings.upload_over_mb
        files = self._tools.files
        if over is None or files is None:
            return conversation
        messages = [
            await self._message(message, int(over * 1_000_000), files, http)
            for message in conversation.messages
        ]
        return conversation.model_copy(update={"messages": tuple(messages)})

    async def forget(self) -> bool:
        """Remove the cached ids that this turn used; return whether there were any."""
        for cache_key in self._reused:
            await self._key_values.remove(cache_key)
        had_any = bool(self._reused)
        self._reused.clear()
        return had_any

    async def delete_lost(self, is_stored: Callable[[str], Awaitable[bool]], http: Http) -> int:
        """Delete at the vendor the files that the bridge no longer stores. Returns how many.

        Raises:
            BridgeError: the vendor refuses or cannot be asked; the others are deleted.
        """
        deleted, failure = 0, None
        for cache_key in await self._key_values.keys(UPLOADED):
            if await is_stored(sha256_of_key(cache_key)):
                continue
            source = await self._cached(cache_key)
            if not cache_key.startswith(self._own_prefix()) and source is not None:
                log.warning("upload_left_at_vendor", agent=self._agent, file=source.file_id)
            elif source is not None:
                try:
                    await self._api.delete(http, self._settings, self._key, source)
                except NotFound:
                    pass
                except BridgeError as error:
                    failure = error
                    continue
                deleted += 1
            await self._key_values.remove(cache_key)
        if failure is not None:
            raise failure
        return deleted

    async def _message(self, message: Message, over: int, files: Files, http: Http) -> Message:
        details = read_bridge_metadata(message)[0].parts
        parts: list[ContentPart] = []
        for index, part in enumerate(message.content):
            changed = part
            if isinstance(part, MediaPart) and sha256_of(part.source.file_id or ""):
                part_details = details.get(str(index)) or PartDetails()
                changed = await self._part(part, part_details.name or "", over, files, http)
            parts.append(changed)
        is_unchanged = all(new is old for new, old in zip(parts, message.content, strict=True))
        return message if is_unchanged else message.model_copy(update={"content": tuple(parts)})

    async def _part(
        self, part: MediaPart, name: str, over: int, files: Files, http: Http
    ) -> MediaPart:
        ref = await files.blobs.stat(part.source.file_id or "")
        if ref is None or ref.size <= over or not self._api.takes(part):
            return part
        cache_key = self._cache_key(ref)
        if (source := await self._cached(cache_key)) is not None:
            self._reused.add(cache_key)
            return part.model_copy(update={"source": source})
        try:
            async with files.blobs.open(ref.file_id) as chunks:
                content = b"".join([chunk async for chunk in chunks])
            file = LocalFile(name or f"file-{ref.file_id[-8:]}", part.media_type, content)
            uploaded = await self._api.upload(http, self._settings, self._key, file)
            await self._store(cache_key, uploaded)
        except StoreError:
            raise
        except BridgeError as error:
            log.warning("file_upload_failed", agent=self._agent, error=without_keys(str(error)))
            return part
        return part.model_copy(update={"source": uploaded.source})

    def _cache_key(self, ref: BlobRef) -> str:
        """Return the key of a file's id. Each account of a vendor has its own ids."""
        return f"{self._own_prefix()}{sha256_of(ref.file_id)}"

    def _own_prefix(self) -> str:
        settings = self._settings
        account = f"{settings.base_url} {settings.api_key}"
        return f"{UPLOADED}{hashlib.sha256(account.encode()).hexdigest()[:16]}:"

    async def _cached(self, cache_key: str) -> MediaSource | None:
        stored = await self._key_values.get(cache_key)
        entry = obj(orjson.loads(stored)) if stored else {}
        expires_at: Any = entry.get("until")
        if not entry or (expires_at is not None and expires_at < self._tools.clock.time() + _SOON):
            return None
        file_id, url = text(entry.get("file_id")), text(entry.get("url"))
        return MediaSource(file_id=file_id) if file_id else MediaSource(url=url)

    async def _store(self, cache_key: str, uploaded: UploadedFile) -> None:
        source = uploaded.source
        entry = {"file_id": source.file_id, "url": source.url, "until": uploaded.expires_at}
        await self._key_values.put(cache_key, orjson.dumps(entry).decode())
