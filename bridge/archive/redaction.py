"""An export without personal data: what stands in texts is replaced before a writer gets it."""

from __future__ import annotations

import hmac
import json
import secrets
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import orjson

from bridge.content.messages.metadata import KEY
from bridge.content.safety.personal_data import Kind, replace_personal_data
from bridge.model.export_records import (
    ArchivedMessage,
    ExportedChannel,
    ExportedPerson,
    NotWritten,
)
from bridge.ports.exports import ExportWriter

# Members of a message's metadata that refer to channels, people and messages by their ids.
_REFERENCES = frozenset((
    "channel", "thread", "thread_root", "native_id", "reply_to", "editor", "recipients", "actors",
    "actor", "person", "kept", "reactions", "reacted", "in_thread", "replies_to",
))  # fmt: skip


class RedactedExport:
    """Passes an export on to its writer, without values of these kinds.

    `[email-3f9a21]` stands in the place of an address, the same for the same one throughout the
    export. The digest is keyed by a secret that ends with the export, so that nobody can try
    addresses. Native payloads are left out.
    """

    def __init__(self, writer: ExportWriter, kinds: Collection[Kind]) -> None:
        self._writer = writer
        self._kinds = kinds
        self._secret = secrets.token_bytes(32)
        self._counts: Counter[Kind] = Counter()

    def person(self, person: ExportedPerson) -> None:
        """Pass on a person without the platform's own object, which may have an address."""
        self._writer.person(replace(person, native=None))

    def channel(self, channel: ExportedChannel) -> None:
        """Pass on a channel with its topic redacted."""
        self._writer.channel(replace(channel, topic=self._text(channel.topic), native=None))

    def message(self, message: ArchivedMessage) -> None:
        """Pass on a message with its content redacted."""
        self._writer.message(replace(message, body=self._body(message.body), payload=None))

    def finish(self) -> Sequence[NotWritten]:
        """Finish the export. Returns what the format could not say, and what was redacted."""
        redacted = [
            item
            for kind, count in self._counts.items()
            for item in [NotWritten(None, f"redacted: {kind}", f"[{kind}-...]")] * count
        ]
        return [*self._writer.finish(), *redacted]

    def close(self) -> None:
        """Close the export."""
        self._writer.close()

    def _body(self, body: bytes) -> bytes:
        try:
            return orjson.dumps(self._message(orjson.loads(body)))
        except (orjson.JSONDecodeError, TypeError):  # integers beyond 64 bits
            return json.dumps(self._message(json.loads(body)), ensure_ascii=False).encode()

    def _message(self, message: dict[str, Any]) -> dict[str, Any]:
        redacted = {**message, "content": self._value(message["content"])}
        if isinstance(metadata := message.get("metadata"), dict):
            redacted["metadata"] = self._metadata(metadata)
        return redacted

    def _metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        own = metadata.get(KEY)
        redacted = {key: self._value(item) for key, item in metadata.items() if key != KEY}
        if isinstance(own, dict):
            redacted[KEY] = {
                key: item if key in _REFERENCES else self._value(item) for key, item in own.items()
            }
        return redacted

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {self._text(key): self._value(item) for key, item in value.items()}
        return value

    def _text(self, text: str) -> str:
        return replace_personal_data(text, self._kinds, self._replacement)

    def _replacement(self, kind: Kind, value: str) -> str:
        self._counts[kind] += 1
        digest = hmac.new(self._secret, value.encode("utf-8", "surrogatepass"), "sha256")
        return f"[{kind}-{digest.hexdigest()[:6]}]"
