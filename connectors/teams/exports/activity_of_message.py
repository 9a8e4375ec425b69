"""A chatMessage of Microsoft Graph -> the activity that the Bot Framework sends of it. Pure.

The decoder reads activities, so that an imported message has the content of a live one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import Any

import orjson

from connectors.teams import ids
from connectors.teams.activity import Json, object_of, objects, string
from connectors.teams.cards.schemas import CARDS, QUOTED, schema_of
from connectors.teams.emoji import reaction_to_emoji
from connectors.teams.exports.system_events import sentence_of

SYSTEM = "system"
UNKNOWN = "unknown"
_ACCOUNTS = ("user", "application", "device", "conversation")
_SYSTEM_NAME = "Microsoft Teams"
_UNKNOWN_NAME = "Unknown author"
_MAX_MENTIONS = 1000
_HOSTED = re.compile(r"<img\b([^<>]*?\bsrc=[\"']([^\"'<>]*/hostedContents/[^\"'<>]*)[\"'])", re.I)
_PICTURE = r'<img itemtype="http://schema.skype.com/AMSImage"\1'
_PLACED = r"<attachment\b[^<>]*\bid=[\"']?{}[\"'\s>][^<>]*>?(?:\s*</attachment>)?"

NameOf = Callable[[str], str | None]
"""A directory id -> the person's name, if the export has it."""


def conversation_of(message: Json) -> str:
    """Return the id of the channel or chat that a message names."""
    channel = string(object_of(message, "channelIdentity"), "channelId")
    return channel or string(message, "chatId")


def is_system(message: Json) -> bool:
    """Return whether no person wrote the message."""
    if object_of(message, "eventDetail"):
        return True
    kind = string(message, "messageType")
    return kind == "systemEventMessage" or (kind != "message" and not message.get("from"))


def account_in(identities: Json) -> Json:
    """Return `id` and `name` of an identity set; nothing if it names nobody."""
    for kind in _ACCOUNTS:
        identity = object_of(identities, kind)
        if own_id := string(identity, "id"):
            own_id = ids.bot_account(own_id) if kind == "application" else own_id
            return {"id": own_id, "name": string(identity, "displayName")}
    return {}


def emoji_of(reaction: Json) -> str:
    """Return an emoji: Graph names it by a word or by itself, and custom ones by their names."""
    kind = string(reaction, "reactionType")
    if kind == "custom":
        kind = string(reaction, "displayName") or kind
        return f":{kind.strip(':')}:"
    return reaction_to_emoji(kind) if kind.isascii() and kind else kind


def activity_of(message: Json, conversation: str, tenant: str, name_of: NameOf) -> Json:
    """Return the activity. Of a system message, the text says what happened."""
    own_id, body = string(message, "id"), object_of(message, "body")
    root = string(message, "replyToId") or own_id
    channel = ids.channel_ref(tenant, conversation)
    activity: Json = {
        "type": "message",
        "id": own_id,
        "timestamp": string(message, "createdDateTime"),
        "conversation": {"id": ids.conversation_of(channel, root), "tenantId": tenant},
    }
    if is_system(message):
        sentence = sentence_of(object_of(message, "eventDetail"), lambda who: _named(who, name_of))
        return activity | {"from": {"id": SYSTEM, "name": _SYSTEM_NAME}, "text": sentence}
    author = account_in(object_of(message, "from")) or {"id": UNKNOWN, "name": _UNKNOWN_NAME}
    activity["from"] = {**author, "name": author["name"] or name_of(author["id"]) or ""}
    activity["entities"] = _mentions(message)
    return activity | _content(message, body, activity["entities"])


def _content(message: Json, body: Json, entities: list[Json]) -> Json:
    content, subject = string(body, "content"), string(message, "subject").strip()
    attachments = [_attachment(attachment) for attachment in objects(message, "attachments")]
    if string(body, "contentType").lower() != "html":
        if not subject and not attachments:
            return {"text": content, "textFormat": "plain"}
        content = escape(content).replace("\n", "<br>")
    if subject:
        content = f"<h3>{escape(subject)}</h3>{content}"
    for quote in [one for one in attachments if one["contentType"] == QUOTED]:
        quoted = string(_object_in(quote.get("content")), "messageId") or string(quote, "id")
        entities.append({"type": "quotedReply", "quotedReply": {"messageId": quoted}})
        pattern = _PLACED.format(re.escape(string(quote, "id")))
        content = re.sub(pattern, "", content, flags=re.IGNORECASE)
        attachments.remove(quote)
    if "hostedContents/" in content:
        attachments += [
            {"contentType": "image/*", "contentUrl": url} for _, url in _HOSTED.findall(content)
        ]
        content = _HOSTED.sub(_PICTURE, content)
    return {"attachments": [*attachments, {"contentType": "text/html", "content": content}]}


def _attachment(attachment: Json) -> Json:
    """Return an attachment without empty fields; a card is an object, not JSON in a string."""
    read: Json = {key: value for key, value in attachment.items() if value is not None}
    schema_id = schema_of(string(attachment, "contentType"))
    if schema_id in CARDS and (card := _object_in(attachment.get("content"))):
        read["content"] = card
    if schema_id == QUOTED:
        return read | {"contentType": QUOTED}
    return read | {"contentType": string(attachment, "contentType")}


def _object_in(content: Any) -> Json:
    """Return an object, also from JSON in a string."""
    if isinstance(content, str):
        try:
            content = orjson.loads(content)
        except orjson.JSONDecodeError:
            return {}
    return content if isinstance(content, dict) else {}


def _mentions(message: Json) -> list[Json]:
    """Return mention entities, each at the number that its `<at>` tag has."""
    entities: list[Json] = []
    for mention in objects(message, "mentions"):
        number = mention.get("id")
        if not isinstance(number, int) or not 0 <= number < _MAX_MENTIONS:
            continue
        entities += [{"type": "mention"} for _ in range(number + 1 - len(entities))]
        mentioned = object_of(mention, "mentioned")
        account = account_in(mentioned)
        name = string(mention, "mentionText") or account.get("name", "")
        if object_of(mentioned, "conversation") and not str(account.get("id")).startswith("19:"):
            account = {}
        entities[number] = {
            "type": "mention",
            "text": f"<at>{name}</at>",
            "mentioned": account and {"id": account["id"], "name": account["name"] or name},
        }
    return entities


def _named(identities: Json, name_of: NameOf) -> str:
    account = account_in(identities)
    name = account.get("name") or name_of(account.get("id", ""))
    return name or "Somebody"
