"""A message of DiscordChatExporter -> the message as Discord's API gives it. Pure.

What the exporter changed is undone as far as the document allows: names in the text become mentions
again, and files beside the document get the address that they had on Discord.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import cast
from urllib.parse import quote

from pydantic import JsonValue

from connectors.discord import ids
from connectors.discord.capabilities import SPOKEN_TYPES
from connectors.discord.exports.documents import Json
from connectors.discord.exports.kinds import (
    FORWARD,
    MESSAGES,
    NO_DISCRIMINATOR,
    SENTENCES,
    STICKERS,
    UNNAMED_SENTENCE,
)
from connectors.discord.settings import CDN_URL

UPLOADED = "attachment://"  # the address of a file that a message brings along
_SYSTEM = -1  # a kind that no number is known of
_ANSWERS = frozenset((20, 23))  # messages of an app that answer a command
_REPLIES = frozenset((19, *_ANSWERS))
_FORWARD_TYPE = 1
_PIXELS = ("width", "height")
_HASH = re.compile(r"(?:a_)?[0-9a-f]{32}")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True)
class ApiMessage:
    """A message as Discord's API gives it.

    - `system`: Discord wrote it; its type is changed to that of a message of a person.
    - `local_files`: the addresses of files beside the document, each with its path in the export.
    """

    json: Json
    system: bool = False
    local_files: Mapping[str, str] = field(default_factory=dict[str, str])


def api_message(message: Json, channel_id: str, timezone: tzinfo | None) -> ApiMessage:
    """Return the message; what is malformed is left to the decoder.

    `channel_id` is that of the document, and `timezone` that of times without an offset.
    """
    local_files: dict[str, str] = {}
    own_id = text_at(message, "id")
    kind = _kind_of(message)
    system = kind not in SPOKEN_TYPES
    author = object_at(message, "author")
    created = ids.time_of(own_id) if own_id.isdecimal() and len(own_id) <= 20 else None
    posted_at, edited_at = _times(message, created, timezone)
    json: Json = {
        "id": own_id,
        "channel_id": channel_id,
        "type": 0 if system else kind,
        "timestamp": posted_at.isoformat() if posted_at else message.get("timestamp"),
        "author": api_user(author),
        "content": _text_of(message, kind),
        "mentions": [api_user(user) for user in objects_at(message, "mentions")],
        **_content_of(message, author, channel_id, local_files),
    }
    if edited_at:
        json["edited_timestamp"] = edited_at.isoformat()
    if _is_webhook(author, kind):
        json["webhook_id"] = text_at(author, "id")
    reference = object_at(message, "reference")
    forward = object_at(message, "forwardedMessage")
    if reference and (kind in _REPLIES or forward or text_at(reference, "type") == FORWARD):
        forwards = bool(forward) or text_at(reference, "type") == FORWARD
        json["message_reference"] = _reference(reference, _FORWARD_TYPE if forwards else 0)
    if forward:
        content: Json = {
            "content": _text(forward, ()),
            "timestamp": forward.get("timestamp"),
            **_content_of(forward, author, channel_id, local_files),
        }
        json["message_snapshots"] = [{"message": content}]
    if user := object_at(object_at(message, "interaction"), "user"):
        json["interaction_metadata"] = {"user": api_user(user)}
    return ApiMessage(json, system, local_files)


def is_blank(message: Json) -> bool:
    """Return whether the document has nothing of the message's content."""
    parts = ("content", "attachments", "embeds", "stickers", "forwardedMessage")
    return not any(map(message.get, parts))


# --- users ----------------------------------------------------------------------------------


def api_user(user: Json) -> JsonValue:
    """Return a user with the name and picture that they have in the guild."""
    name, nickname = text_at(user, "name"), text_at(user, "nickname")
    member: Json = {"nick": nickname} if nickname and nickname != name else {}
    picture = _picture_hash(text_at(user, "avatarUrl"))
    json: Json = {
        "id": text_at(user, "id"),
        "username": name,
        "bot": user.get("isBot") is True,
        "member": cast("JsonValue", member),
    }
    if picture is not None:
        hash_, of_member = picture
        (member if of_member else json)["avatar"] = hash_
    return json


@lru_cache(maxsize=4096)
def _picture_hash(url: str) -> tuple[str, bool] | None:
    """Return the hash in a picture's address, and whether the guild has it; None for a stand-in."""
    name = re.split(r"[/\\]", url.partition("?")[0])[-1]
    match = _HASH.match(name)
    return (match[0], "/guilds/" in url) if match else None


def _is_webhook(author: Json, kind: int) -> bool:
    """Return whether the message came through a webhook, which the document does not say.

    A bot's account has a discriminator; answers to commands come through a webhook of their app.
    """
    if author.get("isBot") is not True:
        return False
    return kind in _ANSWERS or text_at(author, "discriminator") == NO_DISCRIMINATOR


# --- text -----------------------------------------------------------------------------------


def _kind_of(message: Json) -> int:
    kind = message.get("type")
    if isinstance(kind, str):
        return int(kind) if kind.isdecimal() and len(kind) < 4 else MESSAGES.get(kind, _SYSTEM)
    return kind if isinstance(kind, int) else _SYSTEM


def _text_of(message: Json, kind: int) -> JsonValue:
    content = _text(message, objects_at(message, "mentions"))
    if not content and kind not in SPOKEN_TYPES:
        return SENTENCES.get(kind, UNNAMED_SENTENCE)
    return content


def _text(message: Json, mentioned: list[Json] | tuple[()]) -> str:
    """Return the text with mentions and custom emoji as Discord writes them."""
    content = text_at(message, "content")
    if mentioned and "@" in content:
        content = _with_mentions(content, mentioned)
    emoji = objects_at(message, "inlineEmojis") if ":" in content else []
    for custom in emoji:
        name, emoji_id = text_at(custom, "name"), text_at(custom, "id")
        if name and emoji_id:
            moving = "a" if custom.get("isAnimated") is True else ""
            plain = re.compile(rf"(?<!<)(?<!<a):{re.escape(name)}:(?![0-9]+>)")
            content = plain.sub(f"<{moving}:{name}:{emoji_id}>", content)
    return content


def _with_mentions(content: str, mentioned: list[Json]) -> str:
    """Return the text with `<@id>` for the names that the exporter wrote for mentions."""
    by_name = {
        name: text_at(user, "id")
        for user in mentioned
        for name in (text_at(user, "name"), text_at(user, "nickname"))
        if name and f"@{name}" in content
    }
    if not by_name:
        return content
    names = "|".join(re.escape(name) for name in sorted(by_name, key=len, reverse=True))
    pattern = re.compile(rf"(?<![\w<])@({names})(?!\w)")
    return pattern.sub(lambda match: f"<@{by_name[match[1]]}>", content)


# --- files, embeds, stickers ----------------------------------------------------------------


def _content_of(message: Json, author: Json, channel_id: str, files: dict[str, str]) -> Json:
    content: Json = {}
    if attachments := objects_at(message, "attachments"):
        content["attachments"] = [
            _attachment(attachment, channel_id, files) for attachment in attachments
        ]
    if embeds := objects_at(message, "embeds"):
        said = text_at(message, "content")
        by_bot = author.get("isBot") is True
        content["embeds"] = [
            cast("JsonValue", part)
            for embed in embeds
            for part in _embeds(embed, _embed_type(embed, said, by_bot=by_bot), files)
        ]
    if stickers := objects_at(message, "stickers"):
        content["sticker_items"] = [
            {
                "id": text_at(sticker, "id"),
                "name": text_at(sticker, "name"),
                "format_type": STICKERS.get(text_at(sticker, "format"), STICKERS["Png"]),
            }
            for sticker in stickers
        ]
    return content


def _attachment(attachment: Json, channel_id: str, files: dict[str, str]) -> JsonValue:
    own_id, name = text_at(attachment, "id"), text_at(attachment, "fileName")
    url = text_at(attachment, "url")
    if url and not _ADDRESS.match(url):
        path, url = url, f"{CDN_URL}/attachments/{channel_id}/{own_id}/{quote(name)}"
        files[url] = path
    json: Json = {"id": own_id, "filename": name, "url": url}
    if isinstance(size := attachment.get("fileSizeBytes"), int):
        json["size"] = size
    if media_type := _media_type(name.rpartition(".")[2].lower()):
        json["content_type"] = media_type
    return json


@lru_cache(maxsize=256)
def _media_type(ending: str) -> str | None:
    return mimetypes.guess_type(f"file.{ending}", strict=False)[0]


def _embed_type(embed: Json, said: str, *, by_bot: bool) -> str:
    """Return the type of an embed, which the document does not say.

    Only apps post embeds of their own; Discord adds others for links in the text.
    """
    url = text_at(embed, "url")
    if by_bot and not (url and url in said):
        return "rich"
    if object_at(embed, "video"):
        return "video"
    return "link" if any(map(embed.get, ("title", "description", "author"))) else "image"


def _embeds(embed: Json, kind: str, files: dict[str, str]) -> Iterator[Json]:
    """Yield an embed, and one more for each further picture of its gallery."""
    json: Json = {"type": kind}
    for name in ("title", "url", "description", "timestamp"):
        if value := text_at(embed, name):
            json[name] = value
    color = text_at(embed, "color").removeprefix("#")
    if re.fullmatch("[0-9a-fA-F]{6}", color):
        json["color"] = int(color, 16)
    for name, words in (("author", ("name", "url")), ("footer", ("text",))):
        if credit := object_at(embed, name):
            icon = text_at(credit, "iconUrl") or text_at(credit, "iconCanonicalUrl")
            values = {word: text_at(credit, word) for word in words} | {
                "icon_url": _media_url(icon, files)
            }
            json[name] = {word: value for word, value in values.items() if value}
    for name in ("thumbnail", "video"):
        if native := object_at(embed, name):
            json[name] = _medium(native, files)
    if fields := objects_at(embed, "fields"):
        json["fields"] = [
            {
                "name": text_at(one, "name"),
                "value": text_at(one, "value"),
                "inline": one.get("isInline") is True,
            }
            for one in fields
        ]
    pictures = objects_at(embed, "images") or [object_at(embed, "image")]
    media = [_medium(picture, files) for picture in pictures if picture]
    if media:
        json["image"] = media[0]
    yield json
    for medium in media[1:]:
        yield {"type": kind, "url": json.get("url", ""), "image": medium}


def _medium(native: Json, files: dict[str, str]) -> JsonValue:
    url = text_at(native, "url") or text_at(native, "canonicalUrl")
    sizes = {name: native[name] for name in _PIXELS if isinstance(native.get(name), int)}
    return {"url": _media_url(url, files), **sizes}


def _media_url(url: str, files: dict[str, str]) -> str:
    if not url or _ADDRESS.match(url) or url.startswith(UPLOADED):
        return url
    address = UPLOADED + re.split(r"[/\\]", url)[-1]
    files[address] = url
    return address


def _reference(reference: Json, kind: int) -> JsonValue:
    native = {
        "message_id": text_at(reference, "messageId"),
        "channel_id": text_at(reference, "channelId"),
        "guild_id": text_at(reference, "guildId"),
    }
    return {"type": kind, **{name: value for name, value in native.items() if value}}


# --- times ----------------------------------------------------------------------------------


def _times(
    message: Json, created: datetime | None, zone: tzinfo | None
) -> tuple[datetime | None, datetime | None]:
    """Return in UTC when the message was posted and edited.

    Times without an offset are those of `zone`, or else of the zone whose time the message has at
    its creation.
    """
    posted, edited = _time_at(message, "timestamp"), _time_at(message, "timestampEdited")
    if zone is None:
        naive = posted is not None and posted.tzinfo is None
        zone = _offset(posted, created) if naive and posted and created else UTC
    return _in_utc(posted, zone) or created, _in_utc(edited, zone)


def _time_at(message: Json, key: str) -> datetime | None:
    """Return a time as the document has it, with or without an offset."""
    try:
        return datetime.fromisoformat(text_at(message, key))
    except ValueError:
        return None


def _offset(local: datetime, created: datetime) -> timezone:
    """Return the zone of a local time; offsets are quarters of an hour."""
    difference = local.replace(tzinfo=UTC) - created
    quarters = round(difference / timedelta(minutes=15))
    return timezone(timedelta(minutes=15) * max(-95, min(95, quarters)))


def _in_utc(moment: datetime | None, zone: tzinfo) -> datetime | None:
    try:
        with_zone = moment.replace(tzinfo=zone) if moment and moment.tzinfo is None else moment
        return with_zone.astimezone(UTC) if with_zone else None
    except OverflowError:
        return None


# --- JSON -----------------------------------------------------------------------------------


def text_at(json: Mapping[str, JsonValue], key: str) -> str:
    value = json.get(key)
    return value if isinstance(value, str) else ""


def object_at(json: Mapping[str, JsonValue], key: str) -> Json:
    value = json.get(key)
    return value if isinstance(value, dict) else {}


def objects_at(json: Mapping[str, JsonValue], key: str) -> list[Json]:
    value = json.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
