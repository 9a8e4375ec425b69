"""Nodes of a card -> elements of an Adaptive Card: one function for each node type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf, isfinite
from typing import Any

from bridge.content.cards import degrade
from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Badge,
    Button,
    Card,
    Carousel,
    Chart,
    Choice,
    Columns,
    Container,
    Context,
    DateInput,
    Divider,
    Fields,
    File,
    FileInput,
    Gallery,
    Image,
    Native,
    Nodes,
    NumberInput,
    Picker,
    Player,
    Poll,
    Progress,
    Prose,
    Rating,
    Section,
    Table,
    Tasks,
    TextInput,
    Toggle,
)
from bridge.content.cards.writing import OPENERS, WriterTable
from bridge.content.text.tree import Emoji, Text
from connectors.teams.cards.write_actions import actions_row, button_row, choice_elements
from connectors.teams.cards.write_charts import chart
from connectors.teams.cards.write_inputs import input_elements, lose_confirm
from connectors.teams.cards.write_media import file, gallery, image, player
from connectors.teams.cards.write_native import native
from connectors.teams.cards.write_state import Element, Writing, plain, together, with_rules
from connectors.teams.cards.write_structure import (
    card_table,
    carousel,
    columns,
    container,
    context,
    fields,
    section,
)
from connectors.teams.cards.write_text import document_elements

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


def start(card: Card, rendering: Rendering) -> Writing:
    """Return the initial state of writing a card."""
    return Writing(card, rendering, _WRITERS)


# --- text, alerts, progress, tasks, polls --------------------------------------------------------


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
    """Return a badge or an icon; other clients show bold text."""
    text = writing.short(plain(node.text), node.at, "badge_cut")
    hint = writing.short(plain(node.hint), node.at, "badge_cut")
    if not text and not node.icon:
        return prose(writing, degrade.badge_as_prose(node))
    fallback = together(prose(writing, degrade.badge_as_prose(node)))
    if not text and not hint:
        return [{"type": "Icon", "name": node.icon[:100], "fallback": fallback}]
    element: Element = {"type": "Badge", "text": text, "style": _BADGES[node.style]}
    if node.icon:
        element["icon"] = node.icon[:100]
    if hint:
        element["tooltip"] = hint
    return [{**element, "fallback": fallback}]


def progress(writing: Writing, node: Progress) -> list[Element]:
    """Return the label and a progress bar; other clients show a bar of characters."""
    is_known = node.value is not None and isfinite(node.value) and 0 < node.max < inf
    bar = Progress(node.value if is_known else None, max=node.max, at=node.at)
    element: Element = {"type": "ProgressBar"}
    if is_known and node.value is not None:
        element["value"] = min(max(node.value, 0), node.max)
        element["max"] = node.max
    if node.style in _COLORS:
        element["color"] = node.style.capitalize()
    element["fallback"] = prose(writing, degrade.progress_as_prose(bar))[0]
    label = prose(writing, degrade.line_prose(node.label, node.at)) if node.label else []
    return [*label, element]


def rating(writing: Writing, node: Rating) -> list[Element]:
    """Return a rating; other clients show star characters."""
    maximum = max(node.max, 1)
    value = min(max(node.value, 0), maximum) if isfinite(node.value) else 0
    element: Element = {"type": "Rating", "value": value, "max": maximum}
    if node.count is not None:
        element["count"] = node.count
    stars = degrade.rating_as_prose(replace(node, value=value))
    return [{**element, "fallback": prose(writing, stars)[0]}]


def tasks(writing: Writing, node: Tasks) -> list[Element]:
    return writing.elements(degrade.tasks_as_nodes(node))


def poll(writing: Writing, node: Poll) -> list[Element]:
    if not node.closed:
        writing.lose(node.at, "poll_as_text", "voting", "the question and its answers")
    return writing.elements(degrade.poll_as_nodes(node))


# --- deeply nested nodes ---------------------------------------------------------------


def _opened_actions(_writing: Writing, node: Actions) -> Nodes:
    return node.items


def _opened_button(writing: Writing, node: Button) -> Nodes | None:
    if node.does != "reveal" or not node.nodes:
        return None
    writing.lose(node.at, "reveal_opened", node.hint or plain(node.label), "its words")
    lose_confirm(writing, node.confirm, node.at)
    return (degrade.line_prose(node.label, node.at), *node.nodes)


# --- writers by node type ------------------------------------------------------------------


def _adding(
    elements: Callable[[Writing, Any], list[Element]],
) -> Callable[[Writing, Any], None]:
    """Return a writer that adds the returned elements to the card."""

    def write(writing: Writing, node: Any) -> None:
        writing.pieces += elements(writing, node)

    return write


_ELEMENTS: Mapping[type, Callable[[Writing, Any], list[Element]]] = {
    Prose: prose,
    Divider: divider,
    Alert: alert,
    Badge: badge,
    Progress: progress,
    Rating: rating,
    Tasks: tasks,
    Poll: poll,
    Native: native,
    Chart: chart,
    Table: card_table,
    Context: context,
    Fields: fields,
    Image: image,
    Player: player,
    Gallery: gallery,
    File: file,
    Section: section,
    Columns: columns,
    Container: container,
    Carousel: carousel,
    Actions: actions_row,
    TextInput: input_elements,
    NumberInput: input_elements,
    DateInput: input_elements,
    Toggle: input_elements,
    Choice: choice_elements,
    Picker: input_elements,
    FileInput: input_elements,
}
_WRITERS = WriterTable(
    {kind: _adding(elements) for kind, elements in _ELEMENTS.items()},
    max_depth=12,
    openers={**OPENERS, Actions: _opened_actions, Button: _opened_button},
    row_types=frozenset((Button,)),
    write_row=_adding(button_row),
)
