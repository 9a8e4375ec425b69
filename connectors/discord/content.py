"""What a Discord message holds: its text, its payloads, and the parts that say the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from bridge.content.cards.messages import Content, content_of
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card, Prose
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.metadata import BridgeMetadata
from bridge.content.text.tree import Document, Paragraph, Text
from bridge.errors import CodecError
from bridge.model import ChannelRef
from bridge.uacs import TextPart
from connectors.discord.cards import payloads, read_payload
from connectors.discord.cards.schemas import FORWARDS, TEXT
from connectors.discord.ids import jump_link
from connectors.discord.shapes import MessageData

NOTHING_SAID = "[message without text]"
HIDDEN = "[this message cannot be read here: the bot lacks Discord's Message Content intent]"
_TYPED_BY_PEOPLE = (0, 19)  # default and reply (docs: resources/message)
_HOLDS = (
    "content", "attachments", "embeds", "sticker_items", "components", "poll", "message_snapshots",
)  # fmt: skip
_SUPPRESS_EMBEDS = 1 << 2


def is_typed(data: MessageData) -> bool:
    """Nothing but text, and the previews that Discord makes of its links."""
    other_parts = (
        data.attachments, data.sticker_items, data.components, data.message_snapshots, data.poll,
    )  # fmt: skip
    return not any(other_parts) and not any(_is_shown(embed.type, data) for embed in data.embeds)


def is_hidden(data: Mapping[str, object]) -> bool:
    """Whether Discord kept back what the message says: nobody can post an empty one, and without
    the Message Content intent it comes empty (docs: events/gateway)."""
    return data.get("type", 0) in _TYPED_BY_PEOPLE and not any(map(data.get, _HOLDS))


def typed_content(document: Document, *, otherwise: str = NOTHING_SAID) -> Content:
    text = text_to_markdown(document) or otherwise
    return Content((TextPart(text=text, format="markdown"),), BridgeMetadata())


def rich_content(raw: bytes, data: MessageData, document: Document, guild: str) -> Content:
    """The text that somebody wrote, then each payload as it came with what it says."""
    native = orjson.loads(raw)["d"]
    embeds = native.get("embeds")
    if isinstance(embeds, list):
        kinds = [
            embed.get("type", "rich") if isinstance(embed, dict) else "rich" for embed in embeds
        ]
        native["embeds"] = [
            embed for embed, kind in zip(embeds, kinds, strict=True) if _is_shown(kind, data)
        ]
    payloads_but_text = [payload for payload in payloads(native) if payload.schema_id != TEXT]
    text = Payload(TEXT, text_to_markdown(document), "/content")
    text_card = Card((Prose(document, at="/content"),) if document else ())
    payloads_and_cards = [
        (text, text_card),
        *((payload, _card(payload, guild)) for payload in payloads_but_text),
    ]
    content = content_of(payloads_and_cards, lambda payload: payload.schema_id == FORWARDS)
    return content if content.parts else typed_content(document)


def origin_of(channel: ChannelRef, thread: str | None, message: str) -> str:
    """A link that opens the message in Discord, for those who may see it."""
    return jump_link(channel, thread, message)


def _is_shown(kind: object, data: MessageData) -> bool:
    """Discord adds embeds of other types itself, for links that the text holds already."""
    return (kind == "rich" and not data.flags & _SUPPRESS_EMBEDS) or not data.content


def _card(payload: Payload, guild: str) -> Card:
    """What cannot be read says so; it is kept as it came."""
    try:
        return read_payload(payload, guild)
    except CodecError as error:
        return Card((Prose((Paragraph((Text(f"[unreadable: {error.reason}]"),)),), at=payload.at),))
