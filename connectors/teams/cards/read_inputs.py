"""Inputs of Adaptive Cards -> inputs."""

from __future__ import annotations

from typing import Literal, TypedDict

from bridge.content.cards.tree import (
    Actions,
    Choice,
    DateInput,
    Node,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Inline
from connectors.teams.cards.json_values import (
    Json,
    choice_of,
    flag,
    items,
    number,
    object_at,
    string,
    whole,
)
from connectors.teams.cards.reading import ElementReader, Reading

TextFormat = Literal["text", "email", "url", "tel", "password"]

_FORMATS: dict[str, TextFormat] = {
    "email": "email",
    "url": "url",
    "tel": "tel",
    "password": "password",
}
_FORMS: dict[str, Literal["menu", "list"]] = {"expanded": "list"}
_PEOPLE = "graph.microsoft.com/users"


class _CommonFields(TypedDict):
    at: str
    id: str
    label: tuple[Inline, ...]
    placeholder: str
    required: bool
    dispatches: bool
    disabled: bool
    error: str


def _common_fields(reading: Reading, item: Json, at: str) -> _CommonFields:
    """Return the fields that all inputs have."""
    changed = choice_of(object_at(item, "valueChangedAction"), "type")
    return {
        "at": at,
        "id": string(item, "id"),
        "label": reading.line(item, "label"),
        "placeholder": reading.text(item, "placeholder"),
        "required": flag(item, "isRequired"),
        "dispatches": changed in ("action.submit", "action.execute"),
        "disabled": not flag(item, "isEnabled", default=True),
        "error": reading.text(item, "errorMessage"),
    }


def _text(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a text input with its inline action."""
    field = TextInput(
        **_common_fields(reading, item, at),
        value=reading.resolved(string(item, "value")),
        multiline=flag(item, "isMultiline"),
        format=_FORMATS.get(choice_of(item, "style"), "text"),
        max=whole(item, "maxLength"),
        pattern=string(item, "regex"),
    )
    if "inlineAction" not in item:
        return [field]
    inner = reading.nodes(item["inlineAction"], f"{at}/inlineAction", depth + 1)
    match inner:
        case [Actions(buttons), *others]:
            return [Actions((field, *buttons), at=at), *others]
        case _:
            return [field, *inner]


def _number(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    return [
        NumberInput(
            **_common_fields(reading, item, at),
            value=number(item, "value"),
            min=number(item, "min"),
            max=number(item, "max"),
        )
    ]


def _rating(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    maximum = whole(item, "max")
    halves = flag(item, "allowHalfSteps")
    return [
        NumberInput(
            **_common_fields(reading, item, at),
            value=number(item, "value"),
            max=5 if maximum is None or maximum < 1 else maximum,
            decimals=halves,
            stars=True,
        )
    ]


def _day(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    return [_moment(reading, item, at, "date")]


def _time(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    return [_moment(reading, item, at, "time")]


def _moment(reading: Reading, item: Json, at: str, of: Literal["date", "time"]) -> DateInput:
    return DateInput(
        **_common_fields(reading, item, at),
        of=of,
        value=string(item, "value"),
        min=string(item, "min"),
        max=string(item, "max"),
    )


def _toggle(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    on = string(item, "valueOn") or "true"
    value = item.get("value")
    return [
        Toggle(
            **_common_fields(reading, item, at),
            title=reading.line(item, "title"),
            value=value is True or (isinstance(value, str) and value == on),
            on=on,
            off=string(item, "valueOff") or "false",
        )
    ]


def _choice_set(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    """Read a choice of options, of people, or of search results of its author."""
    options = _options(reading, item, at)
    query = object_at(item, "choices.data")
    source, many = string(query, "dataset"), flag(item, "isMultiSelect")
    values = _values(item, many=many)
    if source.partition("?")[0] == _PEOPLE and not options:
        return [Picker(**_common_fields(reading, item, at), of="people", values=values, many=many)]
    return [
        Choice(
            **_common_fields(reading, item, at),
            options=options,
            values=values,
            many=many,
            form=_FORMS.get(choice_of(item, "style"), "menu"),
            external=bool(query),
            source=source,
        )
    ]


def _options(reading: Reading, item: Json, at: str) -> tuple[Option, ...]:
    options: list[Option] = []
    for index, choice in enumerate(items(item, "choices")):
        if isinstance(choice, dict):
            label, value = reading.line(choice, "title"), string(choice, "value")
            if label or value:
                place = f"{at}/choices/{index}"
                title = label or reading.line(choice, "value")
                options.append(Option(title, value or reading.text(choice, "title"), at=place))
    return tuple(options)


def _values(item: Json, *, many: bool) -> tuple[str, ...]:
    """Return the initial values, which are separated by commas."""
    value = string(item, "value")
    if not many:
        return (value,) if value else ()
    return tuple(word for part in value.split(",") if (word := part.strip()))


INPUTS: dict[str, ElementReader] = {
    "Input.Text": _text,
    "Input.Number": _number,
    "Input.Date": _day,
    "Input.Time": _time,
    "Input.Toggle": _toggle,
    "Input.ChoiceSet": _choice_set,
    "Input.Rating": _rating,
}
