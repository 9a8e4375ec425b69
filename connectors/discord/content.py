"""Discord message -> content parts: its text, and each native payload with its card. Pure."""

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
    """Return whether the message has only text and the previews that Discord makes of its links."""
    other_parts = (
        data.attachments, data.sticker_items, data.components, data.message_snapshots, data.poll,
    )  # fmt: skip
    return not any(other_parts) and not any(_is_shown(embed.type, data) for embed in data.embeds)


def is_hidden(data: Mapping[str, object]) -> bool:
    """Return whether Discord withheld the message's content.

    Nobody can post an empty message; without the Message Content intent Discord sends every
    message empty (docs: events/gateway).
    """
    return data.get("type", 0) in _TYPED_BY_PEOPLE and not any(map(data.get, _HOLDS))


def typed_content(document: Document, *, otherwise: str = NOTHING_SAID) -> Content:
    text = text_to_markdown(document) or otherwise
    return Content((TextPart(text=text, format="markdown"),), BridgeMetadata())


def rich_content(raw: bytes, data: MessageData, document: Document, guild: str) -> Content:
    """Return the text that the author wrote, then each native payload with its card's parts.

    `raw` is the wrapped gateway event as JSON; `guild` resolves its mentions.
    """
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
    """Return the link that opens the message in Discord for users who may view the channel."""
    return jump_link(channel, thread, message)


def _is_shown(kind: object, data: MessageData) -> bool:
    """Return whether an embed adds content: Discord adds other types for links in the text."""
    return (kind == "rich" and not data.flags & _SUPPRESS_EMBEDS) or not data.content


def _card(payload: Payload, guild: str) -> Card:
    """Return the payload's card; an unreadable payload gives a card with the reason."""
    try:
        return read_payload(payload, guild)
    except CodecError as error:
        return Card((Prose((Paragraph((Text(f"[unreadable: {error.reason}]"),)),), at=payload.at),))
