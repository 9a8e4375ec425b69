"""Message components, V1 rows and V2 layouts: their limits, and what Discord stores. Pure.

Source: discord-api-docs components/reference and the OpenAPI document (2026-08). Error codes as
clients report them; Discord publishes their form, not their list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from connectors.discord.sandbox.checks import Form
from connectors.discord.sandbox.rich.fields import MEDIA, Json, Node

ROW, BUTTON, STRING, TEXT_INPUT, USER, ROLE, MENTIONABLE, CHANNEL = range(1, 9)
SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR = 9, 10, 11, 12, 13, 14
CONTAINER = 17
SELECTS = (STRING, USER, ROLE, MENTIONABLE, CHANNEL)
INTERACTIVE = (BUTTON, *SELECTS)
LINK, PREMIUM = 5, 6

MAX_ROWS = 5
MAX_COMPONENTS = 40
MAX_CHARACTERS = 4000
_IN_ROWS = (BUTTON, *SELECTS)
_IN_CONTAINERS = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR)
_ON_TOP = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER)
_STORED_FIELDS: dict[int, tuple[str, ...]] = {
    BUTTON: ("style", "label", "emoji", "custom_id", "url", "sku_id", "disabled"),
    STRING: ("custom_id", "options", "placeholder", "min_values", "max_values", "disabled"),
    SEPARATOR: ("divider", "spacing"),
    CONTAINER: ("accent_color", "spoiler"),
    FILE: ("spoiler",),
    THUMBNAIL: ("description", "spoiler"),
}
_SELECT_FIELDS = (
    "custom_id", "placeholder", "min_values", "max_values", "disabled", "default_values",
    "channel_types",
)  # fmt: skip


@dataclass(slots=True)
class Usage:
    """Totals over all components of a message."""

    custom_ids: set[str] = field(default_factory=set[str])
    ids: set[int] = field(default_factory=set[int])
    count: int = 0
    characters: int = 0


def read_components(form: Form, *, newer: bool) -> list[Json] | None:
    """Return the components of a request as Discord stores them; None if it has no such field.

    `newer`: the request has the flag IS_COMPONENTS_V2. Without it only rows are allowed, even for
    an edit of a message that has the flag. Errors go to the form.
    """
    if "components" not in form.body:
        return None
    usage, max_count = Usage(), 1000 if newer else MAX_ROWS
    nodes = Node(form, "", form.body).children("components", 0, max_count)
    checked = [
        component
        for node in nodes
        if (component := _checked_component(node, _ON_TOP if newer else (ROW,), usage))
    ]
    if usage.count > MAX_COMPONENTS:
        text = f"Total number of components cannot exceed {MAX_COMPONENTS}"
        form.fail("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", text)
    if usage.characters > MAX_CHARACTERS:
        text = f"Components displayable text size exceeds maximum size of {MAX_CHARACTERS}"
        form.fail("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", text)
    assign_ids(checked, usage.ids)
    return checked


def walk(components: list[Json]) -> Iterator[Json]:
    """Yield all components, each before its children."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        for name in ("accessory", "component"):
            if isinstance(inner := component.get(name), dict):
                yield from walk([inner])


def assign_ids(components: list[Json], used_ids: set[int]) -> None:
    """Give each component without an id the next free number."""
    number = 0
    for component in walk(components):
        if not component.get("id"):
            number += 1
            while number in used_ids:
                number += 1
            component["id"] = number


def media_of(component: Json) -> list[Json]:
    """Return the media items of one component, to be resolved."""
    match component["type"]:
        case 11:
            return [component["media"]]
        case 12:
            return [item["media"] for item in component["items"]]
        case 13:
            return [component["file"]]
        case _:
            return []


def _checked_component(node: Node, allowed: tuple[int, ...], usage: Usage) -> Json | None:
    kind = node.value.get("type")
    if isinstance(kind, bool) or kind not in allowed:
        listed = ", ".join(map(str, allowed)) + ("," if len(allowed) == 1 else "")
        text = f'Value of field "type" must be one of ({listed}).'
        node.fail("type", "UNION_TYPE_CHOICES", text)
        return None
    usage.count += 1
    checked: Json = {"type": kind}
    own_id = node.integer("id", 0, 2**31 - 1)
    if own_id:
        if own_id in usage.ids:
            node.fail("id", "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
        usage.ids.add(own_id)
        checked["id"] = own_id
    names = _SELECT_FIELDS if kind in SELECTS[1:] else _STORED_FIELDS.get(kind, ())
    checked |= {n: node.value[n] for n in names if node.value.get(n) is not None}
    _CHECKS[kind](node, checked, usage)
    return checked


def _row(node: Node, checked: Json, usage: Usage) -> None:
    """Read a row: five buttons, or one menu, which is as wide as the row."""
    inner = node.children("components", 1, 5, required=True)
    checked["components"] = [
        component for child in inner if (component := _checked_component(child, _IN_ROWS, usage))
    ]
    width = 0
    for child in inner:
        width += 5 if child.value.get("type") in SELECTS else 1
        if width > 5:
            text = "The specified component exceeds the maximum width"
            child.fail("", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", text)


def _button(node: Node, _checked: Json, usage: Usage) -> None:
    style = node.choice("style", (1, 2, 3, 4, LINK, PREMIUM), required=True)
    node.text("label", 80)
    node.flag("disabled")
    _emoji(node)
    fields = {name: node.value.get(name) for name in ("custom_id", "url", "sku_id")}
    if style == LINK:
        node.address("url", 512, ("http", "https", "discord"), required=True)
    elif style == PREMIUM:
        if not fields["sku_id"]:
            node.missing("sku_id")
    elif not fields["custom_id"]:
        node.fail("custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
    else:
        custom_id(node, usage.custom_ids)
    if fields["custom_id"] and fields["url"]:
        text = "A custom id and url cannot both be specified"
        for name in ("custom_id", "url"):
            node.fail(name, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", text)
    if style != PREMIUM and not node.value.get("label") and not node.value.get("emoji"):
        node.missing("label")


def custom_id(node: Node, used_ids: set[str]) -> None:
    own = node.text("custom_id", 100, min_length=1, required=True)
    if own and own in used_ids:
        text = "Component custom id cannot be duplicated"
        node.fail("custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", text)
    used_ids.add(own or "")


def _emoji(node: Node) -> None:
    if (emoji := node.child("emoji")) is None:
        return
    name = emoji.text("name", 32)
    if not emoji.value.get("id") and (not name or name.isascii()):
        emoji.fail("name", "BUTTON_COMPONENT_INVALID_EMOJI", "Invalid emoji")


def select(node: Node, usage: Usage) -> None:
    """Check a menu of any type, in messages and in modals."""
    custom_id(node, usage.custom_ids)
    node.text("placeholder", 150)
    min_values = node.integer("min_values", 0, 25)
    max_values = node.integer("max_values", 1, 25)
    if min_values is not None and (max_values or 1) < min_values <= 25:
        text = f"int value should be less than or equal to {max_values or 1}."
        node.fail("min_values", "NUMBER_TYPE_MAX", text)
    if node.value["type"] == STRING:
        options(node, 1, 25, max_values or 1)
    else:
        node.children("default_values", 0, 25)


def options(node: Node, min_count: int, max_count: int, max_chosen: int) -> None:
    """Check the options of a menu or of checkboxes; `max_chosen` bounds the default values."""
    options = node.children("options", min_count, max_count, required=True)
    values: set[str] = set()
    for message in options:
        message.text("label", 100, required=True)
        value = message.text("value", 100, required=True)
        message.text("description", 100)
        _emoji(message)
        if value in values:
            text = "The specified option value is already used"
            message.fail("", "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", text)
        values.add(value or "")
    if options and max_chosen > len(options):
        text = f"Must be {max_chosen} or more in length."
        node.fail("options", "BASE_TYPE_MIN_LENGTH", text)
    if sum(message.flag("default") for message in options) > max_chosen:
        text = "The number of default values exceeds the maximum"
        node.fail("options", "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES", text)


def _select(node: Node, _checked: Json, usage: Usage) -> None:
    select(node, usage)


def _section(node: Node, checked: Json, usage: Usage) -> None:
    inner = node.children("components", 1, 3, required=True)
    checked["components"] = [
        component for child in inner if (component := _checked_component(child, (TEXT,), usage))
    ]
    if accessory := node.child("accessory", required=True):
        checked["accessory"] = _checked_component(accessory, (BUTTON, THUMBNAIL), usage)


def _text(node: Node, checked: Json, usage: Usage) -> None:
    content = node.text("content", MAX_CHARACTERS, min_length=1, required=True) or ""
    checked["content"] = content
    usage.characters += len(content) if len(content) <= MAX_CHARACTERS else 0


def _media(node: Node, key: str, schemes: tuple[str, ...] = MEDIA) -> Json:
    media = node.child(key, required=True)
    url = media.address("url", 2048, schemes, required=True) if media else None
    return {"url": url or ""}


def _thumbnail(node: Node, checked: Json, _usage: Usage) -> None:
    checked["media"] = _media(node, "media")
    node.text("description", 1024)
    node.flag("spoiler")


def _gallery(node: Node, checked: Json, _usage: Usage) -> None:
    checked["items"] = []
    for child in node.children("items", 1, 10, required=True):
        item: Json = {"media": _media(child, "media"), "spoiler": child.flag("spoiler")}
        if description := child.text("description", 1024):
            item["description"] = description
        checked["items"].append(item)


def _file(node: Node, checked: Json, _usage: Usage) -> None:
    checked["file"] = _media(node, "file", ("attachment",))
    node.flag("spoiler")


def _separator(node: Node, checked: Json, _usage: Usage) -> None:
    node.flag("divider")
    node.choice("spacing", (1, 2))
    checked.setdefault("divider", True)
    checked.setdefault("spacing", 1)


def _container(node: Node, checked: Json, usage: Usage) -> None:
    node.integer("accent_color", 0, 0xFFFFFF)
    node.flag("spoiler")
    inner = node.children("components", 1, MAX_COMPONENTS, required=True)
    checked["components"] = [
        component
        for child in inner
        if (component := _checked_component(child, _IN_CONTAINERS, usage))
    ]


_CHECKS: dict[int, Callable[[Node, Json, Usage], Any]] = {
    ROW: _row, BUTTON: _button, **dict.fromkeys(SELECTS, _select), SECTION: _section, TEXT: _text,
    THUMBNAIL: _thumbnail, GALLERY: _gallery, FILE: _file, SEPARATOR: _separator,
    CONTAINER: _container,
}  # fmt: skip
