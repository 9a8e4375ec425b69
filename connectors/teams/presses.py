"""Presses of card buttons: Action.Submit is a message with a value, Action.Execute an invoke; and
searches in menus. Pure.

Source: learn.microsoft.com "Universal Actions", "Card actions" (2026-06), "Typeahead search
in Adaptive Cards" (2025-01).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.interactions import find_action
from bridge.content.cards.tree import Card, Choice
from bridge.model import ActionPressed, Event
from connectors.teams.activity import Activity, Json, object_of, objects, string
from connectors.teams.cards.write_inputs import options_with, typed_values_of, values_of

INVOKE = "adaptiveCard/action"
SEARCH = "application/search"
_RESULTS = "application/vnd.microsoft.search.searchResponse"
_MAX_RESULTS = 15  # options that a menu shows at a time
_OURS = "token"  # the key of a button's token
_MANY = "many"  # the tokens of inputs with several chosen values
_TYPED = "typed"  # the tokens of inputs with several typed values
_CHOSEN = "value"  # the chosen option of an overflow menu
_TIME = ":time"  # after the token of a date: its time


def is_press(json: Json) -> bool:
    """Return whether an activity is a press: an invoke, or a message with a value but no text."""
    if string(json, "type") == "invoke":
        return string(json, "name") == INVOKE
    is_empty = not string(json, "text") and not objects(json, "attachments")
    return is_empty and json.get("value") is not None


def press_event(activity: Activity) -> Event | None:
    """Return the event of a press; None if it names no message or no action."""
    target = string(activity.json, "replyToId")
    value = object_of(activity.json, "value")
    action = object_of(value, "action") if activity.type == "invoke" else {}
    data = object_of(action, "data") if action else value
    token = string(data, _OURS) or string(action, "verb")
    if not target or not token:
        return None
    return ActionPressed(
        **activity.event_fields(target),
        actor=activity.actor(),
        target=target,
        token=token,
        native=cast("JsonValue", action or data),
        values=dict(_filled_in(data)),
    )


def _filled_in(data: Json) -> Iterator[tuple[str, JsonValue]]:
    """Yield (token, value) of each input; Teams joins several values with commas."""
    many, typed = (_tokens(data, name) for name in (_MANY, _TYPED))
    for name, value in data.items():
        if name == _CHOSEN and isinstance(token := data.get(_OURS), str):
            yield token, cast("JsonValue", value)
            continue
        if name in (_OURS, _MANY, _TYPED) or name.endswith(_TIME):
            continue
        if isinstance(time := data.get(f"{name}{_TIME}"), str) and time:
            yield name, f"{value} {time}"
        elif name in many and isinstance(value, str):
            yield name, list(values_of(value))
        elif name in typed and isinstance(value, str):
            yield name, list(typed_values_of(value))
        else:
            yield name, cast("JsonValue", value)


def _tokens(data: Json, name: str) -> frozenset[str]:
    listed = data.get(name)
    tokens = listed if isinstance(listed, list) else []
    return frozenset(token for token in tokens if isinstance(token, str))


# --- searching ----------------------------------------------------------------------------------


def is_search(json: Json) -> bool:
    """Return whether the activity is a search in a menu whose options exceed its card."""
    return string(json, "type") == "invoke" and string(json, "name") == SEARCH


def matching_options(card: Card, token_of: Callable[[str], str], value: Json) -> list[Json]:
    """Return the options that contain the typed words, from `skip` on, at most 15.

    `value` is the value of the invoke; its `dataset` is the token of the menu.
    """
    node = find_action(card, token_of, string(value, "dataset"))
    if not isinstance(node, Choice):
        return []
    skip = object_of(value, "queryOptions").get("skip")
    first = min(max(skip, 0), 100_000) if isinstance(skip, int) else 0
    options = options_with(node, string(value, "queryText"))
    return list(islice(options, first, first + _MAX_RESULTS))


def search_response(options: list[Json]) -> Json:
    """Return the response to a search."""
    return {"type": _RESULTS, "value": {"results": cast("JsonValue", options)}}
