"""Other attachments and entities of a message -> nodes: media, files, quoted and forwarded
messages, AI label, sources and sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Badge,
    Button,
    Container,
    Credit,
    File,
    Image,
    Native,
    Node,
    Player,
    Prose,
)
from bridge.content.text.inlines import merge_texts
from bridge.content.text.normal import code_block
from bridge.content.text.tree import Document, Inline, Link, Paragraph, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.teams.cards import schemas
from connectors.teams.cards.json_values import (
    Json,
    items,
    object_at,
    objects,
    string,
    whole,
)
from connectors.teams.cards.read_bot_cards import card_buttons
from connectors.teams.cards.read_mentions import Mentions
from connectors.teams.cards.read_message_text import html_message, is_hosted_by_teams
from connectors.teams.cards.read_text import moment_of, plain_line, plain_text

Line = tuple[Inline, ...]
AttachmentReader = Callable[[Json, Json, str], list[Node]]
"""(attachment, content, place) -> nodes."""


# --- media and files ------------------------------------------------------------------------


def read_media(attachment: Json, at: str) -> list[Node]:
    """Return a picture, a video, an audio or another file."""
    media_type = string(attachment, "contentType").partition(";")[0].strip().lower()
    url = string(attachment, "contentUrl")
    asset = Asset(
        url=url,
        private=is_hosted_by_teams(url),
        media_type=media_type if "/" in media_type and "*" not in media_type else "",
        name=string(attachment, "name"),
    )
    match media_type.partition("/")[0]:
        case "image":
            return [Image(asset, at=at)]
        case "video":
            thumbnail = string(attachment, "thumbnailUrl")
            return [Player("video", asset, poster=_poster(thumbnail), at=at)]
        case "audio":
            return [Player("audio", asset, at=at)]
        case _:
            return [File(asset, at=at)]


def _poster(url: str) -> Asset | None:
    return Asset(url=url, private=is_hosted_by_teams(url)) if url else None


def _download(attachment: Json, content: Json, at: str) -> list[Node]:
    """Read a download; its `downloadUrl` needs no authentication, so it is not exposed."""
    own = string(content, "uniqueId")
    asset = Asset(
        url="" if own else string(content, "downloadUrl"),
        file_id=f"{schemas.OWN_FILE}{own}" if own else "",
        private=True,
        page=string(attachment, "contentUrl"),
        name=string(attachment, "name"),
    )
    return [File(asset, at=at)]


def _stored_file(attachment: Json, _content: Json, at: str) -> list[Node]:
    """Read a file in SharePoint or OneDrive: a page for people with access."""
    page, name = string(attachment, "contentUrl"), string(attachment, "name")
    return [File(Asset(page=page, name=name), at=at)] if page or name else []


def _consent(attachment: Json, content: Json, at: str) -> list[Node]:
    """Read a file consent card of a bot."""
    about = plain_text(string(content, "description"))
    asset = Asset(name=string(attachment, "name"), size=whole(content, "sizeInBytes"))
    buttons = tuple(
        Button(
            (Text(label),), id=own_id, value=content.get(f"{own_id}Context"), at=f"{at}/{own_id}"
        )
        for label, own_id in (("Allow", "accept"), ("Decline", "decline"))
    )
    nodes: list[Node] = [Prose(about, at=f"{at}/content/description")] if about else []
    nodes += [File(asset, at=at), Actions(buttons, at=at)]
    return [Container(tuple(nodes), form="card", at=at)]


def _code(attachment: Json, content: Json, at: str) -> list[Node]:
    """Read a code snippet; its full text is usually a file."""
    name = string(content, "name") or string(attachment, "name")
    language, code = string(content, "language"), string(content, "code")
    document: Document = (Paragraph((Strong((Text(name),)),)),) if name else ()
    if code.strip():
        document = (*document, code_block(code, language))
    nodes: list[Node] = [Prose(document, at=at)] if document else []
    url = string(content, "codeSnippetUrl")
    return [*nodes, *([File(Asset(url=url, private=True, name=name), at=at)] if url else [])]


# --- other messages -------------------------------------------------------------------------


def _quoted_message(_attachment: Json, content: Json, at: str) -> list[Node]:
    """Read a quoted message with its visible preview."""
    preview = string(content, "messagePreview") or string(content, "preview")
    author = _name(object_at(content, "messageSender")) or string(content, "senderName")
    document = plain_text(preview)
    nodes: list[Node] = [Prose(document, at=at)] if document else []
    return _panel(nodes, author, content.get("createdDateTime"), at)


def _forwarded_message(_attachment: Json, content: Json, at: str) -> list[Node]:
    nodes = html_message(string(content, "originalMessageContent"), Mentions(), at)
    author = _name(object_at(content, "originalMessageSender"))
    return _panel(nodes, author, content.get("originalSentDateTime"), at)


def _panel(nodes: list[Node], author: str, time: JsonValue, at: str) -> list[Node]:
    if not nodes and not author:
        return []
    credit = Credit((Text(author),), at=at) if author else None
    moment: datetime | None = moment_of(time) if isinstance(time, str) else None
    unix = int(moment.timestamp()) if moment else None
    return [Container(tuple(nodes), form="panel", author=credit, time=unix, at=at)]


def _name(identity: Json) -> str:
    named = (object_at(identity, key) for key in ("user", "application", "device"))
    return next((name for account in named if (name := string(account, "displayName"))), "")


# --- suggested actions and labels -----------------------------------------------------------


def read_suggested(data: Json, at: str) -> list[Node]:
    """Return suggested actions as buttons."""
    return card_buttons(items(data, "actions"), f"{at}/actions")


def read_disclosure(entity: Json, at: str) -> list[Node]:
    """Return the AI label, the sensitivity and the sources of a message."""
    kinds = items(entity, "additionalType")
    nodes: list[Node] = []
    if "AIGeneratedContent" in kinds or string(entity, "additionalType") == "AIGeneratedContent":
        nodes.append(Badge((Text("AI generated"),), at=f"{at}/additionalType"))
    nodes += _sensitivity(object_at(entity, "usageInfo"), f"{at}/usageInfo")
    lines: list[Line] = []
    for number, claim in enumerate(objects(entity, "citation"), 1):
        appearance = object_at(claim, "appearance")
        lines.append(source_line(appearance, whole(claim, "position") or number))
        nodes += _sensitivity(object_at(appearance, "usageInfo"), f"{at}/citation")
    paragraphs = tuple(Paragraph(line) for line in lines)
    return [*nodes, *([Prose(paragraphs, subtle=True, at=f"{at}/citation")] if paragraphs else [])]


def _sensitivity(usage: Json, at: str) -> list[Node]:
    name, about = plain_line(string(usage, "name")), plain_line(string(usage, "description"))
    if not name and not about:
        return []
    return [Badge(name or about, hint=about if name else (), style="warning", at=at)]


def source_line(appearance: Json, number: int) -> Line:
    """Return the line `[1] name: abstract (keywords)` of a source, with a link."""
    name = plain_line(string(appearance, "name")) or plain_line(string(appearance, "title"))
    url = safe_url(string(appearance, "url"))
    line: list[Inline] = [Text(f"[{number}] ")]
    line += [Link(url, name or (Text(url),))] if url else name
    if about := plain_line(string(appearance, "abstract")):
        line += [Text(": "), *about]
    words = ", ".join(item for item in items(appearance, "keywords") if isinstance(item, str))
    return merge_texts((*line, *((Text(f" ({words})"),) if words else ())))


ATTACHMENTS: dict[str, AttachmentReader] = {
    schemas.DOWNLOAD: _download,
    schemas.FILE_INFO: _stored_file,
    schemas.REFERENCE: _stored_file,
    schemas.FILE_CONSENT: _consent,
    schemas.CODE: _code,
    schemas.QUOTED: _quoted_message,
    schemas.FORWARDED: _forwarded_message,
}


def read_other(attachment: Json, schema_id: str, at: str, words: tuple[Node, ...]) -> list[Node]:
    """Return an attachment of an unknown type: as media, or native with its words."""
    if string(attachment, "contentUrl"):
        return read_media(attachment, at)
    if not words and not attachment.get("name"):
        return []
    return [Native(schema_id, attachment, words, at=at)]
