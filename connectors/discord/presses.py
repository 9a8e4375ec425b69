"""Interactions of Discord <-> what was pressed and filled in: custom ids, forms, questions. Pure.

Source: Discord docs, "Receiving and Responding", "Component Reference" (2026-08). A message shows
no text inputs: the button that sends them opens a form. Discord asks nobody "are you sure?": a
private answer does, with a button that carries the press on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import JsonValue

from bridge.content.card import (
    Button,
    Card,
    Choice,
    Confirm,
    DateInput,
    FileInput,
    Input,
    NumberInput,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.card_walk import actions_of
from bridge.content.inlines import plain_inlines
from bridge.content.interactions import Action, find_action
from connectors.discord.cards import option_values, token_of
from connectors.discord.cards.schemas import (
    BUTTON,
    CHANNEL_SELECT,
    CHECKBOX,
    FILE_UPLOAD,
    LABEL,
    MENTIONABLE_SELECT,
    ROLE_SELECT,
    STRING_SELECT,
    TEXT_INPUT,
    USER_SELECT,
)

Json = dict[str, Any]
PRESS, SUBMISSION = 3, 5  # types of interactions
MESSAGE, LATER, FORM = 4, 6, 9  # types of answers
_PRIVATE = 1 << 6
_MOST_INPUTS, _MOST_OPTIONS = 5, 25
_TITLE, _LABEL, _DESCRIPTION, _PLACEHOLDER, _TEXT = 45, 45, 100, 100, 4000
_SURE = "#ok:"
_PICKERS = {
    "people": USER_SELECT,
    "channels": CHANNEL_SELECT,
    "conversations": CHANNEL_SELECT,
    "roles": ROLE_SELECT,
    "mentionables": MENTIONABLE_SELECT,
}


def pressed_on(data: Json) -> tuple[str, str, bool]:
    """The token, the message that was pressed, and whether somebody is sure of it already."""
    custom_id = str(_object(data.get("data")).get("custom_id") or "")
    message = str(_object(data.get("message")).get("id") or "")
    token, sure, target = custom_id.partition(_SURE)
    return token_of(token), target if sure else message, bool(sure)


def values_in(data: Json) -> dict[str, JsonValue]:
    """What was chosen or written, by the tokens of the inputs."""
    inner = _object(data.get("data"))
    if isinstance(values := inner.get("values"), list):
        return {token_of(str(inner.get("custom_id"))): [str(one) for one in values]}
    return dict(_filled_in(inner.get("components")))


def first_answer(card: Card, token_of_path: Callable[[str], str], data: Json) -> Json | None:
    """What must happen before the press counts: a form to fill in, a question. None: nothing."""
    token, target, sure = pressed_on(data)
    action = find_action(card, token_of_path, token)
    if action is None or data.get("type") != PRESS:
        return None
    asked = list(_asked(card)) if _opens_form(action) else []
    if asked:
        return {"type": FORM, "data": _form(asked, action, token, token_of_path)}
    if action.confirm is not None and not sure:
        return {"type": MESSAGE, "data": _question(action.confirm, token, target)}
    return None


def user_of(data: Json) -> str:
    """Who did it: a member where it is a server, else a user."""
    user = _object(data.get("member")).get("user") or data.get("user")
    return str(_object(user).get("id") or "")


# --- forms ----------------------------------------------------------------------------------


def _opens_form(action: Action) -> bool:
    """A button that sends inputs; where there is none, the one that stands for the first input."""
    if isinstance(action, Button):
        return action.does == "submit"
    return not action.dispatches and not isinstance(action, Choice | Picker)


def _asked(card: Card) -> Iterator[Input]:
    for action in actions_of(card):
        if not isinstance(action, Button) and not action.dispatches and not action.disabled:
            yield action


def _form(asked: list[Input], action: Action, token: str, of: Callable[[str], str]) -> Json:
    """Discord shows five inputs; those that must be filled in come first."""
    wanted = sorted(asked, key=lambda one: not one.required)[:_MOST_INPUTS]
    shown = [one for one in asked if one in wanted]
    title = plain_inlines(action.label) or "Form"
    return {
        "custom_id": token,
        "title": title[:_TITLE],
        "components": [_labelled(one, of(one.at)) for one in shown],
    }


def _labelled(node: Input, custom_id: str) -> Json:
    title = plain_inlines(node.title) if isinstance(node, Toggle) else ""
    label = plain_inlines(node.label) or title or node.placeholder or node.id or "?"
    shown: Json = {"type": LABEL, "label": label[:_LABEL], "component": _field(node, custom_id)}
    if hint := plain_inlines(node.hint):
        shown["description"] = hint[:_DESCRIPTION]
    return shown


def _field(node: Input, custom_id: str) -> Json:
    match node:
        case Toggle():
            return {"type": CHECKBOX, "custom_id": custom_id, "default": node.value}
        case Choice() if node.options:
            return _menu(node, custom_id)
        case Picker():
            kind = _PICKERS[node.of]
            return {"type": kind, "custom_id": custom_id, "required": node.required}
        case FileInput():
            return {"type": FILE_UPLOAD, "custom_id": custom_id, "required": node.required}
        case _:
            return _text_field(node, custom_id)


def _menu(node: Choice, custom_id: str) -> Json:
    options = list(zip(node.options, option_values(node), strict=True))[:_MOST_OPTIONS]
    shown: list[Json] = []
    for option, value in options:
        one: Json = {"label": (plain_inlines(option.label) or value)[:100], "value": value}
        if option.value in node.values:
            one["default"] = True
        shown.append(one)
    menu: Json = {
        "type": STRING_SELECT, "custom_id": custom_id, "options": shown, "required": node.required,
    }  # fmt: skip
    return {**menu, "max_values": len(shown)} if node.many else menu


def _text_field(node: Input, custom_id: str) -> Json:
    long = isinstance(node, TextInput) and node.multiline
    field: Json = {
        "type": TEXT_INPUT, "custom_id": custom_id, "style": 2 if long else 1,
        "required": node.required,
    }  # fmt: skip
    value = _written(node)
    if value:
        field["value"] = value[:_TEXT]
    if placeholder := node.placeholder or _example(node):
        field["placeholder"] = placeholder[:_PLACEHOLDER]
    if isinstance(node, TextInput):
        if node.most is not None:
            field["max_length"] = min(max(node.most, 1), _TEXT)
        if node.least is not None:
            field["min_length"] = min(max(node.least, 0), field.get("max_length", _TEXT))
    return field


def _written(node: Input) -> str:
    match node:
        case TextInput() | DateInput():
            return node.value
        case NumberInput(value=value) if value is not None:
            return f"{value:g}"
        case _:
            return ""


def _example(node: Input) -> str:
    if not isinstance(node, DateInput):
        return ""
    return {"date": "2026-11-21", "time": "17:30", "datetime": "2026-11-21 17:30"}[node.of]


def _question(confirm: Confirm, token: str, target: str) -> Json:
    said = [confirm.title, plain_inlines(confirm.text)]
    style = 4 if confirm.danger else 1
    button = {
        "type": BUTTON, "style": style, "label": (confirm.ok or "OK")[:80],
        "custom_id": f"{token}{_SURE}{target}",
    }  # fmt: skip
    return {
        "content": "\n".join(one for one in said if one.strip())[:2000] or "?",
        "flags": _PRIVATE,
        "allowed_mentions": {"parse": []},
        "components": [{"type": 1, "components": [button]}],
    }


def _filled_in(components: object) -> Iterator[tuple[str, JsonValue]]:
    stack: list[object] = [components]
    while stack:
        one = stack.pop()
        if isinstance(one, list):
            stack.extend(reversed(one))
        elif isinstance(one, dict):
            if "custom_id" in one and ("value" in one or "values" in one):
                value = one["values"] if "values" in one else one["value"]
                yield token_of(str(one["custom_id"])), _plain(value)
            stack.extend(one.get(name) for name in ("component", "components"))


def _plain(value: object) -> JsonValue:
    if isinstance(value, list):
        return [str(one) for one in value]
    return value if isinstance(value, bool | str) else str(value)


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}
