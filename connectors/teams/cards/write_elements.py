"""Nodes of a card -> elements of an Adaptive Card: one function for each kind of node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf, isfinite
from typing import Any

from bridge.content.cards import degrade
from bridge.content.cards import tree as card
from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Alert,
    Badge,
    Button,
    Divider,
    Native,
    Node,
    Nodes,
    Poll,
    Progress,
    Prose,
    Rating,
    Tasks,
)
from bridge.content.text.tree import Emoji, Text
from connectors.teams.cards.write_actions import actions_row, button_row, choice_elements
from connectors.teams.cards.write_charts import chart
from connectors.teams.cards.write_inputs import input_elements, lose_confirm
from connectors.teams.cards.write_media import file, gallery, image, player
from connectors.teams.cards.write_native import native
from connectors.teams.cards.write_state import MAX_DEPTH, Element, Writing, plain, together
from connectors.teams.cards.write_structure import (
    card_table,
    carousel,
    columns,
    container,
    context,
    fields,
    section,
)
from connectors.teams.cards.write_text import document_elements, with_rules

_SIZES = {"small": "small", "large": "large", "huge": "extraLarge"}
_BADGES = {
    "default": "Default", "accent": "Accent", "good": "Good", "warning": "Warning",
    "attention": "Attention", "emphasis": "Informative",
}  # fmt: skip
_COLORS = ("accent", "good", "warning", "attention")
_ALERTS = {
    "info": ("accent", "ℹ️"), "success": ("good", "✅"), "warning": ("warning", "⚠️"),
    "error": ("attention", "⛔"),
}  # fmt: skip


def start(rendering: Rendering) -> Writing:
    return Writing(rendering, nodes_elements)


def nodes_elements(writing: Writing, nodes: Iterable[Node]) -> list[Element]:
    """The nodes one below the other; neighbouring buttons share a row."""
    if writing.depth > MAX_DEPTH:
        nodes = _flat(writing, nodes)
    found: list[Element] = []
    buttons: list[Button] = []
    for node in nodes:
        if isinstance(node, Button):
            buttons.append(node)
            continue
        if buttons:
            found += button_row(writing, buttons)
            buttons = []
        found += _WRITERS[type(node)](writing, node)
    if buttons:
        found += button_row(writing, buttons)
    return with_rules(found)


# --- text and what is told in a form of its own -------------------------------------------------


def prose(writing: Writing, node: Prose) -> list[Element]:
    return document_elements(node.text, writing, _look(node), node.at)


def _look(node: Prose) -> Element | None:
    if node.size == "normal" and node.style == "default" and not node.subtle and not node.align:
        return None
    look: Element = {}
    if size := _SIZES.get(node.size):
        look["size"] = size
    if node.style in _COLORS:
        look["color"] = node.style
    elif node.style == "emphasis":
        look["weight"] = "bolder"
    if node.subtle:
        look["isSubtle"] = True
    if node.align:
        look["horizontalAlignment"] = node.align
    return look


def divider(writing: Writing, node: Divider) -> list[Element]:
    rule: Element = {"type": ""}
    if node.line:
        rule["separator"] = True
    if node.large or not node.line:
        rule["spacing"] = "extraLarge" if node.large else "large"
    return [rule]


def alert(writing: Writing, node: Alert) -> list[Element]:
    style, sign = _ALERTS[node.level]
    text = degrade.lead((Emoji(sign, sign), Text(" ")), node.text)
    items = with_rules(document_elements(text, writing, None, node.at))
    return [{"type": "Container", "style": style, "items": items}]


def badge(writing: Writing, node: Badge) -> list[Element]:
    """A word on a coloured ground, or an icon of Teams' own set; elsewhere bold text."""
    text = writing.short(plain(node.text), node.at, "badge_cut")
    hint = writing.short(plain(node.hint), node.at, "badge_cut")
    if not text and not node.icon:
        return prose(writing, degrade.badge_as_prose(node))
    fallback = together(prose(writing, degrade.badge_as_prose(node)))
    if not text and not hint:
        return [{"type": "Icon", "name": node.icon[:100], "fallback": fallback}]
    found: Element = {"type": "Badge", "text": text, "style": _BADGES[node.style]}
    if node.icon:
        found["icon"] = node.icon[:100]
    if hint:
        found["tooltip"] = hint
    return [{**found, "fallback": fallback}]


def progress(writing: Writing, node: Progress) -> list[Element]:
    """The label, and a bar; elsewhere a bar of signs."""
    known = node.value is not None and isfinite(node.value) and 0 < node.most < inf
    bar = Progress(node.value if known else None, most=node.most, at=node.at)
    found: Element = {"type": "ProgressBar"}
    if known and node.value is not None:
        found["value"] = min(max(node.value, 0), node.most)
        found["max"] = node.most
    if node.style in _COLORS:
        found["color"] = node.style.capitalize()
    found["fallback"] = prose(writing, degrade.progress_as_prose(bar))[0]
    label = prose(writing, degrade.line_prose(node.label, node.at)) if node.label else []
    return [*label, found]


def rating(writing: Writing, node: Rating) -> list[Element]:
    """Stars; elsewhere signs."""
    most = max(node.most, 1)
    value = min(max(node.value, 0), most) if isfinite(node.value) else 0
    found: Element = {"type": "Rating", "value": value, "max": most}
    if node.count is not None:
        found["count"] = node.count
    stars = degrade.rating_as_prose(replace(node, value=value))
    return [{**found, "fallback": prose(writing, stars)[0]}]


def tasks(writing: Writing, node: Tasks) -> list[Element]:
    return writing.elements(degrade.tasks_as_nodes(node))


def poll(writing: Writing, node: Poll) -> list[Element]:
    if not node.closed:
        writing.lose(node.at, "poll_as_text", "voting", "the question and its answers")
    return writing.elements(degrade.poll_as_nodes(node))


# --- which node is written how ------------------------------------------------------------------

_WRITERS: Mapping[type[Any], Callable[[Writing, Any], list[Element]]] = {
    Prose: prose,
    Divider: divider,
    Alert: alert,
    Badge: badge,
    Progress: progress,
    Rating: rating,
    Tasks: tasks,
    Poll: poll,
    Native: native,
    card.Chart: chart,
    card.Table: card_table,
    card.Context: context,
    card.Fields: fields,
    card.Image: image,
    card.Player: player,
    card.Gallery: gallery,
    card.File: file,
    card.Section: section,
    card.Columns: columns,
    card.Container: container,
    card.Carousel: carousel,
    card.Actions: actions_row,
    card.TextInput: input_elements,
    card.NumberInput: input_elements,
    card.DateInput: input_elements,
    card.Toggle: input_elements,
    card.Choice: choice_elements,
    card.Picker: input_elements,
    card.FileInput: input_elements,
}


def _flat(writing: Writing, nodes: Iterable[Node]) -> Iterator[Node]:
    """What they hold, one below the other, however deep they lie."""
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif (inner := _opened(writing, node)) is not None:
            stack.append(iter(inner))
        else:
            yield node


def _opened(writing: Writing, node: Node) -> Nodes | None:
    match node:
        case card.Container():
            return degrade.open_container(node)
        case card.Section():
            return degrade.stack_section(node)
        case card.Columns():
            return degrade.stack_columns(node)
        case card.Carousel(cards):
            return cards
        case card.Table(rows, title=title):
            named = (degrade.line_prose(title, node.at),) if title else ()
            return (*named, *(one for row in rows for cell in row for one in cell))
        case Tasks():
            return degrade.tasks_as_nodes(node)
        case Native(fallback=fallback):
            return fallback
        case card.Actions(items):
            return items
        case Button(does="reveal", nodes=(_, *_)):
            writing.lose(node.at, "reveal_opened", node.hint or plain(node.label), "its words")
            lose_confirm(writing, node.confirm, node.at)
            return (degrade.line_prose(node.label, node.at), *node.nodes)
        case _:
            return None
