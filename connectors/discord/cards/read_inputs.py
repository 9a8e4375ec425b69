"""Buttons, menus and the inputs of modals -> actions of a card. Pure; total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import (
    Button,
    Choice,
    FileInput,
    Input,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Emoji, Text
from connectors.discord.cards import schemas
from connectors.discord.cards.read_source import Json, count, flagged, items, mapping, text, whole
from connectors.discord.cards.read_words import Line, read_plain

_EMOJI = "https://cdn.discordapp.com/emojis/{id}.{kind}"
_STYLES: dict[int, Literal["default", "primary", "good", "danger"]] = {
    1: "primary",
    3: "good",
    4: "danger",
    schemas.PREMIUM_STYLE: "primary",
}
_PICKER_KINDS: dict[int, Literal["people", "channels", "roles", "mentionables"]] = {
    schemas.USER_SELECT: "people",
    schemas.ROLE_SELECT: "roles",
    schemas.MENTIONABLE_SELECT: "mentionables",
    schemas.CHANNEL_SELECT: "channels",
}
_PARAGRAPH = 2  # the style of a text input of several lines
ROLE = "&"  # before the ids of roles among mentionables, as in Discord's own mentions


def read_action(native: Json, kind: int, at: str) -> Button | Input | None:
    """Return the action; None for other components and for undocumented shapes."""
    match kind:
        case schemas.BUTTON:
            return _button(native, at)
        case schemas.STRING_SELECT | schemas.RADIO_GROUP | schemas.CHECKBOX_GROUP:
            return _choice(native, kind, at)
        case schemas.TEXT_INPUT:
            return _text_input(native, at)
        case _ if kind in _PICKER_KINDS:
            return _picker(native, kind, at)
        case schemas.FILE_UPLOAD:
            return _file_upload(native, at)
        case schemas.CHECKBOX:
            return _checkbox(native, at)
        case _:
            return None


# --- buttons --------------------------------------------------------------------------------


def _button(native: Json, at: str) -> Button | None:
    style = whole(native, "style")
    emoji, lead = read_emoji(mapping(native, "emoji"))
    label = read_plain(text(native, "label"))
    if style == schemas.PREMIUM_STYLE or (style is None and "sku_id" in native):
        return _premium(native, at)
    if not label and not emoji and not lead:
        return None
    url = text(native, "url")
    return Button(
        with_lead(lead, label),
        does="open" if style == schemas.LINK_STYLE or (url and style is None) else "press",
        id=text(native, "custom_id"),
        url=url,
        style=_STYLES.get(style or 0, "default"),
        emoji=emoji,
        disabled=flagged(native, "disabled"),
        at=at,
    )


def _premium(native: Json, at: str) -> Button:
    """Return a premium button; Discord itself shows its price, so it has no label."""
    return Button(
        read_plain(text(native, "label")) or (Text("Premium"),),
        value={"sku_id": text(native, "sku_id")},
        style="primary",
        emoji="🛒",
        disabled=flagged(native, "disabled"),
        at=at,
    )


def read_emoji(native: Json) -> tuple[str, Line]:
    """Return a Unicode emoji, or a custom emoji as the beginning of a label."""
    name, custom = text(native, "name"), text(native, "id")
    if not custom.isascii() or not custom.isdigit():
        number = native.get("id")
        custom = str(number) if isinstance(number, int) and number > 0 else ""
    if not custom:
        return name, ()
    url = _EMOJI.format(id=custom, kind="gif" if flagged(native, "animated") else "webp")
    return "", (Emoji(name or custom, url=url),)


def with_lead(lead: Line, label: Line) -> Line:
    return (*lead, Text(" "), *label) if lead and label else lead or label


# --- menus ----------------------------------------------------------------------------------


def _choice(native: Json, kind: int, at: str) -> Choice | None:
    native_options = native.get("options")
    if native_options is not None and not isinstance(native_options, list):
        return None
    maximum = whole(native, "max_values")
    options = tuple(
        option
        for index, native_option in enumerate(native_options or ())
        if (option := _option(native_option, pointer(at, "options", index))) is not None
    )
    if len(options) < len(native_options or ()):
        return None
    many = kind == schemas.CHECKBOX_GROUP or (maximum is not None and maximum > 1)
    return Choice(
        id=text(native, "custom_id"),
        placeholder=text(native, "placeholder"),
        required=_required(native, kind),
        disabled=flagged(native, "disabled"),
        options=options,
        values=_chosen(native, native_options or ()),
        many=many,
        form="menu" if kind == schemas.STRING_SELECT else "list",
        min=count(native, "min_values"),
        max=maximum if maximum is not None and maximum > 0 else None,
        at=at,
    )


def _required(native: Json, kind: int) -> bool:
    """Return whether the input is required; menus in messages have no such field."""
    if kind == schemas.STRING_SELECT or kind in _PICKER_KINDS:
        return native.get("required") is True
    return native.get("required", True) is not False


def _option(native: JsonValue, at: str) -> Option | None:
    if not isinstance(native, dict) or not isinstance(native.get("label"), str):
        return None
    emoji, lead = read_emoji(mapping(native, "emoji"))
    description = text(native, "description")
    return Option(
        with_lead(lead, read_plain(text(native, "label"))),
        text(native, "value"),
        read_plain(description) if description else (),
        emoji,
        at=at,
    )


def _chosen(native: Json, options: Sequence[JsonValue]) -> tuple[str, ...]:
    """Return the default values, or in a submission the chosen values."""
    if isinstance(value := native.get("value"), str):
        return (value,)
    if values := tuple(item for item in items(native, "values") if isinstance(item, str)):
        return values
    return tuple(
        text(option, "value")
        for option in options
        if isinstance(option, dict) and flagged(option, "default")
    )


def _picker(native: Json, kind: int, at: str) -> Picker:
    maximum = whole(native, "max_values")
    default_values = [_default_value(value) for value in items(native, "default_values")]
    default_values += [value for value in items(native, "values") if isinstance(value, str)]
    return Picker(
        id=text(native, "custom_id"),
        placeholder=text(native, "placeholder"),
        required=_required(native, kind),
        disabled=flagged(native, "disabled"),
        of=_PICKER_KINDS[kind],
        values=tuple(value for value in default_values if value),
        many=maximum is not None and maximum > 1,
        min=count(native, "min_values"),
        max=maximum if maximum is not None and maximum > 0 else None,
        at=at,
    )


def _default_value(native: JsonValue) -> str:
    if not isinstance(native, dict):
        return ""
    native_id = text(native, "id")
    return f"{ROLE}{native_id}" if native_id and native.get("type") == "role" else native_id


# --- inputs of modals -----------------------------------------------------------------------


def _text_input(native: Json, at: str) -> TextInput:
    return TextInput(
        id=text(native, "custom_id"),
        label=read_plain(text(native, "label")),
        placeholder=text(native, "placeholder"),
        required=_required(native, schemas.TEXT_INPUT),
        disabled=flagged(native, "disabled"),
        value=text(native, "value"),
        multiline=whole(native, "style") == _PARAGRAPH,
        min=count(native, "min_length"),
        max=count(native, "max_length"),
        at=at,
    )


def _file_upload(native: Json, at: str) -> FileInput:
    kinds = tuple(item for item in items(native, "file_types") if isinstance(item, str))
    return FileInput(
        id=text(native, "custom_id"),
        required=_required(native, schemas.FILE_UPLOAD),
        min=count(native, "min_values"),
        max=count(native, "max_values"),
        kinds=tuple(kind.removeprefix(".") for kind in kinds),
        at=at,
    )


def _checkbox(native: Json, at: str) -> Toggle:
    value = native.get("value", native.get("default"))
    return Toggle(id=text(native, "custom_id"), value=value is True, at=at)


def labelled(node: Input, native: Json) -> Input:
    """Return the input with the label and description of its label component."""
    label, hint = read_plain(text(native, "label")), read_plain(text(native, "description"))
    return replace(node, label=label or node.label, hint=hint) if label or hint else node
