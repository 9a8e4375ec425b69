"""What Teams refuses in cards that are posted, or shows as nothing: members that are missing or of
another kind, unknown types without a fallback. Data.

Sources: adaptivecards.io/schemas 1.6 with what Teams adds, Microsoft's .NET library
(AdaptiveTypedElementConverter), Bot Framework cards (2026-08).
"""

from __future__ import annotations

from bridge.content.cards.rendering import Payload
from bridge.content.cards.required import (
    SAID,
    WORDS,
    Families,
    Family,
    Kind,
    Members,
    Wanted,
    mistakes_in,
    one,
    several,
)
from bridge.content.cards.shapes import is_list, is_object, is_text
from bridge.errors import CodecError
from connectors.teams.cards.read import card_in
from connectors.teams.cards.schemas import ADAPTIVE, CONNECTOR, schema_of


def mistakes(payload: Payload) -> tuple[CodecError, ...]:
    """Of an Adaptive Card, filled in with its data where it came with some, or a card of the Bot
    Framework."""
    if (found := card_in(payload)) is None:
        return ()
    card, at = found
    schema_id = schema_of(payload.schema_id)
    family = {ADAPTIVE: "card", CONNECTOR: "connector"}.get(schema_id, "bot card")
    return mistakes_in(card, one(family, "a card: an object"), _FAMILIES, at)


# --- values ---------------------------------------------------------------------------------

_OBJECT = Wanted("an object", is_object)
_CARD = one("inner card", 'an object with type "AdaptiveCard"')
_ELEMENT = one("element", "an element: an object with a type")
_ELEMENTS = several("element", _ELEMENT.says)
_ACTION = one("action", "an action: an object with a type")
_ACTIONS = several("action", _ACTION.says)
_COLUMNS = several("column", "a column: an object")
_ROWS = several("row", "a row: an object with cells")
_CELLS = several("cell", "a cell: an object with items")
_PAGES = several("page", "a page: an object with items")
_FACTS = several("fact", "an object with title and value")
_CHOICES = several("choice", "an object with title and value")
_SOURCES = several("source", "an object with url")
_IMAGES = several("element", "an object of the type Image")
_DATA = Wanted("a list", is_list, _OBJECT)
_RUNS = Wanted("a list", is_list, Wanted(
    "text, or an object with a type and text", lambda run: is_text(run) or is_object(run),
    family="run",
))  # fmt: skip
_TARGETS = Wanted("a list", is_list, Wanted(
    "an id, or an object with elementId", lambda target: is_text(target) or is_object(target)
))  # fmt: skip
_BUTTONS = several("button", "an object with type")

# --- kinds ----------------------------------------------------------------------------------

_PRESSED: Members = {"selectAction": _ACTION}
_SHOWN: Members = {"title": SAID, "iconUrl": WORDS, "menuActions": _ACTIONS}
_ID: Members = {"id": WORDS}
_ASKED: Members = {"label": SAID, "errorMessage": SAID, "placeholder": SAID}
_INPUT = Kind(_ID, _ASKED)
_BOX = Kind({}, {"items": _ELEMENTS, **_PRESSED})
_WHOLE: Members = {"body": _ELEMENTS, "actions": _ACTIONS, **_PRESSED}
_PAGED = Kind({"pages": _PAGES})
_CHART = Kind({"data": _DATA})
_ACTION_KINDS: dict[str | int, Kind] = {
    "Action.OpenUrl": Kind({"url": WORDS}, _SHOWN),
    "Action.OpenUrlDialog": Kind({}, _SHOWN),
    "Action.Submit": Kind({}, _SHOWN),
    "Action.Execute": Kind({}, {**_SHOWN, "verb": SAID}),
    "Action.ShowCard": Kind({"card": _CARD}, _SHOWN),
    "Action.ToggleVisibility": Kind({"targetElements": _TARGETS}, _SHOWN),
    "Action.Popover": Kind({"content": _ELEMENT}, _SHOWN),
    "Action.ResetInputs": Kind({}, _SHOWN),
    "Action.InsertImage": Kind({}, _SHOWN),
}

_FAMILIES: Families = {
    "card": Family("an Adaptive Card", {"AdaptiveCard": Kind({"version": WORDS}, _WHOLE)}),
    "inner card": Family("an Adaptive Card", {"AdaptiveCard": Kind({}, _WHOLE)}),
    "element": Family("an element", {
        "TextBlock": Kind({"text": SAID}),
        "RichTextBlock": Kind({"inlines": _RUNS}),
        "TextRun": Kind({"text": SAID}),
        "Image": Kind({"url": WORDS}, _PRESSED),
        "ImageSet": Kind({"images": _IMAGES}),
        "Media": Kind({"sources": _SOURCES}, {"poster": WORDS}),
        "Container": _BOX,
        "ColumnSet": Kind({}, {"columns": _COLUMNS, **_PRESSED}),
        "Column": _BOX,
        "FactSet": Kind({"facts": _FACTS}),
        "ActionSet": Kind({"actions": _ACTIONS}),
        "Table": Kind({}, {"rows": _ROWS, "columns": _DATA}),
        "Input.Text": Kind(_ID, {**_ASKED, "inlineAction": _ACTION}),
        "Input.Number": _INPUT,
        "Input.Date": _INPUT,
        "Input.Time": _INPUT,
        "Input.Toggle": Kind({**_ID, "title": SAID}, _ASKED),
        "Input.ChoiceSet": Kind(
            _ID, {**_ASKED, "choices": _CHOICES}, one_of=("choices", "choices.data")
        ),
        "Input.Rating": _INPUT,
        "CodeBlock": Kind(one_of=("codeSnippet", "url")),
        "Badge": Kind({}, {"text": SAID, "icon": SAID}),
        "Icon": Kind({"name": WORDS}, _PRESSED),
        "ProgressBar": Kind(),
        "ProgressRing": Kind(),
        "Rating": Kind(),
        "CompoundButton": Kind({}, _PRESSED),
        "Component": Kind({"name": WORDS}),
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
        "TextRun": Kind({"text": SAID}, _PRESSED),
        "IconRun": Kind({"name": WORDS}),
        "ImageRun": Kind({"url": WORDS}),
        "CitationRun": Kind(),
    }, untyped=Kind({"text": SAID})),
    "fact": Family("a fact", untyped=Kind({}, {"title": SAID, "value": SAID})),
    "choice": Family("a choice", untyped=Kind({}, {"title": SAID, "value": SAID})),
    "source": Family("a source", untyped=Kind({"url": WORDS})),
    "bot card": Family("a card", untyped=Kind({}, {
        **dict.fromkeys(("title", "subtitle", "text"), SAID),
        "buttons": _BUTTONS, "tap": one("button", "an object with type"),
        **dict.fromkeys(("images", "media", "facts", "items"), _DATA),
    })),
    "button": Family("a button", untyped=Kind({"type": WORDS})),
    "connector": Family("a card", untyped=Kind({}, {
        **dict.fromkeys(("title", "summary", "text"), SAID),
        "sections": _DATA, "potentialAction": _DATA,
    })),
}  # fmt: skip
