"""Teams' rules for messages, from the published schema of Adaptive Cards 1.5, Teams' own elements
and the documented limits; and the visible texts of a message, in reading order."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from jsonschema import Draft7Validator, FormatChecker

from connectors.teams.capabilities import TEXT_LIMIT

Json = dict[str, Any]

CARD = "application/vnd.microsoft.card.adaptive"
LARGEST = 28_000  # bytes of UTF-16
_ELEMENT = "id isVisible separator spacing height fallback requires"
_INPUT = f"{_ELEMENT} label isRequired errorMessage"
_ACTION = "title iconUrl id style fallback tooltip isEnabled mode requires"
_CHART = f"{_ELEMENT} title data value colorSet color xAxisTitle yAxisTitle"

# type: (required members, optional members)
_PROPERTIES: dict[str, tuple[str, str]] = {
    "AdaptiveCard": ("body", "$schema version msteams actions fallbackText"),
    "TextBlock": (
        "text",
        f"{_ELEMENT} wrap color fontType horizontalAlignment isSubtle maxLines size weight style",
    ),
    "RichTextBlock": ("inlines", f"{_ELEMENT} horizontalAlignment"),
    "TextRun": (
        "text",
        "color fontType highlight isSubtle italic selectAction size strikethrough underline weight",
    ),
    "Image": (
        "url",
        f"{_ELEMENT} altText width size style selectAction horizontalAlignment backgroundColor",
    ),
    "ImageSet": ("images", f"{_ELEMENT} imageSize"),
    "Media": ("sources", f"{_ELEMENT} poster altText"),
    "Container": ("items", f"{_ELEMENT} style selectAction bleed minHeight"),
    "ColumnSet": ("columns", f"{_ELEMENT} style selectAction horizontalAlignment"),
    "Column": ("items", f"{_ELEMENT} width style selectAction verticalContentAlignment"),
    "FactSet": ("facts", _ELEMENT),
    "ActionSet": ("actions", _ELEMENT),
    "Table": ("columns rows", f"{_ELEMENT} firstRowAsHeader showGridLines gridStyle"),
    "TableRow": ("cells", "style"),
    "TableCell": ("items", "style"),
    "Input.Text": (
        "id", f"{_INPUT} value placeholder isMultiline maxLength regex style inlineAction",
    ),
    "Input.Number": ("id", f"{_INPUT} value placeholder min max"),
    "Input.Date": ("id", f"{_INPUT} value placeholder min max"),
    "Input.Time": ("id", f"{_INPUT} value placeholder min max"),
    "Input.Toggle": ("id title", f"{_INPUT} value valueOn valueOff wrap"),
    "Input.ChoiceSet": (
        "id choices", f"{_INPUT} choices.data isMultiSelect style value placeholder wrap",
    ),
    "Action.OpenUrl": ("url", _ACTION),
    "Action.Submit": ("data", f"{_ACTION} associatedInputs"),
    "Action.Execute": ("data", f"{_ACTION} verb associatedInputs"),
    "Action.ShowCard": ("card", _ACTION),
    "Action.ToggleVisibility": ("targetElements", _ACTION),
    "CodeBlock": ("codeSnippet", f"{_ELEMENT} language startLineNumber"),
    "Badge": ("text", f"{_ELEMENT} icon style tooltip"),
    "Icon": ("name", f"{_ELEMENT} size color style selectAction"),
    "ProgressBar": ("type", f"{_ELEMENT} value max color"),
    "Rating": ("value", f"{_ELEMENT} max count"),
    "Input.Rating": ("id", f"{_INPUT} value max allowHalfSteps"),
    "Carousel": ("pages", _ELEMENT),
    "CarouselPage": ("items", "id selectAction"),
    "Chart.Pie": ("data", _CHART),
    "Chart.Donut": ("data", _CHART),
    "Chart.VerticalBar": ("data", _CHART),
    "Chart.VerticalBar.Grouped": ("data", f"{_CHART} stacked"),
    "Chart.HorizontalBar": ("data", _CHART),
    "Chart.HorizontalBar.Stacked": ("data", _CHART),
    "Chart.Line": ("data", _CHART),
    "Chart.Gauge": ("segments", f"{_CHART} min max"),
}  # fmt: skip
_VALUES: dict[str, frozenset[Any]] = {
    "size": frozenset(["small", "default", "medium", "large", "extraLarge", "stretch", "auto"]),
    "weight": frozenset(("lighter", "default", "bolder")),
    "color": frozenset(
        [
            "default",
            "dark",
            "light",
            "accent",
            "good",
            "warning",
            "attention",
            "Accent",
            "Good",
            "Warning",
            "Attention",
        ]
    ),
    "horizontalAlignment": frozenset(("left", "center", "right")),
    "spacing": frozenset(["none", "small", "default", "medium", "large", "extraLarge", "padding"]),
    "mode": frozenset(("primary", "secondary")),
    "associatedInputs": frozenset(("auto", "none")),
    "imageSize": frozenset(("small", "medium", "large")),
    "separator": frozenset((True,)),
    "isVisible": frozenset((True, False)),
}
_STYLES: dict[str, frozenset[str]] = {
    "TextBlock": frozenset(("heading",)),
    "Image": frozenset(("person",)),
    "Container": frozenset(["emphasis", "good", "attention", "warning", "accent"]),
    "Column": frozenset(["emphasis", "good", "attention", "warning", "accent"]),
    "Input.Text": frozenset(["tel", "url", "email", "password"]),
    "Input.ChoiceSet": frozenset(("compact", "expanded", "filtered")),
    "Action": frozenset(("positive", "destructive")),
    "Badge": frozenset(
        ["Default", "Subtle", "Informative", "Accent", "Good", "Attention", "Warning"]
    ),
}
_TEAMS_ONLY = frozenset((
    "CodeBlock", "Badge", "Icon", "ProgressBar", "Rating", "Input.Rating", "Carousel",
    *(name for name in _PROPERTIES if name.startswith("Chart.")),
))  # fmt: skip
_NOT_ON_A_PAGE = frozenset(("Media", "Carousel", "Action.ShowCard"))
_UNTYPED = frozenset(("facts", "choices", "choices.data", "sources", "data", "segments", "msteams"))
_SAFE = re.compile(r"(?:https?://|mailto:|icon:)[^\s<>\"]+\Z|data:image/(?:png|jpeg|gif);base64,")


# --- faults -------------------------------------------------------------------------------------


def faults(body: Json) -> list[str]:
    """Yield the reasons for which Teams refuses the activity or shows it wrongly."""
    problems = list(_activity_faults(body))
    for attachment in body.get("attachments", ()):
        problems += _card_faults(attachment["content"])
    return problems


def _activity_faults(body: Json) -> Iterator[str]:
    if body["type"] != "message":
        yield f"is a {body['type']}"
    allowed = {"type", "text", "textFormat", "attachments", "attachmentLayout", "summary"}
    if unknown := set(body) - allowed:
        yield f"has {unknown}"
    if "text" in body and (body["textFormat"] != "markdown" or not body["text"].strip()):
        yield "has text that is none"
    if "text" in body and len(body["text"].encode("utf-16-le")) // 2 > TEXT_LIMIT:
        yield "has too much text"
    attachments = body.get("attachments", [])
    if len(attachments) > 10:
        yield f"has {len(attachments)} attachments"
    if attachments and len(orjson.dumps(body).decode().encode("utf-16-le")) > LARGEST:
        yield "is too large"
    if any(attachment["contentType"] != CARD for attachment in attachments):
        yield "has an attachment that is no card"


def _card_faults(card: Json) -> Iterator[str]:
    if card["type"] != "AdaptiveCard" or card["version"] != "1.5" or not card["body"]:
        yield "is no card of version 1.5, or empty"
    yield from _object_faults(card, "AdaptiveCard")
    yield from _id_faults(card)


def _object_faults(
    element: Json, kind: str, *, page: bool = False, in_show_card: bool = False
) -> Iterator[str]:
    if not isinstance(kind, str):
        yield f"an element is of the type {kind!r}"
        return
    must, may = _PROPERTIES.get(kind, ("", ""))
    if kind not in _PROPERTIES and "fallback" not in element:
        yield f"{kind} is unknown and nothing stands for it"
    elif kind in _PROPERTIES:
        yield from _own_faults(element, kind, must.split(), may.split())
    if kind in _TEAMS_ONLY and not page and "fallback" not in element:
        yield f"nothing stands for {kind}"
    if page and kind in _NOT_ON_A_PAGE:
        yield f"{kind} on a page of a carousel"
    if kind == "Action.ShowCard" and (in_show_card or element.get("mode") == "secondary"):
        yield "a card opens where Teams opens none"
    if kind not in _PROPERTIES:
        return  # its own rules are not ours
    page = page or kind == "CarouselPage"
    in_show_card = in_show_card or kind == "Action.ShowCard"
    for name, inner in element.items():
        if name not in _UNTYPED:
            for below in inner if isinstance(inner, list) else [inner]:
                if isinstance(below, dict) and not (kind == "Table" and name == "columns"):
                    typed = below.get("type", "Column" if name == "columns" else "?")
                    yield from _object_faults(below, typed, page=page, in_show_card=in_show_card)


def _own_faults(element: Json, kind: str, must: list[str], may: list[str]) -> Iterator[str]:
    if wrong := list(_type_faults(element, kind)):
        yield from wrong
        return
    yield from (f"{kind} lacks {name}" for name in must if name not in element)
    yield from (f"{kind} has {name}" for name in element if name not in {*must, *may, "type"})
    if all(name in element for name in must):
        yield from _value_faults(element, kind)


def _type_faults(element: Json, kind: str) -> Iterator[str]:
    """Yield texts and elements of wrong types, for which clients refuse a card."""
    for name, value in element.items():
        if name in _STRINGS and not isinstance(value, str):
            yield f"{kind}.{name} is no string"
        if name in _LISTS and not _is_list_of_objects(value):
            yield f"{kind}.{name} is no list of objects"
    for action in element.get("actions", ()) if isinstance(element.get("actions"), list) else ():
        if isinstance(action, dict) and not isinstance(action.get("title"), str):
            yield "an action without a title"


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _value_faults(element: Json, kind: str) -> Iterator[str]:
    for name, value in element.items():
        if kind.startswith("Chart."):
            continue
        if name in _VALUES and value not in _VALUES[name]:
            yield f"{kind}.{name} is {value!r}"
        if name == "style":
            group = "Action" if kind.startswith("Action.") else kind
            if value not in _STYLES.get(group, ()):
                yield f"{kind}.style is {value!r}"
        if name in ("url", "poster", "iconUrl") and not _SAFE.match(value):
            yield f"{kind}.{name} leads to {value[:60]!r}"
    if kind in ("TextBlock", "TextRun") and not isinstance(element["text"], str):
        yield f"{kind} without text"
    if kind == "TextBlock" and (not element["text"].strip() or "<at" in element["text"].lower()):
        yield f"TextBlock says {element['text'][:40]!r}"
    if kind == "ActionSet":
        yield from (
            "an action without a title" for a in element["actions"] if not a["title"].strip()
        )
    if kind == "ActionSet" and sum(a.get("mode") != "secondary" for a in element["actions"]) > 6:
        yield "more than six buttons"
    if kind in _HELD and not element[_HELD[kind]]:
        yield f"{kind} holds nothing"


_STRINGS = frozenset((
    "text", "title", "label", "placeholder", "errorMessage", "altText", "tooltip", "url", "poster",
    "iconUrl", "style", "size", "weight", "color", "mode", "spacing", "codeSnippet", "id", "verb",
))  # fmt: skip
_LISTS = frozenset((
    "body", "items", "columns", "rows", "cells", "images", "inlines", "facts", "choices", "pages",
    "actions", "segments", "sources",
))  # fmt: skip
_HELD = {
    "ColumnSet": "columns", "FactSet": "facts", "Table": "rows", "ImageSet": "images",
    "ActionSet": "actions",
}  # fmt: skip


def _id_faults(card: Json) -> Iterator[str]:
    """Yield duplicate ids; only a fallback may have the id of its element."""
    for view in (newer(card), older(card)):
        ids = Counter(
            element["id"] for element in objects(view) if "type" in element and "id" in element
        )
        yield from (f"{count} elements are {name!r}" for name, count in ids.items() if count > 1)
        for element in objects(view):
            for target in element.get("targetElements", ()):
                name = target if isinstance(target, str) else target["elementId"]
                if name not in ids:
                    yield f"nothing is {name!r}, which an action shows"


# --- views --------------------------------------------------------------------------------------


def objects(value: Any) -> Iterator[Json]:
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack += [*value.values()][::-1]
        elif isinstance(value, list):
            stack += value[::-1]


def newer(value: Any) -> Any:
    """Return the card as Teams shows it, with fallbacks of unknown elements."""
    return _view(value, frozenset())


def older(value: Any) -> Any:
    """Return the card as a 1.5 client shows it, with fallbacks of newer elements."""
    return _view(value, _TEAMS_ONLY)


def _view(value: Any, replaced: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [item for item in (_view(item, replaced) for item in value) if item != "drop"]
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    unknown = isinstance(kind, str) and kind not in _PROPERTIES and not _OTHERS.match(kind)
    if "fallback" in value and (unknown or kind in replaced):
        fallback = value["fallback"]
        if not isinstance(fallback, dict):
            return fallback
        layout = {name: value[name] for name in ("separator", "spacing") if name in value}
        return _view({**fallback, **layout}, replaced)
    return {name: _view(item, replaced) for name, item in value.items() if name != "fallback"}


_OTHERS = re.compile(r"Component$|CompoundButton$|ProgressRing$|Action\.")
"""Elements that Teams supports in addition to those above."""

_TEXT_FIELDS = {
    "Input.Text": ("label", "value", "placeholder", "errorMessage"),
    "Input.ChoiceSet": ("label", "placeholder", "choices", "errorMessage"),
    "Input.Toggle": ("label", "title", "errorMessage"),
    "Fact": ("title", "value"),
    "Image": ("altText",),
    "Media": ("altText",),
    "Badge": ("text", "tooltip"),
}
_WORDS = (
    "text", "title", "tooltip", "label", "placeholder", "errorMessage", "altText", "codeSnippet",
    "legend", "x", "xAxisTitle", "yAxisTitle",
)  # fmt: skip
_WITHIN = (
    "body", "items", "columns", "rows", "cells", "images", "inlines", "facts", "choices", "pages",
    "actions", "card", "data", "segments", "values",
)  # fmt: skip


def visible_texts(value: Any) -> Iterator[str]:
    """Yield the texts of a view in reading order, hidden ones included."""
    if isinstance(value, list):
        for part in value:
            yield from visible_texts(part)
    elif isinstance(value, dict):
        kind = value.get("type", "Fact" if "value" in value and "title" in value else "")
        if "choices.data" in value or "choices" in value:
            kind = "Input.ChoiceSet"
        for name in _TEXT_FIELDS.get(kind, _WORDS):
            part = value.get(name, "")
            if isinstance(part, str):
                yield part
            elif name == "choices":
                yield from (choice["title"] for choice in part)
        if kind != "Input.ChoiceSet":
            for name in _WITHIN:
                if name in value and not (name == "data" and kind.startswith("Action.")):
                    yield from visible_texts(value[name])


# --- the published schemas ----------------------------------------------------------------------


def corpus() -> Path | None:
    folder = os.environ.get("UACS_CORPUS")
    return Path(folder) if folder else None


@cache
def _validator(name: str) -> Draft7Validator:
    folder = corpus()
    assert folder is not None
    schema = json.loads((folder / "schemas" / "adaptivecards" / name).read_text("utf-8"))
    schema.pop("id", None)
    schema.pop("$schema", None)
    return Draft7Validator(schema, format_checker=FormatChecker(("uri", "uri-reference")))


_OF_1_6 = ('"choices.data"', '"style": "filtered"')
"""Of that version in what is published; Teams has them in cards of 1.5."""


def schema_faults(card: Json) -> list[str]:
    """Yield violations of the published schemas in the card without Teams' own parts."""
    plain = {name: item for name, item in older(card).items() if name != "msteams"}
    problems: list[str] = []
    for version in ("1.5.0", "1.6.0"):
        if version == "1.5.0" and any(item in json.dumps(plain) for item in _OF_1_6):
            continue
        error = next(_validator(f"{version}_adaptive-card.json").iter_errors(plain), None)
        problems += [f"{version}: {_deepest(error)}"] if error else []
    return problems


def _deepest(error: Any) -> str:
    while error.context:
        error = max(error.context, key=lambda cause: len(cause.absolute_path))
    return f"{list(error.absolute_path)}: {error.message[:300]}"
