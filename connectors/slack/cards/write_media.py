"""Images -> image blocks; videos, audio and files -> links; stored files may be attached.

Videos are links: a video block accepts only the domains that an app has registered.
"""

from __future__ import annotations

import re
from dataclasses import replace

from bridge.content.cards import degrade
from bridge.content.cards.rendering import address_in_loss
from bridge.content.cards.tree import Asset, File, Gallery, Image, Player
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Link, Paragraph, Text
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import ALT_TEXT, IMAGE_TITLE, URL
from connectors.slack.cards.write_folds import fold
from connectors.slack.cards.write_pieces import Json, Piece, Writing, is_http
from connectors.slack.cards.write_texts import Line, labelled, one_line, shortened

_OWN_FILE = re.compile(r"slack:(F[A-Z0-9]{3,})")
_OWN_URL = re.compile(r"https://(?:[\w-]+\.)?files(?:-\w+)?\.slack\.com/files-", re.IGNORECASE)
_PICTURES = frozenset(("", "image/png", "image/jpeg", "image/jpg", "image/gif", "image/*"))
_NO_PICTURE = re.compile(r"\.(?:svgz?|webp|avif|bmp|tiff?|heic)$", re.IGNORECASE)
_HIDDEN = (Text("Spoiler"),)
_SMALL = ("icon", "small")  # an image block would enlarge them


def write_image(writing: Writing, node: Image) -> None:
    if node.asset.spoiler and not writing.is_inside:
        fold(writing, _HIDDEN, (replace(node, asset=replace(node.asset, spoiler=False)),))
        return
    if node.asset.spoiler:
        writing.lose(node.at, "spoiler", "a picture that was hidden", "the picture")
    picture = image_element(writing, node)
    if picture is not None and node.size in _SMALL and is_bare(node):
        writing.pieces.append(Piece({"type": "context", "elements": [picture]}))
    elif picture is not None:
        _write_title(writing, picture, node)
        writing.pieces.append(Piece(picture))
    elif writing.travels(node.asset):
        _along(writing, node.asset, node.title, node.at)
    else:
        _link_instead(writing, node)
    if node.link:
        _write_link(writing, node.link, node.at)


def image_element(writing: Writing, node: Image) -> Json | None:
    """The image element of a picture that Slack can fetch or stores; else None."""
    source = _source(writing, node.asset, node.at)
    if source is None:
        return None
    alt = one_line(node.asset.alt) or one_line(node.asset.name) or "image"
    alt_text = shortened(writing, alt, ALT_TEXT, node.at, "long_text")
    return {"type": "image", **source, "alt_text": alt_text}


def is_bare(node: Image) -> bool:
    """Whether the node is only a picture."""
    return not (node.title or node.link or node.asset.spoiler)


def _source(writing: Writing, asset: Asset, at: str) -> Json | None:
    url = safe_url(writing.url_of(asset)) or ""
    if is_http(url) and _is_picture(asset, url):
        if len(url) <= URL:
            return {"image_url": url}
        writing.lose(at, "long_url", url)
    if writing.travels(asset):
        return None
    if own := _OWN_FILE.fullmatch(asset.file_id):
        return {"slack_file": {"id": own[1]}}
    if asset.private and _OWN_URL.match(asset.url) and len(asset.url) <= URL:
        return {"slack_file": {"url": asset.url}}
    return None


def _is_picture(asset: Asset, url: str) -> bool:
    """Whether Slack accepts the type: PNG, JPEG and GIF; it refuses the whole message
    for others."""
    if asset.media_type:
        return asset.media_type.lower() in _PICTURES
    return not _NO_PICTURE.search(url.partition("?")[0].partition("#")[0])


def _write_title(writing: Writing, picture: Json, node: Image) -> None:
    if title := labelled(writing, node.title, IMAGE_TITLE, node.at, "long_text"):
        picture["title"] = title


def _along(writing: Writing, asset: Asset, title: Line, at: str) -> None:
    """Attach the file to the message; only its title is in the text."""
    if title:
        writing.write((degrade.line_prose(title, at),))
    writing.pieces.append(Piece({}, files=(asset,)))


def _link_instead(writing: Writing, node: Image) -> None:
    url = _url(writing, node.asset)
    address = "" if url else address_in_loss(writing.url_of(node.asset))
    lost_text = " ".join(text for text in (_names(node.asset), address) if text) or "a picture"
    writing.lose(node.at, "image_as_prose", lost_text, "a link" if url else "its words")
    bare = replace(node, asset=replace(node.asset, page=""))
    writing.write((degrade.image_as_prose(bare, url),))


def _write_link(writing: Writing, link: str, at: str) -> None:
    """The link of a picture, below it."""
    url = safe_url(link)
    if url is None or len(url) >= URL:
        writing.lose(at, "long_url" if url else "unsafe_url", link)
        return
    writing.lose(at, "link", url, "a link below")
    writing.write((degrade.line_prose((Link(url, (Text(url),)),), at, subtle=True),))


def _url(writing: Writing, asset: Asset) -> str:
    """The public URL of its bytes, or its page."""
    for url in (writing.url_of(asset), asset.page):
        safe = safe_url(url) if url else None
        if safe and len(safe) < URL:
            return safe
    return ""


# --- others ---------------------------------------------------------------------------------


def write_gallery(writing: Writing, node: Gallery) -> None:
    """The pictures, one below the other."""
    if len(node.items) > 1:
        lost_text = f"{len(node.items)} pictures side by side"
        writing.lose(node.at, "gallery", lost_text, "one below the other")
    writing.write(node.items)


def write_file(writing: Writing, node: File) -> None:
    if writing.travels(node.asset):
        _along(writing, node.asset, node.title, node.at)
        return
    url = _url(writing, node.asset)
    lost_text = _names(node.asset) or plain_inlines(node.title) or "a file"
    writing.lose(node.at, "file_as_prose", lost_text, "a link" if url else "its words")
    bare = replace(node, asset=replace(node.asset, page=""))
    writing.write((degrade.file_as_prose(bare, url),))


def write_player(writing: Writing, node: Player) -> None:
    """The poster, and a link that Slack may unfurl to a player."""
    asset = node.asset
    if writing.travels(asset):
        _along(writing, asset, node.title, node.at)
        if node.poster is not None and node.poster.alt:
            writing.lose(node.at, "poster", node.poster.alt)
        paragraphs = tuple(Paragraph(line) for line in (node.author, node.description) if line)
        writing.write((degrade.prose(*paragraphs, at=node.at),) if paragraphs else ())
        return
    link = safe_url(node.link) or ""
    url = link if link and len(link) < URL else _url(writing, asset)
    lost_text = _names(asset) or f"a {node.kind}"
    writing.lose(node.at, "player_as_nodes", lost_text, "a link" if url else "its words")
    bare = replace(node, link=url)
    writing.write(degrade.player_as_nodes(bare, ""))


def _names(asset: Asset) -> str:
    return " ".join(text for text in (asset.alt, asset.name) if text.strip())
