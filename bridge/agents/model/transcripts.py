"""Transcripts for models without audio input, made by another API."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable

import structlog

from bridge.agents.codec.json_values import obj, text
from bridge.agents.settings import ModelSettings
from bridge.agents.transport.api_errors import without_keys
from bridge.agents.transport.http import Http, Request, bearer
from bridge.agents.transport.multipart import multipart_form
from bridge.agents.turn.run import api_key_of
from bridge.content.messages.metadata import PartDetails, read_bridge_metadata
from bridge.errors import BridgeError, StoreError
from bridge.model import Loss
from bridge.model.blob_ids import DERIVED, sha256_of
from bridge.ports.agent import AgentTools
from bridge.uacs import AudioPart, ContentPart, Conversation, Message, TextPart

log = structlog.get_logger()

_LARGEST = 25_000_000  # bytes, of OpenAI's API (docs, 2026-08)
_EXTENSIONS = {
    "audio/mpeg": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/ogg": "ogg",
    "audio/mp4": "m4a", "audio/webm": "webm", "audio/flac": "flac", "audio/aac": "m4a",
}  # fmt: skip


class Transcripts:
    """The transcripts of one agent, stored once they are made. Sounds that its API accepts
    (`accepts_audio`) stay."""

    def __init__(
        self,
        agent: str,
        settings: ModelSettings,
        tools: AgentTools,
        accepts_audio: Callable[[str], bool],
    ) -> None:
        self._agent = agent
        self._hears = accepts_audio
        self._settings = settings
        self._tools = tools
        self._key_values = tools.key_values(agent)

    async def with_transcripts(
        self, conversation: Conversation, http: Http
    ) -> tuple[Conversation, tuple[Loss, ...]]:
        """Return the conversation with transcripts in place of sounds, and a Loss for each. A sound
        that cannot be transcribed stays."""
        losses: list[Loss] = []
        messages = [
            await self._message(message, f"/messages/{number}", http, losses)
            for number, message in enumerate(conversation.messages)
        ]
        whole = conversation.model_copy(update={"messages": tuple(messages)})
        return whole, tuple(losses)

    async def _message(
        self, message: Message, pointer: str, http: Http, losses: list[Loss]
    ) -> Message:
        details = read_bridge_metadata(message)[0].parts
        parts: list[ContentPart] = []
        for index, part in enumerate(message.content):
            part_details = details.get(str(index)) or PartDetails()
            needs_transcript = isinstance(part, AudioPart) and not self._hears(part.media_type)
            words = await self._words(part, http) if needs_transcript else None
            if words is None:
                parts.append(part)
                continue
            name = " ".join((part_details.name or "a recording").split())[:200]
            transcript = TextPart(text=f"(transcript of {name}, made by a machine)\n{words}")
            losses.append(Loss(path=f"{pointer}/content/{index}", kind="transcript", what="audio",
                               shown_as=words[:200]))  # fmt: skip
            parts.append(transcript)
        is_unchanged = all(new is old for new, old in zip(parts, message.content, strict=True))
        return message if is_unchanged else message.model_copy(update={"content": tuple(parts)})

    async def _words(self, part: ContentPart, http: Http) -> str | None:
        if not isinstance(part, AudioPart):
            return None
        try:
            content = await self._content(part)
            if content is None or len(content) > _LARGEST:
                return None
            model = f"{self._settings.transcriber_url} {self._settings.transcriber}"
            digest = hashlib.sha256(model.encode()).hexdigest()[:16]
            of_file = hashlib.sha256(content).hexdigest()
            cache_key = f"{DERIVED}transcript:{digest}:{of_file}"
            if (cached := await self._key_values.get(cache_key)) is not None:
                return cached
            words = await self._transcribe(part.media_type, content, http)
            await self._key_values.put(cache_key, words)
        except StoreError:
            raise
        except BridgeError as error:
            log.warning("transcription_failed", agent=self._agent, error=without_keys(str(error)))
            return None
        return words

    async def _content(self, part: AudioPart) -> bytes | None:
        files = self._tools.files
        if part.source.base64 is not None:
            try:
                return base64.b64decode(part.source.base64, validate=True)
            except binascii.Error:
                return None
        file_id = part.source.file_id or ""
        if files is None or sha256_of(file_id) is None:
            return None
        async with files.blobs.open(file_id) as chunks:
            return b"".join([chunk async for chunk in chunks])

    async def _transcribe(self, media_type: str, content: bytes, http: Http) -> str:
        settings = self._settings
        key = await api_key_of(settings.transcriber_key, self._tools.secrets)
        name = f"audio.{_EXTENSIONS.get(media_type.partition(';')[0], 'mp3')}"
        fields = {"model": settings.transcriber, "response_format": "json"}
        form_type, body = multipart_form(fields, name, media_type, content)
        headers = {"content-type": form_type, **bearer(key)}
        url = f"{settings.transcriber_url}/audio/transcriptions"
        return text(obj(await http.json(Request(url, headers, body))).get("text")).strip()
