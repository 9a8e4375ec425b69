"""A timeline and its messages in, a UACS Conversation out; and a message's first words."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.ports.clock import datetime_of
from bridge.ports.store import Timeline
from bridge.uacs import Conversation, Message, TextPart, to_timestamp

_EXCERPT = 100  # characters of an excerpt
_LOOKED_AT = 1000  # characters of source that are read for it


def conversation_of(
    timeline: Timeline, created: float, updated: float, messages: Sequence[Message]
) -> Conversation:
    """What UACS has no field for stands in `metadata.uacs_bridge`."""
    about: dict[str, JsonValue] = {
        "kind": timeline.kind,
        "name": timeline.name,
        **timeline.metadata,
    }
    return Conversation(
        conversation_id=str(timeline.id),
        created_at=to_timestamp(datetime_of(created)),
        updated_at=to_timestamp(datetime_of(updated)),
        messages=tuple(messages),
        metadata={"uacs_bridge": about},
    )


def excerpt_of(message: Message) -> str:
    """The first words in one line of plain text, at most 100 characters; `[image]` without any."""
    spoken = [_plain(part) for part in message.content if isinstance(part, TextPart)]
    shown = spoken or [f"[{part.type}]" for part in message.content]
    text = " ".join(" ".join(shown).split())
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"


def _plain(part: TextPart) -> str:
    text = part.text[:_LOOKED_AT]
    return text if part.format == "plain" else text_to_plain(markdown_to_text(text))
