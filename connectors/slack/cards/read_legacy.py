"""Buttons and menus of legacy attachments -> buttons and inputs of the card.

Source: docs.slack.dev "Legacy interactive messages" (2026-08).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from bridge.content.cards.tree import Button, Choice, Confirm, Option, Picker
from connectors.slack.cards.read_elements import Actionable, confirm_of
from connectors.slack.cards.read_json import items_at, string_at, url_at
from connectors.slack.cards.read_texts import Line, as_line, plain_document
from connectors.slack.json_values import Json

_PICKERS: dict[str, Literal["people", "channels", "conversations"]] = {
    "users": "people",
    "channels": "channels",
    "conversations": "conversations",
}
_BUTTONS: dict[str, Literal["primary", "danger"]] = {"primary": "primary", "danger": "danger"}


def legacy_action(value: object, at: str, team: str) -> Sequence[Actionable]:
    """The actions of an item of `actions`; none when it is not one."""
    if not isinstance(value, dict):
        return ()
    action = cast("Json", value)
    confirm = confirm_of(action.get("confirm"), team)
    if action.get("type") == "select":
        return (_menu(action, confirm, at),)
    return (_button(action, confirm, at),) if action.get("type") == "button" else ()


def _button(action: Json, confirm: Confirm | None, at: str) -> Button:
    url = url_at(action, "url")
    value = action.get("value")
    return Button(
        _line(action, "text"),
        does="open" if url else "press",
        id=string_at(action, "name"),
        value=value if isinstance(value, str) else None,
        url=url,
        style=_BUTTONS.get(string_at(action, "style"), "default"),
        confirm=confirm,
        at=at,
    )


def _menu(action: Json, confirm: Confirm | None, at: str) -> Choice | Picker:
    source, name, text = (string_at(action, key) for key in ("data_source", "name", "text"))
    chosen = _options(action, "selected_options", at)
    values = tuple(selected.value for selected in chosen)
    if source in _PICKERS:
        return Picker(
            of=_PICKERS[source],
            values=values,
            id=name,
            placeholder=text,
            dispatches=True,
            confirm=confirm,
            at=at,
        )
    options = _all_options(action, at)
    offered = {option.value for option in options}
    return Choice(
        options=(*options, *(selected for selected in chosen if selected.value not in offered)),
        values=values,
        external=source == "external",
        id=name,
        placeholder=text,
        dispatches=True,
        confirm=confirm,
        at=at,
    )


def _all_options(action: Json, at: str) -> list[Option]:
    """The options; option groups take precedence."""
    options: list[Option] = []
    for index, group in enumerate(items_at(action, "option_groups")):
        if isinstance(group, dict):
            inner = cast("Json", group)
            place = f"{at}/option_groups/{index}"
            options += _options(inner, "options", place, string_at(inner, "text"))
    return options or _options(action, "options", at)


def _options(value: Json, key: str, at: str, group: str = "") -> list[Option]:
    return [
        Option(
            _line(members, "text"),
            string_at(members, "value"),
            _line(members, "description"),
            group=group,
            at=f"{at}/{key}/{index}",
        )
        for index, item in enumerate(items_at(value, key))
        if isinstance(item, dict) and (members := cast("Json", item))
    ]


def _line(value: Json, key: str) -> Line:
    return as_line(plain_document(string_at(value, key)))
