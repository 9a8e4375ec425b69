"""Attachments, embeds and components of a message -> JSON, with freshly signed addresses.

A file that an embed shows is not listed among the attachments (discord-api-docs #1340); a file that
a component shows is.
"""

from __future__ import annotations

from typing import Any

from connectors.discord.sandbox.rich.components import FILE, media_of, walk
from connectors.discord.sandbox.state import Attachment, Message, State

Json = dict[str, Any]
_REFERENCE = "attachment://"
_IS_SPOILER = 1 << 3


def rich_json(message: Message, state: State) -> Json:
    """Return `attachments`, `embeds` and `components` as new objects."""
    files = {name: a for a in message.attachments for name in (a.original_name, a.filename)}
    place = message.channel.id
    in_embeds: set[int] = set()
    embeds = [_embed(embed, files, place, state, in_embeds) for embed in message.embeds]
    components = _copied(message.components)
    for component in walk(components):
        for media in media_of(component):
            file = _resolve(media, files, place, state)
            if file is not None and component["type"] == FILE:
                component |= {"name": file.filename, "size": file.stored.size}
    return {
        "attachments": [
            attachment_json(attachment, place, state)
            for attachment in message.attachments
            if attachment.id not in in_embeds
        ],
        "embeds": embeds,
        "components": components,
    }


def attachment_json(attachment: Attachment, place: int, state: State) -> Json:
    shape: Json = {
        "id": str(attachment.id), "filename": attachment.filename, "size": attachment.stored.size,
        "url": state.cdn.url(place, attachment),
        "proxy_url": state.cdn.proxy_url(place, attachment),
        "content_type": attachment.content_type, "content_scan_version": 0,
    }  # fmt: skip
    if attachment.dimensions:
        shape["width"], shape["height"] = attachment.dimensions
    if attachment.title:
        shape["title"] = attachment.title
    if attachment.description:
        shape["description"] = attachment.description
    if attachment.seconds is not None:
        shape |= {"duration_secs": attachment.seconds, "waveform": attachment.waveform}
    if attachment.spoiler:
        shape["flags"] = _IS_SPOILER
    if attachment.ephemeral:
        shape["ephemeral"] = True
    return shape


def _embed(
    embed: Json, files: dict[str, Attachment], place: int, state: State, used: set[int]
) -> Json:
    shape = {**embed, "content_scan_version": 0}
    for name in ("image", "thumbnail"):
        if name in embed:
            media = dict(embed[name])
            file = _resolve(media, files, place, state)
            media.pop("attachment_id", None)
            if file is not None:
                used.add(file.id)
            shape[name] = media
    for name in ("footer", "author"):
        icon = embed.get(name, {}).get("icon_url")
        if icon is None:
            continue
        media = {"url": icon}
        file = _resolve(media, files, place, state)
        if file is not None:
            used.add(file.id)
        icon_fields = {
            "icon_url": media["url"],
            "proxy_icon_url": media.get("proxy_url", media["url"]),
        }
        shape[name] = embed[name] | icon_fields
    return shape


def _resolve(
    media: Json, files: dict[str, Attachment], place: int, state: State
) -> Attachment | None:
    """Put the signed address into a media item; returns the message's attachment, if it is one."""
    url = media["url"]
    if not url.startswith(_REFERENCE):
        media["proxy_url"] = state.cdn.external(url)
        return None
    file = files.get(url.removeprefix(_REFERENCE))
    if file is None:
        return None
    media |= {
        "url": state.cdn.url(place, file), "proxy_url": state.cdn.proxy_url(place, file),
        "content_type": file.content_type, "attachment_id": str(file.id),
    }  # fmt: skip
    if file.dimensions:
        media["width"], media["height"] = file.dimensions
    return file


def _copied(value: Any) -> Any:
    """Return a deep copy of checked components, whose depth is bounded."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_copied(inner) for inner in value]
    return value
