"""Embeds -> panels: what is around them, their text, fields and pictures. Pure; total."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import (
    Asset,
    Container,
    Context,
    Credit,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Nodes,
    Player,
    Poll,
    PollAnswer,
    Prose,
)
from bridge.content.text.tree import Inline, Link, Paragraph, Text
from bridge.content.text.urls import safe_url
from connectors.discord.cards.colors import style_of
from connectors.discord.cards.read_media import read_unfurled, with_alt
from connectors.discord.cards.read_source import Json, Source, items, mapping, moment, text
from connectors.discord.cards.read_unknown import unknown
from connectors.discord.cards.read_words import (
    BLANK,
    read_document,
    read_line,
    read_plain,
    read_text,
)
from connectors.discord.cards.schemas import EMBEDS

ReadComponents = Callable[[JsonValue, Source, str, int], Nodes]

# What Discord says each part of an embed is; anything else in its place is kept as it came.
_SHAPES: dict[str, type | tuple[type, ...]] = {
    "title": str, "description": str, "url": str, "timestamp": str, "color": int, "fields": list,
    "author": dict, "footer": dict, "image": dict, "thumbnail": dict, "video": dict,
    "provider": dict, "components": list,
}  # fmt: skip
_PICTURE_ONLY = frozenset(("type", "url", "image", "color"))


def read_embeds(data: JsonValue, source: Source, at: str, read: ReadComponents) -> Nodes:
    """Embeds with one URL that hold nothing but pictures are the gallery of the first."""
    if not isinstance(data, list):
        return (*_provider(data, at), _embed(data, source, at, read, ()))
    found: list[Node] = []
    index = 0
    while index < len(data):
        more = _more_pictures(data, index)
        pictures = tuple(
            _picture(mapping(one, "image"), source, pointer(at, i, "image")) for i, one in more
        )
        here = pointer(at, index)
        found += (*_provider(data[index], here), _embed(data[index], source, here, read, pictures))
        index += 1 + len(more)
    return tuple(found)


def _more_pictures(data: list[JsonValue], index: int) -> list[tuple[int, Json]]:
    """The embeds behind this one that clients show within it (as a gallery)."""
    first = data[index]
    url = first.get("url") if isinstance(first, dict) and "image" in first else None
    more: list[tuple[int, Json]] = []
    for after in range(index + 1, len(data)) if url else ():
        one = data[after]
        if not isinstance(one, dict) or one.get("url") != url or not one.keys() <= _PICTURE_ONLY:
            break
        if not text(mapping(one, "image"), "url"):
            break
        more.append((after, one))
    return more


def _embed(
    native: JsonValue, source: Source, at: str, read: ReadComponents, more: tuple[Image, ...]
) -> Node:
    if not isinstance(native, dict) or (native and not native.keys() & _SHAPES.keys()):
        return unknown(native, EMBEDS, at)
    title = read_line(text(native, "title"), source)
    style, color = style_of(native.get("color"))
    thumbnail = mapping(native, "thumbnail")
    shown_large = text(native, "type") in ("image", "gifv", "video")
    small = text(thumbnail, "url") and not shown_large
    return Container(
        tuple(_nodes(native, source, at, read, more)),
        form="panel",
        style=style,
        color=color,
        title=title,
        link=text(native, "url") if title else "",
        author=_author(native, at),
        thumbnail=_picture(thumbnail, source, f"{at}/thumbnail", "small") if small else None,
        footer=_footer(native, at),
        time=moment(native, "timestamp"),
        at=at,
    )


def _provider(native: JsonValue, at: str) -> Iterator[Node]:
    """The site that a preview is from, above the box whose author has a name of its own."""
    if not isinstance(native, dict) or not mapping(native, "author"):
        return
    provider, here = mapping(native, "provider"), f"{at}/provider"
    if name := text(provider, "name"):
        line = _linked(name, text(provider, "url"))
        yield Context((Prose((Paragraph(line),), at=here),), at=here)


def _nodes(
    native: Json, source: Source, at: str, read: ReadComponents, more: tuple[Image, ...]
) -> Iterator[Node]:
    if description := text(native, "description"):
        yield from read_text(description, source, f"{at}/description")
    if fields := items(native, "fields"):
        if text(native, "type") == "poll_result":
            yield from _poll_result(fields, f"{at}/fields")
        else:
            yield from _fields(fields, source, f"{at}/fields")
    yield from _large(native, source, at, more)
    if components := native.get("components"):
        yield from read(components, source, f"{at}/components", 1)
    yield from _odd(native, at)


def _odd(native: Json, at: str) -> Iterator[Node]:
    """Parts of another kind than Discord says."""
    for key, value in native.items():
        shape = _SHAPES.get(key)
        if shape is not None and value is not None and not isinstance(value, shape):
            yield unknown(value, EMBEDS, pointer(at, key))


# --- around ---------------------------------------------------------------------------------


def _author(native: Json, at: str) -> Credit | None:
    """The author; where there is none, the site that a preview is from."""
    author = mapping(native, "author")
    key = "author" if author else "provider"
    said = author or mapping(native, "provider")
    name, icon = text(said, "name"), text(said, "icon_url")
    if not name and not icon:
        return None
    asset = Asset(url=icon) if icon else None
    return Credit(read_plain(name), asset, text(said, "url"), at=f"{at}/{key}")


def _footer(native: Json, at: str) -> Credit | None:
    footer = mapping(native, "footer")
    said, icon = text(footer, "text"), text(footer, "icon_url")
    if not said and not icon:
        return None
    return Credit(read_plain(said), Asset(url=icon) if icon else None, at=f"{at}/footer")


def _linked(name: str, url: str) -> tuple[Inline, ...]:
    safe = safe_url(url) if url else None
    return (Link(safe, (Text(name),)),) if safe else (Text(name),)


# --- fields ---------------------------------------------------------------------------------


def _fields(fields: Sequence[JsonValue], source: Source, at: str) -> Iterator[Node]:
    read: list[LabelledValue] = []
    for index, one in enumerate(fields):
        here = pointer(at, index)
        if isinstance(one, dict) and _is_field(one):
            read.append(_field(one, source, here))
            continue
        if read:
            yield Fields(tuple(read), at=at)
            read = []
        yield unknown(one, EMBEDS, here)
    if read:
        yield Fields(tuple(read), at=at)


def _is_field(one: Json) -> bool:
    return isinstance(one.get("name", ""), str) and isinstance(one.get("value", ""), str)


def _field(one: Json, source: Source, at: str) -> LabelledValue:
    value = text(one, "value")
    said = read_document(value, source) if value and value != BLANK else ()
    label = read_line(text(one, "name"), source)
    return LabelledValue(label, said, one.get("inline") is True, at=at)


# --- pictures and films ---------------------------------------------------------------------


def _picture(
    native: Json, source: Source, at: str, size: Literal["small", "full"] = "full"
) -> Image:
    return Image(_asset(native, source), size=size, at=at)


def _asset(native: Json, source: Source) -> Asset:
    return with_alt(read_unfurled(native, source), text(native, "description"))


def _large(native: Json, source: Source, at: str, more: tuple[Image, ...]) -> Iterator[Node]:
    """The film, else the large picture; previews of bare films and pictures are their link."""
    kind, url = text(native, "type"), text(native, "url")
    thumbnail, video = mapping(native, "thumbnail"), mapping(native, "video")
    shown_large = text(thumbnail, "url") and kind in ("image", "gifv", "video")
    poster = _asset(thumbnail, source) if shown_large else None
    if text(video, "url"):
        link = "" if text(native, "title") else url  # a title is the link already
        yield Player("video", _asset(video, source), poster=poster, link=link, at=f"{at}/video")
    elif poster is not None:
        yield Image(poster, link=url, at=f"{at}/thumbnail")
    image = mapping(native, "image")
    if text(image, "url"):
        first = _picture(image, source, f"{at}/image")
        yield Gallery((first, *more), at=f"{at}/image") if more else first


# --- how a poll ended -----------------------------------------------------------------------


def _poll_result(fields: Sequence[JsonValue], at: str) -> Iterator[Node]:
    """Discord tells it in fields that nobody sees as such (docs: resources/message)."""
    said = {
        text(field, "name"): text(field, "value") for field in fields if isinstance(field, dict)
    }
    emoji, votes = said.get("victor_answer_emoji_name", ""), said.get("victor_answer_votes", "")
    winner = read_plain(said.get("victor_answer_text", ""))
    answer = PollAnswer(winner, emoji, int(votes) if _is_count(votes) else None, at=at)
    question = read_plain(said.get("poll_question_text", ""))
    yield Poll(question, (answer,) if winner or emoji else (), closed=True, at=at)
    if total := said.get("total_votes"):
        yield Context((Prose((Paragraph((Text(f"{total} votes"),)),), at=at),), at=at)


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 12
