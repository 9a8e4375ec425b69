"""A Teams message -> UACS content: its text, and its attachments with fallbacks. Pure."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.cards.messages import Content, content_of
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card, Prose
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.metadata import BridgeMetadata
from bridge.content.text.tree import Document, Paragraph, Text
from bridge.errors import CodecError
from bridge.uacs import TextPart
from connectors.teams.activity import Json, objects, string
from connectors.teams.cards import payloads, read_payload
from connectors.teams.cards.schemas import FORWARDED, QUOTED, TEXT

_TEXT_SCHEMAS = (TEXT, QUOTED)  # represented by the text and by reply_to
_EMPTY_MESSAGE = "\\[empty message\\]"


def message_content(json: Json, document: Document, tenant: str) -> Content:
    """Return the text, then each attachment: its native payload and what the payload says."""
    text = text_to_markdown(document)
    text_parts = (TextPart(text=text, format="markdown"),) if document else ()
    if not objects(json, "attachments") and not _suggests(json):
        return Content(text_parts or (_nothing(),), BridgeMetadata())
    attached = [payload for payload in _payloads(json) if payload.schema_id not in _TEXT_SCHEMAS]
    if not attached:
        return Content(text_parts or (_nothing(),), BridgeMetadata())
    opening = Payload(TEXT, text, "/text")
    cards = [(opening, Card((Prose(document, at="/text"),) if document else ()))]
    rendered = [*cards, *((payload, _card(payload, tenant)) for payload in attached)]
    content = content_of(rendered, lambda payload: payload.schema_id == FORWARDED)
    return content if content.parts else Content((_nothing(),), BridgeMetadata())


def origin_of(conversation: str, message: str, tenant: str) -> str:
    """Return a link that opens the message in Teams, for people with access to it."""
    channel = conversation.partition(";")[0]
    return f"https://teams.microsoft.com/l/message/{channel}/{message}?tenantId={tenant}"


def _nothing() -> TextPart:
    return TextPart(text=_EMPTY_MESSAGE, format="markdown")


def _suggests(json: Json) -> bool:
    return isinstance(json.get("suggestedActions"), dict)


def _payloads(json: Json) -> tuple[Payload, ...]:
    """Return the payloads; of an activity that is nested too deeply, its attachments."""
    native: JsonValue = json
    try:
        return payloads(native)
    except CodecError:
        return tuple(
            Payload(string(attachment, "contentType"), attachment, f"/attachments/{index}")
            for index, attachment in enumerate(objects(json, "attachments"))
        )


def _card(payload: Payload, tenant: str) -> Card:
    """Return what a payload says; an unreadable one says the reason."""
    try:
        return read_payload(payload, tenant)
    except CodecError as error:
        return Card((Prose((Paragraph((Text(f"[unreadable: {error.reason}]"),)),), at=payload.at),))
