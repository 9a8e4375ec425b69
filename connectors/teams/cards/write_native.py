"""Native nodes: harmless Adaptive Card elements are written unchanged, others as their fallback."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from bridge.content.cards.tree import Native
from connectors.teams.cards.schemas import ADAPTIVE, ADAPTIVE_TYPE
from connectors.teams.cards.write_presses import action_set
from connectors.teams.cards.write_state import Element, Writing, together

_MAX_BYTES = 6000  # bytes of JSON
_MAX_DEPTH = 20
_SOUND_URL = re.compile(r"(?:https?://|mailto:|icon:|data:image/(?:png|jpeg|gif);base64,)", re.I)
_MENTION = re.compile(r"<at\b", re.IGNORECASE)
_WORDS = (
    "text", "title", "label", "tooltip", "iconUrl", "url", "name", "style", "mode", "spacing",
    "height", "color", "xAxisTitle", "yAxisTitle",
)  # fmt: skip
_LISTS = ("segments", "items", "columns", "rows", "actions")
_TARGETS = frozenset(("targetInputIds", "targetElements"))
_INTERACTIVE = ("Action.Submit", "Action.Execute", "Action.ToggleVisibility", "Action.ShowCard")


def native(writing: Writing, node: Native) -> list[Element]:
    if node.schema_id in (ADAPTIVE, ADAPTIVE_TYPE):
        payload = _sound(node.payload)
        if payload is not None and all(writing.is_free(name) for name in _ids(payload)):
            for name in _ids(payload):
                writing.own_id(name)
            return [_home(writing, node, payload)]
    fallback = writing.elements(node.fallback)
    writing.lose(node.at, "native_as_fallback", node.schema_id, "its words" if fallback else "")
    return fallback


def _home(writing: Writing, node: Native, payload: Element) -> Element:
    """Return the native element with its fallback for other clients."""
    fallback = writing.elements(node.fallback)
    if not payload["type"].startswith("Action."):
        return {**payload, "fallback": together(fallback)}
    actions = [action for element in fallback for action in element.get("actions", ())]
    instead, named = (actions[0], actions[0]["title"]) if actions else ("drop", "…")
    title = payload.get("title", "").strip() or named
    return action_set([{**payload, "title": title, "fallback": instead}])


def _sound(payload: object) -> Element | None:
    """Return the payload if it is an element without inputs, presses and mentions."""
    if not isinstance(payload, dict) or not _is_small(payload):
        return None
    kind = payload.get("type")
    if not isinstance(kind, str) or not kind or kind == "AdaptiveCard" or not _has_form(payload):
        return None
    return payload if all(map(_is_harmless, _objects(payload))) else None


def _has_form(payload: Element) -> bool:
    """Return whether members have the right types; otherwise clients refuse the whole card."""
    if payload["type"].startswith("Chart.") and not isinstance(payload.get("data"), list):
        return False
    return all(isinstance(payload.get(name, ""), str) for name in _WORDS) and all(
        isinstance(payload.get(name, []), list) for name in _LISTS
    )


def _is_small(payload: object) -> bool:
    try:
        return len(orjson.dumps(payload)) <= _MAX_BYTES
    except TypeError:
        return False


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    level: list[object] = [value]
    for _ in range(_MAX_DEPTH):
        below: list[object] = []
        for part in level:
            if isinstance(part, Mapping):
                yield part
                below += part.values()
            elif isinstance(part, list):
                below += part
        level = below
    if any(isinstance(value, Mapping | list) for value in level):
        yield {"type": "Action.Submit"}  # too deep to check


def _is_harmless(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _INTERACTIVE or kind.startswith("Input.")):
        return False
    if not _TARGETS.isdisjoint(value) or (
        "type" in value and not isinstance(value.get("id", ""), str)
    ):
        return False
    return all(_is_harmless_text(key, text) for key, text in value.items() if isinstance(text, str))


def _is_harmless_text(key: str, value: str) -> bool:
    leads = "url" in key.lower() or key in ("poster", "backgroundImage")
    if leads and value and not _SOUND_URL.match(value):
        return False
    return not _MENTION.search(value)


def _ids(payload: Element) -> list[str]:
    return [
        element["id"] for element in _objects(payload) if "type" in element and element.get("id")
    ]
