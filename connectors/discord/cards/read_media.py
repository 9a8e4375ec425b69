"""Attachments, stickers and the media of components -> pictures, players, files. Pure; total."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import Asset, File, Gallery, Image, Native, Node, Nodes, Player
from connectors.discord.cards.read_source import (
    ATTACHMENT,
    Json,
    Source,
    count,
    flagged,
    has_flag,
    mapping,
    text,
)
from connectors.discord.cards.read_unknown import unknown, words_as_nodes
from connectors.discord.cards.read_words import read_plain
from connectors.discord.cards.schemas import ATTACHMENTS, COMPONENTS, SPOILER, STICKERS
from connectors.discord.settings import CDN_URL

_ENDING = re.compile(r"\.(\w{2,5})(?:[?#]|$)")
_KINDS = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "avif", "bmp"), "image"),
    **dict.fromkeys(("mp4", "webm", "mov", "m4v"), "video"),
    **dict.fromkeys(("mp3", "ogg", "wav", "flac", "m4a", "opus", "oga"), "audio"),
}
_PNG, _APNG, _LOTTIE, _GIF = 1, 2, 3, 4
_GIFS = "https://media.discordapp.net"


def read_attachments(data: JsonValue, at: str) -> Nodes:
    """Return the attachments in order; adjacent pictures and films form a gallery."""
    attachments = data if isinstance(data, list) else [data]
    nodes: list[Node] = []
    side_by_side: list[Image | Player] = []
    for index, attachment in enumerate(attachments):
        node = _attachment(attachment, pointer(at, index))
        if isinstance(node, Image) or (isinstance(node, Player) and node.kind == "video"):
            side_by_side.append(node)
            continue
        nodes += (*_side_by_side(side_by_side, at), node)
        side_by_side = []
    return (*nodes, *_side_by_side(side_by_side, at))


def _side_by_side(media: list[Image | Player], at: str) -> Nodes:
    return (Gallery(tuple(media), at=at),) if len(media) > 1 else tuple(media)


def _attachment(native: JsonValue, at: str) -> Node:
    if not isinstance(native, dict) or not (text(native, "url") or text(native, "filename")):
        return unknown(native, ATTACHMENTS, at)
    name = text(native, "filename")
    url = text(native, "url")
    asset = Asset(
        url=url,
        file_id="" if url else f"{ATTACHMENT}{name}",  # a file uploaded with this message
        media_type=text(native, "content_type"),
        name=name,
        alt=text(native, "description"),
        size=count(native, "size"),
        width=count(native, "width"),
        height=count(native, "height"),
        seconds=_seconds(native.get("duration_secs")),
        spoiler=has_flag(native, SPOILER) or name.startswith("SPOILER_"),
    )
    title = read_plain(text(native, "title"))
    match "audio" if text(native, "waveform") else media_kind(asset):
        case "image":
            return Image(asset, title=title, at=at)
        case "video":
            return Player("video", asset, title=title, at=at)
        case "audio":
            return Player("audio", asset, title=title, at=at)
        case _:
            return File(asset, title=title, at=at)


def _seconds(value: JsonValue) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < 1e9 else None


def media_kind(asset: Asset) -> str:
    """Return image, video, audio or another kind, from the media type or else the file's ending."""
    kind = asset.media_type.partition("/")[0]
    if kind in ("image", "video", "audio") or asset.media_type:
        return kind
    match = _ENDING.search(asset.name) or _ENDING.search(asset.url)
    return _KINDS.get(match[1].lower(), "") if match else ""


# --- stickers -------------------------------------------------------------------------------


def read_stickers(data: JsonValue, at: str) -> Nodes:
    stickers = data if isinstance(data, list) else [data]
    return tuple(_sticker(sticker, pointer(at, index)) for index, sticker in enumerate(stickers))


def _sticker(native: JsonValue, at: str) -> Node:
    """Return the sticker's picture; a Lottie animation has none and becomes its name."""
    kind = native.get("format_type") if isinstance(native, dict) else None
    if not isinstance(native, dict) or kind not in (_PNG, _APNG, _GIF):
        return unknown(native, STICKERS, at)
    sticker = text(native, "id")
    if not sticker.isascii() or not sticker.isdigit():
        return unknown(native, STICKERS, at)
    gif = kind == _GIF
    asset = Asset(
        url=f"{_GIFS if gif else CDN_URL}/stickers/{sticker}.{'gif' if gif else 'png'}",
        media_type={_PNG: "image/png", _APNG: "image/apng"}.get(kind, "image/gif"),
        alt=": ".join(
            alt_text for key in ("name", "description") if (alt_text := text(native, key))
        ),
    )
    return Image(asset, size="medium", at=at)


# --- media of components --------------------------------------------------------------------


def read_unfurled(native: Json, source: Source) -> Asset:
    """Return the asset of a media item; `attachment://name` refers to the message's files."""
    url = text(native, "url")
    name = url.removeprefix(ATTACHMENT) if url.startswith(ATTACHMENT) else ""
    if name:
        return _uploaded(name, url, source.files.get(name))
    return Asset(
        url=url,
        media_type=text(native, "content_type"),
        width=count(native, "width"),
        height=count(native, "height"),
    )


def _uploaded(name: str, url: str, file: Json | None) -> Asset:
    if file is None or not text(file, "url"):
        return Asset(file_id=url, name=name)
    return Asset(
        url=text(file, "url"),
        media_type=text(file, "content_type"),
        name=name,
        size=count(file, "size"),
        width=count(file, "width"),
        height=count(file, "height"),
    )


def described(asset: Asset, native: Json) -> Asset:
    """Return the asset with the description and spoiler flag of its component."""
    return with_alt(asset, text(native, "description"), spoiler=flagged(native, "spoiler"))


def with_alt(asset: Asset, alt: str, *, spoiler: bool = False) -> Asset:
    return replace(asset, alt=alt, spoiler=spoiler) if alt or spoiler else asset


def read_thumbnail(native: Json, source: Source, at: str) -> Image | Native:
    asset = described(read_unfurled(mapping(native, "media"), source), native)
    if not asset.url and not asset.file_id:
        return unknown(native, COMPONENTS, at)
    return Image(asset, size="small", at=at)


def read_gallery(native: Json, source: Source, at: str) -> Node:
    """Return the gallery, or its only picture."""
    native_items = native.get("items")
    gallery_items = native_items if isinstance(native_items, list) else []
    nodes_or_none = [
        _gallery_item(node, source, pointer(at, "items", i)) for i, node in enumerate(gallery_items)
    ]
    nodes = [node for node in nodes_or_none if node is not None]
    if len(nodes) < len(gallery_items) or not nodes:
        fallback = tuple(
            node
            for i, item_node in enumerate(nodes_or_none)
            for node in _node_or_words(item_node, gallery_items[i], at)
        )
        return unknown(native, COMPONENTS, at, fallback)
    return nodes[0] if len(nodes) == 1 else Gallery(tuple(nodes), at=at)


def _node_or_words(read: Image | Player | None, native: JsonValue, at: str) -> Nodes:
    return (read,) if read is not None else words_as_nodes(native, at)


def _gallery_item(native: JsonValue, source: Source, at: str) -> Image | Player | None:
    if not isinstance(native, dict):
        return None
    asset = described(read_unfurled(mapping(native, "media"), source), native)
    if not asset.url and not asset.file_id:
        return None
    if media_kind(asset) == "video":
        return Player("video", asset, at=at)
    return Image(asset, at=at)


def read_file(native: Json, source: Source, at: str) -> Node:
    asset = described(read_unfurled(mapping(native, "file"), source), native)
    if not asset.url and not asset.file_id:
        return unknown(native, COMPONENTS, at)
    name, size = text(native, "name") or asset.name, count(native, "size")
    shown_asset = Asset(
        url=asset.url, file_id=asset.file_id, media_type=asset.media_type, name=name,
        size=asset.size if size is None else size, spoiler=asset.spoiler,
    )  # fmt: skip
    return File(shown_asset, at=at)
