"""Cards that say where they lead, and have nothing fetched that carries words away. Pure.

An agent may pass on what somebody talked it into, in any form: a button, a title or a picture with
an address of its own. What others post may look like one address and lead to another.
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
from bridge.content.safety.link_targets import deceives, with_targets
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Inline, Link, Paragraph, Text
from bridge.content.text.urls import safe_url
from bridge.model import Loss

Line = tuple[Inline, ...]
_LABEL = 70  # characters: no platform cuts a label that is shorter
_HOST = 40
_LONGEST_PATH = 120  # of a picture's address: a longer one carries more than a name
_SIGNS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s<>|\"'`)\]}]+")


def honest_card(card: Card, *, of_agent: bool) -> tuple[Card, tuple[Loss, ...]]:
    """The card with the addresses that it hid, the same object where it hid none, and the pictures
    that it may not have. Of others than agents only names that are other addresses are mended."""
    writing = _Writing(of_agent)
    shown: Card = writing.value(with_targets(card, always=of_agent))
    return shown, tuple(writing.losses)


def addresses_in(value: object) -> Iterator[str]:
    """Every address in the strings of a payload, but for what names its schema."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            stack += [inner for key, inner in one.items() if key != "$schema"]
        elif isinstance(one, (list, tuple)):
            stack += one
        elif isinstance(one, str) and "://" in one:
            yield from (unescape(found) for found in _ADDRESS.findall(one))


def tells_all(card: Card, payloads: Iterable[object]) -> bool:
    """Whether each address of the payloads stands in the card that was read of them: what a reader
    left out would still be opened or fetched where the payload is shown as it came."""
    known = {one for one in _strings(card) if "://" in one}
    told = " ".join(known)
    return all(
        one in known or one.rstrip(".,:;!?*_~") in told for one in addresses_in(list(payloads))
    )


def _strings(card: Card) -> Iterator[str]:
    stack: list[Any] = [card]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, tuple):
            stack += one
        elif is_dataclass(one):
            stack += [getattr(one, known.name) for known in fields(one) if known.name != "payload"]


class _Writing:
    def __init__(self, of_agent: bool) -> None:
        self.losses: list[Loss] = []
        self._of_agent = of_agent

    def value(self, value: Any) -> Any:
        """With all that is within it; the same object where nothing changes."""
        if isinstance(value, tuple):
            before: tuple[Any, ...] = value
            items = [self.value(one) for one in before]
            return value if all(map(_is, items, before)) else tuple(items)
        if not is_dataclass(value) or isinstance(value, (type, Text, Link, Asset)):
            return value
        changes: dict[str, Any] = {}
        for one in fields(value):
            inner = getattr(value, one.name)
            if isinstance(inner, (str, int, float, dict, list)) or inner is None:
                continue
            if (new := self.value(inner)) is not inner:
                changes[one.name] = new
        return self._told(replace(value, **changes) if changes else value)

    def _told(self, value: Any) -> Any:
        match value:
            case Button(does="open", url=url, label=label) | Option(url=url, label=label) if url:
                if self._of_agent or deceives(label, url):
                    return _with_host(value, label, url)
                return value
            case _ if not self._of_agent:
                return value
            case Container() | Column() | Credit():
                return self._box(value)
            case Image() | Player():
                return self._media(value)
            case Gallery(items) if not all(isinstance(one, Image | Player) for one in items):
                return _apart(value)
            case Section(accessory=Prose() | Container()):
                return Container(stack_section(value), at=value.at)
            case File(asset=asset) if asset.url and not asset.file_id:
                return _words(value.title or _text(asset.name), asset.url, value.at)
            case Native(payload=payload) if any(addresses_in(payload)):
                return Container(value.fallback, at=value.at)
            case _:
                return self._without_icon(value)

    def _box(self, box: Any) -> Any:
        """A title or a name that is clicked on: the address stands below, or beside it."""
        box = self._without_icon(box)
        if isinstance(box, Container):
            pictures: list[Node] = []
            for name in ("hero", "thumbnail"):
                held = getattr(box, name)
                if held is not None and not isinstance(held, Image):  # a picture that became words
                    pictures.append(held)
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
        """What is fetched as soon as it is seen may carry what was said in its address."""
        if _carries(node.asset.url):
            self._lose(node.at, node.asset.url)
            title = node.title or _text(node.asset.alt)
            return _words(title, node.asset.url, node.at)
        if isinstance(node, Player) and node.poster is not None and _carries(node.poster.url):
            self._lose(node.at, node.poster.url)
            node = replace(node, poster=None)
        if url := _address(node.link):
            bare = Link(url, (Text(url),))
            gap = (Text(" "),) if node.title else ()
            return replace(node, link="", title=(*node.title, *gap, bare))
        return node

    def _without_icon(self, value: Any) -> Any:
        icon = getattr(value, "icon", None)
        if not isinstance(icon, Asset) or not _carries(icon.url):
            return value
        self._lose(getattr(value, "at", ""), icon.url)
        return replace(value, icon=None)

    def _lose(self, at: str, url: str) -> None:
        self.losses.append(Loss(path=at, kind="agents_picture", what=url, shown_as="its address"))


def _apart(gallery: Gallery) -> Container:
    """Words do not stand between pictures side by side."""
    nodes: list[Node] = []
    for is_shown, run in groupby(gallery.items, lambda one: isinstance(one, Image | Player)):
        items = tuple(run)
        nodes += [replace(gallery, items=items)] if is_shown else items
    return Container(tuple(nodes), at=gallery.at)


def _is(one: object, other: object) -> bool:
    return one is other


def _address(url: str) -> str:
    return (safe_url(url) or "") if url else ""


def _text(words: str) -> Line:
    return (Text(words),) if words else ()


def _words(title: Line, address: str, at: str) -> Prose:
    url = _address(address)
    bare: Line = (Link(url, (Text(url),)),) if url else ()
    gap = (Text(" "),) if title and bare else ()
    return Prose((Paragraph((*title, *gap, *bare)),), at=at)


def _carries(url: str) -> bool:
    """Whether a picture's address holds more than where the picture is."""
    if not url or url.startswith("data:"):
        return False
    try:
        found = urlsplit(url)
        return bool(found.query or found.username or len(found.path) > _LONGEST_PATH)
    except ValueError:
        return True


def _with_host(value: Any, label: Line, url: str) -> Any:
    """`Open (evil.example)`; of a long host its end, which says whose it is."""
    told = host_of(url)
    said = plain_inlines(label)
    if safe_url(url) == url and (said in (told, url) or said.endswith(f"({told})")):
        return value
    sign = f" ({told})" if said else told
    room = _LABEL - len(sign)
    if len(said) <= room and not _SIGNS.search(said):
        return replace(value, label=(*label, Text(sign)))
    plain = " ".join(_SIGNS.sub("", said).split())
    cut = plain if len(plain) <= room else f"{plain[: room - 1]}…"
    return replace(value, label=(Text(f"{cut}{sign}"),))


def host_of(url: str) -> str:
    """Whose address it is, as it is asked for; the address where it has no host."""
    try:
        host = urlsplit(safe_url(url) or url).hostname or url
        host = host.encode("idna").decode() if not host.isascii() else host
    except (ValueError, UnicodeError):
        host = url
    return host if len(host) <= _HOST else f"…{host[1 - _HOST :]}"
