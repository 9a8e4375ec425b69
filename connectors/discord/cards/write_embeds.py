"""Panels -> embeds. Pure.

A panel becomes an embed if all its nodes have a place in one; overlong text continues in further
fields and embeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Asset,
    Container,
    Context,
    Credit,
    Fields,
    Gallery,
    Image,
    Player,
    Prose,
)
from bridge.content.text.split import split_text
from bridge.content.text.tree import Inline, Link
from connectors.discord.cards import limits
from connectors.discord.cards.colors import color_of
from connectors.discord.cards.read_words import BLANK
from connectors.discord.cards.write_media import is_film, is_reachable, player_markdown
from connectors.discord.cards.write_state import Json, Writing, http_url
from connectors.discord.cards.write_text import (
    context_markdown,
    is_small_print,
    lose_manner,
    plain,
    prose_markdown,
    supported_line,
    supported_markdown,
)

Line = tuple[Inline, ...]

_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # Unix seconds of the years 1 and 9999


@dataclass(slots=True)
class Embed:
    """An embed, the length of its text, and the files that it shows."""

    body: Json = field(default_factory=dict[str, JsonValue])
    fields: list[JsonValue] = field(default_factory=list[JsonValue])
    text: int = 0
    files: tuple[Asset, ...] = ()


# --- conditions -----------------------------------------------------------------------------


def is_embeddable(w: Writing, node: Container) -> bool:
    """Return whether the panel has text, then fields, then pictures, and nothing else."""
    if node.hero or node.subtitle or node.spoiler or node.hidden or node.collapsed is not None:
        return False
    if node.link and not (node.title and http_url(node.link, limits.MEDIA_URL)):
        return False
    if not _fits(w, node.title, limits.TITLE):
        return False
    return (
        _is_credit(w, node.author, limits.AUTHOR)
        and _is_credit(w, node.footer, limits.FOOTER)
        and (node.footer is None or not node.footer.link)
        and (node.time is None or _FIRST <= node.time <= _LAST)
        and (node.thumbnail is None or _is_picture(w, node.thumbnail))
        and _are_in_order(w, node)
    )


def _is_credit(w: Writing, credit: Credit | None, limit: int) -> bool:
    if credit is None:
        return True
    if _has_link(credit.text) or not 0 < len(plain(credit.text)) <= limit:
        return False
    if credit.link and not http_url(credit.link, limits.MEDIA_URL):
        return False
    icon = credit.icon
    return icon is None or (not icon.alt and is_reachable(w, icon))


def _is_picture(w: Writing, node: Image) -> bool:
    asset = node.asset
    is_plain = not node.title and not node.link and not asset.spoiler
    return is_plain and len(asset.alt) <= limits.DESCRIPTION and is_reachable(w, asset)


def _are_in_order(w: Writing, node: Container) -> bool:
    phase = 0
    for inner in node.nodes:
        match inner:
            case Prose() if phase == 0:
                continue
            case Context() if phase == 0 and is_small_print(inner):
                continue
            case Fields(items) if phase <= 1 and all(
                _fits(w, item.label, limits.FIELD_NAME) for item in items
            ):
                phase = 1
            case Player() if phase <= 1 and _is_link(w, node, inner):
                phase = 1
            case Image() if phase <= 1 and _is_picture(w, inner):
                phase = 2
            case Gallery(items) if phase <= 1 and 0 < len(items) <= limits.EMBED_PICTURES:
                if not all(isinstance(item, Image) and _is_picture(w, item) for item in items):
                    return False
                phase = 2
            case _:
                return False
    return True


def _is_link(w: Writing, node: Container, film: Player) -> bool:
    """Return whether a film may be a link in the embed: embeds do not play films.

    Components play them, but show fields one below the other.
    """
    if (film.poster and film.poster.alt) or w.travels(film.asset):
        return False
    if is_film(w, film) and not any(isinstance(node, Fields) for node in node.nodes):
        return False
    return len(player_markdown(w.apart(), film)) <= limits.FIELD_VALUE


def _fits(w: Writing, line: Line, limit: int) -> bool:
    """Return whether the line fits a title or name, which are not cut and have no links."""
    if _has_link(line):
        return False
    return len(plain(line)) <= limit // 2 or len(supported_line(w.apart(), line, "")) <= limit


def _has_link(line: Line) -> bool:
    """Return whether the line has a link, which titles and names do not show."""
    stack = list(line)
    while stack:
        value = stack.pop()
        if isinstance(value, Link):
            return True
        stack += getattr(value, "children", ())
    return False


# --- writing --------------------------------------------------------------------------------


def write_embeds(w: Writing, node: Container) -> list[Embed]:
    """Return the panel as embeds: several if one cannot hold its text, fields or pictures."""
    color = color_of(node.style, node.color)
    embeds = [Embed()]
    _put_head(w, node, embeds[0])
    for text in _descriptions(w, node):
        if "description" in embeds[-1].body:
            embeds.append(Embed())
        _put(embeds[-1], "description", text)
    for name, value, inline in _fields(w, node):
        _put_field(embeds, name, value, inline=inline)
    _put_foot(w, node, embeds)
    _put_pictures(w, node, embeds)
    for embed in embeds:
        if embed.fields:
            embed.body["fields"] = embed.fields
        if color is not None:
            embed.body["color"] = color
    return [embed for embed in embeds if embed.body.keys() - {"color"}]


def _put(embed: Embed, key: str, text: str) -> None:
    embed.body[key] = text
    embed.text += len(text)


def _put_head(w: Writing, node: Container, embed: Embed) -> None:
    if node.author is not None:
        author: Json = {"name": plain(node.author.text)}
        if node.author.link:
            author["url"] = http_url(node.author.link, limits.MEDIA_URL)
        _put_icon(w, node.author, author, embed)
        embed.body["author"] = author
        embed.text += len(plain(node.author.text))
    if title := supported_line(w, node.title, node.at).replace("\n", " ").strip():
        _put(embed, "title", title)
    if node.link:
        embed.body["url"] = http_url(node.link, limits.MEDIA_URL)
    if node.thumbnail is not None:
        embed.body["thumbnail"] = _picture(w, node.thumbnail, embed)


def _put_foot(w: Writing, node: Container, embeds: list[Embed]) -> None:
    footer_text = plain(node.footer.text) if node.footer is not None else ""
    if embeds[-1].text + len(footer_text) > limits.EMBED_TOTAL:
        embeds.append(Embed())
    embed = embeds[-1]
    if node.footer is not None:
        footer: Json = {"text": footer_text}
        _put_icon(w, node.footer, footer, embed)
        embed.body["footer"] = footer
        embed.text += len(footer_text)
    if node.time is not None:
        embed.body["timestamp"] = datetime.fromtimestamp(node.time, UTC).isoformat()


def _put_icon(w: Writing, credit: Credit, body: Json, embed: Embed) -> None:
    media = w.media(credit.icon, "image") if credit.icon is not None else None
    if media is not None:
        body["icon_url"] = media.url
        embed.files += media.files


def _picture(w: Writing, node: Image, embed: Embed) -> Json:
    media = w.media(node.asset, "image")
    body: Json = {"url": media.url if media else ""}
    if alt := node.asset.alt.strip():
        body["description"] = alt
    embed.files += media.files if media else ()
    return body


def _put_pictures(w: Writing, node: Container, embeds: list[Embed]) -> None:
    """Add the pictures; clients show those of embeds with the same URL as a gallery."""
    last = node.nodes[-1] if node.nodes else None
    pictures = last.items if isinstance(last, Gallery) else (last,)
    images = [picture for picture in pictures if isinstance(picture, Image)]
    posters = list(_posters(w, node))
    for poster in posters if images else ():
        w.lose(poster.at, "poster", w.url_of(poster.asset) or "picture")
    images = images or posters
    if not images:
        return
    first = embeds[-1]
    first.body["image"] = _picture(w, images[0], first)
    for image in images[1:]:
        first.body.setdefault("url", http_url(w.url_of(images[0].asset), 2048) or _ANY)
        embed = Embed({"url": first.body["url"]})
        embed.body["image"] = _picture(w, image, embed)
        embeds.append(embed)


def _posters(w: Writing, node: Container) -> Iterator[Image]:
    """Yield the posters of films, which replace them."""
    for inner in node.nodes:
        poster = inner.poster if isinstance(inner, Player) else None
        if poster is not None and is_reachable(w, poster):
            yield Image(poster, at=inner.at)


def _descriptions(w: Writing, node: Container) -> Iterator[str]:
    text = join_prose(w, (inner for inner in node.nodes if isinstance(inner, Prose | Context)))
    films = (inner for inner in node.nodes if isinstance(inner, Player) and not _has_words(inner))
    text = "\n\n".join(filter(None, (text, *(player_markdown(w, film) for film in films))))
    if text:
        yield from (part.strip() for part in split_text(text, limits.EMBED_TEXT))


_ANY = "https://discord.com"


def join_prose(w: Writing, nodes: Iterable[Prose | Context]) -> str:
    """Return the nodes as one text, with an empty line between all but small print."""
    joined_text = ""
    after_small = False
    for node in nodes:
        if isinstance(node, Context):
            text = context_markdown(w, node)
        else:
            lose_manner(w, node)
            text = prose_markdown(w, node)
        if not text.strip():
            continue
        small = isinstance(node, Context)
        gap = "\n" if small or after_small else "\n\n"
        joined_text += gap * bool(joined_text) + text
        after_small = small
    return joined_text


# --- fields ---------------------------------------------------------------------------------


def _fields(w: Writing, node: Container) -> Iterator[tuple[str, str, bool]]:
    """Yield name, value and inline flag of each field; neither text is empty (Discord's rule)."""
    for inner in node.nodes:
        if isinstance(inner, Player) and _has_words(inner):
            yield BLANK, player_markdown(w, inner), False
        for item in inner.items if isinstance(inner, Fields) else ():
            name = supported_line(w, item.label, item.at).replace("\n", " ").strip() or BLANK
            value = supported_markdown(w, item.value, item.at).strip() or BLANK
            for number, text in enumerate(split_text(value, limits.FIELD_VALUE)):
                yield (BLANK if number else name), text.strip() or BLANK, item.short


def _has_words(node: Player) -> bool:
    """Return whether a film has a title, author or other words of its own."""
    return bool(node.title or node.author or node.description or node.asset.alt or node.asset.name)


def _put_field(embeds: list[Embed], name: str, value: str, *, inline: bool) -> None:
    size = len(name) + len(value)
    last = embeds[-1]
    if len(last.fields) >= limits.FIELDS or last.text + size > limits.EMBED_TOTAL:
        embeds.append(last := Embed())
    body: Json = {"name": name, "value": value}
    if inline:
        body["inline"] = True
    last.fields.append(body)
    last.text += size
