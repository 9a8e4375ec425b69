"""What a post says: one text where somebody only typed, else its payloads and what they say. Pure.

In: a post as Slack gives it. Out: parts, and the additions that belong to them.
"""

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
    """What people typed is one text. Blocks of apps, attachments and files stay as they are, each
    with the parts that say the same; previews that Slack adds to links are left out."""
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
    """A link that opens the post in Slack, for those who may see it."""
    return f"https://slack.com/app_redirect?team={team}&channel={channel}&message_ts={ts}"


def foreign_metadata(post: Json) -> JsonValue:
    """What another app keeps with its message; ours is for the router alone."""
    metadata = object_at(post, "metadata")
    if not metadata or metadata.get("event_type") == METADATA_TYPE:
        return None
    return dict(metadata)


def is_unfurl(attachment: Json) -> bool:
    """Slack adds these by itself when a message holds a link; a message that somebody shares looks
    much the same, and is what they say."""
    if attachment.get("is_share") is True:
        return False
    markers = ("from_url", "is_msg_unfurl", "is_app_unfurl", "original_url")
    return any(attachment.get(name) for name in markers) or bool(
        object_at(attachment, "app_unfurl")
    )


def _is_shared(payload: Payload) -> bool:
    """Whether it holds a message that somebody else wrote."""
    listed = payload.data if isinstance(payload.data, list) else []
    return any(
        isinstance(attachment, dict) and attachment.get("is_share") is True for attachment in listed
    )


def _is_typed(post: Json) -> bool:
    return all(block.get("type") == "rich_text" for block in objects_at(post, "blocks"))


def _done(post: Json, document: Document) -> Document:
    """What `/me` says is done by its author: emphasised, as Slack shows it."""
    if text_at(post, "subtype") != "me_message":
        return document
    return tuple(
        Paragraph((Emphasis(block.children),)) if isinstance(block, Paragraph) else block
        for block in document
    )


def _typed(post: Json, team: str) -> Document:
    """People's clients send rich_text beside the text, which has it in full."""
    blocks = objects_at(post, "blocks")
    typed = tuple(part for block in blocks for part in rich_text_to_text(block, team))
    return typed or mrkdwn_to_text(text_at(post, "text"), team)


def _card(payload: Payload, team: str) -> Card:
    """What cannot be read says so; it is kept as it came."""
    try:
        return read_payload(payload, team)
    except CodecError as error:
        return Card((Prose((Paragraph((Text(f"[unreadable: {error.reason}]"),)),), at=payload.at),))
