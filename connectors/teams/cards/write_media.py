"""Pictures, videos and files -> Image, ImageSet, Media, or a link and a Loss.

Teams fetches pictures without following redirects, and plays videos of a few sites only.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlsplit

from bridge.content.cards import degrade
from bridge.content.cards.rendering import address_in_loss
from bridge.content.cards.tree import File, Gallery, Image, Player, Prose
from bridge.content.text.tree import Document, Link, Paragraph, Text
from connectors.teams.cards.write_state import Element, Line, Writing, plain, sound_url
from connectors.teams.cards.write_text import document_elements, hidden, line_element

_SIZES = {"small": "small", "medium": "medium", "large": "large"}
_ICON = "24px"
_PLAYABLE_HOSTS = (
    "youtube.com", "youtu.be", "vimeo.com", "dailymotion.com", "sharepoint.com", "1drv.ms",
    "onedrive.live.com",
)  # fmt: skip
_LOOK: Element = {"weight": "bolder", "spacing": "small"}


def image(writing: Writing, node: Image) -> list[Element]:
    """Return the picture with its title below; a link if Teams cannot fetch it."""
    element = picture(writing, node)
    if element is None:
        return _unfetchable(writing, node)
    title = line_element(node.title, writing, _LOOK, node.at) if node.title else None
    elements = [element] if title is None else [element, title]
    return hidden(elements, "Spoiler", writing) if node.asset.spoiler else elements


def picture(writing: Writing, node: Image, size: str = "") -> Element | None:
    """Return the picture alone; None if clients cannot fetch it."""
    url = writing.picture(node.asset)
    if not url:
        return None
    element: Element = {"type": "Image", "url": url}
    if alt := node.asset.alt:
        element["altText"] = writing.short(alt, node.at, "alt_cut", 1000)
    if node.size == "icon":
        element["width"] = _ICON
    elif size := _SIZES.get(node.size, size):
        element["size"] = size
    if node.round:
        element["style"] = "person"
    if node.link and (link := writing.link(node.link, node.at)):
        element["selectAction"] = {"type": "Action.OpenUrl", "url": link}
    return element


def _unfetchable(writing: Writing, node: Image) -> list[Element]:
    """Return the picture as a file of the message, or as a link or name."""
    if writing.travels(node.asset):
        title = line_element(node.title, writing, _LOOK, node.at) if node.title else None
        writing.files.append((title, node.asset))
        return [] if title is None else [title]
    prose = degrade.image_as_prose(node, node.link)
    address = address_in_loss(writing.url_of(node.asset))
    lost_text = " ".join(text for text in (_words(node, ""), address) if text) or "an image"
    writing.lose(node.at, "image_as_link", lost_text, "a link" if node.asset.page else "its name")
    return document_elements(prose.text, writing, None, node.at)


def _words(node: Image | Player | File, otherwise: str) -> str:
    """Return its name, description and title."""
    words = (node.asset.name, node.asset.alt, plain(node.title))
    return " / ".join(dict.fromkeys(word for word in words if word.strip())) or otherwise


def gallery(writing: Writing, node: Gallery) -> list[Element]:
    """Return consecutive plain pictures as one set, videos and titled pictures one by one."""
    elements: list[Element] = []
    for together, group in groupby(node.items, lambda item: _is_bare(writing, item)):
        items = list(group)
        if together:
            elements.append(_image_set(writing, items))
        else:
            for item in items:
                elements += (
                    image(writing, item) if isinstance(item, Image) else player(writing, item)
                )
    return elements


def _is_bare(writing: Writing, node: Image | Player) -> bool:
    return (
        isinstance(node, Image)
        and not node.title
        and not node.asset.spoiler
        and bool(writing.picture(node.asset))
    )


def _image_set(writing: Writing, nodes: Sequence[Image | Player]) -> Element:
    images = [picture(writing, node) for node in nodes if isinstance(node, Image)]
    sizes = {node.size for node in nodes if isinstance(node, Image)}
    size = _SIZES.get(sizes.pop(), "medium") if len(sizes) == 1 else "medium"
    return {"type": "ImageSet", "images": [*filter(None, images)], "imageSize": size}


# --- video, audio, files -----------------------------------------------------------------------


def player(writing: Writing, node: Player) -> list[Element]:
    """Return a player if Teams can play the source, otherwise poster and link."""
    url = sound_url(writing.url_of(node.asset))
    for source in (url, node.link):
        if source.lower().startswith("https:") and _is_playable(source):
            _lose_addresses(writing, node, url, sound_url(source), sound_url(node.link))
            return _with_media(writing, node, sound_url(source))
    if not url and writing.travels(node.asset):
        writing.files.append((None, node.asset))
        if node.poster is not None and node.poster.alt:
            writing.lose(node.at, "poster_words", node.poster.alt)
        return [element for element in _caption_elements(writing, node) if element is not None]
    target = sound_url(node.link) or url or sound_url(node.asset.page)
    lost_text = _words(node, node.kind)
    writing.lose(node.at, "player_as_link", lost_text, "a link" if target else "its name")
    _lose_addresses(writing, node, url, target)
    *_, prose = degrade.player_as_nodes(node, target)
    text = document_elements(prose.text if isinstance(prose, Prose) else (), writing, None, node.at)
    return [*_poster(writing, node, target), *text]


def _lose_addresses(writing: Writing, node: Player, url: str, *visible: str) -> None:
    """Report addresses of the media that are not visible."""
    for address in dict.fromkeys((url, sound_url(node.asset.page))):
        if address and address not in visible:
            writing.lose(node.at, "address", address)


def _poster(writing: Writing, node: Player, target: str) -> list[Element]:
    if node.poster is None:
        return []
    element = picture(writing, Image(node.poster, link=target, at=node.at), "stretch")
    if element is None:
        writing.lose(node.at, "poster_dropped", node.poster.alt or node.poster.name or "a picture")
        return []
    return [element]


def _is_playable(url: str) -> bool:
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return any(host == site or host.endswith(f".{site}") for site in _PLAYABLE_HOSTS)


def _with_media(writing: Writing, node: Player, url: str) -> list[Element]:
    title, *others = _caption_elements(writing, node)
    return [text for text in (title, _media(writing, node, url), *others) if text is not None]


def _caption_elements(writing: Writing, node: Player) -> list[Element | None]:
    """Return title, author and description."""
    url = sound_url(node.link)
    title: Line = (Link(url, node.title),) if url and node.title else node.title
    lines = ((title, _LOOK), (node.author, {"isSubtle": True}), (node.description, None))
    return [line_element(line, writing, look, node.at) for line, look in lines]


def _media(writing: Writing, node: Player, url: str) -> Element:
    kind = node.asset.media_type or ("video/mp4" if node.kind == "video" else "audio/mpeg")
    element: Element = {"type": "Media", "sources": [{"mimeType": kind[:100], "url": url}]}
    if node.poster is not None:
        if poster := writing.picture(node.poster):
            element["poster"] = poster
        if node.poster.alt:
            writing.lose(node.at, "poster_words", node.poster.alt)
    if alt := node.asset.alt or node.asset.name:
        element["altText"] = writing.short(alt, node.at, "alt_cut", 1000)
    return element


def named_file(node: File, url: str) -> Document:
    """Return `📎 title` with a link, and the file name if it differs."""
    (block,) = degrade.file_as_prose(node, url).text
    name = node.asset.name.strip()
    if not name or not node.title or name == plain(node.title) or not isinstance(block, Paragraph):
        return (block,)
    return (Paragraph((*block.children, Text(f" · {name}"))),)


def file(writing: Writing, node: File) -> list[Element]:
    """Return the name with a link; a stored file is sent with the message if allowed."""
    url = sound_url(writing.url_of(node.asset))
    elements = document_elements(named_file(node, url), writing, None, node.at)
    if not url:
        if writing.travels(node.asset):
            writing.files.append((elements[0] if elements else None, node.asset))
        else:
            shown_as = "a link" if sound_url(node.asset.page) else "its name"
            writing.lose(node.at, "file_as_link", _words(node, "a file"), shown_as)
    return hidden(elements, "Spoiler", writing) if node.asset.spoiler else elements
