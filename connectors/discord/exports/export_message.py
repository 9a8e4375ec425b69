"""A message of any platform -> the message as DiscordChatExporter writes it. Pure but for files."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import BinaryIO, cast

import orjson
from pydantic import JsonValue

from bridge.content.cards.reader import Cards, is_rich
from bridge.content.markdown import markdown_to_text
from bridge.content.media.file_names import safe_file_name
from bridge.content.messages.metadata import (
    BridgeMetadata,
    PartDetails,
    read_bridge_metadata,
    select_parts,
)
from bridge.content.messages.parts import MediaPart, parts_text
from bridge.content.safety.mentions import with_counterparts
from bridge.model import Person, split_key
from bridge.model.export_records import ArchivedMessage, ExportedReaction
from bridge.model.operations import NO_COUNTERPARTS
from bridge.uacs import AudioPart, FilePart, ImagePart, Message, VideoPart
from connectors.discord import ids
from connectors.discord.exports.api_message import object_at, objects_at, text_at
from connectors.discord.exports.documents import Json
from connectors.discord.exports.kinds import (
    DEFAULT,
    FORWARD,
    MESSAGE_WORDS,
    NO_DISCRIMINATOR,
    REPLY,
    STICKER_WORDS,
)
from connectors.discord.exports.native_numbers import number_of
from connectors.discord.rich import rich_bodies
from connectors.discord.settings import CDN_URL
from connectors.discord.text import text_to_discord

SaveFile = Callable[[str, BinaryIO], str]
"""(name, bytes) -> the address of the file in the export."""
OpenFile = Callable[[str], BinaryIO | None]

_STAND_IN = f"{CDN_URL}/embed/avatars/0.png"
_TWEMOJI = "https://raw.githubusercontent.com/jdecked/twemoji/main/assets/svg"
_SPOILER = "SPOILER_"  # Discord hides files with such names
_NOT_IN_FORMAT = ("components", "poll")
_MEDIA = (ImagePart, VideoPart, AudioPart, FilePart)


@dataclass(frozen=True)
class Placed:
    """A message with the numbers of its export; `reply_to` is None for a message that replies to
    none, and the numbers of guild and channel are those of its document."""

    archived: ArchivedMessage
    number: str
    guild: str
    channel: str
    reply_to: str | None = None


class MessageWriter:
    """Writes messages that do not come from an export of DiscordChatExporter."""

    def __init__(self, cards: Cards, open_file: OpenFile) -> None:
        self._cards = cards
        self._open_file = open_file

    def write(self, placed: Placed, save: SaveFile) -> tuple[Json, list[str]]:
        """Return the message's JSON, and what it cannot say."""
        archived = placed.archived
        api = _api_json(archived)
        additions = read_bridge_metadata(archived.message)[0]
        lost: list[str] = []
        if api is not None and not any(map(api.get, _NOT_IN_FORMAT)):
            content = self._of_api(api, additions, save)
        else:
            lost += [f"{name} of Discord" for name in _NOT_IN_FORMAT if api and api.get(name)]
            content = self._of_message(archived.message, additions, save, lost)
        kind = MESSAGE_WORDS.get(cast("int", (api or {}).get("type", 0)), None)
        kind = kind or str((api or {}).get("type", DEFAULT))
        if placed.reply_to and kind == DEFAULT:
            kind = REPLY
        author = _author(archived.author, object_at(api or {}, "author"))
        message: Json = {
            "id": placed.number,
            "type": kind,
            "timestamp": _time(archived.time),
            "timestampEdited": None if archived.edited_at is None else _time(archived.edited_at),
            "callEndedTimestamp": None,
            "isPinned": archived.pinned,
            "content": content.pop("content"),
            "author": author,
            **content,
            "reactions": list(_reactions(archived.reactions)),
            "mentions": [_user(user) for user in objects_at(api or {}, "mentions")],
            "inlineEmojis": [],
        }
        reference = object_at(api or {}, "message_reference")
        if placed.reply_to:
            message["reference"] = {
                "type": DEFAULT,
                "messageId": placed.reply_to,
                "channelId": placed.channel,
                "guildId": placed.guild,
            }
        elif reference:
            message["reference"] = {
                "type": FORWARD if reference.get("type") == 1 else DEFAULT,
                "messageId": reference.get("message_id"),
                "channelId": reference.get("channel_id"),
                "guildId": reference.get("guild_id"),
            }
        return message, lost

    # --- from Discord's API ---------------------------------------------------------------------

    def _of_api(self, api: Json, additions: BridgeMetadata, save: SaveFile) -> Json:
        content = self._api_content(api, additions, save)
        for snapshot in objects_at(api, "message_snapshots"):
            forwarded = object_at(snapshot, "message")
            content["forwardedMessage"] = {
                "timestamp": forwarded.get("timestamp"),
                "timestampEdited": forwarded.get("edited_timestamp"),
                **self._api_content(forwarded, additions, save),
            }
            break
        return content

    def _api_content(self, api: Json, additions: BridgeMetadata, save: SaveFile) -> Json:
        return {
            "content": text_at(api, "content"),
            "attachments": [
                {
                    "id": text_at(attachment, "id"),
                    "url": self._address(text_at(attachment, "url"), attachment, additions, save),
                    "fileName": text_at(attachment, "filename"),
                    "fileSizeBytes": attachment.get("size", 0),
                }
                for attachment in objects_at(api, "attachments")
            ],
            "embeds": list(_embeds(objects_at(api, "embeds"))),
            "stickers": [_sticker(sticker) for sticker in objects_at(api, "sticker_items")],
        }

    def _address(
        self, url: str, attachment: Json, additions: BridgeMetadata, save: SaveFile
    ) -> str:
        """Return the address of the stored file if its bytes are there: Discord's links expire."""
        kept = additions.kept.get(url)
        file = self._open_file(kept.file_id) if kept else None
        return save(text_at(attachment, "filename"), file) if file else url

    # --- from any message -----------------------------------------------------------------------

    def _of_message(
        self, message: Message, additions: BridgeMetadata, save: SaveFile, lost: list[str]
    ) -> Json:
        """Return the text, files, and embeds where they can hold the whole message."""
        embedded = self._embedded(message) if self._cards.codecs and is_rich(message) else None
        if embedded is not None:
            content, embeds = embedded
            return _content(content, list(_embeds(embeds)), [])
        texts: list[tuple[object, PartDetails | None]] = []
        attachments: list[JsonValue] = []
        for index, part in select_parts(message, ()):
            details = additions.parts.get(str(index))
            if isinstance(part, _MEDIA):
                attachment = self._attachment(message, index, part, details or PartDetails(), save)
                if attachment is not None:
                    attachments.append(attachment)
                    continue
                lost.append("file without an address")
            texts.append((part, details))
        markdown = parts_text(cast("Iterator[tuple[MediaPart, PartDetails | None]]", iter(texts)))
        text = text_to_discord(with_counterparts(markdown_to_text(markdown), NO_COUNTERPARTS))
        return _content(text, [], attachments)

    def _embedded(self, message: Message) -> tuple[str, list[Json]] | None:
        """Return text and embeds that show the whole message; None if it needs more."""
        bodies, _ = rich_bodies(message, (), self._cards, None)
        if len(bodies) != 1 or bodies[0].files:
            return None
        body = bodies[0].content
        if body.keys() - {"content", "embeds"}:
            return None
        return text_at(body, "content"), objects_at(body, "embeds")

    def _attachment(
        self, message: Message, index: int, part: MediaPart, details: PartDetails, save: SaveFile
    ) -> JsonValue:
        """Return a file as an attachment; None if nobody can open it."""
        name = safe_file_name(details.name or "", part.media_type)
        if details.spoiler and not name.startswith(_SPOILER):
            name = _SPOILER + name
        url = part.source.url or ""
        file = self._open_file(part.source.file_id) if part.source.file_id else None
        if part.source.base64 is not None:
            try:
                file = BytesIO(b64decode(part.source.base64))
            except binascii.Error:
                file = None
        if file is not None:
            url = save(name, file)
        if not url:
            return None
        return {
            "id": number_of(f"{message.message_id}/{index}"),
            "url": url,
            "fileName": name,
            "fileSizeBytes": details.size or 0,
        }


def _content(text: str, embeds: Sequence[JsonValue], attachments: Sequence[JsonValue]) -> Json:
    return {
        "content": text, "attachments": [*attachments], "embeds": [*embeds], "stickers": [],
    }  # fmt: skip


def _api_json(archived: ArchivedMessage) -> Json | None:
    """Return the API's JSON of a message of Discord; None for other messages."""
    if not archived.payload or not archived.place:
        return None
    if archived.place.channel.platform != ids.PLATFORM:
        return None
    try:
        wrapped = orjson.loads(archived.payload)
    except orjson.JSONDecodeError:
        return None
    api = wrapped.get("d") if isinstance(wrapped, dict) else None
    if not isinstance(api, dict) or not isinstance(api.get("content"), str):
        return None
    return api if _has_last_edit(archived, text_at(api, "edited_timestamp")) else None


def _has_last_edit(archived: ArchivedMessage, edited: str) -> bool:
    """Return whether a native message, last edited at this time, has the archive's last edit."""
    if archived.edited_at is None:
        return True
    try:
        return archived.edited_at <= datetime.fromisoformat(edited).timestamp() + 1
    except ValueError:
        return False


def changed_document_message(archived: ArchivedMessage) -> bytes | None:
    """Return a message of an import with what the archive knows better; None if it was edited
    since then, so that its content is to be written anew."""
    payload = archived.payload or b""
    try:
        native = orjson.loads(payload)
    except orjson.JSONDecodeError:
        return payload
    if not isinstance(native, dict):
        return payload
    message = cast("Json", native)
    if not _has_last_edit(archived, text_at(message, "timestampEdited")):
        return None
    changes: Json = {}
    if archived.pinned != (message.get("isPinned") is True):
        changes["isPinned"] = archived.pinned
    if archived.reactions or message.get("reactions"):
        written = list(_reactions(archived.reactions))
        if _reacted(message.get("reactions")) != _reacted(written):
            changes["reactions"] = written
    return orjson.dumps({**message, **changes}) if changes else payload


def _reacted(reactions: JsonValue) -> set[tuple[str, str]]:
    """Return emoji and person of each reaction."""
    return {
        (text_at(object_at(reaction, "emoji"), "name"), text_at(user, "id"))
        for reaction in objects_at({"reactions": reactions}, "reactions")
        for user in objects_at(reaction, "users")
    }


# --- authors and reactions ------------------------------------------------------------------


def _author(person: Person, api: Json) -> Json:
    native = ids.split_actor(person.id)
    return {
        "id": native[1] if native else text_at(api, "id") or number_of(person.id),
        "name": text_at(api, "username") or person.name,
        "discriminator": _discriminator(api),
        "nickname": person.name,
        "color": None,
        "isBot": person.bot,
        "roles": [],
        "avatarUrl": person.picture or _STAND_IN,
    }


def _user(api: Json) -> JsonValue:
    member = object_at(api, "member")
    name = text_at(api, "username")
    picture = text_at(api, "avatar")
    address = f"{CDN_URL}/avatars/{text_at(api, 'id')}/{picture}.png?size=512"
    return {
        "id": text_at(api, "id"),
        "name": name,
        "discriminator": _discriminator(api),
        "nickname": text_at(member, "nick") or text_at(api, "global_name") or name,
        "color": None,
        "isBot": api.get("bot") is True,
        "roles": [],
        "avatarUrl": address if picture else _STAND_IN,
    }


def _discriminator(api: Json) -> str:
    return (text_at(api, "discriminator") or NO_DISCRIMINATOR).zfill(4)


def _reactions(reactions: Sequence[ExportedReaction]) -> Iterator[JsonValue]:
    by_emoji: dict[str, list[ExportedReaction]] = {}
    for reaction in reactions:
        by_emoji.setdefault(reaction.emoji, []).append(reaction)
    for emoji, people in by_emoji.items():
        users = [_reactor(str(reaction.actor)) for reaction in people]
        yield {"emoji": _emoji(emoji), "count": len(people), "users": users}


def _reactor(actor: str) -> JsonValue:
    native = split_key(actor)[-1]
    is_discord = actor.startswith(f"{ids.PLATFORM}:") and native.isdecimal()
    return {
        "id": native if is_discord else number_of(actor),
        "name": native,
        "discriminator": NO_DISCRIMINATOR,
        "nickname": native,
        "isBot": False,
        "avatarUrl": _STAND_IN,
    }


def _emoji(emoji: str) -> JsonValue:
    name = emoji.strip(":") if len(emoji) > 2 and emoji[0] == emoji[-1] == ":" else emoji
    points = "-".join(f"{ord(char):x}" for char in emoji if char != "\ufe0f" or "\u200d" in emoji)
    picture = f"{_TWEMOJI}/{points}.svg" if name == emoji else ""
    return {"id": "", "name": name, "code": name, "isAnimated": False, "imageUrl": picture}


# --- embeds and stickers --------------------------------------------------------------------


def _embeds(embeds: Sequence[Json]) -> Iterator[JsonValue]:
    """Yield the embeds; further pictures of a gallery join its first embed, as in the clients."""
    written: list[Json] = []
    for embed in embeds:
        url, picture = text_at(embed, "url"), object_at(embed, "image")
        first = written[-1] if written else {}
        if picture and url and url == first.get("url") and not embed.keys() - _PICTURE_ONLY:
            cast("list[JsonValue]", first["images"]).append(_medium(picture))
            continue
        written.append(_embed(embed, url, picture))
    yield from written


_PICTURE_ONLY = frozenset(("type", "url", "image", "color"))


def _embed(embed: Json, url: str, picture: Json) -> Json:
    color = embed.get("color")
    json: Json = {
        "title": text_at(embed, "title"),
        "url": url or None,
        "timestamp": embed.get("timestamp"),
        "description": text_at(embed, "description"),
    }
    if isinstance(color, int):
        json["color"] = f"#{color & 0xFFFFFF:06X}"
    for name, words in (("author", ("name", "url")), ("footer", ("text",))):
        if credit := object_at(embed, name):
            json[name] = {
                **{word: credit.get(word) for word in words},
                **({"iconUrl": credit["icon_url"]} if credit.get("icon_url") else {}),
            }
    for name in ("thumbnail", "video"):
        if native := object_at(embed, name):
            json[name] = _medium(native)
    json["images"] = [_medium(picture)] if picture else []
    json["fields"] = [
        {
            "name": text_at(one, "name"),
            "value": text_at(one, "value"),
            "isInline": one.get("inline") is True,
        }
        for one in objects_at(embed, "fields")
    ]
    json["inlineEmojis"] = []
    return json


def _medium(native: Mapping[str, JsonValue]) -> JsonValue:
    return {
        "url": text_at(native, "url"),
        "width": native.get("width"),
        "height": native.get("height"),
    }


def _sticker(sticker: Json) -> JsonValue:
    kind = STICKER_WORDS.get(cast("int", sticker.get("format_type")), "Png")
    own_id = text_at(sticker, "id")
    ending = {"Lottie": "json", "Gif": "gif"}.get(kind, "png")
    return {
        "id": own_id,
        "name": text_at(sticker, "name"),
        "format": kind,
        "sourceUrl": f"{CDN_URL}/stickers/{own_id}.{ending}",
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
