"""Inputs -> input elements without their labels.

Numbers and URLs are plain text inputs: their own elements are for modals only. Source:
docs.slack.dev "Block elements", the surfaces of each (2026-08).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

from bridge.content.cards.tree import (
    Choice,
    DateInput,
    FileInput,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Text
from connectors.slack.capabilities import BOXES, INPUT_VALUE
from connectors.slack.cards.write_options import menus
from connectors.slack.cards.write_pieces import Json, Writing
from connectors.slack.cards.write_texts import length, plain, shortened, sound

_DATES = {
    "date": ("datepicker", "initial_date", r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"),
    "time": ("timepicker", "initial_time", r"(?:[01]\d|2[0-3]):[0-5]\d"),
    "datetime": ("datetimepicker", "initial_date_time", r"[1-9]\d{9}"),
}
_PICKERS = {
    "people": ("user", re.compile(r"[UW][A-Z0-9]{5,}")),
    "mentionables": ("user", re.compile(r"[UW][A-Z0-9]{5,}")),
    "channels": ("channel", re.compile(r"C[A-Z0-9]{5,}")),
    "conversations": ("conversation", re.compile(r"[CDG][A-Z0-9]{5,}")),
}
_AMONG = {"people": "im", "groups": "mpim", "private": "private", "public": "public"}
_WITHOUT = {"bots": "exclude_bot_users", "shared": "exclude_external_shared_channels"}
_STARS = 5


def elements_of(writing: Writing, node: Input) -> list[Json]:
    """One element, or several for more options than one menu can have."""
    return _BUILDERS[type(node)](writing, node)


# --- text and numbers -----------------------------------------------------------------------


def _text(writing: Writing, node: TextInput) -> list[Json]:
    element: Json = {"type": "plain_text_input"}
    value = sound(node.value) if node.format != "password" else ""
    if node.format != "text":
        writing.lose(node.at, "input_format", node.format, "plain text")
    if value.strip():
        element["initial_value"] = shortened(writing, value, INPUT_VALUE, node.at, "long_text")
    if node.multiline or "\n" in value:
        element["multiline"] = True
    _add_lengths(writing, node, element)
    if node.pattern:
        writing.lose(node.at, "input_rule", node.pattern)
    return [element]


def _add_lengths(writing: Writing, node: TextInput, element: Json) -> None:
    minimum, maximum = node.min or 0, node.max if node.max is not None else INPUT_VALUE
    filled = length(element.get("initial_value", ""))
    if not 0 <= minimum <= min(maximum, INPUT_VALUE) or not maximum or filled > maximum:
        writing.lose(node.at, "input_rule", f"from {minimum} to {maximum} characters")
        return
    if minimum:
        element["min_length"] = minimum
    if maximum < INPUT_VALUE:
        element["max_length"] = maximum


def _number(writing: Writing, node: NumberInput) -> list[Json]:
    if node.stars:
        return [_stars(writing, node)]
    element: Json = {"type": "plain_text_input"}
    if node.value is not None:
        element["initial_value"] = _digits(node.value)
    _lose_range(
        writing,
        node,
        *(_digits(bound) if bound is not None else "" for bound in (node.min, node.max)),
    )
    return [element]


def _stars(writing: Writing, node: NumberInput) -> Json:
    maximum = int(min(max(node.max or _STARS, 1), BOXES))
    options = [
        {"text": {"type": "plain_text", "text": "★" * count}, "value": str(count)}
        for count in range(1, maximum + 1)
    ]
    element: Json = {"type": "radio_buttons", "options": options}
    if node.value is not None and 1 <= node.value <= maximum:
        element["initial_option"] = options[round(node.value) - 1]
    return element


def _digits(number: float) -> str:
    whole = float(number).is_integer() and abs(number) < 10**15
    return str(int(number)) if whole else repr(float(number))


def _lose_range(writing: Writing, node: Input, minimum: str, maximum: str) -> None:
    if minimum or maximum:
        writing.lose(node.at, "input_rule", f"from {minimum or '…'} to {maximum or '…'}")


# --- dates and boxes ------------------------------------------------------------------------


def _date(writing: Writing, node: DateInput) -> list[Json]:
    kind, key, form = _DATES[node.of]
    element: Json = {"type": kind}
    if re.fullmatch(form, node.value, re.ASCII) and _is_day(node):
        element[key] = int(node.value) if node.of == "datetime" else node.value
    elif node.value.strip():
        writing.lose(node.at, "value", node.value)
    _lose_range(writing, node, node.min, node.max)
    return [element]


def _is_day(node: DateInput) -> bool:
    try:
        return node.of != "date" or bool(date.fromisoformat(node.value))
    except ValueError:
        return False


def _toggle(writing: Writing, node: Toggle) -> list[Json]:
    option = Option(node.title or node.label or (Text("…"),), node.on, at=node.at)
    boxes = Choice(
        options=(option,),
        values=(node.on,) if node.value else (),
        many=True,
        form="list",
        at=node.at,
    )
    return menus(writing, boxes)


def _choice(writing: Writing, node: Choice) -> list[Json]:
    if node.min is not None and node.min > 1:
        writing.lose(node.at, "input_rule", f"at least {node.min}")
    return menus(writing, node)


def _picker(writing: Writing, node: Picker) -> list[Json]:
    if node.of == "roles":
        return [_roles(writing, node)]
    name, form = _PICKERS[node.of]
    values = [value for value in node.values if form.fullmatch(value)]
    element: Json = {"type": f"multi_{name}s_select" if node.many else f"{name}s_select"}
    if values:
        element[f"initial_{name}s" if node.many else f"initial_{name}"] = (
            values if node.many else values[0]
        )
    if name == "conversation":
        element |= _among(node)
    if node.many and node.max and node.max >= max(len(values), 1):
        element["max_selected_items"] = node.max
    if node.of == "mentionables":
        writing.lose(node.at, "picker", "roles", "people")
    return [element]


def _roles(writing: Writing, node: Picker) -> Json:
    """A text input: Slack has no roles, so people type their names."""
    writing.lose(node.at, "picker", "roles", "their names to write")
    return {"type": "plain_text_input", **({"multiline": True} if node.many else {})}


def _file(writing: Writing, node: FileInput) -> list[Json]:
    """A text input: messages have no file inputs, so people type where the file is."""
    kinds = f" ({', '.join(node.kinds)})" if node.kinds else ""
    writing.lose(node.at, "file_input", f"a file{kinds}", "its address to write")
    element: Json = {"type": "plain_text_input", "placeholder": plain("https://…")}
    return [{**element, **({"multiline": True} if (node.max or 1) > 1 else {})}]


def _among(node: Picker) -> Json:
    """The filter of the offered conversations."""
    body: Json = {}
    if node.among:
        body["include"] = [_AMONG[kind] for kind in node.among]
    for kind, key in _WITHOUT.items():
        if kind in node.without:
            body[key] = True
    default_here = {"default_to_current_conversation": True} if node.here else {}
    return {**({"filter": body} if body else {}), **default_here}


_BUILDERS: dict[type[Input], Callable[[Writing, Any], list[Json]]] = {
    TextInput: _text,
    NumberInput: _number,
    DateInput: _date,
    Toggle: _toggle,
    Choice: _choice,
    Picker: _picker,
    FileInput: _file,
}
