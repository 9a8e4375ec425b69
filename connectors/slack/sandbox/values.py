"""Chosen and typed values -> `state.values` and `actions[]` as apps receive them. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from bridge.errors import InvalidData
from connectors.slack.sandbox.blocks.walk import Control
from connectors.slack.sandbox.files import file_json
from connectors.slack.sandbox.state import File, Json

State = dict[str, dict[str, Json]]  # block_id -> action_id -> value

_SINGLE_OPTION_KINDS = frozenset({"static_select", "external_select", "radio_buttons", "overflow"})
_OPTIONS = frozenset({"multi_static_select", "multi_external_select", "checkboxes"})
_SINGLE_ID_KINDS = {
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
}
_IDS = {
    "multi_users_select": "selected_users",
    "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
}
_TEXTS = frozenset({"plain_text_input", "email_text_input", "url_text_input", "number_input"})
_CLOCKS = {
    "datepicker": ("selected_date", "initial_date", re.compile(r"\d{4}-\d{2}-\d{2}")),
    "timepicker": ("selected_time", "initial_time", re.compile(r"([01]\d|2[0-3]):[0-5]\d")),
}
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
PRESSED = frozenset({"button", "icon_button", "workflow_button", "feedback_buttons"})
FileOf = Callable[[Any], File]


def initial(control: Control) -> Json | None:
    """The initial value of an element; None for an element without state."""
    element, kind = control.element, control.kind
    shape: Json = {"type": kind}
    if kind in PRESSED or kind == "overflow":
        return None
    if kind in _SINGLE_OPTION_KINDS:
        return shape | {"selected_option": element.get("initial_option")}
    if kind in _OPTIONS:
        return shape | {"selected_options": element.get("initial_options") or []}
    if kind in _SINGLE_ID_KINDS:
        name = _SINGLE_ID_KINDS[kind]
        return shape | {name: element.get(name.replace("selected", "initial"))}
    if kind in _IDS:
        name = _IDS[kind]
        return shape | {name: element.get(name.replace("selected", "initial")) or []}
    if kind in _CLOCKS:
        selected, chosen_key, _ = _CLOCKS[kind]
        return _timed(control, shape | {selected: element.get(chosen_key)})
    if kind == "datetimepicker":
        return shape | {"selected_date_time": element.get("initial_date_time")}
    if kind == "rich_text_input":
        return shape | {"rich_text_value": element.get("initial_value")}
    if kind == "file_input":
        return shape | {"files": []}
    return shape | {"value": element.get("initial_value")}


def filled(control: Control, value: Any, file_of: FileOf) -> Json:
    """The value after a person's input. Raises InvalidData when the client would refuse it."""
    kind = control.kind
    shape: Json = {"type": kind}
    if kind in _SINGLE_OPTION_KINDS:
        return shape | {"selected_option": _option(control, _single(control, value))}
    if kind in _OPTIONS:
        return shape | {"selected_options": [_option(control, v) for v in _several(control, value)]}
    if kind in _SINGLE_ID_KINDS:
        return shape | {_SINGLE_ID_KINDS[kind]: str(_single(control, value))}
    if kind in _IDS:
        return shape | {_IDS[kind]: [str(v) for v in _several(control, value)]}
    if kind in _CLOCKS:
        selected, _, pattern = _CLOCKS[kind]
        if not pattern.fullmatch(str(value)):
            raise InvalidData(f"{value!r} is not a valid value of a {kind}")
        return _timed(control, shape | {selected: str(value)})
    if kind == "datetimepicker":
        return shape | {"selected_date_time": int(value)}
    if kind == "rich_text_input":
        return shape | {"rich_text_value": _rich(value)}
    if kind == "file_input":
        return shape | {"files": [file_json(file_of(item)) for item in _several(control, value)]}
    if kind in _TEXTS:
        return shape | {"value": None if value is None else str(value)}
    raise InvalidData(f"A {kind} is pressed, not filled in")


def complaint(control: Control, value: Json) -> str:
    """The client's error message for an input that it does not send; "" for a valid one."""
    block, element = control.block, control.element
    typed_value = next((v for k, v in value.items() if k not in ("type", "timezone")), None)
    if typed_value in (None, "", []):
        return "" if block.get("optional") else "Please complete this required field."
    match control.kind:
        case "plain_text_input":
            minimum, maximum = element.get("min_length", 0), element.get("max_length", 3000)
            if not minimum <= len(typed_value) <= maximum:
                return f"Use between {minimum} and {maximum} characters."
        case "email_text_input" if not _EMAIL.fullmatch(typed_value):
            return "Enter a valid email address."
        case "url_text_input" if not typed_value.startswith(("http://", "https://")):
            return "Enter a valid URL."
        case "number_input":
            return _number_complaint(element, typed_value)
        case _:
            pass
    return ""


def state_of(controls: Iterable[Control], entered: State) -> State:
    """`state.values`: the current values of all inputs."""
    values: State = {}
    for control in controls:
        start = initial(control)
        if start is not None:
            now = entered.get(control.block_id, {}).get(control.action_id, start)
            values.setdefault(control.block_id, {})[control.action_id] = now
    return values


def action_json(control: Control, value: Json | None, at: str, pressed: Any = None) -> Json:
    """One entry of `actions`; `value` is the current value of the element."""
    element = control.element
    shape: Json = {"action_id": control.action_id, "block_id": control.block_id}
    for name in ("text", "value", "style", "placeholder", "icon"):
        if name in element:
            shape[name] = element[name]
    shape |= {
        name: field_value for name, field_value in element.items() if name.startswith("initial_")
    }
    if control.kind == "feedback_buttons":
        chosen = element["negative_button" if pressed == "negative" else "positive_button"]
        shape |= {"text": chosen["text"], "value": chosen["value"]}
    return shape | (value or {}) | {"type": control.kind, "action_ts": at}


def _option(control: Control, value_text: Any) -> Json:
    element = control.element
    options = list(element.get("options") or ())
    for group in element.get("option_groups") or ():
        options += group["options"]
    if control.kind.endswith("external_select") and isinstance(value_text, dict):
        return value_text
    for option in options:
        if value_text in (option.get("value"), option["text"]["text"]):
            return option
    offered = ", ".join(repr(option.get("value")) for option in options) or "none of its own"
    raise InvalidData(
        f"{value_text!r} is not among the options of {control.action_id!r}: {offered}"
    )


def _single(control: Control, value: Any) -> Any:
    if isinstance(value, list):
        if len(value) != 1:
            raise InvalidData(f"{control.action_id!r} takes one value, not {len(value)}")
        return value[0]
    return value


def _several(control: Control, value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    maximum = control.element.get("max_selected_items") or control.element.get("max_files")
    if maximum is not None and len(values) > maximum:
        raise InvalidData(
            f"{control.action_id!r} takes at most {maximum} values, not {len(values)}"
        )
    return values


def _timed(control: Control, shape: Json) -> Json:
    zone = control.element.get("timezone")
    return shape | ({"timezone": zone} if zone else {})


def _rich(value: Any) -> Json:
    if isinstance(value, dict):
        return value
    text: Json = {"type": "text", "text": str(value)}
    section: Json = {"type": "rich_text_section", "elements": [text]}
    return {"type": "rich_text", "elements": [section]}


def _number_complaint(element: Json, number_text: str) -> str:
    if not _NUMBER.fullmatch(number_text) or (
        not element["is_decimal_allowed"] and "." in number_text
    ):
        return "Enter a number."
    minimum, maximum = element.get("min_value"), element.get("max_value")
    if minimum is not None and float(number_text) < float(minimum):
        return f"Enter a number of at least {minimum}."
    if maximum is not None and float(number_text) > float(maximum):
        return f"Enter a number of at most {maximum}."
    return ""
