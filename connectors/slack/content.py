"""A Slack post -> content parts and additions: one text where a person only typed, else the native
payloads with their texts. Pure."""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.content.cards.messages import Content, content_of
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import Card, Prose
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.metadata import BridgeMetadata
from bridge.content.text.tree import Document, Emphasis, Paragraph, Text
from bridge.errors import CodecError
from bridge.uacs import TextPart
from connectors.slack.capabilities import METADATA_TYPE
from connectors.slack.cards import payloads, read_payload
from connectors.slack.cards.read_json import unfolded_message
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.rich_text import rich_text_to_text
from connectors.slack.text import mrkdwn_to_text

NO_CONTENT = "[message without text]"


def post_content(post: Json, team: str) -> Content:
    """The content of a post.

    Text that a person typed becomes one text part. Blocks of apps, attachments and files stay
    unchanged, each with parts that have the same text. Link previews that Slack adds are omitted.
    """
    post = unfolded_message(post)
    attached = [
        attachment for attachment in objects_at(post, "attachments") if not is_unfurl(attachment)
    ]
    if attached or objects_at(post, "files") or not _is_typed(post):
        displayed = {**post, "attachments": cast("JsonValue", attached)}
        content = content_of(
            [(payload, _card(payload, team)) for payload in payloads(displayed)], _is_shared
        )
        if content.parts:
            return content
    text = text_to_markdown(_done(post, _typed(post, team)))
    return Content((TextPart(text=text or NO_CONTENT, format="markdown"),), BridgeMetadata())


def origin_of(team: str, channel: str, ts: str) -> str:
    """A link that opens the post in Slack for people who may see it."""
    return f"https://slack.com/app_redirect?team={team}&channel={channel}&message_ts={ts}"


def foreign_metadata(post: Json) -> JsonValue:
    """The metadata that another app stored with its message; None for our own, which only the
    router reads."""
    metadata = object_at(post, "metadata")
    if not metadata or metadata.get("event_type") == METADATA_TYPE:
        return None
    return dict(metadata)


def is_unfurl(attachment: Json) -> bool:
    """Whether Slack added this attachment as a link preview.

    The attachment of a shared message looks similar and is content.
    """
    if attachment.get("is_share") is True:
        return False
    markers = ("from_url", "is_msg_unfurl", "is_app_unfurl", "original_url")
    return any(attachment.get(name) for name in markers) or bool(
        object_at(attachment, "app_unfurl")
    )


def _is_shared(payload: Payload) -> bool:
    """Whether the payload has a message that somebody else wrote."""
    listed = payload.data if isinstance(payload.data, list) else []
    return any(
        isinstance(attachment, dict) and attachment.get("is_share") is True for attachment in listed
    )


def _is_typed(post: Json) -> bool:
    return all(block.get("type") == "rich_text" for block in objects_at(post, "blocks"))


def _done(post: Json, document: Document) -> Document:
    """Emphasise the text of a `/me` message, as Slack does."""
    if text_at(post, "subtype") != "me_message":
        return document
    return tuple(
        Paragraph((Emphasis(block.children),)) if isinstance(block, Paragraph) else block
        for block in document
    )


def _typed(post: Json, team: str) -> Document:
    """The text as typed: people's clients send rich_text beside the mrkdwn text, and it is
    complete."""
    blocks = objects_at(post, "blocks")
    typed = tuple(part for block in blocks for part in rich_text_to_text(block, team))
    return typed or mrkdwn_to_text(text_at(post, "text"), team)


def _card(payload: Payload, team: str) -> Card:
    """The card of a payload; a notice in place of what cannot be read. The payload is kept in any
    case."""
    try:
        return read_payload(payload, team)
    except CodecError as error:
        return Card((Prose((Paragraph((Text(f"[unreadable: {error.reason}]"),)),), at=payload.at),))
