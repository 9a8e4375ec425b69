"""Validation of cards by data: missing members, members of wrong types, and unknown types without
a fallback, which Teams refuses or shows as nothing.

Sources: adaptivecards.io/schemas 1.6 with what Teams adds, Microsoft's .NET library
(AdaptiveTypedElementConverter), Bot Framework cards (2026-08).
"""

from __future__ import annotations

from bridge.content.cards.rendering import Payload
from bridge.content.cards.required import (
    NON_EMPTY,
    SCALAR,
    Families,
    Family,
    Kind,
    Members,
    Requirement,
    list_of,
    mistakes_in,
    object_of,
)
from bridge.content.cards.shapes import is_list, is_object, is_text
from bridge.errors import CodecError
from connectors.teams.cards.read import card_in
from connectors.teams.cards.schemas import ADAPTIVE, CONNECTOR, schema_of


def mistakes(payload: Payload) -> tuple[CodecError, ...]:
    """Return the mistakes of an Adaptive Card (expanded with its data) or a Bot Framework card."""
    if (located := card_in(payload)) is None:
        return ()
    card, at = located
    schema_id = schema_of(payload.schema_id)
    family = {ADAPTIVE: "card", CONNECTOR: "connector"}.get(schema_id, "bot card")
    return mistakes_in(card, object_of(family, "a card: an object"), _FAMILIES, at)


# --- values ---------------------------------------------------------------------------------

_OBJECT = Requirement("an object", is_object)
_CARD = object_of("inner card", 'an object with type "AdaptiveCard"')
_ELEMENT = object_of("element", "an element: an object with a type")
_ELEMENTS = list_of("element", _ELEMENT.description)
_ACTION = object_of("action", "an action: an object with a type")
_ACTIONS = list_of("action", _ACTION.description)
_COLUMNS = list_of("column", "a column: an object")
_ROWS = list_of("row", "a row: an object with cells")
_CELLS = list_of("cell", "a cell: an object with items")
_PAGES = list_of("page", "a page: an object with items")
_FACTS = list_of("fact", "an object with title and value")
_CHOICES = list_of("choice", "an object with title and value")
_SOURCES = list_of("source", "an object with url")
_IMAGES = list_of("element", "an object of the type Image")
_DATA = Requirement("a list", is_list, _OBJECT)
_RUNS = Requirement("a list", is_list, Requirement(
    "text, or an object with a type and text", lambda run: is_text(run) or is_object(run),
    family="run",
))  # fmt: skip
_TARGETS = Requirement("a list", is_list, Requirement(
    "an id, or an object with elementId", lambda target: is_text(target) or is_object(target)
))  # fmt: skip
_BUTTONS = list_of("button", "an object with type")

# --- kinds ----------------------------------------------------------------------------------

_PRESS_MEMBERS: Members = {"selectAction": _ACTION}
_BUTTON_MEMBERS: Members = {"title": SCALAR, "iconUrl": NON_EMPTY, "menuActions": _ACTIONS}
_ID: Members = {"id": NON_EMPTY}
_INPUT_MEMBERS: Members = {"label": SCALAR, "errorMessage": SCALAR, "placeholder": SCALAR}
_INPUT = Kind(_ID, _INPUT_MEMBERS)
_BOX = Kind({}, {"items": _ELEMENTS, **_PRESS_MEMBERS})
_WHOLE: Members = {"body": _ELEMENTS, "actions": _ACTIONS, **_PRESS_MEMBERS}
_PAGED = Kind({"pages": _PAGES})
_CHART = Kind({"data": _DATA})
_ACTION_KINDS: dict[str | int, Kind] = {
    "Action.OpenUrl": Kind({"url": NON_EMPTY}, _BUTTON_MEMBERS),
    "Action.OpenUrlDialog": Kind({}, _BUTTON_MEMBERS),
    "Action.Submit": Kind({}, _BUTTON_MEMBERS),
    "Action.Execute": Kind({}, {**_BUTTON_MEMBERS, "verb": SCALAR}),
    "Action.ShowCard": Kind({"card": _CARD}, _BUTTON_MEMBERS),
    "Action.ToggleVisibility": Kind({"targetElements": _TARGETS}, _BUTTON_MEMBERS),
    "Action.Popover": Kind({"content": _ELEMENT}, _BUTTON_MEMBERS),
    "Action.ResetInputs": Kind({}, _BUTTON_MEMBERS),
    "Action.InsertImage": Kind({}, _BUTTON_MEMBERS),
}

_FAMILIES: Families = {
    "card": Family("an Adaptive Card", {"AdaptiveCard": Kind({"version": NON_EMPTY}, _WHOLE)}),
    "inner card": Family("an Adaptive Card", {"AdaptiveCard": Kind({}, _WHOLE)}),
    "element": Family("an element", {
        "TextBlock": Kind({"text": SCALAR}),
        "RichTextBlock": Kind({"inlines": _RUNS}),
        "TextRun": Kind({"text": SCALAR}),
        "Image": Kind({"url": NON_EMPTY}, _PRESS_MEMBERS),
        "ImageSet": Kind({"images": _IMAGES}),
        "Media": Kind({"sources": _SOURCES}, {"poster": NON_EMPTY}),
        "Container": _BOX,
        "ColumnSet": Kind({}, {"columns": _COLUMNS, **_PRESS_MEMBERS}),
        "Column": _BOX,
        "FactSet": Kind({"facts": _FACTS}),
        "ActionSet": Kind({"actions": _ACTIONS}),
        "Table": Kind({}, {"rows": _ROWS, "columns": _DATA}),
        "Input.Text": Kind(_ID, {**_INPUT_MEMBERS, "inlineAction": _ACTION}),
        "Input.Number": _INPUT,
        "Input.Date": _INPUT,
        "Input.Time": _INPUT,
        "Input.Toggle": Kind({**_ID, "title": SCALAR}, _INPUT_MEMBERS),
        "Input.ChoiceSet": Kind(
            _ID, {**_INPUT_MEMBERS, "choices": _CHOICES}, one_of=("choices", "choices.data")
        ),
        "Input.Rating": _INPUT,
        "CodeBlock": Kind(one_of=("codeSnippet", "url")),
        "Badge": Kind({}, {"text": SCALAR, "icon": SCALAR}),
        "Icon": Kind({"name": NON_EMPTY}, _PRESS_MEMBERS),
        "ProgressBar": Kind(),
        "ProgressRing": Kind(),
        "Rating": Kind(),
        "CompoundButton": Kind({}, _PRESS_MEMBERS),
        "Component": Kind({"name": NON_EMPTY}),
        "Carousel": _PAGED,
        "Accordion": _PAGED,
        "TabSet": _PAGED,
        "Chart.Gauge": Kind(),
        **dict.fromkeys(
            (
                *("Chart.Donut", "Chart.Pie", "Chart.VerticalBar", "Chart.VerticalBar.Grouped"),
                *("Chart.HorizontalBar", "Chart.HorizontalBar.Stacked", "Chart.Line"),
            ),
            _CHART,
        ),
        **_ACTION_KINDS,
    }, fallback="fallback"),
    "action": Family("an action", _ACTION_KINDS, fallback="fallback"),
    "column": Family("a column", {"Column": _BOX}, untyped=_BOX, fallback="fallback"),
    "row": Family(
        "a row", {"TableRow": Kind({}, {"cells": _CELLS})}, untyped=Kind({}, {"cells": _CELLS})
    ),
    "cell": Family("a cell", {"TableCell": _BOX}, untyped=_BOX),
    "page": Family("a page", untyped=_BOX),
    "run": Family("a run of text", {
        "TextRun": Kind({"text": SCALAR}, _PRESS_MEMBERS),
        "IconRun": Kind({"name": NON_EMPTY}),
        "ImageRun": Kind({"url": NON_EMPTY}),
        "CitationRun": Kind(),
    }, untyped=Kind({"text": SCALAR})),
    "fact": Family("a fact", untyped=Kind({}, {"title": SCALAR, "value": SCALAR})),
    "choice": Family("a choice", untyped=Kind({}, {"title": SCALAR, "value": SCALAR})),
    "source": Family("a source", untyped=Kind({"url": NON_EMPTY})),
    "bot card": Family("a card", untyped=Kind({}, {
        **dict.fromkeys(("title", "subtitle", "text"), SCALAR),
        "buttons": _BUTTONS, "tap": object_of("button", "an object with type"),
        **dict.fromkeys(("images", "media", "facts", "items"), _DATA),
    })),
    "button": Family("a button", untyped=Kind({"type": NON_EMPTY})),
    "connector": Family("a card", untyped=Kind({}, {
        **dict.fromkeys(("title", "summary", "text"), SCALAR),
        "sections": _DATA, "potentialAction": _DATA,
    })),
}  # fmt: skip
