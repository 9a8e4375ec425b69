"""Bot Framework cards -> containers: hero, thumbnail, receipt, list, media, sign-in.

Their text may contain HTML; titles are plain (msteams-docs, "Types of cards", 2025-01).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Container,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Nodes,
    Player,
    Prose,
    Section,
    Table,
)
from bridge.content.text.tree import Inline, Link, Paragraph, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.teams.cards import schemas
from connectors.teams.cards.json_values import Json, choice_of, items, object_at, objects, string
from connectors.teams.cards.read_mentions import Mentions
from connectors.teams.cards.read_message_text import html_line, html_message
from connectors.teams.cards.read_text import plain_line, plain_text

Line = tuple[Inline, ...]
CardReader = Callable[[Json, str], list[Node]]

_OPENS = frozenset(
    ("openurl", "signin", "playaudio", "playvideo", "showimage", "downloadfile", "openapp", "call")
)
_NAMELESS = {"signin": "Sign in", "openurl": "Open"}
_DURATION = re.compile(
    r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,8}(?:\.\d{1,6})?)S)?)?"
)


# --- actions --------------------------------------------------------------------------------


def card_buttons(several: list[JsonValue], at: str) -> list[Node]:
    """Return CardActions as one row of buttons."""
    buttons = [
        card_button(action, f"{at}/{index}")
        for index, action in enumerate(several)
        if isinstance(action, dict)
    ]
    return [Actions(tuple(buttons), at=at)] if buttons else []


def card_button(action: Json, at: str, label: Line = ()) -> Button:
    """Return the button of a CardAction.

    The value of a press has the form of `data.msteams` in Adaptive Cards. An unsafe address is
    kept, so that writers can name it in a loss.
    """
    kind = choice_of(action, "type")
    value = string(action, "value")
    title = plain_line(string(action, "title") or string(action, "text")) or label
    picture = string(action, "image")
    url = (safe_url(value) or value) if kind in _OPENS else ""
    return Button(
        title or (Text(_NAMELESS.get(kind, "Select")),),
        does="open" if url else "press",
        url=url,
        value=None if url else _press_data(action),
        icon=Asset(url=picture, alt=string(action, "imageAltText")) if picture else None,
        at=at,
    )


def _press_data(action: Json) -> JsonValue:
    sent = {
        key: action[key]
        for key in ("type", "text", "displayText", "value", "channelData")
        if action.get(key) is not None
    }
    return {"msteams": sent}


def _tap(card: Json, at: str) -> list[Node]:
    """Return the tap action of a card, unless it opens a page."""
    tap = card.get("tap")
    if not isinstance(tap, dict) or _tap_url(card):
        return []
    return [Actions((card_button(tap, f"{at}/tap"),), at=f"{at}/tap")]


def _tap_url(card: Json) -> str:
    tap = object_at(card, "tap")
    return safe_url(string(tap, "value")) or "" if choice_of(tap, "type") in _OPENS else ""


# --- hero and thumbnail ---------------------------------------------------------------------


def _hero(card: Json, at: str) -> list[Node]:
    return _pictured(card, at, "hero")


def _thumbnail(card: Json, at: str) -> list[Node]:
    return _pictured(card, at, "thumbnail")


def _pictured(card: Json, at: str, where: Literal["hero", "thumbnail"]) -> list[Node]:
    """Read a hero or thumbnail card; its first picture has its own place."""
    pictures = _pictures(card, at)
    first, others = (pictures[0] if pictures else None), pictures[1:]
    nodes: list[Node] = [Gallery(tuple(others), at=f"{at}/images")] if others else []
    nodes += _text_nodes(card, "text", at)
    return _boxed(card, nodes, at, **{where: first})


def _boxed(
    card: Json,
    nodes: list[Node],
    at: str,
    *,
    hero: Image | None = None,
    thumbnail: Image | None = None,
) -> list[Node]:
    """Return the container of a card; without a title its link becomes a button."""
    title, subtitle = _title(card, "title"), _title(card, "subtitle")
    link = _tap_url(card)
    below = card_buttons(items(card, "buttons"), f"{at}/buttons") + _tap(card, at)
    if link and not title:
        tap = object_at(card, "tap")
        below.append(Actions((card_button(tap, f"{at}/tap", (Text("Open"),)),), at=f"{at}/tap"))
    if not (title or subtitle or hero or thumbnail or nodes or below):
        return []
    return [
        Container(
            (*nodes, *below),
            form="card",
            title=title,
            subtitle=subtitle,
            link=link if title else "",
            hero=hero,
            thumbnail=thumbnail,
            at=at,
        )
    ]


def _title(card: Json, key: str) -> Line:
    text = string(card, key)
    return html_line(text) if "<" in text else plain_line(text)


def _text_nodes(card: Json, key: str, at: str) -> list[Node]:
    """Return text that may contain HTML."""
    text, place = string(card, key), f"{at}/{key}"
    if "<" in text or "&" in text:
        return html_message(text, Mentions(), place)
    return [Prose(document, at=place)] if (document := plain_text(text)) else []


def _pictures(card: Json, at: str) -> list[Image]:
    pictures = [
        _picture(picture, f"{at}/images/{index}")
        for index, picture in enumerate(items(card, "images"))
    ]
    return [picture for picture in pictures if picture is not None]


def _picture(value: JsonValue, at: str) -> Image | None:
    if isinstance(value, str):
        value = {"url": value}
    if not isinstance(value, dict) or not (url := string(value, "url")):
        return None
    return Image(Asset(url=url, alt=string(value, "alt")), link=_tap_url(value), at=at)


# --- receipts -------------------------------------------------------------------------------


def _receipt(card: Json, at: str) -> list[Node]:
    nodes = _facts(card, at)
    if goods := [_goods(item, f"{at}/items/{i}") for i, item in enumerate(objects(card, "items"))]:
        nodes.append(Table(tuple(goods), header=False, at=f"{at}/items"))
    sums = (("Tax", "tax"), ("VAT", "vat"), ("Total", "total"))
    totals = tuple(
        LabelledValue((Text(name),), (Paragraph(value),), at=f"{at}/{key}")
        for name, key in sums
        if (value := plain_line(string(card, key)))
    )
    nodes += [Fields(totals, at=at)] if totals else []
    return _boxed(card, nodes, at)


def _facts(card: Json, at: str) -> list[Node]:
    facts: list[LabelledValue] = []
    for index, fact in enumerate(objects(card, "facts")):
        label, value = plain_line(string(fact, "key")), plain_text(string(fact, "value"))
        if label or value:
            facts.append(LabelledValue(label, value, at=f"{at}/facts/{index}"))
    return [Fields(tuple(facts), at=f"{at}/facts")] if facts else []


def _goods(item: Json, at: str) -> tuple[Nodes, ...]:
    """Return a line of a receipt: article, quantity and price."""
    picture = _picture(item.get("image"), f"{at}/image")
    named: list[Node] = [picture] if picture else []
    if title := plain_line(string(item, "title")):
        url = _tap_url(item)
        bold: Line = (Strong(title),)
        named.append(_line((Link(url, bold),) if url else bold, f"{at}/title"))
    named += _lines(item, ("subtitle", "text"), at) + _tap(item, at)
    return (tuple(named), *(tuple(_lines(item, (key,), at)) for key in ("quantity", "price")))


def _lines(item: Json, keys: tuple[str, ...], at: str) -> list[Node]:
    return [
        _line(line, f"{at}/{key}", subtle=key == "subtitle")
        for key in keys
        if (line := plain_line(string(item, key)))
    ]


def _line(line: Line, at: str, *, subtle: bool = False) -> Prose:
    return Prose((Paragraph(line),), subtle=subtle, at=at)


# --- lists ----------------------------------------------------------------------------------


def _list(card: Json, at: str) -> list[Node]:
    nodes: list[Node] = []
    for index, item in enumerate(objects(card, "items")):
        nodes += _list_item(item, f"{at}/items/{index}")
    return _boxed(card, nodes, at)


def _list_item(item: Json, at: str) -> list[Node]:
    """Return a heading, or a line with subtitle, icon and tap action."""
    title = plain_line(string(item, "title"))
    kind = choice_of(item, "type")
    if kind == "section":
        return [_line((Strong(title),), at)] if title else []
    url = _tap_url(item) or (safe_url(string(item, "id")) or "" if kind == "file" else "")
    lines: list[Line] = [(Link(url, title),) if url else title] if title else []
    subtitle = plain_line(string(item, "subtitle"))
    texts: list[Node] = [Prose(tuple(map(Paragraph, lines)), at=at)] if lines else []
    texts += [_line(subtitle, f"{at}/subtitle", subtle=True)] if subtitle else []
    tap = [action for row in _tap(item, at) if isinstance(row, Actions) for action in row.items]
    if texts and (icon := string(item, "icon")):
        picture = Image(Asset(url=icon), size="small", at=f"{at}/icon")
        row: list[Node] = [Section(tuple(texts), picture, leading=True, at=at)]
        return [*row, *([Actions(tuple(tap), at=f"{at}/tap")] if tap else [])]
    if texts and tap:
        return [Section(tuple(texts), tap[0], at=at)]
    return texts or _tap(item, at)


# --- video, audio, sign-in -----------------------------------------------------------------


def _film(card: Json, at: str) -> list[Node]:
    return _player_nodes(card, at, "video")


def _sound(card: Json, at: str) -> list[Node]:
    return _player_nodes(card, at, "audio")


def _animation(card: Json, at: str) -> list[Node]:
    """Read an animation, which is often a GIF and not a video."""
    moving = [source for source in _sources(card) if _is_gif(source)]
    if not moving:
        return _player_nodes(card, at, "video")
    alt = string(object_at(card, "image"), "alt")
    pictures = tuple(Image(Asset(url=source, alt=alt), at=f"{at}/media") for source in moving)
    return _boxed(card, [*pictures, *_text_nodes(card, "text", at)], at)


def _player_nodes(card: Json, at: str, kind: Literal["video", "audio"]) -> list[Node]:
    """Return a player of the first source; the others are other formats."""
    picture = object_at(card, "image")
    poster = Asset(url=string(picture, "url"), alt=string(picture, "alt"))
    nodes: list[Node] = [
        Player(
            kind,
            Asset(url=url, seconds=_seconds(string(card, "duration"))),
            poster=poster if poster.url else None,
            at=f"{at}/media",
        )
        for url in _sources(card)[:1]
    ]
    return _boxed(card, [*nodes, *_text_nodes(card, "text", at)], at)


def _sources(card: Json) -> list[str]:
    return [url for medium in objects(card, "media") if (url := string(medium, "url"))]


def _is_gif(url: str) -> bool:
    return url.partition("?")[0].lower().endswith(".gif") or url.startswith("data:image/")


def _seconds(duration: str) -> float | None:
    """Return the seconds of an ISO 8601 duration such as `PT2M50S`, or None."""
    match = _DURATION.fullmatch(duration)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (float(group or 0) for group in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _sign_in(card: Json, at: str) -> list[Node]:
    return _boxed(card, _text_nodes(card, "text", at), at)


def _announcement(card: Json, at: str) -> list[Node]:
    """Read an announcement, the coloured head of a post in Microsoft Graph."""
    picture = string(card, "imageUrl") or string(object_at(card, "cardImageDetails"), "url")
    hero = Image(Asset(url=picture), at=at) if picture else None
    named: Json = {**card, "subtitle": card.get("subheader") or card.get("subtitle")}
    return _boxed(named, _text_nodes(card, "text", at), at, hero=hero)


BOT_CARDS: dict[str, CardReader] = {
    schemas.HERO: _hero,
    schemas.THUMBNAIL: _thumbnail,
    schemas.RECEIPT: _receipt,
    schemas.LIST: _list,
    schemas.VIDEO: _film,
    schemas.AUDIO: _sound,
    schemas.ANIMATION: _animation,
    schemas.SIGNIN: _sign_in,
    schemas.OAUTH: _sign_in,
    schemas.ANNOUNCEMENT: _announcement,
}
