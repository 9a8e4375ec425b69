"""Finds values of wrong types in a Teams message, for any input. Pure.

Source: adaptivecards.io/schemas 1.6 with what Teams adds, Bot Framework activities and cards,
Microsoft Graph chatMessage (2026-08).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.shapes import (
    OBJECT,
    OBJECTS,
    SCALAR,
    TEXT,
    Expected,
    Table,
    either,
    is_list,
    shape_losses,
)
from bridge.errors import CodecError
from bridge.model import Loss
from connectors.teams.cards.read import card_in, payloads
from connectors.teams.cards.read_activity import parsed
from connectors.teams.cards.read_adaptive import READERS
from connectors.teams.cards.schemas import CARDS, schema_of


def wrong_shapes(native: JsonValue) -> tuple[Loss, ...]:
    """Return losses for values of wrong types in a message, an attachment or a card."""
    try:
        visible_payloads = payloads(native)
    except CodecError:
        return ()
    losses: list[Loss] = []
    if not any(payload.schema_id in CARDS and not payload.at for payload in visible_payloads):
        is_attachment = isinstance(native, dict) and "contentType" in native
        key = "attachments" if is_attachment else ""
        losses += shape_losses(native, OBJECT, _envelope_table, key=key)
    for payload in visible_payloads:
        if (card := card_in(payload)) is not None:
            losses += shape_losses(card[0], OBJECT, _within, card[1])
    return tuple(losses)


def _is_card(value: object) -> bool:
    """Return whether it is an object, also as JSON in a string."""
    return parsed(cast("JsonValue", value)) is not None


def _envelope_table(value: Mapping[str, object], key: str) -> Table:
    """Return the expected types outside of cards."""
    if key != "attachments":
        return _ENVELOPE.get(key, {})
    kind = value.get("contentType")
    is_card = isinstance(kind, str) and schema_of(kind) in CARDS
    return {**_ATTACHMENT, "content": Expected(_is_card)} if is_card else _ATTACHMENT


def _within(value: Mapping[str, object], key: str) -> Table:
    """Return the expected types within a card; unknown elements are not checked."""
    kind = value.get("type")
    if key in _AT_KEYS:
        return _AT_KEYS[key]
    if not isinstance(kind, str):
        return _OF_ANY
    if key in _NOT_ADAPTIVE:
        return _OF_TEXTS if kind.lower() == "openurl" else _OF_ANY
    if kind.startswith("Chart."):
        return _OF_CHARTS
    if kind.startswith("Input."):
        return _OF_PAIRS if kind in _WRITTEN else _OF_TEXTS
    return _OF_ANY if kind in READERS or kind in _PARTS or not key else {}


def _with(*keys: str) -> Expected:
    """Expect an object with one of these keys."""
    return Expected(lambda value: isinstance(value, dict) and any(key in value for key in keys))


_PARTS = frozenset(
    (
        *("Column", "TableRow", "TableCell", "TextRun", "Fact", "CarouselPage"),
        *("resultItem", "file", "person", "section"),  # items of list cards
    )
)
_WRITTEN = frozenset(("Input.Text", "Input.Number", "Input.Rating"))
_NOT_ADAPTIVE = frozenset(("buttons", "tap"))  # bot cards' actions have types of their own
_ATTACHMENT: Table = {"contentType": TEXT, "contentUrl": TEXT, "name": SCALAR}
_ENVELOPE: Mapping[str, Table] = {
    "": {
        "text": SCALAR, "summary": SCALAR, "subject": SCALAR, "attachments": OBJECTS,
        "entities": OBJECTS, "mentions": OBJECTS, "suggestedActions": OBJECT, "body": OBJECT,
        "composeExtension": OBJECT, "task": OBJECT,
    },
    "body": {"content": SCALAR},
    "suggestedActions": {"actions": OBJECTS},
    "composeExtension": {"text": SCALAR, "attachments": OBJECTS, "suggestedActions": OBJECT},
    "task": {"value": either(OBJECT, SCALAR)},
    "value": {"title": SCALAR, "card": OBJECT},
}  # fmt: skip
_OF_ANY: Table = {
    **dict.fromkeys(
        (
            *("body", "items", "actions", "menuActions", "columns", "rows", "cells", "pages"),
            *("images", "facts", "choices", "sources", "captionSources", "references", "buttons"),
            *("sections", "potentialAction", "inputs", "targets", "media", "segments"),
        ),
        OBJECTS,
    ),
    "inlines": Expected(is_list, either(_with("type", "text"), TEXT)),
    "targetElements": Expected(is_list, either(_with("elementId"), TEXT)),
    **dict.fromkeys(("mimeType", "url", "uri", "poster", "id", "language"), TEXT),
    **dict.fromkeys(("selectAction", "inlineAction", "card", "tap", "heroImage"), OBJECT),
    **dict.fromkeys(("icon", "image", "content"), either(OBJECT, SCALAR)),
    **dict.fromkeys(
        (
            *("text", "title", "subtitle", "label", "placeholder", "altText", "alt", "description"),
            *("codeSnippet", "badge", "headerTitle", "tooltip", "errorMessage", "fallbackText"),
            *("verb", "name", "summary", "display"),
            *("activityTitle", "activitySubtitle", "activityText", "activityImage"),
            *("total", "tax", "vat", "price", "quantity", "key", "legend", "abstract", "image_url"),
        ),
        SCALAR,
    ),
}
_OF_PAIRS: Table = {**_OF_ANY, "value": SCALAR}
_OF_TEXTS: Table = {**_OF_ANY, "value": TEXT}
_OF_CHARTS: Table = {
    **_OF_ANY, "data": OBJECTS, "values": OBJECTS,
    **dict.fromkeys(("value", "x", "y"), SCALAR),
}  # fmt: skip
_AT_KEYS: Mapping[str, Table] = {
    "facts": _OF_PAIRS,
    "choices": _OF_PAIRS,
    **dict.fromkeys(("data", "values", "segments"), _OF_CHARTS),
}
