"""The state of reading one card: texts, element dispatch, visibility, fallbacks and depth.

The readers of the elements are in other files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting
from bridge.content.cards.tree import Container, Divider, Native, Node, Prose
from bridge.content.text.tree import Document, Inline
from bridge.errors import CodecError
from connectors.teams.cards.json_values import (
    Json,
    choice_of,
    flag,
    items,
    object_at,
    objects,
    string,
    written_number,
)
from connectors.teams.cards.read_mentions import mentions_of_entities
from connectors.teams.cards.read_text import (
    CardContext,
    marked_line,
    marked_text,
    plain_line,
    plain_text,
)
from connectors.teams.cards.schemas import ADAPTIVE

Line = tuple[Inline, ...]
ElementReader = Callable[["Reading", Json, str, int], list[Node]]
"""(reading, element, place, depth) -> nodes."""

MAX_DEPTH = 12  # levels of elements; deeper elements become siblings
_MARKED = 400_000  # characters of Markdown in a card; a message has at most 100 KB
_POINTERS = 30_000_000  # characters; beyond, deep elements get their ancestor's pointer
_DEEPEST = 60  # levels of a native element
_RESOURCE = re.compile(r"\$\{rs:([^{}]{1,200})\}")
_INNER = (
    *("body", "items", "columns", "rows", "cells", "pages", "images", "content", "card"),
    *("actions", "selectAction", "inlineAction", "menuActions"),
)
"""Keys of inner elements and actions, in visible order."""


@dataclass(slots=True)
class Reading:
    """The state of reading one card.

    `asks`: the card has inputs. `toggled`: ids that its actions show and hide. `unmet`: number of
    elements without a usable fallback. `bare`: number of enclosing unknown elements.
    """

    readers: Mapping[str, ElementReader]
    unknown: ElementReader
    context: CardContext = field(default_factory=CardContext)
    strings: Mapping[str, str] = field(default_factory=dict[str, str])
    asks: bool = False
    toggled: frozenset[str] = frozenset()
    unmet: int = 0
    bare: int = 0
    _marked: int = _MARKED
    _pointers: int = _POINTERS

    # --- text

    def marked(self, text: str) -> Document:
        """Return text with Markdown; plain text beyond the limit of the card."""
        text = self.resolved(text)
        self._marked -= len(text)
        return marked_text(text, self.context) if self._marked > 0 else plain_text(text)

    def marked_line(self, text: str) -> Line:
        text = self.resolved(text)
        self._marked -= len(text)
        return marked_line(text, self.context) if self._marked > 0 else plain_line(text)

    def line(self, element: Json, key: str) -> Line:
        """Return a plain text member as one line."""
        text = string(element, key)
        return plain_line(self.resolved(text)) if text else ()

    def text(self, element: Json, key: str) -> str:
        """Return a plain text member as a string."""
        return self.resolved(string(element, key)).strip()

    def resolved(self, text: str) -> str:
        """Replace `${rs:name}` by the string resources of the card."""
        if not self.strings or "${rs:" not in text:
            return text
        return _RESOURCE.sub(lambda resource: self.strings.get(resource[1], resource[0]), text)

    # --- elements

    def nodes(self, several: JsonValue, at: str, depth: int) -> list[Node]:
        """Return the nodes of several elements, with dividers for separators."""
        if not isinstance(several, list):
            return self._lone(several, at, depth)
        if depth > MAX_DEPTH:
            return list(self._flat(self._listed(several, at)))
        elements: list[Node] = []
        for index, item in enumerate(several):
            nodes = self.element(item, f"{at}/{index}", depth)
            if elements and nodes and type(item) is dict and "separator" in item:
                elements += _separator(item, f"{at}/{index}")
            elements += nodes
        return elements

    def _lone(self, item: JsonValue, at: str, depth: int) -> list[Node]:
        return self.single(item, at, depth) if isinstance(item, dict | str) else []

    def single(self, item: JsonValue, at: str, depth: int) -> list[Node]:
        """Return the nodes of one item of a list; flat beyond the maximal depth."""
        if depth > MAX_DEPTH:
            return list(self._flat(iter([(item, at)])))
        return self.element(item, at, depth)

    def element(self, item: JsonValue, at: str, depth: int) -> list[Node]:
        """Return the nodes of an element or action, or of its fallback."""
        if type(item) is not dict:
            return list(self._words(item, at))
        kind = item.get("type")
        reader = self.readers.get(kind) if type(kind) is str else None
        if reader is None or "fallback" in item or "requires" in item:
            return self._first_met(item, at, depth)
        return self.with_visibility(item, self._read(reader, item, at, depth), at)

    def _read(self, reader: ElementReader, item: Json, at: str, depth: int) -> list[Node]:
        """Read an element, and unexpected `items` in it."""
        if _is_misfit(item):
            return self.unknown(self, item, at, depth)
        nodes = reader(self, item, at, depth)
        if "items" in item and item.get("type") not in _WITH_ITEMS:
            nodes = [*nodes, *self.nodes(item["items"], f"{at}/items", depth + 1)]
        return nodes

    def _words(self, item: JsonValue, at: str) -> Iterator[Node]:
        """Yield the words of an item that is no element."""
        text = item if isinstance(item, str) else written_number(item)
        if document := self.marked(text):
            yield Prose(document, at=at)

    def with_visibility(self, item: Json, nodes: list[Node], at: str) -> list[Node]:
        """Return the nodes, in a container if the element is hidden or toggled."""
        hidden = _is_hidden(item)
        if not hidden and not self.toggled:
            return nodes
        own_id = string(item, "id")
        if not nodes or not (hidden or own_id in self.toggled):
            return nodes
        return [_foldable(nodes, at, own_id, hidden=hidden)]

    def meets(self, item: Json) -> bool:
        """Return whether the bridge meets the host requirements of an element."""
        requires = item.get("requires")
        if not isinstance(requires, dict):
            return True
        return all(_has(name, version) for name, version in requires.items())

    def _first_met(self, item: Json, at: str, depth: int) -> list[Node]:
        """Return the nodes of the element, or of its first usable fallback.

        An unusable element without fallback triggers the fallback of its enclosing element.
        """
        while True:
            kind = item.get("type")
            reader = self.readers.get(kind) if isinstance(kind, str) else None
            fallback = item.get("fallback")
            if reader is not None and self.meets(item):
                unmet = self.unmet
                nodes = self.with_visibility(item, self._read(reader, item, at, depth), at)
                if self.unmet == unmet or fallback is None:
                    return nodes
                self.unmet = unmet
            if fallback is None:
                self.unmet += 1
                return self.with_visibility(
                    item, (reader or self.unknown)(self, item, at, depth), at
                )
            if not isinstance(fallback, dict):
                return []  # "drop"
            item, at = fallback, f"{at}/fallback"

    # --- too deep elements

    def _flat(self, several: _Placed) -> Iterator[Node]:
        """Yield elements without their inner elements, which follow; no recursion."""
        stack: list[tuple[_Placed, str | None]] = [(several, None)]
        while stack:
            level, hidden_by = stack[-1]
            entry = next(level, None)
            if entry is None:
                stack.pop()
                continue
            item, place = entry
            if isinstance(item, list):
                stack.append((self._listed(item, place), hidden_by))
            elif isinstance(item, dict):
                item = self._standing(item)
                if _is_hidden(item):
                    hidden_by = string(item, "id")
                yield from self._alone(item, place, hidden_by)
                stack.append((self._within(item, place), hidden_by))
            else:
                yield from self._words(item, place)

    def _standing(self, item: Json) -> Json:
        """Return the element, or its first known fallback."""
        while not self.knows(item) and isinstance(fallback := item.get("fallback"), dict):
            item = fallback
        return item

    def _alone(self, item: Json, at: str, hidden_by: str | None) -> Iterable[Node]:
        """Return the nodes of an element without its inner elements."""
        if self.knows(item):
            nodes = self.readers[string(item, "type")](self, _without_inner(item), at, MAX_DEPTH)
        else:
            nodes = [] if _is_frame(item) else self.unknown(self, item, at, MAX_DEPTH)
        if hidden_by is not None:
            return [_foldable(nodes, at, hidden_by, hidden=True)] if nodes else []
        return nodes

    def knows(self, item: Json) -> bool:
        return string(item, "type") in self.readers

    def _listed(self, several: list[JsonValue], at: str) -> _Placed:
        for index, item in enumerate(several):
            yield item, self._below(at, index)

    def _within(self, item: Json, at: str) -> _Placed:
        """Yield inner elements and the actions of text runs; none of unknown elements."""
        if not self.knows(item) and not _is_frame(item):
            return
        for index, run in enumerate(items(item, "inlines")):
            if isinstance(run, dict) and "selectAction" in run:
                place = self._below(self._below(at, "inlines"), index)
                yield run["selectAction"], self._below(place, "selectAction")
        for key in _INNER:
            if isinstance(members := item.get(key), dict | list):
                yield members, self._below(at, key)

    def _below(self, at: str, step: str | int) -> str:
        """Return the pointer of a member, or its ancestor's when the budget is spent."""
        if self._pointers < 0:
            return at
        place = f"{at}/{step}"
        self._pointers -= len(place)
        return place


_Placed = Iterator[tuple[JsonValue, str]]


def _is_frame(item: Json) -> bool:
    """Return whether it is a column, row or cell without type."""
    return "type" not in item and not _FRAMED.isdisjoint(item)


_FRAMED = frozenset(("items", "cells"))


def _without_inner(item: Json) -> Json:
    own = {key: value for key, value in item.items() if key not in _INNER}
    if "inlines" in own:
        own["inlines"] = [_without_action(value) for value in items(own, "inlines")]
    return own


def _without_action(run: JsonValue) -> JsonValue:
    if not isinstance(run, dict) or "selectAction" not in run:
        return run
    return {key: value for key, value in run.items() if key != "selectAction"}


def _foldable(nodes: list[Node], at: str, name: str, *, hidden: bool) -> Container:
    only = nodes[0]
    if len(nodes) == 1 and isinstance(only, Container) and not only.id:
        return replace(only, id=name, hidden=hidden)
    return Container(tuple(nodes), hidden=hidden, id=name, at=at)


_HOLDERS = (dict, list)
_WITH_ITEMS = frozenset(
    ("Container", "Column", "TableCell", "CarouselPage", "AccordionPage", "TabPage")
)


def _is_misfit(item: Json) -> bool:
    """Return whether a text member has a list or an object."""
    get = item.get
    return (
        type(get("text")) in _HOLDERS
        or type(get("title")) in _HOLDERS
        or type(get("label")) in _HOLDERS
    )


def as_it_is(item: Json, nodes: Iterable[Node], at: str) -> list[Node]:
    """Return a native node with a fallback; only the fallback if it is nested too deeply."""
    try:
        check_nesting(item, _DEEPEST)
    except CodecError:
        return [*nodes]
    return [Native(ADAPTIVE, item, tuple(nodes), at=at)]


def _is_hidden(item: Json) -> bool:
    return "isVisible" in item and not flag(item, "isVisible", default=True)


def _separator(item: Json, at: str) -> list[Node]:
    if not flag(item, "separator") or _is_hidden(item):
        return []
    large = choice_of(item, "spacing") in ("large", "extralarge", "padding")
    return [Divider(large=large, at=f"{at}/separator")]


_NEWEST = {"adaptiveCards": (1, 6), "responsiveLayout": (1, 0)}


def _has(name: str, version: JsonValue) -> bool:
    """Return whether the bridge supports a host feature in this version."""
    if name not in _NEWEST or not isinstance(version, str):
        return False
    parts = version.strip().split(".")[:2]
    if version.strip() == "*":
        return True
    if not all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts):
        return False
    return tuple(map(int, parts)) <= _NEWEST[name]


# --- whole cards ----------------------------------------------------------------------------


def begin_reading(
    card: Json, workspace: str, readers: Mapping[str, ElementReader], unknown: ElementReader
) -> Reading:
    """Return the reading state of a card before its first element."""
    asks, toggled = _survey(card)
    entities = objects(object_at(card, "msteams"), "entities") or objects(
        object_at(card, "msTeams"), "entities"
    )
    mentions = mentions_of_entities(entities, workspace)
    sources = {
        number: string(reference, "url")
        for number, reference in enumerate(objects(card, "references"), 1)
    }
    return Reading(
        readers,
        unknown,
        context=CardContext(mentions, sources),
        strings=_strings(card),
        asks=asks,
        toggled=toggled,
    )


def _survey(card: Json) -> tuple[bool, frozenset[str]]:
    """Return whether a card has inputs, and the ids that its actions show and hide."""
    asks = False
    toggled: set[str] = set()
    waiting: list[Json | list[JsonValue]] = [card]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += [item for item in part if type(item) is dict or type(item) is list]
            continue
        if "targetElements" in part:
            toggled.update(targets_of(part))
        if not asks and isinstance(kind := part.get("type"), str):
            asks = kind.startswith("Input.")
        waiting += [item for item in part.values() if type(item) is dict or type(item) is list]
    return asks, frozenset(toggled)


def targets_of(action: Json) -> tuple[str, ...]:
    """Return the ids of target elements; each target is an id or an object."""
    named = [
        string(item, "elementId") if isinstance(item, dict) else item
        for item in items(action, "targetElements")
    ]
    return tuple(target for target in named if isinstance(target, str) and target)


def _strings(card: Json) -> dict[str, str]:
    """Return the string resources of a card, in its language if available."""
    language = string(card, "lang").lower()
    strings: dict[str, str] = {}
    for name, resource in object_at(card, "resources", "strings").items():
        if isinstance(resource, dict):
            localized = object_at(resource, "localizedValues")
            own = next((text for key, text in localized.items() if key.lower() == language), None)
            resolved = own if isinstance(own, str) and language else resource.get("defaultValue")
            if isinstance(resolved, str):
                strings[name] = resolved
    return strings
