"""Pictures, video, audio and Graph components of Adaptive Cards -> nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from bridge.content.cards.tree import Asset, File, Gallery, Image, Native, Node, Player, Prose
from bridge.content.text.tree import Inline, Link, Paragraph, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.teams.cards.json_values import (
    Json,
    choice_of,
    items,
    object_at,
    objects,
    pixels,
    string,
)
from connectors.teams.cards.read_actions import with_selected
from connectors.teams.cards.reading import ElementReader, Reading, as_it_is

ImageSize = Literal["icon", "small", "medium", "large", "full"]
Line = tuple[Inline, ...]

_SIZES: dict[str, ImageSize] = {"small": "small", "medium": "medium", "large": "large"}
_UP_TO: tuple[tuple[int, ImageSize], ...] = (
    (24, "icon"),
    (64, "small"),
    (120, "medium"),
    (240, "large"),
)
# Pages with a video player, not video files (msteams-docs, "Media elements", 2025-01).
_PAGE = re.compile(
    r"https?://(?:[\w-]+\.)*(?:youtube\.com|youtu\.be|vimeo\.com|dailymotion\.com|dai\.ly)/",
    re.IGNORECASE,
)


# --- pictures -------------------------------------------------------------------------------


def _image(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    if (image := read_picture(reading, item, at)) is None:
        return with_selected(reading, item, [], at, depth)
    return with_selected(reading, item, [image], at, depth)


def read_picture(reading: Reading, item: Json, at: str, size: str = "") -> Image | None:
    """Return the picture; None without address and description."""
    url = string(item, "url")
    alt = reading.text(item, "altText") or reading.text(item, "tooltip")
    if not url and not alt:
        return None
    width, height = pixels(item.get("width")), pixels(item.get("height"))
    return Image(
        Asset(url=url, alt=alt, width=width, height=height),
        size=_size(size or choice_of(item, "size"), width or height),
        round=choice_of(item, "style") == "person",
        at=at,
    )


def _size(named: str, length: int | None) -> ImageSize:
    """Return the named size, or the size of pictures with this many pixels."""
    if length is not None:
        for maximum, size in _UP_TO:
            if length <= maximum:
                return size
        return "full"
    return _SIZES.get(named, "full")


def _image_set(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a gallery; actions other than links become buttons below it."""
    size = choice_of(item, "imageSize")
    size = size if size in _SIZES else ""
    pictures: list[Image] = []
    others: list[Node] = []
    for index, picture in enumerate(items(item, "images")):
        place = f"{at}/images/{index}"
        for node in reading.single(picture, place, depth + 1):
            if isinstance(node, Image):
                sized = replace(node, size=_SIZES[size]) if size else node
                pictures.append(sized)
            else:
                others.append(node)
    gallery: list[Node] = [Gallery(tuple(pictures), at=at)] if pictures else []
    return [*gallery, *others]


# --- video and audio -----------------------------------------------------------------------


def _media(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    """Read the first source; the others are other formats."""
    alt, poster = reading.text(item, "altText"), string(item, "poster")
    poster_asset = Asset(url=poster) if poster else None
    source = next(
        (candidate for candidate in objects(item, "sources") if string(candidate, "url")), None
    )
    if source is None:
        return [Image(Asset(url=poster, alt=alt), at=at)] if poster else _words(alt, at)
    url, kind = string(source, "url"), choice_of(source, "mimeType")
    page = url if _PAGE.match(url) else ""
    return [
        Player(
            "audio" if kind.startswith("audio/") else "video",
            Asset(url="" if page else url, alt=alt, media_type=kind if "/" in kind else ""),
            description=_captions(reading, item),
            poster=poster_asset,
            link=page,
            at=at,
        )
    ]


def _captions(reading: Reading, item: Json) -> Line:
    """Return the labels of captions, with links."""
    captions: list[Inline] = []
    for source in objects(item, "captionSources"):
        if label := reading.line(source, "label"):
            url = safe_url(string(source, "url"))
            captions += [Text(", ")] if captions else []
            captions += [Link(url, label)] if url else label
    return tuple(captions)


def _words(text: str, at: str) -> list[Node]:
    return [Prose((Paragraph((Text(text),)),), at=at)] if text else []


# --- components of Microsoft Graph --------------------------------------------------------------


def _component(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a component: a file, or people and meetings as native with words."""
    properties = object_at(item, "properties")
    place = f"{at}/properties"
    match string(item, "name"):
        case "graph.microsoft.com/file" if url := string(properties, "url"):
            return [File(Asset(url=url, name=reading.text(properties, "name")), at=at)]
        case "graph.microsoft.com/user":
            nodes = _person(reading, properties, place)
        case "graph.microsoft.com/users":
            several = enumerate(objects(properties, "users"))
            nodes = [
                node
                for index, entry in several
                for node in _person(reading, entry, f"{place}/users/{index}")
            ]
        case "graph.microsoft.com/event":
            nodes = _event(reading, properties, place)
        case _:
            nodes = reading.unknown(reading, properties, place, depth)
            nodes = [inner for entry in nodes for inner in _opened(entry)]
    return as_it_is(item, nodes, at)


def _opened(node: Node) -> tuple[Node, ...]:
    return node.fallback if isinstance(node, Native) else (node,)


def _person(reading: Reading, person: Json, at: str) -> list[Node]:
    """Return `Name (name@example.org)`; components mention nobody."""
    name, address = reading.line(person, "displayName"), reading.text(person, "userPrincipalName")
    line: list[Inline] = [Strong(name)] if name else []
    if address:
        line += [Text(f" ({address})" if name else address)]
    return [Prose((Paragraph(tuple(line)),), at=at)] if line else []


def _event(reading: Reading, event: Json, at: str) -> list[Node]:
    title, url = reading.line(event, "title"), safe_url(string(event, "url"))
    named: Line = (Link(url, title),) if url and title else title
    times = " – ".join(
        text for text in (reading.text(event, "start"), reading.text(event, "end")) if text
    )
    places = ", ".join(item for item in items(event, "locations") if isinstance(item, str))
    people = ", ".join(
        text
        for person in (object_at(event, "organizer"), *objects(event, "attendees"))
        if (text := string(person, "name"))
    )
    lines: list[Line] = [(Strong(named),)] if named else []
    lines += [(Text(text),) for text in (times, places, people) if text]
    if meeting := safe_url(string(event, "onlineMeetingUrl")):
        lines.append((Link(meeting, (Text(meeting),)),))
    return [Prose(tuple(map(Paragraph, lines)), at=at)] if lines else []


MEDIA: dict[str, ElementReader] = {
    "Image": _image,
    "ImageSet": _image_set,
    "Media": _media,
    "Component": _component,
}
