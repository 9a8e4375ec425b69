"""One card while it is read: what is known of it, and how elements, those that are hidden and
those that need another in their place are gone through. The elements themselves are elsewhere.
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
"""(the card, an element, where it stands, how deep) -> its nodes."""

MAX_DEPTH = 12  # elements within elements; what lies deeper stands side by side
_MARKED = 400_000  # characters of a card whose Markdown is read; a message has 100 KB at most
_POINTERS = 30_000_000  # characters of pointers; then deep elements stand where theirs stands
_DEEPEST = 60  # levels of an element that is kept as it is
_RESOURCE = re.compile(r"\$\{rs:([^{}]{1,200})\}")
_INNER = (
    *("body", "items", "columns", "rows", "cells", "pages", "images", "content", "card"),
    *("actions", "selectAction", "inlineAction", "menuActions"),
)
"""Where elements and actions hold others, in the order in which they are shown."""


@dataclass(slots=True)
class Reading:
    """`asks`: the card has inputs. `toggled`: the ids that its actions show and hide. `unmet`
    counts elements that nothing stands for, `bare` how many unknown ones we are within."""

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
        """Text with the Markdown of cards."""
        text = self.resolved(text)
        self._marked -= len(text)
        return marked_text(text, self.context) if self._marked > 0 else plain_text(text)

    def marked_line(self, text: str) -> Line:
        text = self.resolved(text)
        self._marked -= len(text)
        return marked_line(text, self.context) if self._marked > 0 else plain_line(text)

    def line(self, element: Json, key: str) -> Line:
        """Text that shows its characters as they are."""
        text = string(element, key)
        return plain_line(self.resolved(text)) if text else ()

    def text(self, element: Json, key: str) -> str:
        """The same as a string, on its lines."""
        return self.resolved(string(element, key)).strip()

    def resolved(self, text: str) -> str:
        """`${rs:name}` is what the card's resources say."""
        if not self.strings or "${rs:" not in text:
            return text
        return _RESOURCE.sub(lambda resource: self.strings.get(resource[1], resource[0]), text)

    # --- elements

    def nodes(self, several: JsonValue, at: str, depth: int) -> list[Node]:
        """Elements below one another, lines between them where they are asked for."""
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
        """One of several; side by side with what lies in it where it lies very deep."""
        if depth > MAX_DEPTH:
            return list(self._flat(iter([(item, at)])))
        return self.element(item, at, depth)

    def element(self, item: JsonValue, at: str, depth: int) -> list[Node]:
        """One element or action, or what is to be shown in its place."""
        if type(item) is not dict:
            return list(self._words(item, at))
        kind = item.get("type")
        reader = self.readers.get(kind) if type(kind) is str else None
        if reader is None or "fallback" in item or "requires" in item:
            return self._first_met(item, at, depth)
        return self.with_visibility(item, self._read(reader, item, at, depth), at)

    def _read(self, reader: ElementReader, item: Json, at: str, depth: int) -> list[Node]:
        """What an element says, and elements in one that should have none."""
        if _is_misfit(item):
            return self.unknown(self, item, at, depth)
        nodes = reader(self, item, at, depth)
        if "items" in item and item.get("type") not in _WITH_ITEMS:
            nodes = [*nodes, *self.nodes(item["items"], f"{at}/items", depth + 1)]
        return nodes

    def _words(self, item: JsonValue, at: str) -> Iterator[Node]:
        """What is no element says its words."""
        text = item if isinstance(item, str) else written_number(item)
        if document := self.marked(text):
            yield Prose(document, at=at)

    def with_visibility(self, item: Json, nodes: list[Node], at: str) -> list[Node]:
        """The nodes of an element; a container around them where they are shown and hidden."""
        hidden = _is_hidden(item)
        if not hidden and not self.toggled:
            return nodes
        own_id = string(item, "id")
        if not nodes or not (hidden or own_id in self.toggled):
            return nodes
        return [_foldable(nodes, at, own_id, hidden=hidden)]

    def meets(self, item: Json) -> bool:
        """Whether we are a host as the element requires one."""
        requires = item.get("requires")
        if not isinstance(requires, dict):
            return True
        return all(_has(name, version) for name, version in requires.items())

    def _first_met(self, item: Json, at: str, depth: int) -> list[Node]:
        """The element, or the first of its fallbacks that can be shown. What cannot, and has
        none, asks for the fallback of what it stands in."""
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

    # --- what lies too deep

    def _flat(self, several: _Placed) -> Iterator[Node]:
        """Every element by itself, without what is in it; that follows. No recursion."""
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
        """The element, or the first of its fallbacks that is known."""
        while not self.knows(item) and isinstance(fallback := item.get("fallback"), dict):
            item = fallback
        return item

    def _alone(self, item: Json, at: str, hidden_by: str | None) -> Iterable[Node]:
        """What an element says without those in it; no container of nothing."""
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
        """What an element holds, and its text runs' actions; an unknown one is read as a whole."""
        if not self.knows(item) and not _is_frame(item):
            return
        for index, run in enumerate(items(item, "inlines")):
            if isinstance(run, dict) and "selectAction" in run:
                place = self._below(self._below(at, "inlines"), index)
                yield run["selectAction"], self._below(place, "selectAction")
        for key in _INNER:
            if isinstance(held := item.get(key), dict | list):
                yield held, self._below(at, key)

    def _below(self, at: str, step: str | int) -> str:
        """A pointer, while there is room for such."""
        if self._pointers < 0:
            return at
        place = f"{at}/{step}"
        self._pointers -= len(place)
        return place


_Placed = Iterator[tuple[JsonValue, str]]


def _is_frame(item: Json) -> bool:
    """Columns, rows and cells need not say what they are."""
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
    """Whether something else stands where words should."""
    get = item.get
    return (
        type(get("text")) in _HOLDERS
        or type(get("title")) in _HOLDERS
        or type(get("label")) in _HOLDERS
    )


def as_it_is(item: Json, nodes: Iterable[Node], at: str) -> list[Node]:
    """The element itself and nodes that say the same; these alone where it is very deep."""
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
    """Whether we know this ability in this version or a newer one."""
    if name not in _NEWEST or not isinstance(version, str):
        return False
    parts = version.strip().split(".")[:2]
    if version.strip() == "*":
        return True
    if not all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts):
        return False
    return tuple(map(int, parts)) <= _NEWEST[name]


# --- a card as a whole ----------------------------------------------------------------------


def begin_reading(
    card: Json, workspace: str, readers: Mapping[str, ElementReader], unknown: ElementReader
) -> Reading:
    """What is to be known before the first element is read."""
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
    """Whether there are inputs anywhere, and the ids that actions show and hide."""
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
    """The ids in a list of target elements, each an id or an object with one."""
    named = [
        string(item, "elementId") if isinstance(item, dict) else item
        for item in items(action, "targetElements")
    ]
    return tuple(target for target in named if isinstance(target, str) and target)


def _strings(card: Json) -> dict[str, str]:
    """The card's string resources, in its own language where they have it."""
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
