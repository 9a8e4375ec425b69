"""What a person fills into the inputs of an Adaptive Card -> the texts that go to the app. Pure.

An input's `regex` holds nothing back here: Python's would hang on one that a stranger wrote so.
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
    """By its id, else by the words beside it."""
    found = list(inputs)
    for wanted in ("id", "label", "title", "placeholder"):
        for each in found:
            if each.get(wanted) == name:
                return each
    there = ", ".join(each["id"] for each in found) or "none"
    raise NotFound(f"No input is called {name!r}; there is {there}")


def beside(each: Json) -> str:
    """The words beside an input."""
    return str(each.get("label") or each.get("title") or each.get("placeholder") or each["id"])


def written(each: Json, value: Any) -> str:
    """What is typed or chosen, as the client writes it."""
    match each["type"]:
        case "Input.Toggle":
            return _toggled(each, value)
        case "Input.ChoiceSet":
            return _chosen(each, value)
        case _:
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise InvalidData(f"{each['id']!r} takes a text or a number")
            return _matching(each, str(value))


def with_inputs(inputs: Iterable[Json], typed: Mapping[str, str]) -> dict[str, str]:
    """Input ids -> texts; inputs with nothing in them are not sent."""
    found = {each["id"]: typed.get(each["id"], _initial(each)) for each in inputs}
    return {name: text for name, text in found.items() if text}


def complaints(inputs: Iterable[Json], sent: Mapping[str, str]) -> dict[str, str]:
    """What the client says of inputs before it sends anything."""
    found: dict[str, str] = {}
    for each in inputs:
        text = sent.get(each["id"], "")
        if each.get("isRequired") and (not text or _is_off(each, text)):
            found[each["id"]] = str(each.get("errorMessage") or _NEEDED)
        elif text and not _is_valid(each, text):
            found[each["id"]] = str(each.get("errorMessage") or _WRONG)
    return found


def _initial(each: Json) -> str:
    value = each.get("value")
    if each["type"] == "Input.Toggle":
        off = str(each.get("valueOff") or "false")
        return off if value is None else str(value)
    return "" if value is None else str(value)


def _toggled(each: Json, value: Any) -> str:
    on, off = str(each.get("valueOn") or "true"), str(each.get("valueOff") or "false")
    if isinstance(value, bool):
        return on if value else off
    if value in (on, off):
        return str(value)
    raise InvalidData(f"{each['id']!r} is on or off: true or false")


def _chosen(each: Json, value: Any) -> str:
    wanted = value if isinstance(value, list) else [value]
    if len(wanted) > 1 and not each.get("isMultiSelect"):
        raise InvalidData(f"Only one can be chosen in {each['id']!r}")
    titles = {str(c.get("title")): str(c.get("value")) for c in each.get("choices") or []}
    searched = isinstance(each.get("choices.data"), dict)
    texts: list[str] = []
    for one in map(str, wanted):
        text = one if one in titles.values() or searched else titles.get(one)
        if text is None:
            raise InvalidData(f"{each['id']!r} has no choice {one!r}; it has {', '.join(titles)}")
        texts.append(text)
    return ",".join(texts)


def _matching(each: Json, text: str) -> str:
    kind = each["type"]
    if kind in ("Input.Number", "Input.Rating") and text and _number(text) is None:
        raise InvalidData(f"{each['id']!r} takes a number")
    if kind == "Input.Date" and text and not _DATE.match(text):
        raise InvalidData(f"{each['id']!r} takes a date such as 2026-01-31")
    if kind == "Input.Time" and text and not _TIME.match(text):
        raise InvalidData(f"{each['id']!r} takes a time such as 09:30")
    return text


def _is_off(each: Json, text: str) -> bool:
    return each["type"] == "Input.Toggle" and text == str(each.get("valueOff") or "false")


def _is_valid(each: Json, text: str) -> bool:
    kind = each["type"]
    least, most = each.get("min"), each.get("max")
    if kind in ("Input.Number", "Input.Rating"):
        number = _number(text)
        low, high = _number(least), _number(most)
        return number is not None and not (
            (low is not None and number < low) or (high is not None and number > high)
        )
    if kind in ("Input.Date", "Input.Time"):
        return not ((least and text < str(least)) or (most and text > str(most)))
    longest = each.get("maxLength")
    return not (isinstance(longest, int) and 0 < longest < len(text))


def _number(text: Any) -> float | None:
    try:
        return None if text is None or isinstance(text, bool) else float(text)
    except (TypeError, ValueError):
        return None
