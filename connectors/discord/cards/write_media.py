"""Pictures, films, sounds and files -> galleries, file components, or lines with a link."""

from __future__ import annotations

import re

from bridge.content.cards.degrade import file_as_prose, image_as_prose, player_as_nodes
from bridge.content.cards.rendering import address_in_loss
from bridge.content.cards.tree import Asset, File, Gallery, Image, Player, Prose
from bridge.content.text.tree import Document, Inline, Link, Paragraph, Spoiler, Text
from bridge.content.text.urls import safe_url
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_state import Json, Media, Piece, Writing, http_url
from connectors.discord.cards.write_text import (
    bold,
    plain,
    say,
    say_line,
    say_small,
    supported_markdown,
)

Line = tuple[Inline, ...]

_FILM = re.compile(r"\.(?:mp4|webm|mov|m4v)(?:[?#]|$)", re.IGNORECASE)


def write_image(w: Writing, node: Image) -> None:
    """Write a gallery of one picture with its title below."""
    media = w.media(node.asset, "image")
    if media is None:
        _picture_as_line(w, node)
        return
    _add_gallery(w, [_item(w, node.asset, media, node.at)], media.files)
    _caption(w, node)


def write_gallery(w: Writing, node: Gallery) -> None:
    """Write galleries of pictures and films; an item with a caption ends its gallery."""
    items: list[Json] = []
    files: list[Asset] = []
    for item in node.items:
        media = _gallery_media(w, item)
        if media is not None:
            items.append(_item(w, item.asset, media, item.at))
            files += media.files
        has_caption = media is None or (isinstance(item, Image) and bool(item.title or item.link))
        if items and (has_caption or len(items) == limits.GALLERY):
            _add_gallery(w, items, tuple(files))
            items, files = [], []
        if media is None:
            write_media(w, item)
        elif has_caption and isinstance(item, Image):
            _caption(w, item)
    if items:
        _add_gallery(w, items, tuple(files))


def write_media(w: Writing, node: Image | Player) -> None:
    if isinstance(node, Image):
        write_image(w, node)
    else:
        write_player(w, node)


def _gallery_media(w: Writing, node: Image | Player) -> Media | None:
    """Return the media of a gallery item; None if the item must stand alone."""
    if isinstance(node, Image):
        return w.media(node.asset, "image")
    has_caption = node.title or node.author or node.description or node.link or node.poster
    if has_caption or node.asset.name or not is_film(w, node):
        return None
    return w.media(node.asset, "video")


def is_reachable(w: Writing, asset: Asset) -> bool:
    """Return whether Discord can get the bytes, by upload or by URL."""
    uploaded = w.travels(asset)
    return uploaded or bool(http_url(w.url_of(asset), limits.MEDIA_URL))


def _add_gallery(w: Writing, items: list[Json], files: tuple[Asset, ...]) -> None:
    w.add({"type": schemas.MEDIA_GALLERY, "items": [*items]}, files=files)


def _item(w: Writing, asset: Asset, media: Media, at: str) -> Json:
    return {"media": {"url": media.url}, **described(w, asset, at)}


def described(w: Writing, asset: Asset, at: str) -> Json:
    """Return the description and spoiler flag of a media component."""
    body: Json = {}
    if alt := plain((Text(asset.alt),)):
        body["description"] = w.cut(alt, limits.DESCRIPTION, at, "cut_description")
    if asset.spoiler:
        body["spoiler"] = True
    return body


# --- pictures -------------------------------------------------------------------------------


def _caption(w: Writing, node: Image) -> None:
    """Write the picture's title, linked to what a press on the picture opens."""
    link = linked(w, node.title, node.link, node.at)
    if link:
        say_small(w, link, node.at)


def linked(w: Writing, line: Line, url: str, at: str) -> Line:
    """Return the line as a link; without words the URL itself is the text."""
    safe = safe_url(url) if url else None
    if url and safe is None:
        w.lose(at, "unsafe_link", url)
    if safe is None:
        return line
    return (Link(safe, line or (Text(safe),)),)


def _picture_as_line(w: Writing, node: Image) -> None:
    """Write a line with the picture's name, linked to a page where it can be opened."""
    page = node.link or node.asset.page
    say(w, _hidden_markdown(w, node, image_as_prose(node, page).text))
    lost = _missing_words(node.title, node.asset.alt, node.asset.name)
    lost += _other_urls(page, node.asset.page, address_in_loss(w.url_of(node.asset)))
    w.lose(node.at, "picture_as_text", " ".join(lost) or "picture", "a line of text")


def _hidden_markdown(w: Writing, node: Image | Player | File, document: Document) -> str:
    """Return the document as markdown, as a spoiler if the asset is one."""
    match document:
        case (Paragraph(children), *remaining) if node.asset.spoiler:
            return supported_markdown(w, (Paragraph((Spoiler(children),)), *remaining), node.at)
        case _:
            return supported_markdown(w, document, node.at)


def _missing_words(title: Line, *words: str) -> list[str]:
    """Return the words that the line leaves out: it has the title, or else the first words."""
    texts = [word for word in words if word.strip()]
    return texts if title else texts[1:]


def _other_urls(linked_url: str, *urls: str) -> list[str]:
    """Return the addresses that the line does not link to."""
    other = [url for url in dict.fromkeys(urls) if url and url != linked_url]
    return [linked_url, *other] if linked_url and safe_url(linked_url) is None else other


# --- films, sounds and files ----------------------------------------------------------------


def write_player(w: Writing, node: Player) -> None:
    """Write films into a gallery and sounds as files; unreachable ones as a link."""
    media = None
    if node.kind == "audio":
        media = _uploaded(w, node.asset, "audio")
    elif is_film(w, node):
        media = w.media(node.asset, "video")
    if media is None:
        _player_as_link(w, node)
    else:
        _write_played(w, node, media)


def is_film(w: Writing, node: Player) -> bool:
    """Return whether the asset is a film itself, and not a page that shows one."""
    if not is_reachable(w, node.asset):
        return False
    if w.travels(node.asset) or node.asset.media_type.startswith("video/"):
        return True
    return bool(_FILM.search(w.url_of(node.asset)))


def _uploaded(w: Writing, asset: Asset, kind: str = "") -> Media | None:
    return w.media(asset, kind) if w.travels(asset) else None


def _write_played(w: Writing, node: Player, media: Media) -> None:
    if node.poster is not None:
        w.lose(node.at, "poster", node.poster.alt or node.poster.url or "picture")
    name = (Text(node.asset.name),) if node.kind == "video" and node.asset.name.strip() else ()
    say_line(w, linked(w, bold(node.title or name), node.link, node.at), node.at)
    if node.title and name:
        w.lose(node.at, "file_name", node.asset.name)
    if node.kind == "video":
        _add_gallery(w, [_item(w, node.asset, media, node.at)], media.files)
    else:
        _add_file(w, node, media)
    for line in (node.author, node.description):
        say_line(w, line, node.at)


def _player_as_link(w: Writing, node: Player) -> None:
    if node.poster is not None:
        write_image(w, Image(node.poster, at=node.at))
    say(w, player_markdown(w, node))


def player_markdown(w: Writing, node: Player) -> str:
    """Return a link to the film or sound, with author and description."""
    url = w.url_of(node.asset) or node.asset.page
    prose = player_as_nodes(node, url)[-1]
    lost = _missing_words(node.title, node.asset.alt, node.asset.name)
    lost += _other_urls(node.link or url, url, node.asset.page)
    w.lose(node.at, "player_as_link", " ".join(lost) or node.kind, "a link")
    return _hidden_markdown(w, node, prose.text) if isinstance(prose, Prose) else ""


def write_file(w: Writing, node: File) -> None:
    media = _uploaded(w, node.asset)
    if media is None:
        _file_as_link(w, node)
        return
    say_line(w, bold(node.title), node.at)
    _add_file(w, node, media)


def _add_file(w: Writing, node: File | Player, media: Media) -> None:
    """Write a file component; Discord shows the name of the upload."""
    body: Json = {"type": schemas.FILE, "file": {"url": media.url}}
    if node.asset.spoiler:
        body["spoiler"] = True
    w.add(body, files=media.files)
    if media.file is not None and media.file.name != node.asset.name and node.asset.name:
        w.lose(node.at, "file_name", node.asset.name, media.file.name)
    if node.asset.alt:
        say_small(w, (Text(node.asset.alt),), node.at)


def _file_as_link(w: Writing, node: File) -> None:
    """Write a link: Discord shows only uploaded files as files."""
    url = w.url_of(node.asset) or node.asset.page
    say(w, _hidden_markdown(w, node, file_as_prose(node, url).text))
    lost = _missing_words(node.title, node.asset.name, node.asset.alt)
    lost += _other_urls(url, node.asset.page)
    w.lose(node.at, "file_as_link", " ".join(lost) or "file", "a link")


# --- decoration -----------------------------------------------------------------------------


def lose_decoration(w: Writing, node: Image) -> None:
    asset = node.asset
    w.lose(node.at, "small_picture", asset.name or w.url_of(asset) or "picture")


# --- beside a section -----------------------------------------------------------------------


def is_small(w: Writing, node: Image) -> bool:
    """Return whether the picture can stand beside texts: no caption, and reachable."""
    return not node.title and not node.link and is_reachable(w, node.asset)


def thumbnail(w: Writing, node: Image) -> Piece | None:
    """Return the picture as a thumbnail beside texts; None if it cannot be one."""
    media = w.media(node.asset, "image") if is_small(w, node) else None
    if media is None:
        return None
    body: Json = {"type": schemas.THUMBNAIL, "media": {"url": media.url}}
    return Piece(body | described(w, node.asset, node.at), w.box, 1, 0, media.files)
