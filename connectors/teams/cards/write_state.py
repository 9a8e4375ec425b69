"""The state of writing one card: losses, ids, files and actions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from bridge.content.cards.tree import Asset, Node
from bridge.content.cards.writing import CardWriting
from bridge.content.text.graphemes import cluster_start
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Inline, Text
from bridge.content.text.urls import safe_url

Element = dict[str, Any]
"""JSON of an element, an action or a run of text."""

Line = tuple[Inline, ...]

TITLE_LIMIT = 200  # characters of a button, an option or a hint: clients show one line
LABEL_LIMIT = 1000  # characters of an input's label
VALUE_LIMIT = 3000  # characters of an input's value or a URL: a card has room for about 12,000
_DATA_LIMIT = 4000  # characters of a data URI
_DATA = re.compile(r"data:image/(?:png|jpeg|gif);base64,[A-Za-z0-9+/]+={0,2}\Z")
_WORD_END = re.compile(r"\s(?=\S*\Z)")

# Clients and the published schema refuse URLs that RFC 3986 does not allow.
_LEGAL = r"(?:[A-Za-z0-9\-._~:/?@!$&'()*+,;=]++|%[0-9A-Fa-f]{2})*+"
_HOST = (
    r"(?:(?:[A-Za-z0-9\-._~!$&'()*+,;=:]++|%[0-9A-Fa-f]{2})*+@)?"
    r"(?:(?:[A-Za-z0-9\-._~!$&'()*+,;=]++|%[0-9A-Fa-f]{2})++|\[[0-9A-Fa-f:.]+\])"
)
_URL = re.compile(
    rf"(?:https?://{_HOST}(?::[0-9]*)?(?![^/?#]){_LEGAL}|mailto:(?=[^/#]){_LEGAL})(?:#{_LEGAL})?\Z",
    re.IGNORECASE,
)
_RESERVED = ":/?#@!$&'()*+,;=~%"
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(slots=True)
class Writing(CardWriting[Element]):
    """The state of writing one card.

    - `shows`: a button may open an inner card here.
    - `presses`, `sends`: actions without and with the inputs of the card.
    - `inputs`, `waiting_inputs`: number of inputs, and of those without a button of their own.
    - `many`, `typed`: tokens of inputs with several chosen, or typed, values.
    """

    files: list[tuple[Element | None, Asset]] = field(
        default_factory=list[tuple[Element | None, Asset]]
    )
    presses: list[Element] = field(default_factory=list[Element])
    sends: list[Element] = field(default_factory=list[Element])
    many: list[str] = field(default_factory=list[str])
    typed: list[str] = field(default_factory=list[str])
    inputs: int = 0
    waiting_inputs: int = 0
    submits: int = 0
    toggles: int = 0
    shows: bool = True
    _ids: dict[str, int] = field(default_factory=dict[str, int])
    _named: dict[str, str] = field(default_factory=dict[str, str])
    _standing: set[str] = field(default_factory=set[str])

    def elements(self, nodes: Iterable[Node]) -> list[Element]:
        """Return the elements of nodes, one level deeper."""
        return with_rules(self.collect(nodes))

    def own_id(self, preferred: str) -> str:
        """Return a new unique id, which begins with `preferred`."""
        own_id, number = preferred, self._ids.get(preferred, 0)
        while own_id in self._ids:
            number += 1
            own_id = f"{preferred}-{number}"
        self._ids[own_id] = 1
        if own_id != preferred:
            self._ids[preferred] = number
        return own_id

    def is_free(self, name: str) -> bool:
        return name not in self._ids

    def id_of(self, name: str) -> str:
        """Return the id of the element with this name in the card."""
        if (own_id := self._named.get(name)) is None:
            own_id = self._named[name] = self.own_id(name)
        return own_id

    def id_for(self, name: str) -> str:
        """Return the id for a written element; only the first of a name has the name's id."""
        if not name or name in self._standing:
            return self.own_id(name or "part")
        self._standing.add(name)
        return self.id_of(name)

    def link(self, url: str, at: str) -> str:
        """Return a safe URL; for an unsafe one an empty string, and report a Loss."""
        if not url:
            return ""
        if not (safe := sound_url(url)):
            self.lose(at, "unsafe_link", url[:VALUE_LIMIT], "its text")
        return safe

    @property
    def origin(self) -> str:
        """The link to the original message, or an empty string."""
        return sound_url(self.rendering.origin) if self.rendering.origin else ""

    def picture(self, asset: Asset) -> str:
        """Return the URL of a picture for clients; empty if they cannot fetch it."""
        url = self.url_of(asset)
        if url[:5] == "data:":
            return url if len(url) <= _DATA_LIMIT and _DATA.match(url) else ""
        safe = sound_url(url) if url[:4].lower() == "http" else ""
        return "" if _is_vector(asset, safe) else safe

    def short(self, text: str, at: str, kind: str, limit: int = TITLE_LIMIT) -> str:
        """Return at most `limit` characters; report the remaining words as a Loss."""
        if len(text) <= limit:
            return text
        cut = cluster_start(text, limit - 1)
        space = _WORD_END.search(text, limit // 2, cut)
        head = text[: space.start() if space else cut]
        self.lose(at, kind, text[len(head) :].strip(), f"{head[-40:]}…")
        return f"{head}…"


def together(elements: list[Element]) -> Element | str:
    """Return one element for several, `drop` for none."""
    if not elements:
        return "drop"
    return elements[0] if len(elements) == 1 else {"type": "Container", "items": elements}


def with_rules(elements: list[Element]) -> list[Element]:
    """Turn each rule into a separator of the next element, or into an empty container."""
    if "" not in [element["type"] for element in elements]:
        return elements
    with_lines: list[Element] = []
    rule: Element | None = None
    for element in elements:
        if element["type"] == "":
            with_lines += [_bare(rule)] if rule is not None else []
            rule = element
        elif rule is not None:
            element.update(_line(rule))
            with_lines.append(element)
            rule = None
        else:
            with_lines.append(element)
    return [*with_lines, _bare(rule)] if rule is not None else with_lines


def _line(rule: Element) -> Element:
    return {name: value for name, value in rule.items() if name != "type"}


def _bare(rule: Element) -> Element:
    return {"type": "Container", "items": [], **_line(rule)}


def sound_url(url: str) -> str:
    """Return a URL valid by RFC 3986; empty if it is unsafe or too long."""
    if len(url) <= VALUE_LIMIT and _URL.match(url):
        return url
    safe = safe_url(url)
    if safe is None:
        return ""
    scheme, colon, path = safe.partition(":")
    path, hash_, fragment = path.partition("#")
    quoted = scheme + colon + quote(path, safe=_RESERVED, errors="replace")
    quoted += hash_ + quote(fragment, safe=_RESERVED.replace("#", ""), errors="replace")
    quoted = _STRAY_PERCENT.sub("%25", quoted)
    return quoted if len(quoted) <= VALUE_LIMIT and _URL.match(quoted) else ""


def _is_vector(asset: Asset, url: str) -> bool:
    """Return whether it is an SVG, which cards do not show."""
    if asset.media_type:
        return asset.media_type.startswith("image/svg")
    return url.partition("?")[0].partition("#")[0].lower().endswith((".svg", ".svgz"))


def plain(line: Line) -> str:
    """Return a line as plain text on one line."""
    if len(line) == 1 and isinstance(only := line[0], Text):
        text = only.value
    else:
        text = plain_inlines(line)
    return " ".join(text.split()) if "\n" in text or "\r" in text else text
