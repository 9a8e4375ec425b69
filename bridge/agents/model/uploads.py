"""Large files of a conversation, uploaded once to a vendor's file API and named by its id.

The ids are a cache, kept by the bridge: by the agent's API and the hash of the bytes, with the time
at which the vendor forgets them. An id that the vendor does not know any more is made anew once.
"""

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
from bridge.errors import BridgeError, StoreError
from bridge.model.blob_ids import sha256_of
from bridge.ports.agent import AgentTools
from bridge.ports.blobs import BlobRef
from bridge.ports.files import Files
from bridge.uacs import ContentPart, Conversation, MediaSource, Message

log = structlog.get_logger()

_SOON = 300.0  # seconds: an id that ends within a turn is none


@dataclass(frozen=True)
class LocalFile:
    """A file of ours."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class UploadedFile:
    """Where the vendor has it, and until when (seconds since 1970; None: as long as it likes)."""

    source: MediaSource
    until: float | None = None


@dataclass(frozen=True)
class FileApi:
    """A vendor's API for files."""

    upload: Callable[[Http, ModelSettings, str, LocalFile], Awaitable[UploadedFile]]
    """With the key. Raises BridgeError."""
    takes: Callable[[MediaPart], bool]
    """Whether its models read such a file by its id."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of requests that name files."""


class Uploads:
    """Those of one turn."""

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

    async def given(self, conversation: Conversation, http: Http) -> Conversation:
        """The conversation with ids in place of files of more than `upload_over_mb`. What cannot be
        uploaded stays as it is."""
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
        """Ids that were known before this turn are known no more; whether there were any."""
        for place in self._reused:
            await self._key_values.remove(place)
        found = bool(self._reused)
        self._reused.clear()
        return found

    async def _message(self, message: Message, over: int, files: Files, http: Http) -> Message:
        details = read_bridge_metadata(message)[0].parts
        parts: list[ContentPart] = []
        for index, part in enumerate(message.content):
            found = part
            if isinstance(part, MediaPart) and sha256_of(part.source.file_id or ""):
                known = details.get(str(index)) or PartDetails()
                found = await self._part(part, known.name or "", over, files, http)
            parts.append(found)
        same = all(one is other for one, other in zip(parts, message.content, strict=True))
        return message if same else message.model_copy(update={"content": tuple(parts)})

    async def _part(
        self, part: MediaPart, name: str, over: int, files: Files, http: Http
    ) -> MediaPart:
        ref = await files.blobs.stat(part.source.file_id or "")
        if ref is None or ref.size <= over or not self._api.takes(part):
            return part
        place = self._place(ref)
        if (source := await self._known(place)) is not None:
            self._reused.add(place)
            return part.model_copy(update={"source": source})
        try:
            async with files.blobs.open(ref.file_id) as chunks:
                content = b"".join([chunk async for chunk in chunks])
            kept = LocalFile(name or f"file-{ref.file_id[-8:]}", part.media_type, content)
            uploaded = await self._api.upload(http, self._settings, self._key, kept)
            await self._keep(place, uploaded)
        except StoreError:
            raise
        except BridgeError as error:
            log.warning("file_upload_failed", agent=self._agent, error=without_keys(str(error)))
            return part
        return part.model_copy(update={"source": uploaded.source})

    def _place(self, ref: BlobRef) -> str:
        """Another account of the vendor has other ids."""
        settings = self._settings
        account = f"{settings.base_url} {settings.api_key}"
        return f"file:{hashlib.sha256(account.encode()).hexdigest()[:16]}:{sha256_of(ref.file_id)}"

    async def _known(self, place: str) -> MediaSource | None:
        found = await self._key_values.get(place)
        known = obj(orjson.loads(found)) if found else {}
        until: Any = known.get("until")
        if not known or (until is not None and until < self._tools.clock.time() + _SOON):
            return None
        file_id, url = text(known.get("file_id")), text(known.get("url"))
        return MediaSource(file_id=file_id) if file_id else MediaSource(url=url)

    async def _keep(self, place: str, uploaded: UploadedFile) -> None:
        source = uploaded.source
        known = {"file_id": source.file_id, "url": source.url, "until": uploaded.until}
        await self._key_values.put(place, orjson.dumps(known).decode())
