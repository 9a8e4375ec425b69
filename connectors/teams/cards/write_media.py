"""Pictures, films and files -> Image, ImageSet, Media, or a link and a Loss.

Teams fetches pictures itself, without redirects, and plays films of a few houses only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlsplit

from bridge.content.cards import degrade
from bridge.content.cards.rendering import told_address
from bridge.content.cards.tree import File, Gallery, Image, Player, Prose
from bridge.content.text.tree import Document, Link, Paragraph, Text
from connectors.teams.cards.write_state import Element, Line, Writing, plain, sound_url
from connectors.teams.cards.write_text import document_elements, hidden, line_element

_SIZES = {"small": "small", "medium": "medium", "large": "large"}
_ICON = "24px"
_PLAYED = (
    "youtube.com", "youtu.be", "vimeo.com", "dailymotion.com", "sharepoint.com", "1drv.ms",
    "onedrive.live.com",
)  # fmt: skip
_LOOK: Element = {"weight": "bolder", "spacing": "small"}


def image(writing: Writing, node: Image) -> list[Element]:
    """The picture, its title below; a link where nobody but us may fetch it."""
    shown = picture(writing, node)
    if shown is None:
        return _unseen(writing, node)
    title = line_element(node.title, writing, _LOOK, node.at) if node.title else None
    found = [shown] if title is None else [shown, title]
    return hidden(found, "Spoiler", writing) if node.asset.spoiler else found


def picture(writing: Writing, node: Image, size: str = "") -> Element | None:
    """The picture alone; None where clients cannot fetch it."""
    url = writing.picture(node.asset)
    if not url:
        return None
    found: Element = {"type": "Image", "url": url}
    if alt := node.asset.alt:
        found["altText"] = writing.short(alt, node.at, "alt_cut", 1000)
    if node.size == "icon":
        found["width"] = _ICON
    elif size := _SIZES.get(node.size, size):
        found["size"] = size
    if node.round:
        found["style"] = "person"
    if node.link and (link := writing.link(node.link, node.at)):
        found["selectAction"] = {"type": "Action.OpenUrl", "url": link}
    return found


def _unseen(writing: Writing, node: Image) -> list[Element]:
    """It travels with the message, or it is a link to where those who may can see it."""
    if writing.travels(node.asset):
        title = line_element(node.title, writing, _LOOK, node.at) if node.title else None
        writing.files.append((title, node.asset))
        return [] if title is None else [title]
    told = degrade.image_as_prose(node, node.link)
    address = told_address(writing.url_of(node.asset))
    what = " ".join(one for one in (_words(node, ""), address) if one) or "an image"
    writing.lose(node.at, "image_as_link", what, "a link" if node.asset.page else "its name")
    return document_elements(told.text, writing, None, node.at)


def _words(node: Image | Player | File, otherwise: str) -> str:
    """By what it is known."""
    words = (node.asset.name, node.asset.alt, plain(node.title))
    return " / ".join(dict.fromkeys(one for one in words if one.strip())) or otherwise


def gallery(writing: Writing, node: Gallery) -> list[Element]:
    """Pictures side by side as one set; films, and pictures with titles, below one another."""
    found: list[Element] = []
    for together, group in groupby(node.items, lambda one: _is_bare(writing, one)):
        items = list(group)
        if together:
            found.append(_image_set(writing, items))
        else:
            for one in items:
                found += image(writing, one) if isinstance(one, Image) else player(writing, one)
    return found


def _is_bare(writing: Writing, node: Image | Player) -> bool:
    return (
        isinstance(node, Image)
        and not node.title
        and not node.asset.spoiler
        and bool(writing.picture(node.asset))
    )


def _image_set(writing: Writing, nodes: Sequence[Image | Player]) -> Element:
    images = [picture(writing, one) for one in nodes if isinstance(one, Image)]
    sizes = {one.size for one in nodes if isinstance(one, Image)}
    size = _SIZES.get(sizes.pop(), "medium") if len(sizes) == 1 else "medium"
    return {"type": "ImageSet", "images": [one for one in images if one], "imageSize": size}


# --- films, sounds, files -----------------------------------------------------------------------


def player(writing: Writing, node: Player) -> list[Element]:
    """A player for what Teams plays, else its picture and a link."""
    url = sound_url(writing.url_of(node.asset))
    for source in (url, node.link):
        if source.lower().startswith("https:") and _is_played(source):
            _lose_addresses(writing, node, url, sound_url(source), sound_url(node.link))
            return _with_media(writing, node, sound_url(source))
    if not url and writing.travels(node.asset):
        writing.files.append((None, node.asset))
        if node.poster is not None and node.poster.alt:
            writing.lose(node.at, "poster_words", node.poster.alt)
        return [one for one in _told(writing, node) if one is not None]
    target = sound_url(node.link) or url or sound_url(node.asset.page)
    what = _words(node, node.kind)
    writing.lose(node.at, "player_as_link", what, "a link" if target else "its name")
    _lose_addresses(writing, node, url, target)
    *_, told = degrade.player_as_nodes(node, target)
    text = document_elements(told.text if isinstance(told, Prose) else (), writing, None, node.at)
    return [*_poster(writing, node, target), *text]


def _lose_addresses(writing: Writing, node: Player, url: str, *shown: str) -> None:
    """The addresses of the film itself, where another source is shown."""
    for address in dict.fromkeys((url, sound_url(node.asset.page))):
        if address and address not in shown:
            writing.lose(node.at, "address", address)


def _poster(writing: Writing, node: Player, target: str) -> list[Element]:
    if node.poster is None:
        return []
    shown = picture(writing, Image(node.poster, link=target, at=node.at), "stretch")
    if shown is None:
        writing.lose(node.at, "poster_dropped", node.poster.alt or node.poster.name or "a picture")
        return []
    return [shown]


def _is_played(url: str) -> bool:
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return any(host == one or host.endswith(f".{one}") for one in _PLAYED)


def _with_media(writing: Writing, node: Player, url: str) -> list[Element]:
    title, *rest = _told(writing, node)
    return [one for one in (title, _media(writing, node, url), *rest) if one is not None]


def _told(writing: Writing, node: Player) -> list[Element | None]:
    """Title, author and description."""
    url = sound_url(node.link)
    title: Line = (Link(url, node.title),) if url and node.title else node.title
    lines = ((title, _LOOK), (node.author, {"isSubtle": True}), (node.description, None))
    return [line_element(line, writing, look, node.at) for line, look in lines]


def _media(writing: Writing, node: Player, url: str) -> Element:
    kind = node.asset.media_type or ("video/mp4" if node.kind == "video" else "audio/mpeg")
    found: Element = {"type": "Media", "sources": [{"mimeType": kind[:100], "url": url}]}
    if node.poster is not None:
        if poster := writing.picture(node.poster):
            found["poster"] = poster
        if node.poster.alt:
            writing.lose(node.at, "poster_words", node.poster.alt)
    if alt := node.asset.alt or node.asset.name:
        found["altText"] = writing.short(alt, node.at, "alt_cut", 1000)
    return found


def named_file(node: File, url: str) -> Document:
    """`📎 title`, linked, and its name where that is another one."""
    (block,) = degrade.file_as_prose(node, url).text
    name = node.asset.name.strip()
    if not name or not node.title or name == plain(node.title) or not isinstance(block, Paragraph):
        return (block,)
    return (Paragraph((*block.children, Text(f" · {name}"))),)


def file(writing: Writing, node: File) -> list[Element]:
    """Its name as a link; it travels with the message where we hold it and may send it."""
    url = sound_url(writing.url_of(node.asset))
    found = document_elements(named_file(node, url), writing, None, node.at)
    if not url:
        if writing.travels(node.asset):
            writing.files.append((found[0] if found else None, node.asset))
        else:
            shown = "a link" if sound_url(node.asset.page) else "its name"
            writing.lose(node.at, "file_as_link", _words(node, "a file"), shown)
    return hidden(found, "Spoiler", writing) if node.asset.spoiler else found
