"""Embeds -> panels with their text, fields, pictures and credits. Pure; total."""

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

# The documented type of each part of an embed; a part of another type becomes a `Native` node.
_SHAPES: dict[str, type | tuple[type, ...]] = {
    "title": str, "description": str, "url": str, "timestamp": str, "color": int, "fields": list,
    "author": dict, "footer": dict, "image": dict, "thumbnail": dict, "video": dict,
    "provider": dict, "components": list,
}  # fmt: skip
_PICTURE_ONLY = frozenset(("type", "url", "image", "color"))


def read_embeds(data: JsonValue, source: Source, at: str, read: ReadComponents) -> Nodes:
    """Return the panels of embeds; picture-only embeds with one URL join the first as a gallery."""
    if not isinstance(data, list):
        return (*_provider(data, at), _embed(data, source, at, read, ()))
    nodes: list[Node] = []
    index = 0
    while index < len(data):
        picture_embeds = _more_pictures(data, index)
        pictures = tuple(
            _picture(mapping(embed, "image"), source, pointer(at, i, "image"))
            for i, embed in picture_embeds
        )
        embed_at = pointer(at, index)
        nodes += (
            *_provider(data[index], embed_at),
            _embed(data[index], source, embed_at, read, pictures),
        )
        index += 1 + len(picture_embeds)
    return tuple(nodes)


def _more_pictures(data: list[JsonValue], index: int) -> list[tuple[int, Json]]:
    """Return the following embeds that clients show within this one, as a gallery."""
    first = data[index]
    url = first.get("url") if isinstance(first, dict) and "image" in first else None
    more: list[tuple[int, Json]] = []
    for after in range(index + 1, len(data)) if url else ():
        candidate = data[after]
        if (
            not isinstance(candidate, dict)
            or candidate.get("url") != url
            or not candidate.keys() <= _PICTURE_ONLY
        ):
            break
        if not text(mapping(candidate, "image"), "url"):
            break
        more.append((after, candidate))
    return more


def _embed(
    native: JsonValue, source: Source, at: str, read: ReadComponents, more: tuple[Image, ...]
) -> Node:
    if not isinstance(native, dict) or (native and not native.keys() & _SHAPES.keys()):
        return unknown(native, EMBEDS, at)
    title = read_line(text(native, "title"), source)
    style, color = style_of(native.get("color"))
    thumbnail = mapping(native, "thumbnail")
    is_large_preview = text(native, "type") in ("image", "gifv", "video")
    has_small_thumbnail = text(thumbnail, "url") and not is_large_preview
    return Container(
        tuple(_nodes(native, source, at, read, more)),
        form="panel",
        style=style,
        color=color,
        title=title,
        link=text(native, "url") if title else "",
        author=_author(native, at),
        thumbnail=_picture(thumbnail, source, f"{at}/thumbnail", "small")
        if has_small_thumbnail
        else None,
        footer=_footer(native, at),
        time=moment(native, "timestamp"),
        at=at,
    )


def _provider(native: JsonValue, at: str) -> Iterator[Node]:
    """Yield the preview's site above the panel, if the embed also has an author."""
    if not isinstance(native, dict) or not mapping(native, "author"):
        return
    provider, provider_at = mapping(native, "provider"), f"{at}/provider"
    if name := text(provider, "name"):
        line = _link_or_text(name, text(provider, "url"))
        yield Context((Prose((Paragraph(line),), at=provider_at),), at=provider_at)


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
    yield from _wrong_types(native, at)


def _wrong_types(native: Json, at: str) -> Iterator[Node]:
    """Yield the parts whose type differs from Discord's documentation."""
    for key, value in native.items():
        shape = _SHAPES.get(key)
        if shape is not None and value is not None and not isinstance(value, shape):
            yield unknown(value, EMBEDS, pointer(at, key))


# --- credits --------------------------------------------------------------------------------


def _author(native: Json, at: str) -> Credit | None:
    """Return the author, or else the site of the preview."""
    author = mapping(native, "author")
    key = "author" if author else "provider"
    credit = author or mapping(native, "provider")
    name, icon = text(credit, "name"), text(credit, "icon_url")
    if not name and not icon:
        return None
    asset = Asset(url=icon) if icon else None
    return Credit(read_plain(name), asset, text(credit, "url"), at=f"{at}/{key}")


def _footer(native: Json, at: str) -> Credit | None:
    footer = mapping(native, "footer")
    footer_text, icon = text(footer, "text"), text(footer, "icon_url")
    if not footer_text and not icon:
        return None
    return Credit(read_plain(footer_text), Asset(url=icon) if icon else None, at=f"{at}/footer")


def _link_or_text(name: str, url: str) -> tuple[Inline, ...]:
    safe = safe_url(url) if url else None
    return (Link(safe, (Text(name),)),) if safe else (Text(name),)


# --- fields ---------------------------------------------------------------------------------


def _fields(fields: Sequence[JsonValue], source: Source, at: str) -> Iterator[Node]:
    labelled_values: list[LabelledValue] = []
    for index, field in enumerate(fields):
        field_at = pointer(at, index)
        if isinstance(field, dict) and _is_field(field):
            labelled_values.append(_field(field, source, field_at))
            continue
        if labelled_values:
            yield Fields(tuple(labelled_values), at=at)
            labelled_values = []
        yield unknown(field, EMBEDS, field_at)
    if labelled_values:
        yield Fields(tuple(labelled_values), at=at)


def _is_field(field: Json) -> bool:
    return isinstance(field.get("name", ""), str) and isinstance(field.get("value", ""), str)


def _field(field: Json, source: Source, at: str) -> LabelledValue:
    value = text(field, "value")
    document = read_document(value, source) if value and value != BLANK else ()
    label = read_line(text(field, "name"), source)
    return LabelledValue(label, document, field.get("inline") is True, at=at)


# --- pictures and films ---------------------------------------------------------------------


def _picture(
    native: Json, source: Source, at: str, size: Literal["small", "full"] = "full"
) -> Image:
    return Image(_asset(native, source), size=size, at=at)


def _asset(native: Json, source: Source) -> Asset:
    return with_alt(read_unfurled(native, source), text(native, "description"))


def _large(native: Json, source: Source, at: str, more: tuple[Image, ...]) -> Iterator[Node]:
    """Yield the video, else the large picture; previews of bare media link to their source."""
    kind, url = text(native, "type"), text(native, "url")
    thumbnail, video = mapping(native, "thumbnail"), mapping(native, "video")
    is_large_preview = text(thumbnail, "url") and kind in ("image", "gifv", "video")
    poster = _asset(thumbnail, source) if is_large_preview else None
    if text(video, "url"):
        link = "" if text(native, "title") else url  # a title is the link already
        yield Player("video", _asset(video, source), poster=poster, link=link, at=f"{at}/video")
    elif poster is not None:
        yield Image(poster, link=url, at=f"{at}/thumbnail")
    image = mapping(native, "image")
    if text(image, "url"):
        first = _picture(image, source, f"{at}/image")
        yield Gallery((first, *more), at=f"{at}/image") if more else first


# --- poll results ---------------------------------------------------------------------------


def _poll_result(fields: Sequence[JsonValue], at: str) -> Iterator[Node]:
    """Yield a poll's result, which Discord puts into hidden fields (docs: resources/message)."""
    values_by_name = {
        text(field, "name"): text(field, "value") for field in fields if isinstance(field, dict)
    }
    emoji, votes = (
        values_by_name.get("victor_answer_emoji_name", ""),
        values_by_name.get("victor_answer_votes", ""),
    )
    winner = read_plain(values_by_name.get("victor_answer_text", ""))
    answer = PollAnswer(winner, emoji, int(votes) if _is_count(votes) else None, at=at)
    question = read_plain(values_by_name.get("poll_question_text", ""))
    yield Poll(question, (answer,) if winner or emoji else (), closed=True, at=at)
    if total := values_by_name.get("total_votes"):
        yield Context((Prose((Paragraph((Text(f"{total} votes"),)),), at=at),), at=at)


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < 12
