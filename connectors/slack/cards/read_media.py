"""Slack's images, videos and files -> assets and their nodes.

URLs of files that Slack stores are private: they need a token.
"""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from bridge.content.cards.tree import Asset, Image, Node, Player
from bridge.content.text.tree import Text
from bridge.content.text.urls import safe_url
from connectors.slack.cards.read_json import count_at, url_at
from connectors.slack.cards.read_texts import Line, line, words
from connectors.slack.json_values import Json

_OWN_FILES = re.compile(
    r"https://(?:[\w-]+\.)?files(?:-\w+)?\.slack(?:-gov)?\.com/files-", re.IGNORECASE
)
_SOURCE = re.compile(r"""\bsrc\s*=\s*["']([^"'<>]{1,3000})["']""", re.IGNORECASE)
_MEDIA = re.compile(r"\.(?:mp4|m4v|webm|mov|mp3|m4a|ogg|wav)(?:[?#]|$)", re.IGNORECASE)
Size = Literal["icon", "small", "full"]


def asset_of(url: str, **metadata: Any) -> Asset:
    """An asset with this URL, private when Slack stores the file."""
    return Asset(url=url, private=_OWN_FILES.match(url) is not None, **metadata)


def file_id(native: object) -> str:
    """The asset id of a file that Slack stores; "" when `native` is not a file id."""
    return f"slack:{native}" if isinstance(native, str) and native else ""


# --- pictures -------------------------------------------------------------------------------


def picture(image: object, at: str, team: str, size: Size = "full") -> Image | None:
    """An image block or element; None when it is neither, or has nothing to show."""
    if not isinstance(image, dict):
        return None
    members = cast("Json", image)
    if (
        members.get("type") != "image"
        and "image_url" not in members
        and "slack_file" not in members
    ):
        return None
    asset, title = _picture(members), line(members.get("title"), team)
    if not (asset.url or asset.file_id or asset.alt or title):
        return None
    return Image(asset, title=title, size=size, at=at)


def is_picture(value: object) -> bool:
    """Whether the JSON has the type of an image."""
    return isinstance(value, dict) and cast("Json", value).get("type") == "image"


def _picture(image: Json) -> Asset:
    metadata: dict[str, Any] = {
        "alt": words(image.get("alt_text")),
        "width": count_at(image, "image_width"),
        "height": count_at(image, "image_height"),
        "size": count_at(image, "image_bytes"),
    }
    if url := url_at(image, "image_url"):
        return asset_of(url, **metadata)
    slack_file = image.get("slack_file")
    if not isinstance(slack_file, dict):
        return Asset(**metadata)
    own = cast("Json", slack_file)
    url, native = url_at(own, "url"), file_id(own.get("id"))
    return Asset(url=url, file_id=native, private=True, **metadata)


def picture_at(value: Json, key: str, at: str, size: Size = "full") -> Image | None:
    """The image at a bare URL."""
    url = url_at(value, key)
    return Image(asset_of(url), size=size, at=f"{at}/{key}") if url else None


# --- films ----------------------------------------------------------------------------------


def video(block: Json, at: str, team: str) -> list[Node]:
    """A video block: its player, page, author and provider."""
    poster = url_at(block, "thumbnail_url")
    asset = _film(url_at(block, "video_url"), alt=words(block.get("alt_text")))
    title, description = line(block.get("title"), team), line(block.get("description"), team)
    author = named(block, "author_name", "provider_name")
    if not (asset.url or asset.page or asset.alt or title or description or author):
        return []
    node = Player(
        "video",
        asset,
        title=title,
        description=description,
        author=author,
        poster=asset_of(poster) if poster else None,
        link=url_at(block, "title_url"),
        at=at,
    )
    return [node]


def named(value: Json, *keys: str) -> Line:
    """Short plain texts in one line."""
    labels = [text for key in keys if (text := words(value.get(key)).strip())]
    return (Text(" · ".join(labels)),) if labels else ()


def embedded(value: Json, kind: Literal["video", "audio"]) -> Asset | None:
    """The URL of the video or audio of a link preview, or of the frame that plays it."""
    size: dict[str, Any] = {
        "width": count_at(value, f"{kind}_html_width"),
        "height": count_at(value, f"{kind}_html_height"),
    }
    if url := url_at(value, f"{kind}_url"):
        return _film(url, **size)
    html = value.get(f"{kind}_html")
    match = _SOURCE.search(html[:10_000]) if isinstance(html, str) else None
    url = safe_url(match[1].replace("&amp;", "&")) if match else None
    return _film(url, **size) if url else None


def _film(url: str, **metadata: Any) -> Asset:
    """A player; most URLs are pages that play the video."""
    if _MEDIA.search(url):
        return asset_of(url, **metadata)
    return Asset(page=url, **metadata)
