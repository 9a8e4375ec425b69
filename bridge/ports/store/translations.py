"""Port: texts of messages in other languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import MessageId


class TranslationStore(Protocol):
    """Translations that were made; an erasure removes those of what it erases."""

    async def translation(
        self, message: MessageId, language: str, digest: str
    ) -> Sequence[str] | None:
        """Return the translated texts of a message; None when these texts were not translated.

        Args:
            message: the message.
            language: a BCP 47 tag.
            digest: that of the texts.
        """
        ...

    async def put_translation(
        self, message: MessageId, language: str, digest: str, texts: Sequence[str]
    ) -> None:
        """Save the translated texts of a message; replaces those of former texts. Nothing happens
        for a message that the store does not have."""
        ...
