"""Values of a person for the inputs of an Adaptive Card -> the strings that the app receives. Pure.

An input's `regex` is not checked: a hostile pattern would block Python's matcher.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from bridge.errors import InvalidData, NotFound
from connectors.teams.sandbox.state import Json

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_TIME = re.compile(r"\d{2}:\d{2}\Z")
_NEEDED = "This is a required input."
_WRONG = "This input is not valid."


def find_input(inputs: Iterable[Json], name: str) -> Json:
    """Return an input by its id, or else by its label. Raises NotFound."""
    candidates = list(inputs)
    for key in ("id", "label", "title", "placeholder"):
        for field in candidates:
            if field.get(key) == name:
                return field
    names = ", ".join(field["id"] for field in candidates) or "none"
    raise NotFound(f"No input is called {name!r}; there is {names}")


def label_of(field: Json) -> str:
    """Return the label of an input, or a substitute."""
    return str(field.get("label") or field.get("title") or field.get("placeholder") or field["id"])


def input_text(field: Json, value: Any) -> str:
    """Return a typed or chosen value as the client sends it. Raises InvalidData."""
    match field["type"]:
        case "Input.Toggle":
            return _toggle_text(field, value)
        case "Input.ChoiceSet":
            return _choice_text(field, value)
        case _:
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise InvalidData(f"{field['id']!r} takes a text or a number")
            return _checked_text(field, str(value))


def with_inputs(inputs: Iterable[Json], typed: Mapping[str, str]) -> dict[str, str]:
    """Return the values by input id; empty inputs are not sent."""
    texts = {field["id"]: typed.get(field["id"], _initial(field)) for field in inputs}
    return {name: text for name, text in texts.items() if text}


def input_errors(inputs: Iterable[Json], sent: Mapping[str, str]) -> dict[str, str]:
    """Return the client's error messages by input id; a client with errors sends nothing."""
    errors: dict[str, str] = {}
    for field in inputs:
        text = sent.get(field["id"], "")
        if field.get("isRequired") and (not text or _is_off(field, text)):
            errors[field["id"]] = str(field.get("errorMessage") or _NEEDED)
        elif text and not _is_valid(field, text):
            errors[field["id"]] = str(field.get("errorMessage") or _WRONG)
    return errors


def _initial(field: Json) -> str:
    value = field.get("value")
    if field["type"] == "Input.Toggle":
        off = str(field.get("valueOff") or "false")
        return off if value is None else str(value)
    return "" if value is None else str(value)


def _toggle_text(field: Json, value: Any) -> str:
    on, off = str(field.get("valueOn") or "true"), str(field.get("valueOff") or "false")
    if isinstance(value, bool):
        return on if value else off
    if value in (on, off):
        return str(value)
    raise InvalidData(f"{field['id']!r} is on or off: true or false")


def _choice_text(field: Json, value: Any) -> str:
    choices = value if isinstance(value, list) else [value]
    if len(choices) > 1 and not field.get("isMultiSelect"):
        raise InvalidData(f"Only one can be chosen in {field['id']!r}")
    titles = {str(c.get("title")): str(c.get("value")) for c in field.get("choices") or []}
    searched = isinstance(field.get("choices.data"), dict)
    texts: list[str] = []
    for choice in map(str, choices):
        text = choice if choice in titles.values() or searched else titles.get(choice)
        if text is None:
            raise InvalidData(
                f"{field['id']!r} has no choice {choice!r}; it has {', '.join(titles)}"
            )
        texts.append(text)
    return ",".join(texts)


def _checked_text(field: Json, text: str) -> str:
    kind = field["type"]
    if kind in ("Input.Number", "Input.Rating") and text and _number(text) is None:
        raise InvalidData(f"{field['id']!r} takes a number")
    if kind == "Input.Date" and text and not _DATE.match(text):
        raise InvalidData(f"{field['id']!r} takes a date such as 2026-01-31")
    if kind == "Input.Time" and text and not _TIME.match(text):
        raise InvalidData(f"{field['id']!r} takes a time such as 09:30")
    return text


def _is_off(field: Json, text: str) -> bool:
    return field["type"] == "Input.Toggle" and text == str(field.get("valueOff") or "false")


def _is_valid(field: Json, text: str) -> bool:
    kind = field["type"]
    minimum, maximum = field.get("min"), field.get("max")
    if kind in ("Input.Number", "Input.Rating"):
        number = _number(text)
        low, high = _number(minimum), _number(maximum)
        return number is not None and not (
            (low is not None and number < low) or (high is not None and number > high)
        )
    if kind in ("Input.Date", "Input.Time"):
        return not ((minimum and text < str(minimum)) or (maximum and text > str(maximum)))
    longest = field.get("maxLength")
    return not (isinstance(longest, int) and 0 < longest < len(text))


def _number(text: Any) -> float | None:
    try:
        return None if text is None or isinstance(text, bool) else float(text)
    except (TypeError, ValueError):
        return None
