"""Cards whose links and pictures are safe: each link shows its address, and no picture carries
data. Pure.

An agent may pass on what somebody talked it into, in any form: a button, a title or a picture with
an address of its own. Other people's cards may show one address and open another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from html import unescape
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from bridge.content.cards.degrade import stack_section
from bridge.content.cards.tree import (
    Asset,
    Button,
    Card,
    Column,
    Container,
    Credit,
    File,
    Gallery,
    Image,
    Native,
    Node,
    Option,
    Player,
    Prose,
    Section,
)
from bridge.content.safety.link_targets import is_misleading, with_visible_targets
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Inline, Link, Paragraph, Text
from bridge.content.text.urls import safe_url
from bridge.model import Loss

Line = tuple[Inline, ...]
_MAX_LABEL = 70  # characters: no platform cuts a label that is shorter
_MAX_HOST = 40
_MAX_PATH = 120  # characters of a picture's path: a longer path may carry data
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>|\"'`)\]}]+")


def with_visible_links(card: Card, *, of_agent: bool) -> tuple[Card, tuple[Loss, ...]]:
    """Returns the card with the addresses that it hid, and without pictures whose addresses may
    carry data.

    Args:
        card: The card.
        of_agent: Whether an agent wrote it. In other cards only labels that look like another
            address change.

    Returns:
        The card, the same object if nothing changes, and a Loss for each removed picture.
    """
    writing = _LinkRewriter(of_agent)
    safe_card: Card = writing.value(with_visible_targets(card, always=of_agent))
    return safe_card, tuple(writing.losses)


def addresses_in(value: object) -> Iterator[str]:
    """Yields every address in the strings of a payload, except the address of its schema."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += [inner for key, inner in item.items() if key != "$schema"]
        elif isinstance(item, (list, tuple)):
            stack += item
        elif isinstance(item, str) and "://" in item:
            yield from (unescape(address) for address in _ADDRESS.findall(item))


def shows_all_addresses(card: Card, payloads: Iterable[object]) -> bool:
    """Whether the card contains each address of the payloads that it was read from.

    An address that the reader left out would still be opened or fetched if the payload were shown
    unchanged.
    """
    card_addresses = {text for text in _strings(card) if "://" in text}
    joined = " ".join(card_addresses)
    return all(
        address in card_addresses or address.rstrip(".,:;!?*_~") in joined
        for address in addresses_in(list(payloads))
    )


def _strings(card: Card) -> Iterator[str]:
    stack: list[Any] = [card]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, tuple):
            stack += item
        elif is_dataclass(item):
            stack += [
                getattr(item, member.name) for member in fields(item) if member.name != "payload"
            ]


class _LinkRewriter:
    def __init__(self, of_agent: bool) -> None:
        self.losses: list[Loss] = []
        self._of_agent = of_agent

    def value(self, value: Any) -> Any:
        """The value with everything inside it rewritten; the same object if nothing changes."""
        if isinstance(value, tuple):
            before: tuple[Any, ...] = value
            items = [self.value(item) for item in before]
            return value if all(map(_is, items, before)) else tuple(items)
        if not is_dataclass(value) or isinstance(value, (type, Text, Link, Asset)):
            return value
        changes: dict[str, Any] = {}
        for field in fields(value):
            inner = getattr(value, field.name)
            if isinstance(inner, (str, int, float, dict, list)) or inner is None:
                continue
            if (new := self.value(inner)) is not inner:
                changes[field.name] = new
        return self._safe_node(replace(value, **changes) if changes else value)

    def _safe_node(self, value: Any) -> Any:
        match value:
            case Button(does="open", url=url, label=label) | Option(url=url, label=label) if url:
                if self._of_agent or is_misleading(label, url):
                    return _with_host(value, label, url)
                return value
            case _ if not self._of_agent:
                return value
            case Container() | Column() | Credit():
                return self._box(value)
            case Image() | Player():
                return self._media(value)
            case Gallery(items) if not all(isinstance(item, Image | Player) for item in items):
                return _split_gallery(value)
            case Section(accessory=Prose() | Container()):
                return Container(stack_section(value), at=value.at)
            case File(asset=asset) if asset.url and not asset.file_id:
                return _prose_with_address(value.title or _text(asset.name), asset.url, value.at)
            case Native(payload=payload) if any(addresses_in(payload)):
                return Container(value.fallback, at=value.at)
            case _:
                return self._without_icon(value)

    def _box(self, box: Any) -> Any:
        """The address of a linked title or name goes below the box, or beside the name."""
        box = self._without_icon(box)
        if isinstance(box, Container):
            pictures: list[Node] = []
            for name in ("hero", "thumbnail"):
                picture = getattr(box, name)
                if picture is not None and not isinstance(picture, Image):
                    pictures.append(picture)  # a picture that became text
                    box = replace(box, **{name: None})
            box = replace(box, nodes=(*pictures, *box.nodes)) if pictures else box
        if not (url := _address(box.link)):
            return box
        bare = Link(url, (Text(url),))
        if isinstance(box, Credit):
            if plain_inlines(box.text).strip() == url:
                return box
            return replace(box, link="", text=(*box.text, Text(" ("), bare, Text(")")))
        if isinstance(box, Container) and plain_inlines(box.title).strip() == url:
            return box
        return replace(box, link="", nodes=(*box.nodes, Prose((Paragraph((bare,)),))))

    def _media(self, node: Image | Player) -> Any:
        """The address of a picture, which is fetched as soon as it is seen, may carry data from the
        room."""
        if _may_carry_data(node.asset.url):
            self._report(node.at, node.asset.url)
            title = node.title or _text(node.asset.alt)
            return _prose_with_address(title, node.asset.url, node.at)
        if (
            isinstance(node, Player)
            and node.poster is not None
            and _may_carry_data(node.poster.url)
        ):
            self._report(node.at, node.poster.url)
            node = replace(node, poster=None)
        if url := _address(node.link):
            bare = Link(url, (Text(url),))
            gap = (Text(" "),) if node.title else ()
            return replace(node, link="", title=(*node.title, *gap, bare))
        return node

    def _without_icon(self, value: Any) -> Any:
        icon = getattr(value, "icon", None)
        if not isinstance(icon, Asset) or not _may_carry_data(icon.url):
            return value
        self._report(getattr(value, "at", ""), icon.url)
        return replace(value, icon=None)

    def _report(self, at: str, url: str) -> None:
        self.losses.append(Loss(path=at, kind="agents_picture", what=url, shown_as="its address"))


def _split_gallery(gallery: Gallery) -> Container:
    """A gallery without the items that became text: text cannot be between pictures side by
    side."""
    nodes: list[Node] = []
    for is_shown, run in groupby(gallery.items, lambda item: isinstance(item, Image | Player)):
        items = tuple(run)
        nodes += [replace(gallery, items=items)] if is_shown else items
    return Container(tuple(nodes), at=gallery.at)


def _is(left: object, right: object) -> bool:
    return left is right


def _address(url: str) -> str:
    return (safe_url(url) or "") if url else ""


def _text(words: str) -> Line:
    return (Text(words),) if words else ()


def _prose_with_address(title: Line, address: str, at: str) -> Prose:
    url = _address(address)
    bare: Line = (Link(url, (Text(url),)),) if url else ()
    gap = (Text(" "),) if title and bare else ()
    return Prose((Paragraph((*title, *gap, *bare)),), at=at)


def _may_carry_data(url: str) -> bool:
    """Whether a picture's address holds more than the location of the picture."""
    if not url or url.startswith("data:"):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.query or parts.username or len(parts.path) > _MAX_PATH)
    except ValueError:
        return True


def _with_host(value: Any, label: Line, url: str) -> Any:
    """The label with the host: `Open (evil.example)`. A long host is cut at its start, because its
    end names the owner."""
    host = host_of(url)
    text = plain_inlines(label)
    if safe_url(url) == url and (text in (host, url) or text.endswith(f"({host})")):
        return value
    sign = f" ({host})" if text else host
    room = _MAX_LABEL - len(sign)
    if len(text) <= room and not _DIRECTION_MARKS.search(text):
        return replace(value, label=(*label, Text(sign)))
    plain = " ".join(_DIRECTION_MARKS.sub("", text).split())
    cut = plain if len(plain) <= room else f"{plain[: room - 1]}…"
    return replace(value, label=(Text(f"{cut}{sign}"),))


def host_of(url: str) -> str:
    """Returns the host of an address in ASCII, at most 40 characters; the address itself if it has
    no host."""
    try:
        host = urlsplit(safe_url(url) or url).hostname or url
        host = host.encode("idna").decode() if not host.isascii() else host
    except (ValueError, UnicodeError):
        host = url
    return host if len(host) <= _MAX_HOST else f"…{host[1 - _MAX_HOST :]}"
